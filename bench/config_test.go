package bench_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lmxbench/bench"
	"lmxbench/bench/report"
	"lmxbench/internal/engine"
)

func TestPlans(t *testing.T) {
	t.Parallel()
	base, err := engine.ParseBaseURL("http://127.0.0.1:8000/v1/")
	if err != nil {
		t.Fatal(err)
	}
	cfg := bench.Config{
		Plan: report.Plan{Prompt: "Say tide.", Warmup: 2}, Target: engine.Target{Base: base},
		Rungs: []int{1, 64}, RunsDir: t.TempDir(), StallTimeout: 5 * time.Second,
	}
	plans, err := cfg.Plans()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ streams, iterations, tokens int }{{1, 5, 1024}, {64, 3, 512}} {
		p := plans[i]
		if p.Concurrency != want.streams || p.Iterations != want.iterations || p.MaxTokens != want.tokens {
			t.Errorf("got %d streams, %d iterations, %d tokens; want %v", p.Concurrency, p.Iterations, p.MaxTokens, want)
		}
		if p.WarmupConcurrency != want.streams || p.Warmup != 2 {
			t.Errorf("got %d warm-ups of %d streams, want 2 of %d", p.Warmup, p.WarmupConcurrency, want.streams)
		}
		if p.TimeoutMs != 600_000 || p.StallTimeoutMs != 5000 || p.ConnectTimeoutMs != 30_000 {
			t.Errorf("got the limits %d, %d and %d ms", p.TimeoutMs, p.StallTimeoutMs, p.ConnectTimeoutMs)
		}
		if p.BaseURL != "http://127.0.0.1:8000" || p.ModelRevision != "main" {
			t.Errorf("got base URL %q and revision %q", p.BaseURL, p.ModelRevision)
		}
		if p.PromptName != "" || len(p.PromptSHA256) != 64 {
			t.Errorf("got prompt %q with hash %q, want one without a name", p.PromptName, p.PromptSHA256)
		}
	}
	cfg.Plan.Iterations, cfg.Plan.MaxTokens, cfg.WarmupConcurrency = 7, 9, 1
	plans, err = cfg.Plans()
	if err != nil {
		t.Fatal(err)
	}
	if p := plans[1]; p.Iterations != 7 || p.MaxTokens != 9 || p.WarmupConcurrency != 1 {
		t.Errorf("given values were not taken: %+v", p)
	}
}

// TestCheck: what would go wrong is said before anything is measured, with the
// option that it is about.
func TestCheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"taken.json", "ladder/c4/requests.jsonl", "sum/sweep.json", "file"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	least := 600
	tests := map[string]struct {
		cfg  bench.Config
		flag string // "" where nothing is wrong
		says string
	}{
		"a new file":                             {bench.Config{Out: "new/run.json"}, "", ""},
		"a new file of another name":             {bench.Config{Out: "new/result"}, "", ""},
		"a new folder for a ladder":              {bench.Config{Out: "new", Rungs: []int{1, 4}}, "", ""},
		"a file that is there":                   {bench.Config{Out: "taken.json"}, "--out", "already there"},
		"a folder that holds another run":        {bench.Config{Out: "ladder/c4/run.json"}, "--out", "requests.jsonl is already there"},
		"a rung of the ladder that is there":     {bench.Config{Out: "ladder", Rungs: []int{1, 4}}, "--out", "requests.jsonl is already there"},
		"a summary that is there":                {bench.Config{Out: "sum", Rungs: []int{1, 4}}, "--out", "sweep.json is already there"},
		"a folder where a file is due":           {bench.Config{Out: "ladder"}, "--out", "is a folder"},
		"a name that says folder":                {bench.Config{Out: "new/"}, "--out", "is a folder"},
		"a file where a folder is due":           {bench.Config{Out: "new.json", Rungs: []int{1, 4}}, "--out", "names a file"},
		"the name of another file of the run":    {bench.Config{Out: "new/manifest.json"}, "--out", "another file of the run"},
		"a folder below a file":                  {bench.Config{Out: "file/x/run.json"}, "--out", "cannot be written"},
		"run directories below a file":           {bench.Config{RunsDir: "file"}, "--runs-dir", "is a file"},
		"run directories that are not there yet": {bench.Config{RunsDir: "a/b/c"}, "", ""},
		"more tokens demanded than allowed":      {bench.Config{Plan: report.Plan{MinTokens: &least}, Rungs: []int{4}}, "--min-tokens", "above the 512"},
		"as many as are allowed at one stream":   {bench.Config{Plan: report.Plan{MinTokens: &least}}, "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := tt.cfg
			cfg.Plan.Prompt = "Say tide."
			if cfg.Out != "" {
				cfg.Out = dir + "/" + cfg.Out
			}
			cfg.RunsDir = filepath.Join(dir, cfg.RunsDir)
			err := cfg.Check()
			if tt.flag == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var usage *bench.UsageError
			if !errors.As(err, &usage) || usage.Flag != tt.flag || !strings.Contains(usage.Error(), tt.says) {
				t.Errorf("got %v, want %s … %s", err, tt.flag, tt.says)
			}
		})
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 4 {
		t.Errorf("the check left something behind: %v", left)
	}
}

func TestCheckPrompt(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{"": "empty", "caf\xe9": "UTF-8", "  kept \n": ""} {
		err := bench.CheckPrompt(text)
		if (err == nil) != (says == "") || (err != nil && !strings.Contains(err.Error(), says)) {
			t.Errorf("%q: got %v, want %q", text, err, says)
		}
	}
}
