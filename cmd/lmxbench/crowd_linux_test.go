package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// crowd are the commands that make a core scarce.
func crowd() map[string]func() { return map[string]func(){"hog": hog, "meek": meek} }

// hog keeps the first core that it may use busy until it is killed.
func hog() {
	oneCore()
	for {
		unix.Getpid()
	}
}

// meek COMMAND ARGS… runs a command on the core that a hog would take, with
// less right to it.
func meek() {
	oneCore()
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, 19); err != nil {
		fatal(err)
	}
	path, err := exec.LookPath(os.Args[1])
	if err != nil {
		fatal(err)
	}
	fatal(unix.Exec(path, os.Args[1:], os.Environ()))
}

// oneCore keeps the calling thread, and what it executes, to one core.
func oneCore() {
	runtime.LockOSThread()
	var all, first unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		fatal(err)
	}
	for core := 0; first.Count() == 0; core++ {
		if all.IsSet(core) {
			first.Set(core)
		}
	}
	if err := unix.SchedSetaffinity(0, &first); err != nil {
		fatal(err)
	}
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
