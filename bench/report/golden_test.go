package report_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lmxbench/bench/report"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares with testdata/name, or rewrites it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(readFile(t, path)), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func TestGoldenResults(t *testing.T) {
	t.Parallel()
	for name, e := range shapes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := build(t, e)
			raw, err := d.JSON()
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".run.json", raw)
			var text bytes.Buffer
			if err := (report.Text{Dir: "runs/example-org--Tiny-1B/20261130T190000Z-c1"}).Write(&text, d); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".txt", text.Bytes())
		})
	}
}

func TestGoldenTables(t *testing.T) {
	t.Parallel()
	var dirs []string
	var documents []*report.Document
	for _, streams := range []int{1, 8, 32} {
		l := small(streams)
		dirs, documents = append(dirs, "c"+itoa(streams)), append(documents, build(t, l.evidence()))
	}
	dirs, documents = append(dirs, "c8-queued"), append(documents, build(t, queued()))
	dirs, documents = append(dirs, "c4-failed"), append(documents, build(t, withFailures(false)))

	sweep := report.NewSweep(dirs, documents)
	raw, err := sweep.JSON()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "sweep.json", raw)

	for name, write := range map[string]func(*bytes.Buffer) error{
		"ladder.txt":     func(b *bytes.Buffer) error { return sweep.Write(b) },
		"iterations.csv": func(b *bytes.Buffer) error { return report.IterationsCSV(b, documents...) },
		"requests.csv":   func(b *bytes.Buffer) error { return report.RequestsCSV(b, withFailures(false).Requests) },
		"benchfmt.txt":   func(b *bytes.Buffer) error { return report.Benchfmt(b, documents...) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		golden(t, name, b.Bytes())
	}
}

func TestTextOfLmxResult(t *testing.T) {
	t.Parallel()
	d, err := report.ReadDocument("testdata/lmx-example.json")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := (report.Text{}).Write(&b, d); err != nil {
		t.Fatal(err)
	}
	golden(t, "lmx-example.txt", b.Bytes())
}
