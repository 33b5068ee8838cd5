package study_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lmxbench/bench/report/runtest"
	"lmxbench/power"
)

// The files that package power writes, in its own words: two cards at 400 W
// while a batch runs and at 100 W else, recorded from half a second before the
// run's origin.
func TestTheRecordersOwnFilesAreRead(t *testing.T) {
	t.Parallel()
	l := runtest.Burst(8)
	l.Iterations = 2
	dir := runtest.Store(t, t.TempDir(), "r", l)
	e := l.Evidence()
	origin := time.Unix(0, e.Session.OriginUnixNs).Add(-500 * time.Millisecond)
	limit := power.Watts(700)
	desc := power.Description{Source: power.SourceNVML, Version: "580"}
	for _, id := range []string{"GPU-a", "GPU-b"} {
		desc.Devices = append(desc.Devices, power.Device{
			UUID: id, Name: "card", Source: power.SourceNVML, Scope: power.ScopeGPU, PowerLimit: &limit, RingPeriod: 20 * time.Millisecond,
		})
	}
	var text bytes.Buffer
	w, err := power.NewWriter(&text, origin, desc)
	if err != nil {
		t.Fatal(err)
	}
	end := time.Duration(e.Batches[len(e.Batches)-1].EndNs) + 2*time.Second
	for at := time.Duration(0); at < end; at += 20 * time.Millisecond {
		watts := 100.0
		for _, b := range e.Batches {
			if run := int64(at - 500*time.Millisecond); run >= b.StartNs && run < b.EndNs {
				watts = 400
			}
		}
		for _, d := range desc.Devices {
			s := power.Sample{Kind: power.KindRing, GPU: d.UUID, Before: at, After: at, Stamp: origin.Add(at).UnixNano()}
			s.Values.Set(power.PowerSample, watts)
			if err := w.Add(s); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	series, err := power.ReadCSV(bytes.NewReader(text.Bytes()), "power.csv")
	if err != nil {
		t.Fatal(err)
	}
	b := e.Batches[len(e.Batches)-1]
	windows, err := power.NewWindowFile(series, []power.WindowRequest{{
		Name: "request", Iteration: b.Iteration, From: time.Duration(b.StartNs) + 500*time.Millisecond, To: time.Duration(b.EndNs) + 500*time.Millisecond,
	}}, nil).Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"power.csv": text.Bytes(), "power_window.json": windows} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}

	_, tr := trace(t, dir)
	p := tr.Power
	if p == nil || p.LimitWatts != 1400 || len(p.Windows) != 1 {
		t.Fatalf("got %+v", p)
	}
	win := p.Windows[0]
	if math.Abs(win.Span.From-float64(b.StartNs)/1e9) > 1e-6 || win.Watts == nil || math.Abs(*win.Watts-800) > 15 || win.Joules == nil {
		t.Errorf("got window %+v of watts %v", win, win.Watts)
	}
	for _, q := range p.Points {
		if inside := q.At > win.Span.From+0.1 && q.At < win.Span.To-0.1; inside && math.Abs(q.Watts-800) > 1 {
			t.Errorf("at %v s in the batch: %v W, want 800", q.At, q.Watts)
		}
		if idle := q.At < 0; idle && math.Abs(q.Watts-200) > 1 {
			t.Errorf("at %v s before the run: %v W, want 200", q.At, q.Watts)
		}
	}
}
