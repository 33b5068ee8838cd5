package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
	"unicode"

	"lmxbench/bench"
	"lmxbench/internal/engine"
)

// Exit codes, as docs/exit-codes.md lists them.
const (
	exitOK          = 0
	exitUsage       = 1 // usage, configuration, a file that cannot be read or written
	exitInvalid     = 2 // measured, but the verdict is INVALID; verify disagrees
	exitNothing     = 3 // nothing could be measured
	exitInterrupted = 130
)

// usageError is one line about the command line, with lmx's code for it.
type usageError struct{ code, text string }

func (e *usageError) Error() string { return e.text }

func usage(err error) error {
	var own *usageError
	if errors.As(err, &own) {
		return err
	}
	return &usageError{code: "invalid_option", text: tidyFlagError(err.Error())}
}

func usagef(code, format string, args ...any) error {
	return &usageError{code: code, text: fmt.Sprintf(format, args...)}
}

// tidyFlagError puts the library's words for a bad value into ours.
func tidyFlagError(text string) string {
	text = strings.TrimPrefix(text, "could not parse flags: ")
	if rest, ok := strings.CutPrefix(text, "invalid value "); ok {
		if value, rest, ok := strings.Cut(rest, " for flag -"); ok {
			if name, reason, ok := strings.Cut(rest, ": "); ok {
				return fmt.Sprintf("--%s %s: %s", name, value, reason)
			}
		}
	}
	return text
}

// silentError carries only an exit code: everything was said already.
type silentError struct{ code int }

func (e *silentError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// exitCode maps an error to the program's exit code.
func exitCode(ctx context.Context, err error) int {
	var silent *silentError
	var server *engine.Error
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &silent):
		return silent.code
	case errors.Is(context.Cause(ctx), errInterrupted):
		return exitInterrupted
	case errors.Is(err, bench.ErrNothingMeasured), errors.Is(err, errNoServer), errors.Is(err, errNoSensor):
		return exitNothing
	case errors.As(err, &server) && server.Class != engine.BadInput:
		return exitNothing
	}
	return exitUsage
}

// report prints an error, once, and returns the exit code.
func (env *environment) report(ctx context.Context, err error) int {
	code := exitCode(ctx, err)
	var silent *silentError
	if err == nil || errors.As(err, &silent) || unheard(err) {
		return code
	}
	text := strings.TrimSpace(strings.Map(printable, err.Error()))
	if !env.wantsJSON() {
		fmt.Fprintln(env.stderr, "lmxbench: "+text)
		return code
	}
	line, jsonErr := json.Marshal(map[string]any{
		"event": "error", "time": time.Now().UTC().Format(time.RFC3339), "code": lmxCode(err), "message": text,
	})
	if jsonErr == nil {
		fmt.Fprintln(env.stderr, string(line))
	}
	return code
}

// unheard reports that whoever read standard output has gone, as head does when
// it has enough.
func unheard(err error) bool {
	var write *fs.PathError
	return errors.As(err, &write) && write.Path == os.Stdout.Name() && errors.Is(err, syscall.EPIPE)
}

// printable keeps a message on one line, and a terminal from being steered by
// what a server wrote.
func printable(r rune) rune {
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}

// wantsJSON reports whether errors are to be machine-readable: lmx decides that
// before it knows whether the rest of the command line can be parsed.
func (env *environment) wantsJSON() bool {
	for _, arg := range env.args[min(1, len(env.args)):] {
		switch arg {
		case "--json", "--json=true", "--json-status", "--json-status=true":
			return true
		case "--":
			return false
		}
	}
	return false
}

// lmxCode names an error as lmx does.
func lmxCode(err error) string {
	var own *usageError
	var server *engine.Error
	var place *bench.UsageError
	var model *engine.ModelError
	switch {
	case errors.As(err, &own):
		return own.code
	case errors.As(err, &place), errors.As(err, &model):
		return "invalid_option"
	case errors.As(err, &server):
		if server.Status != 0 {
			return "endpoint_benchmark_failed"
		}
		return "network_error"
	case errors.Is(err, bench.ErrNothingMeasured):
		return "endpoint_benchmark_failed"
	case errors.Is(err, errNoServer):
		return "network_error"
	case errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission):
		return "file_read_error"
	}
	return "unexpected_error"
}
