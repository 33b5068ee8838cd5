package power_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"lmxbench/power"
)

func probe(t *testing.T, d power.SyntheticDevice) power.DeviceProbe {
	t.Helper()
	var res power.ProbeResult
	synctest.Test(t, func(t *testing.T) {
		clock := power.NewClock(time.Now())
		m := power.NewSynthetic(power.SyntheticConfig{Clock: clock, Devices: []power.SyntheticDevice{d}})
		res = power.Probe(context.Background(), m, power.ProbeConfig{Clock: clock, Duration: 30 * s})
	})
	if res.Source != power.SourceSynthetic || len(res.Devices) != 1 {
		t.Fatalf("result %+v", res)
	}
	return res.Devices[0]
}

// TestProbeFindsTheSensorsHabits: every habit of the synthetic sensor comes
// back out.
func TestProbeFindsTheSensorsHabits(t *testing.T) {
	t.Parallel()
	p := probe(t, power.SyntheticDevice{
		Load: power.Square{High: 700, Low: 120, Period: 3700 * ms, Duty: 0.45}, Tick: 125 * ms, Average: 800 * ms,
		RingPeriod: 25 * ms, RingDepth: 2 * s, CounterLatency: 3300 * time.Microsecond,
	})
	if u := p.Signals["power_average_w"].Update; u == nil || *u < 120*ms || *u > 130*ms {
		t.Errorf("update period of the mean: %v, want 125 ms", u)
	}
	if u := p.Signals["energy_counter_j"].Update; u == nil || *u < 115*ms || *u > 135*ms {
		t.Errorf("update period of the counter: %v, want 125 ms", u)
	}
	if w := p.AverageWindow; w == nil || *w < 750*ms || *w > 850*ms {
		t.Errorf("averaging window %v (%s), want 800 ms", w, p.AverageReason)
	}
	if r := p.Ring; r.Spacing == nil || *r.Spacing != 25*ms || r.Depth < 1900*ms || r.Depth > 2*s || r.Entries != 80 {
		t.Errorf("ring buffer %+v, want 80 entries 25 ms apart", r)
	}
	if c := p.Calls[power.ClassCounter]; c.P50 != 3300*time.Microsecond || c.Max != c.P50 || c.Count < 1000 {
		t.Errorf("calls of the counter %+v, want 3.3 ms", c)
	}
	if len(p.AliasPeriods) != 4 || p.AliasPeriods[1] != 25*ms {
		t.Errorf("alias periods %v", p.AliasPeriods)
	}
}

// TestProbeOfASteadyCard: what a steady load cannot show is not made up.
func TestProbeOfASteadyCard(t *testing.T) {
	t.Parallel()
	p := probe(t, power.SyntheticDevice{Load: power.Constant(77), RingPeriod: -1})
	if p.AverageWindow != nil || p.AverageReason != power.NoData {
		t.Errorf("averaging window %v, reason %q", p.AverageWindow, p.AverageReason)
	}
	if x := p.Signals["power_average_w"]; x.Update != nil || x.Reason != power.NoData {
		t.Errorf("mean that never changes: %+v", x)
	}
	if x := p.Signals["power_memory_w"]; x.Update != nil || x.Reason != power.NoData {
		t.Errorf("a signal it does not have: %+v", x)
	}
	if p.Ring.Spacing != nil || p.Ring.Reason == "" {
		t.Errorf("no ring buffer: %+v", p.Ring)
	}
	if _, asked := p.Calls[power.ClassRing]; asked {
		t.Error("calls of a class it does not offer are listed")
	}
	near(t, "mean", float64(*p.MeanWatts), 77, 0.001)
}
