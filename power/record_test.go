package power_test

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"lmxbench/power"
)

const (
	ms = time.Millisecond
	s  = time.Second
)

// recording is what a test records from synthetic cards.
type recording struct {
	devices []power.SyntheticDevice
	length  time.Duration
	config  power.RecorderConfig
	marks   []time.Duration
	// during runs beside the recording, in fake time.
	during func(r *power.Recorder, clock power.Clock)
}

// record runs a recorder over synthetic cards in fake time, through the CSV
// and back, and returns the series and the file.
func record(t *testing.T, rec recording) (*power.Series, []byte) {
	t.Helper()
	var file bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		clock := power.NewClock(time.Now())
		meter := power.NewSynthetic(power.SyntheticConfig{Clock: clock, Devices: rec.devices})
		out, err := power.NewWriter(&file, clock.Origin(), meter.Describe())
		if err != nil {
			t.Fatal(err)
		}
		rec.config.Clock = clock
		r := power.Start(context.Background(), meter, out, rec.config)
		for _, m := range rec.marks {
			r.Mark(m)
		}
		if rec.during != nil {
			rec.during(r, clock)
		}
		time.Sleep(rec.length - clock.Now())
		if err := r.Stop(); err != nil {
			t.Fatal(err)
		}
		if err := meter.Close(); err != nil {
			t.Fatal(err)
		}
	})
	series, err := power.ReadCSV(bytes.NewReader(file.Bytes()), "power.csv")
	if err != nil {
		t.Fatal(err)
	}
	return series, file.Bytes()
}

// one returns the only GPU of a window.
func one(t *testing.T, w power.Window) power.GPUWindow {
	t.Helper()
	if len(w.GPUs) != 1 {
		t.Fatalf("got %d GPUs, want 1", len(w.GPUs))
	}
	return w.GPUs[0]
}

// near fails unless got is within percent of want.
func near(t *testing.T, what string, got, want, percent float64) {
	t.Helper()
	if d := 100 * (got - want) / want; d > percent || d < -percent {
		t.Errorf("%s: got %.4f, want %.4f within %g %%, is off by %+.4f %%", what, got, want, percent, d)
	}
}

// codes returns the codes of the findings, in order.
func codes(list []power.Finding) []power.Code {
	var out []power.Code
	for _, f := range list {
		out = append(out, f.Code)
	}
	return out
}

func joules(t *testing.T, e *power.Joules) float64 {
	t.Helper()
	if e == nil {
		t.Fatal("no energy")
	}
	return float64(*e)
}
