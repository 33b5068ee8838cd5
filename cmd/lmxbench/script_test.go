package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	// The scripts mostly wait for the simulated engine's clock.
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	if signal.Ignored(syscall.SIGHUP) { // under nohup; the commands are to have the usual handling
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	commands := crowd()
	commands["lmxbench"] = main
	testscript.Main(m, commands)
}

// TestScript runs the command line as its users do. The lines with # are their
// words. Servers listen on free ports and nothing sleeps: what takes time is
// awaited.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Values[startedKey] = started{}
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else each process ends a second late under -race
			return nil
		},
		Condition:           condition,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":     exits,
			"await":     await,
			"setenv":    setenv,
			"edit":      edit,
			"oneline":   oneLine,
			"onejson":   oneJSON,
			"jsonlines": jsonLines,
			"codes":     codes,
			"outcomes":  outcomes,
			"field":     field,
			"runjson":   runJSON,
			"loads":     loads,
			"truth":     truth,
			"fake":      fakeServer,
			"gone":      gone,
			"strikes":   strikes,
			"refuses":   refuses,
			"signal":    sendSignal,
			"ended":     ended,
			"halt":      halt,
			"doubts":    doubts,
		},
	})
}

// condition knows quietports: nothing listens where run looks for servers.
func condition(name string) (bool, error) {
	if name != "quietports" {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	for _, host := range []string{"127.0.0.1", "::1"} {
		for _, port := range []string{"8000", "8080", "11434", "30000"} {
			conn, err := net.DialTimeout("tcp", net.JoinHostPort(host, port), time.Second)
			if err == nil {
				return false, conn.Close()
			}
		}
	}
	return true, nil
}

// busy are the codes with which a run says that this machine had no time for
// it. They depend on what else runs here; no script may fail for them, and none
// asserts them.
var busy = map[string]bool{
	"client_late": true, "client_coalesced": true, "client_saturated": true, "cpu_steal": true,
	"buffered_stream": true, "first_chunk_multi_token": true, "drift": true, "short_window": true, "plateau_short": true, "frontend_bound": true,
	"queueing": true,
}

// exits N COMMAND ARGS… runs a command and compares its exit code. Code 2 is
// taken for 0 where the machine alone is to blame for the verdict.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARGS…]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	before := time.Now()
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if got == exitInvalid && want == exitOK && onlyBusy(ts, before) {
		got = exitOK
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// onlyBusy reports whether the results written since then are INVALID for
// reasons of this machine alone.
func onlyBusy(ts *testscript.TestScript, since time.Time) bool {
	found := false
	err := filepath.WalkDir(ts.Getenv("WORK"), func(path string, d os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".json" {
			return err
		}
		info, err := d.Info()
		if err != nil || info.ModTime().Before(since) {
			return err
		}
		for _, f := range findings(ts, path) {
			if f.Level == "INVALID" {
				found = true
				if !busy[f.Code] {
					return fmt.Errorf("%s is INVALID: %s: %s", path, f.Code, f.Detail)
				}
			}
		}
		return nil
	})
	if err != nil {
		ts.Logf("%v", err)
	}
	return err == nil && found
}

// limit bounds every wait of the scripts.
const limit = 30 * time.Second

// wait polls until done says yes.
func wait(ts *testscript.TestScript, what string, done func() bool) {
	deadline := time.Now().Add(limit)
	for tick := time.NewTicker(5 * time.Millisecond); ; <-tick.C {
		if done() {
			tick.Stop()
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("waited %s for %s", limit, what)
		}
	}
}
