package power_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lmxbench/power"
)

// gauges records twenty seconds of a card by hand; each reading may be edited.
func gauges(t *testing.T, edit func(at time.Duration, x *power.Sample)) *power.Series {
	t.Helper()
	dev := power.Device{UUID: "GPU-a", Scope: power.ScopeGPU, CounterPeriod: 100 * ms, Classes: []power.Class{power.ClassGauges, power.ClassCounter}}
	series := power.NewSeries(time.Unix(1796068800, 0), power.Description{Devices: []power.Device{dev}})
	add := func(x power.Sample) {
		if err := series.Add(x); err != nil {
			t.Fatal(err)
		}
	}
	for at := time.Duration(0); at <= 20*s; at += 50 * ms {
		x := power.Sample{Kind: power.KindGauge, GPU: "GPU-a", Before: at, After: at + 60*time.Microsecond}
		x.Values.Set(power.PowerInstant, 500)
		x.Values.Set(power.ClockSM, 1980)
		x.Values.Set(power.PowerCappedTime, 0)
		x.Values.Set(power.ThermalSWTime, 0)
		x.Values.Set(power.ThrottleReasons, 0)
		if edit != nil {
			edit(at, &x)
		}
		add(x)
		if at%(100*ms) == 0 {
			c := power.Sample{Kind: power.KindCounter, GPU: "GPU-a", Before: at, After: at}
			c.Values.Set(power.EnergyCounter, 500*at.Seconds())
			add(c)
		}
	}
	return series
}

func TestThrottling(t *testing.T) {
	t.Parallel()
	// The counter of time under the cap runs from 6 s to 10 s.
	grow := func(at time.Duration) float64 { return float64(min(max(0, at-6*s), 4*s)) }
	tests := []struct {
		about  string
		signal power.Signal
		code   power.Code
		share  func(power.Throttle) *float64
	}{
		{"under the power cap", power.PowerCappedTime, power.CodeCapped, func(t power.Throttle) *float64 { return t.PowerCapped }},
		{"software thermal slowdown", power.ThermalSWTime, power.CodeThermal, func(t power.Throttle) *float64 { return t.ThermalSW }},
		{"hardware thermal slowdown", power.ThermalHWTime, power.CodeThermal, func(t power.Throttle) *float64 { return t.ThermalHW }},
		{"power brake", power.PowerBrakeTime, power.CodeThermal, func(t power.Throttle) *float64 { return t.PowerBrake }},
	}
	for _, tt := range tests {
		t.Run(tt.about, func(t *testing.T) {
			t.Parallel()
			series := gauges(t, func(at time.Duration, x *power.Sample) { x.Values.Set(tt.signal, 1e12+grow(at)) })
			w := series.Window(power.WindowRequest{From: 4 * s, To: 12 * s})
			near(t, "share", *tt.share(one(t, w).Throttle), 0.5, 0.1)
			if diff := cmp.Diff([]power.Code{tt.code}, codes(w.Findings)); diff != "" {
				t.Errorf("codes (-want +got):\n%s", diff)
			}
			w = series.Window(power.WindowRequest{From: 11 * s, To: 15 * s})
			if len(w.Findings) != 0 {
				t.Errorf("after it: %+v", w.Findings)
			}
		})
	}
}

func TestThrottleReasonsByName(t *testing.T) {
	t.Parallel()
	series := gauges(t, func(at time.Duration, x *power.Sample) {
		if at >= 6*s && at < 8*s {
			x.Values.Set(power.ThrottleReasons, 0x4|0x20)
		}
	})
	w := series.Window(power.WindowRequest{From: 4*s + ms, To: 12*s + ms})
	want := map[string]float64{"sw_power_cap": 0.25, "sw_thermal_slowdown": 0.25}
	if diff := cmp.Diff(want, one(t, w).Throttle.Reasons); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCountersThatWentBack: a share cannot be told when the driver started its
// counters anew inside the window.
func TestCountersThatWentBack(t *testing.T) {
	t.Parallel()
	series := gauges(t, func(at time.Duration, x *power.Sample) {
		x.Values.Set(power.PowerCappedTime, 5e9)
		if at > 8*s {
			x.Values.Set(power.PowerCappedTime, 1e9)
		}
	})
	if share := one(t, series.Window(power.WindowRequest{From: 4 * s, To: 12 * s})).Throttle.PowerCapped; share != nil {
		t.Errorf("got a share of %v, want none", *share)
	}
}

func TestClockStep(t *testing.T) {
	t.Parallel()
	series := gauges(t, nil)
	for at := time.Duration(0); at <= 20*s; at += s {
		wall := series.Origin.Add(at)
		if at > 9*s {
			wall = wall.Add(-300 * ms)
		}
		if err := series.Add(power.Sample{Kind: power.KindClock, Before: at, After: at, Stamp: wall.UnixNano()}); err != nil {
			t.Fatal(err)
		}
	}
	w := series.Window(power.WindowRequest{From: 4 * s, To: 12 * s})
	if len(w.Findings) != 1 || w.Findings[0].Code != power.CodeClockStep || w.Findings[0].Level != power.LevelInvalid {
		t.Errorf("over the step: %+v", w.Findings)
	}
	if w = series.Window(power.WindowRequest{From: 11 * s, To: 15 * s}); len(w.Findings) != 0 {
		t.Errorf("after the step: %+v", w.Findings)
	}
}

func TestGaugeGap(t *testing.T) {
	t.Parallel()
	series := gauges(t, func(at time.Duration, x *power.Sample) {
		if at > 6*s && at < 8*s {
			x.Values = power.Values{}
			x.Missing = []power.Missing{{Signal: power.AnySignal, Reason: power.Timeout}}
		}
	})
	w := series.Window(power.WindowRequest{From: 4 * s, To: 12 * s})
	if diff := cmp.Diff([]power.Code{power.CodeGap}, codes(w.Findings)); diff != "" {
		t.Errorf("codes (-want +got):\n%s\n%+v", diff, w.Findings)
	}
}

// TestAliasVectors: the beats of the measured sensor.
func TestAliasVectors(t *testing.T) {
	t.Parallel()
	us := time.Microsecond
	tests := []struct {
		about        string
		step, window time.Duration
		beat         float64 // seconds; 0: not checked
		risk         bool
	}{
		{"20.02 ms beats once in 20 s: too slow for 30 s", 20020 * us, 30 * s, 20.02, true},
		{"17.66 ms beats every 0.15 s", 17660 * us, 30 * s, 0.1509, false},
		{"locked to the sampler", 20 * ms, time.Hour, 0, true},
		{"locked to half of it", 10 * ms, time.Hour, 0, true},
		{"locked to twice it", 40 * ms, time.Hour, 0, true},
		{"locked to five times it", 100 * ms, time.Hour, 0, true},
		{"20.02 ms over two minutes is averaged out", 20020 * us, 2 * time.Minute, 20.02, false},
		{"no step known", 0, 30 * s, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.about, func(t *testing.T) {
			t.Parallel()
			b, risk := power.AliasRisk(tt.step, power.DefaultSamplerPeriod, tt.window)
			if risk != tt.risk {
				t.Errorf("risk is %v, want %v (beat %v)", risk, tt.risk, b.Period)
			}
			if tt.beat > 0 {
				near(t, "beat", b.Period.Seconds(), tt.beat, 0.1)
			}
		})
	}
}

// TestEveryCodeIsListed: Codes is complete and without repetition.
func TestEveryCodeIsListed(t *testing.T) {
	t.Parallel()
	list := power.Codes()
	slices.Sort(list)
	if n := len(slices.Compact(slices.Clone(list))); n != 14 || n != len(list) {
		t.Errorf("%d codes, %d different, want 14", len(list), n)
	}
}
