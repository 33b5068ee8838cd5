package report_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lmxbench/bench/report"
)

var startTime = time.Date(2026, 11, 30, 19, 0, 0, 0, time.UTC)

// store writes evidence as a run would and returns the directory.
func store(t testing.TB, e report.Evidence) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	w := create(t, dir, e)
	write(t, w, e)
	if err := w.Finish(build(t, e)); err != nil {
		t.Fatalf("Finish: %v", err)
	}
	return dir
}

func create(t testing.TB, dir string, e report.Evidence) *report.Writer {
	t.Helper()
	w, err := report.Create(report.Start{
		Dir: dir, Tool: e.Tool, Args: []string{"lmxbench", "run", "--api-key-file", "REDACTED"}, Plan: e.Plan, Now: startTime,
	})
	if err != nil {
		t.Fatalf("Create: %v", err)
	}
	return w
}

// write appends evidence batch by batch.
func write(t testing.TB, w *report.Writer, e report.Evidence) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(w.Session(&e.Session))
	for i := range e.Batches {
		b := &e.Batches[i]
		for j := range e.Requests {
			if r := &e.Requests[j]; r.Phase == b.Phase && r.Iteration == b.Iteration {
				must(w.Request(r))
			}
		}
		must(w.Batch(b))
		must(w.Status("endpoint_iteration_complete", startTime, map[string]any{"iteration": b.Iteration}))
		must(w.EndBatch())
	}
	if a := e.Attached; len(a.Findings) > 0 || len(a.Power) > 0 {
		must(w.Attach(&a))
	}
	must(w.Add("hardware.json", []byte("{}\n")))
}

// What was measured and what is read back give the same result, bit for bit.
func TestStoredRunsVerify(t *testing.T) {
	t.Parallel()
	runs := shapes()
	runs["lmx-example"] = exampleEvidence()
	runs["c64"] = small(64).evidence()
	for name, e := range runs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := store(t, e)
			differences, err := report.Verify(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range differences {
				t.Error(d)
			}
			run, err := report.Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := build(t, e).JSON()
			if err != nil {
				t.Fatal(err)
			}
			if string(run.Result) != string(raw) {
				t.Error("run.json is not the document that was built")
			}
			if len(run.Evidence.Requests) != len(e.Requests) || len(run.Torn) > 0 {
				t.Errorf("read %d requests and %v torn lines, wrote %d", len(run.Evidence.Requests), run.Torn, len(e.Requests))
			}
		})
	}
}

func TestCreateRefusesAnEarlierRun(t *testing.T) {
	t.Parallel()
	for _, name := range []string{report.RunFile, report.ManifestFile, report.RequestsFile, report.ObservationsFile, report.StatusFile} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), []byte("precious"), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := report.Create(report.Start{Dir: dir, Plan: small(1).plan(), Now: startTime})
		if !errors.Is(err, report.ErrExists) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is there and Create says %v", name, err)
		}
		if got := string(readFile(t, filepath.Join(dir, name))); got != "precious" {
			t.Errorf("%s was changed to %q", name, got)
		}
	}
}

func TestFinishNeverOverwrites(t *testing.T) {
	t.Parallel()
	e := small(1).evidence()
	dir := t.TempDir()
	w := create(t, dir, e)
	write(t, w, e)
	if err := os.WriteFile(w.Path(), []byte("somebody else's"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(build(t, e)); !errors.Is(err, report.ErrExists) {
		t.Errorf("Finish says %v", err)
	}
	if got := string(readFile(t, w.Path())); got != "somebody else's" {
		t.Errorf("the file was changed to %q", got)
	}
	leftovers(t, dir)
}

// leftovers fails for temporary files.
func leftovers(t *testing.T, dir string) {
	t.Helper()
	hidden, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(hidden) > 0 {
		t.Errorf("temporary files are left: %v", hidden)
	}
}

func TestCreateNamesWhatItCannotDo(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ why, dir, run, want string }{
		{"the folder lies below a file", filepath.Join(file, "runs"), "", "not a directory"},
		{"the result's name leaves the folder", t.TempDir(), "../run.json", "cannot be the name"},
		{"the result would be the manifest", t.TempDir(), report.ManifestFile, "cannot be the name"},
	} {
		_, err := report.Create(report.Start{Dir: c.dir, Run: c.run, Plan: small(1).plan(), Now: startTime})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", c.why, err)
		}
	}
}

func TestResultMayHaveAnotherName(t *testing.T) {
	t.Parallel()
	e := small(1).evidence()
	dir := t.TempDir()
	w, err := report.Create(report.Start{Dir: dir, Run: "b200.json", Plan: e.Plan, Tool: e.Tool, Now: startTime})
	if err != nil {
		t.Fatal(err)
	}
	write(t, w, e)
	if err := w.Finish(build(t, e)); err != nil {
		t.Fatal(err)
	}
	if differences, err := report.Verify(dir); err != nil || len(differences) > 0 {
		t.Errorf("Verify: %v, %v", differences, err)
	}
	if _, err := report.ReadDocument(filepath.Join(dir, "b200.json")); err != nil {
		t.Error(err)
	}
}

func TestFullDiskIsOneErrorAndNoResult(t *testing.T) {
	t.Parallel()
	e := small(1).evidence()
	w := create(t, t.TempDir(), e)
	if err := w.FillDisk(); errors.Is(err, fs.ErrNotExist) {
		t.Skip("no /dev/full on this system")
	} else if err != nil {
		t.Fatal(err)
	}
	for i := range e.Requests {
		if err := w.Request(&e.Requests[i]); err != nil {
			break
		}
	}
	err := w.EndBatch()
	if err == nil || !strings.Contains(err.Error(), "no space left") || !strings.Contains(err.Error(), report.RequestsFile) || strings.Contains(err.Error(), "\n") {
		t.Errorf("EndBatch says %q", err)
	}
	if err := w.Finish(build(t, e)); err == nil {
		t.Error("Finish called a run that could not be stored a success")
	}
	if _, err := os.Stat(w.Path()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a result: %v", err)
	}
}

func TestTwoRunsOfOneSecondDoNotMeet(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	var wait sync.WaitGroup
	dirs := make([]string, 20)
	for i := range dirs {
		wait.Go(func() {
			dir, err := report.NewDir(root, "Qwen/Qwen3.6-35B-A3B-FP8", startTime, 256)
			if err != nil {
				t.Error(err)
			}
			dirs[i] = dir
		})
	}
	wait.Wait()
	seen := make(map[string]bool)
	for _, dir := range dirs {
		if seen[dir] {
			t.Errorf("%s was given twice", dir)
		}
		seen[dir] = true
	}
	if want := filepath.Join(root, "Qwen--Qwen3.6-35B-A3B-FP8", "20261130T190000Z-c256"); !seen[want] {
		t.Errorf("%s is not among %v", want, dirs)
	}
}

func TestSafeName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ id, want string }{
		{"Qwen/Qwen3.6-35B-A3B-FP8", "Qwen--Qwen3.6-35B-A3B-FP8"},
		{"../../etc/passwd", "--..--etc--passwd"},
		{"/models/tiny Q4.gguf", "--models--tiny-Q4.gguf"},
		{`C:\models\x.gguf`, "C--models-x.gguf"},
		{"", "model"},
		{"..", "model"},
		{".hidden", "hidden"},
		{"模型", "model"},
		{"a\x00b\nc", "a-b-c"},
		{strings.Repeat("x", 500), strings.Repeat("x", 120)},
	} {
		if got := report.SafeName(c.id); got != c.want {
			t.Errorf("SafeName(%q) is %q, want %q", c.id, got, c.want)
		}
	}
}
