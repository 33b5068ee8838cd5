package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// errInterrupted is the cause of a context that the user's signal ended.
var errInterrupted = errors.New("interrupted by the user")

// interruptible returns a context that the first interrupt, termination or
// hang-up cancels, so that what was measured can be written. A second one ends
// the process at once.
//
// Two signals that would end the process in mid-run are left to the errors of
// the writes that cause them: a file at its size limit, and a reader of our
// output that has gone.
func interruptible(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		signal.Notify(signals, syscall.SIGHUP)
	}
	signal.Ignore(syscall.SIGXFSZ, syscall.SIGPIPE)
	go func() {
		if _, ok := <-signals; !ok {
			return
		}
		cancel(errInterrupted)
		if _, ok := <-signals; ok {
			os.Exit(exitInterrupted)
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(signals)
		cancel(nil)
	}
}
