package calibrate

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lmxbench/bench/report"
)

var here = Machine{CPU: "EPYC", Cores: 2, Kernel: "6.18", OS: "linux"}

func calibration(minute int, change ...func(*Calibration)) *Calibration {
	c := &Calibration{
		Schema: Schema, Tool: report.Tool{Version: "0.1.0"}, Machine: here,
		Created: time.Date(2026, 11, 30, 12, minute, 0, 0, time.UTC), Rungs: []Rung{rung(64)},
	}
	for _, f := range change {
		f(c)
	}
	return c
}

func save(t *testing.T, dir string, c *Calibration) {
	t.Helper()
	if err := c.Save(filepath.Join(dir, c.FileName())); err != nil {
		t.Fatal(err)
	}
}

func TestNewestOfThisMachineAndVersion(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "not", "yet", "there")
	if c, err := NewestIn(dir, here, "0.1.0"); c != nil || err != nil {
		t.Errorf("a folder that is not there: got %v, %v; want none and no error", c, err)
	}
	want := calibration(2)
	save(t, dir, calibration(1))
	save(t, dir, want)
	save(t, dir, calibration(3, func(c *Calibration) { c.Machine.Cores = 8 }))
	save(t, dir, calibration(4, func(c *Calibration) { c.Machine.Kernel = "6.19" }))
	save(t, dir, calibration(5, func(c *Calibration) { c.Tool.Version = "0.2.0" }))
	for name, text := range map[string]string{
		"half.json": `{"schema":"lmxbench.cal`, "other.json": `{"schema":"x"}`, "notes.txt": "hello", ".hidden.json": "{}",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := NewestIn(dir, here, "0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("newest (-want +got):\n%s", diff)
	}
	if c, err := NewestIn(dir, here, "9.9.9"); c != nil || err != nil {
		t.Errorf("another version: got %v, %v; want none", c, err)
	}
}

func TestSaveOverwritesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c.json")
	if err := calibration(1).Save(path); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := calibration(2).Save(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("saving over a file: got %v, want a refusal", err)
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(before), string(after)); diff != "" {
		t.Errorf("the file changed:\n%s", diff)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v; want the one file", entries, err)
	}
}

func TestErrorBarOfARun(t *testing.T) {
	t.Parallel()
	const file = "20261130T120100Z.json"
	worse := func(r *Rung) { r.Load.Shape = Phases; r.Kernel = &Spread{1, 7, 90, 300} }
	c := calibration(1, func(c *Calibration) {
		c.Rungs = []Rung{rung(1000), rung(64, void), rung(256), rung(256, worse)}
		c.File = file
	})
	bar := func(streams int, p50, p99 float64) report.Calibrated {
		return report.Calibrated{File: file, Streams: streams, StampP50Us: p50, StampP99Us: p99, TTFTErrUs: 10, ITLErrUs: 30}
	}
	for _, tt := range []struct {
		name    string
		streams int
		rate    float64
		want    report.Calibrated
		ok      bool
	}{
		{"exactly as heavy: of the two shapes the one with the larger error", 256, 0, bar(256, 7, 90), true},
		{"a void rung is no error bar: the next heavier one is", 64, 0, bar(256, 7, 90), true},
		{"between two rungs the heavier one", 300, 0, bar(1000, 4, 50), true},
		{"as many streams, but faster than any rung of that size", 256, 20000, bar(1000, 4, 50), true},
		{"heavier than all that was calibrated", 2000, 0, report.Calibrated{}, false},
		{"faster than all that was calibrated", 1, 1e6, report.Calibrated{}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok := c.For(tt.streams, tt.rate)
			if ok != tt.ok {
				t.Errorf("ok: got %t, want %t", ok, tt.ok)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	partial := calibration(1, func(c *Calibration) { c.Rungs = []Rung{rung(64, func(r *Rung) { r.TTFT = nil })} })
	if bar, ok := partial.For(1, 0); ok {
		t.Errorf("a rung without a TTFT error: got %+v, want none", bar)
	}
}

// What calibrate keeps, run finds.
func TestBarsOfTheKeptCalibration(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	dir, err := Directory()
	if err != nil {
		t.Fatal(err)
	}
	if got := Bars("0.1.0")(1); got != nil {
		t.Errorf("before any calibration: got %+v, want none", got)
	}
	save(t, dir, calibration(1, func(c *Calibration) { c.Machine = Detect() }))
	if got := Bars("0.1.0")(64); got == nil || got.Streams != 64 || got.File == "" {
		t.Errorf("got %+v, want the bar of 64 streams with its file", got)
	}
	if got := Bars("0.1.0")(65); got != nil {
		t.Errorf("more streams than calibrated: got %+v, want none", got)
	}
	if got := Bars("0.2.0")(64); got != nil {
		t.Errorf("another version: got %+v, want none", got)
	}
}
