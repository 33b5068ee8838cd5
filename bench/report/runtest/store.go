package runtest

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lmxbench/bench/report"
)

// Store writes the load's run into a new folder below parent and returns its
// path.
func Store(t testing.TB, parent, name string, l Load) string {
	t.Helper()
	dir := filepath.Join(parent, name)
	e := l.Evidence()
	w, err := report.Create(report.Start{Dir: dir, Tool: e.Tool, Plan: e.Plan, Now: time.Date(2026, 11, 30, 19, 0, 0, 0, time.UTC)})
	must(t, err)
	must(t, w.Session(&e.Session))
	next := 0
	for i := range e.Batches {
		b := &e.Batches[i]
		for ; next < len(e.Requests) && e.Requests[next].Phase == b.Phase && e.Requests[next].Iteration == b.Iteration; next++ {
			must(t, w.Request(&e.Requests[next]))
		}
		must(t, w.Batch(b))
		must(t, w.EndBatch())
	}
	if l.Cut {
		must(t, w.Close())
		return dir
	}
	if len(e.Attached.Power)+len(e.Attached.Ceiling)+len(e.Attached.Findings) > 0 {
		must(t, w.Attach(&e.Attached))
	}
	d, err := report.Build(e)
	must(t, err)
	must(t, w.Finish(d))
	return dir
}

// StorePower adds a recording of one card to a run directory: power.csv with a
// ring buffer of 20 ms samples, 120 W between the batches and watts within,
// and power_window.json with the request window of each iteration.
func StorePower(t testing.TB, dir string, e report.Evidence, watts float64) {
	t.Helper()
	origin := e.Session.OriginUnixNs
	text := "kind,gpu,utc,before_ns,after_ns,stamp_unix_ns,power_average_w,power_instant_w,power_sample_w,missing,note\n"
	text += fmt.Sprintf("origin,,,0,0,%d,,,,,\"{\"\"schema\"\":\"\"lmxbench.power/1\"\"}\"\n", origin)
	text += "device,GPU-1,,0,0,,,,,,\"{\"\"uuid\"\":\"\"GPU-1\"\",\"\"powerLimitWatts\"\":1000}\"\n"
	end := e.Batches[len(e.Batches)-1].EndNs + int64(2*time.Second)
	for at := int64(0); at < end; at += int64(20 * time.Millisecond) {
		w := 120 + 4*math.Sin(float64(at)/3e7)
		for i := range e.Batches {
			if at >= e.Batches[i].StartNs && at < e.Batches[i].EndNs {
				w = watts + 25*math.Sin(float64(at)/2e7)
			}
		}
		text += fmt.Sprintf("ring,GPU-1,,%d,%d,%d,,,%.1f,,\n", at, at, origin+at, w)
	}
	must(t, os.WriteFile(filepath.Join(dir, "power.csv"), []byte(text), 0o644))
	windows := ""
	for i := range e.Batches {
		b := &e.Batches[i]
		name := "request"
		if b.Phase == report.PhaseWarmup {
			name = "warmup"
		}
		if i > 0 {
			windows += ","
		}
		seconds := float64(b.EndNs-b.StartNs) / 1e9
		windows += fmt.Sprintf(`{"name":%q,"iteration":%d,"fromNs":%d,"toNs":%d,"meanWatts":%g,"energyJoules":%g,"uncertaintyJoules":4.2,"joulesPerToken":0.05,"energySource":"counter"}`,
			name, b.Iteration, b.StartNs, b.EndNs, watts, watts*seconds)
	}
	file := fmt.Sprintf(`{"lmxbench":{"originUnixNs":%d,"windows":[%s]}}`, origin, windows)
	must(t, os.WriteFile(filepath.Join(dir, "power_window.json"), []byte(file), 0o644))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
