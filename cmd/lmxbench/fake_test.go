package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// fakes are servers that the simulated engine does not play: they fail before
// the first token is asked for.
var fakes = map[string]http.HandlerFunc{
	"two models": func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"object":"list","data":[{"id":"org/alpha"},{"id":"org/beta"}]}`)
	},
	"loading": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"error":{"message":"Loading model","code":503}}`)
	},
	"web page": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>Sign in</title>")
	},
	"moved": func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://models.example"+r.URL.Path, http.StatusMovedPermanently)
	},
	"other API": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"status":"ok"}`) },
	"wants key": func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":"Unauthorized"}`)
	},
}

// fakeServer is the command fake NAME KIND: it starts a server and sets NAME to
// its address. KIND none gives an address that refuses.
func fakeServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fake NAME KIND")
	}
	switch args[1] {
	case "none":
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		ts.Check(err)
		ts.Setenv(args[0], "http://"+listener.Addr().String())
		ts.Check(listener.Close())
		return
	case "speaks TLS":
		server := httptest.NewUnstartedServer(http.NotFoundHandler())
		server.Config.ErrorLog = log.New(io.Discard, "", 0) // it is spoken to wrongly on purpose
		server.StartTLS()
		ts.Defer(server.Close)
		ts.Setenv(args[0], strings.Replace(server.URL, "https:", "http:", 1))
		return
	}
	handler, ok := fakes[args[1]]
	if !ok {
		ts.Fatalf("no fake server is called %q", args[1])
	}
	server := httptest.NewServer(handler)
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.URL)
}

// started keeps the background commands that were signalled: testscript forgets
// them once they are waited for.
type started map[string]*exec.Cmd

const startedKey = "started"

// sendSignal is the command signal NAME WORDS sends a signal to the background command whose words
// contain these.
func sendSignal(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]syscall.Signal{
		"INT": syscall.SIGINT, "HUP": syscall.SIGHUP, "KILL": syscall.SIGKILL, "STOP": syscall.SIGSTOP, "CONT": syscall.SIGCONT,
	}
	if neg || len(args) != 2 || signals[args[0]] == 0 {
		ts.Fatalf("usage: signal INT|HUP|KILL|STOP|CONT WORDS")
	}
	for _, cmd := range ts.BackgroundCmds() {
		if strings.Contains(strings.Join(cmd.Args, " "), args[1]) {
			ts.Value(startedKey).(started)[args[1]] = cmd
			ts.Check(cmd.Process.Signal(signals[args[0]]))
			return
		}
	}
	ts.Fatalf("no background command runs %q", args[1])
}

// halt N TIME WORDS stops the background command whose words contain these, N
// times for that time each, and lets it go on for as long in between.
func halt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: halt N TIME WORDS")
	}
	d, err := time.ParseDuration(args[1])
	ts.Check(err)
	for range atoi(ts, args[0]) {
		sendSignal(ts, false, []string{"STOP", args[2]})
		time.Sleep(d) // this is the fault
		sendSignal(ts, false, []string{"CONT", args[2]})
		time.Sleep(d)
	}
}

// ended CODE WORDS compares the exit code of a command that was signalled and
// waited for.
func ended(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: ended CODE WORDS")
	}
	cmd := ts.Value(startedKey).(started)[args[1]]
	if cmd == nil || cmd.ProcessState == nil {
		ts.Fatalf("%q was not signalled and waited for", args[1])
	}
	if got := cmd.ProcessState.ExitCode(); got != atoi(ts, args[0]) {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}
