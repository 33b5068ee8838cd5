package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"lmxbench/bench/report"
	"lmxbench/bench/report/runtest"
)

// TestReportScript runs the scripts of report on runs that never were: what a
// measured one is worth depends on how busy the machine is, and these are
// always valid.
func TestReportScript(t *testing.T) {
	runs := t.TempDir()
	load := func(n int, step time.Duration, quantization string) runtest.Load {
		l := runtest.Burst(n)
		l.Tokens, l.Step = 64, step
		l.Change = func(p *report.Plan) { p.Quantization = quantization }
		return l
	}
	runtest.Store(t, filepath.Join(runs, "a"), "c1", load(1, 5*time.Millisecond, "FP8"))
	runtest.Store(t, filepath.Join(runs, "a"), "c4", load(4, 5*time.Millisecond, "FP8"))
	runtest.Store(t, runs, "b", load(4, 4500*time.Microsecond, "FP4"))
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/report",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("RUNS", runs)
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits, "oneline": oneLine, "onejson": oneJSON,
		},
	})
}
