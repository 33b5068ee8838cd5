package report_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lmxbench/bench/report"
)

// victimDir names the directory in which a second copy of the test program
// writes batches until it is killed.
const victimDir = "REPORT_TEST_VICTIM_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimDir); dir != "" {
		victim(dir)
		return
	}
	os.Exit(m.Run())
}

// victim writes batches for ever and says so after each.
func victim(dir string) {
	l := small(4)
	l.iterations = 1000
	e := l.evidence()
	w, err := report.Create(report.Start{Dir: dir, Plan: e.Plan, Tool: e.Tool, Now: startTime})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := w.Session(&e.Session); err != nil {
		fmt.Println(err)
		return
	}
	next := 0
	for i := range e.Batches {
		for range 4 {
			if err := w.Request(&e.Requests[next]); err != nil {
				fmt.Println(err)
				return
			}
			next++
		}
		if err := w.Batch(&e.Batches[i]); err != nil {
			fmt.Println(err)
			return
		}
		if err := w.EndBatch(); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("batch %d\n", i+1)
	}
}

// A process that is killed loses at most the batch in flight: what it said was
// written can be loaded and gives a partial result.
func TestKilledRunKeepsItsBatches(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), victimDir+"="+dir)
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	said := 0
	for lines := bufio.NewScanner(out); said < 5 && lines.Scan(); said++ {
		if want := fmt.Sprintf("batch %d", said+1); lines.Text() != want {
			t.Errorf("the victim says %q, want %q", lines.Text(), want)
		}
	}
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	command.Wait() //nolint:errcheck // it was killed

	run, err := report.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(run.Evidence.Batches); n < said {
		t.Errorf("%d batches on disk, %d were reported", n, said)
	}
	if n := len(run.Evidence.Requests); n < 4*said {
		t.Errorf("%d requests on disk, want at least %d", n, 4*said)
	}
	d := build(t, run.Evidence)
	if !d.Bench.Partial || d.TokSOut != nil || !d.Bench.Verdict.Has("interrupted") || d.Bench.Throughput.ConcurrentRequestWindow == nil {
		t.Errorf("the result is not partial with its finished iterations: partial %v, tokSOut %v, verdict %+v", d.Bench.Partial, d.TokSOut, d.Bench.Verdict)
	}
	if _, err := report.Verify(dir); err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("Verify of a killed run says %v", err)
	}
}

// The last line of a killed run may be torn anywhere.
func TestTornLinesAreLeftOut(t *testing.T) {
	t.Parallel()
	e := small(2).evidence()
	dir := t.TempDir()
	w := create(t, dir, e)
	write(t, w, e)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, report.RequestsFile)
	whole := readFile(t, path)
	for cut := len(whole) - 1; cut > len(whole)-2500; cut -= 97 {
		if err := os.WriteFile(path, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		run, err := report.Load(dir)
		if err != nil {
			t.Fatalf("cut at %d of %d: %v", cut, len(whole), err)
		}
		if len(run.Torn) != 1 || len(run.Evidence.Requests) != len(e.Requests)-1 {
			t.Fatalf("cut at %d of %d: torn %v, %d of %d requests", cut, len(whole), run.Torn, len(run.Evidence.Requests), len(e.Requests))
		}
	}
}
