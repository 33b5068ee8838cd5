package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"lmxbench/bench"
	"lmxbench/bench/report"
	"lmxbench/internal/engine"
)

func TestExitCodes(t *testing.T) {
	t.Parallel()
	interrupted, stop := context.WithCancelCause(context.Background())
	stop(errInterrupted)
	running := context.Background()
	tests := map[string]struct {
		ctx  context.Context
		err  error
		code int
		name string // lmx's
	}{
		"nothing went wrong":                {running, nil, 0, ""},
		"a bad option":                      {running, usagef("invalid_option", "x"), 1, "invalid_option"},
		"a place that is taken":             {running, &bench.UsageError{Flag: "--out"}, 1, "invalid_option"},
		"a file that is not there":          {running, fmt.Errorf("read x: %w", fs.ErrNotExist), 1, "file_read_error"},
		"a disk that is full":               {running, errors.New("write x: no space left"), 1, "unexpected_error"},
		"a key that cannot be one":          {running, &engine.Error{Class: engine.BadInput}, 1, "network_error"},
		"a model that is not listed":        {running, &engine.ModelError{Asked: "x"}, 1, "invalid_option"},
		"an INVALID verdict":                {running, &silentError{2}, 2, ""},
		"no server":                         {running, fmt.Errorf("x: %w", errNoServer), 3, "network_error"},
		"a server that refuses connections": {running, &engine.Error{Class: engine.Refused}, 3, "network_error"},
		"a server that answers an error":    {running, &engine.Error{Class: engine.NotReady, Status: 503}, 3, "endpoint_benchmark_failed"},
		"no request that was ok":            {running, fmt.Errorf("%w: x", bench.ErrNothingMeasured), 3, "endpoint_benchmark_failed"},
		"an interrupt":                      {interrupted, &silentError{130}, 130, ""},
		"an interrupt that broke something": {interrupted, &engine.Error{Class: engine.Cancelled}, 130, "network_error"},
		"an interrupt after the end":        {interrupted, nil, 0, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := exitCode(tt.ctx, tt.err); got != tt.code {
				t.Errorf("got exit code %d, want %d", got, tt.code)
			}
			var text, machine bytes.Buffer
			env := &environment{stderr: &text, args: []string{"lmxbench", "run"}}
			env.report(tt.ctx, tt.err)
			env = &environment{stderr: &machine, args: []string{"lmxbench", "run", "--json"}}
			env.report(tt.ctx, tt.err)
			if tt.name == "" {
				if text.Len()+machine.Len() > 0 {
					t.Errorf("said %q and %q, want silence", text.String(), machine.String())
				}
				return
			}
			if strings.Count(text.String(), "\n") != 1 || !strings.HasPrefix(text.String(), "lmxbench: ") {
				t.Errorf("said %q, want one line", text.String())
			}
			var line struct{ Event, Code string }
			if err := json.Unmarshal(machine.Bytes(), &line); err != nil || line.Event != "error" || line.Code != tt.name {
				t.Errorf("said %s, want the code %s", machine.String(), tt.name)
			}
		})
	}
}

// TestErrorsAreOneLine: also where the text comes from elsewhere.
func TestErrorsAreOneLine(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	env := &environment{stderr: &out}
	env.report(context.Background(), errors.New("first\n  second\r\nthird\n"))
	if got := out.String(); strings.Count(got, "\n") != 1 || strings.Contains(got, "\r") {
		t.Errorf("said %q, want one line", got)
	}
}

func TestVerdictError(t *testing.T) {
	t.Parallel()
	rung := func(status string) bench.Rung { return bench.Rung{Document: documentWith(status)} }
	tests := map[string]struct {
		result bench.Result
		want   int
	}{
		"valid and warned":            {bench.Result{Rungs: []bench.Rung{rung("VALID"), rung("WARN")}}, 0},
		"one rung of many invalid":    {bench.Result{Rungs: []bench.Rung{rung("INVALID"), rung("VALID")}}, 2},
		"interrupted, whatever it is": {bench.Result{Rungs: []bench.Rung{rung("INVALID")}, Interrupted: true}, 130},
		"a rung without a document":   {bench.Result{Rungs: []bench.Rung{{}}}, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := exitCode(context.Background(), verdictError(tt.result)); got != tt.want {
				t.Errorf("got exit code %d, want %d", got, tt.want)
			}
		})
	}
}

func documentWith(status string) *report.Document {
	d := &report.Document{Bench: &report.Extension{}}
	d.Bench.Verdict.Status = status
	return d
}

func TestOnlyServer(t *testing.T) {
	t.Parallel()
	found := func(urls ...string) []engine.Found {
		var all []engine.Found
		for _, u := range urls {
			base, err := engine.ParseBaseURL(u)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, engine.Found{Base: base})
		}
		return all
	}
	if _, err := onlyServer(nil); exitCode(context.Background(), err) != exitNothing || !strings.Contains(err.Error(), "--sim default") {
		t.Errorf("without a server: %v", err)
	}
	base, err := onlyServer(found("http://127.0.0.1:8000"))
	if err != nil || base.String() != "http://127.0.0.1:8000" {
		t.Errorf("one server: got %s, %v", base, err)
	}
	_, err = onlyServer(found("http://127.0.0.1:8000", "http://[::1]:8080"))
	if exitCode(context.Background(), err) != exitUsage || !strings.Contains(err.Error(), "(http://127.0.0.1:8000, http://[::1]:8080): choose one with --base-url") {
		t.Errorf("two servers: %v", err)
	}
}
