package power_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lmxbench/power"
)

// burst is a load of 120 W with work at 700 W between two times.
func burst(from, to time.Duration) power.Steps {
	return power.Steps{{At: 0, Power: 120}, {At: from, Power: 700}, {At: to, Power: 120}}
}

func TestEnergyOfKnownLoads(t *testing.T) {
	t.Parallel()
	tests := []struct {
		about    string
		load     power.Load
		from, to time.Duration
		phase    time.Duration
		latency  time.Duration
	}{
		{"a constant load, ends anywhere between ticks", power.Constant(700), 4137 * ms, 14219 * ms, 33 * ms, 3 * ms},
		{"a burst, the window inside it", burst(4*s, 16*s), 5200 * ms, 15013 * ms, 71 * ms, 3 * ms},
		{"a burst, the window exactly around it: both ends on a step", burst(4050*ms, 14030*ms), 4050 * ms, 14030 * ms, 17 * ms, 3 * ms},
		{"a burst of six seconds, exactly", burst(4*s, 10*s), 4 * s, 10 * s, 49 * ms, 4 * ms},
		{"700/120 W in a slow square, ends away from its steps", power.Square{High: 700, Low: 120, Period: 6 * s, Duty: 0.4}, 4300 * ms, 16900 * ms, 5 * ms, 3 * ms},
		{"700/120 W in a fast square of 33 ms", power.Square{High: 700, Low: 120, Period: 33 * ms, Duty: 0.45}, 4003 * ms, 14003 * ms, 3 * ms, 3 * ms},
		{"the counter answers at once", burst(4*s, 16*s), 5200 * ms, 15013 * ms, 71 * ms, 0},
		{"a bracket of 28 ms around every read still holds the tick's middle", power.Constant(560), 5 * s, 15 * s, 21 * ms, 28 * ms},
	}
	for _, tt := range tests {
		t.Run(tt.about, func(t *testing.T) {
			t.Parallel()
			series, _ := record(t, recording{
				devices: []power.SyntheticDevice{{Load: tt.load, TickPhase: tt.phase, CounterLatency: tt.latency, CounterStart: 123456}},
				length:  20 * s, marks: []time.Duration{tt.from, tt.to},
			})
			w := series.Window(power.WindowRequest{Name: "lmx", From: tt.from, To: tt.to})
			g := one(t, w)
			want := float64(tt.load.Energy(tt.to) - tt.load.Energy(tt.from))
			if g.EnergySource != power.EnergyCounterTicks {
				t.Fatalf("energy source is %q (%s), want the counter", g.EnergySource, g.Counter.Reason)
			}
			near(t, "counter", joules(t, w.Energy), want, 0.1)
			if off := math.Abs(joules(t, w.Energy) - want); off > float64(*w.Uncertainty) {
				t.Errorf("off by %.2f J, more than the stated %.2f J", off, float64(*w.Uncertainty))
			}
			near(t, "mean watts", float64(*w.MeanWatts), want/(tt.to-tt.from).Seconds(), 0.1)
			near(t, "ring buffer", joules(t, g.Samples.Joules), want, 1)
			near(t, "one-second mean", joules(t, g.Average.Joules), want, 1)
			if len(w.Findings) != 0 {
				t.Errorf("a clean recording has findings: %+v", w.Findings)
			}
		})
	}
}

// TestNaiveReadings keeps the reason for the ticks in sight: two plain reads
// of the counter are only good to a per cent, and the mean of the gauge is
// worse on a short burst.
func TestNaiveReadings(t *testing.T) {
	t.Parallel()
	load := burst(4*s, 10*s)
	series, _ := record(t, recording{
		devices: []power.SyntheticDevice{{Load: load, TickPhase: 49 * ms, CounterLatency: 3 * ms, Gauges: map[power.Signal]float64{power.Utilization: 100}}},
		length:  14 * s, marks: []time.Duration{4 * s, 10 * s},
	})
	want := float64(load.Energy(10*s) - load.Energy(4*s))
	seed := series.SeedBetween("", 4*s, 10*s)
	got, ok := seedMean(seed)
	if !ok {
		t.Fatal("the seed rule gives no mean")
	}
	if off := 100 * (got/(want/6) - 1); off > -3 || off < -30 {
		t.Errorf("seed rule on a 6 s burst: off by %+.1f %%, want it clearly low", off)
	}
	near(t, "ours", joules(t, series.Window(power.WindowRequest{From: 4 * s, To: 10 * s}).Energy), want, 0.1)
}

func seedMean(w power.SeedWindow) (float64, bool) {
	if w.PowerMean == nil {
		return 0, false
	}
	return float64(*w.PowerMean), true
}

// TestSplittingNeverChangesTheSum: E(a,b) + E(b,c) = E(a,c), whatever the
// load, for the counter and for the ring buffer.
func TestSplittingNeverChangesTheSum(t *testing.T) {
	t.Parallel()
	series, _ := record(t, recording{
		devices: []power.SyntheticDevice{{Load: power.Square{High: 700, Low: 120, Period: 731 * ms, Duty: 0.4}, TickPhase: 13 * ms, CounterLatency: 3 * ms}},
		length:  20 * s, marks: []time.Duration{5 * s, 9 * s, 15 * s},
	})
	at := rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.Int64Range(int64(4*s), int64(16*s)).Draw(t, "at"))
	})
	rapid.Check(t, func(t *rapid.T) {
		cut := []time.Duration{at.Draw(t, "a"), at.Draw(t, "b"), at.Draw(t, "c")}
		a, b, c := min(cut[0], cut[1], cut[2]), cut[0]+cut[1]+cut[2]-min(cut[0], cut[1], cut[2])-max(cut[0], cut[1], cut[2]), max(cut[0], cut[1], cut[2])
		if a == b || b == c {
			t.Skip("an empty part")
		}
		part := func(from, to time.Duration) (counter, ring float64) {
			g := series.Window(power.WindowRequest{From: from, To: to}).GPUs[0]
			if g.Counter.Joules == nil || g.Samples.Joules == nil {
				t.Fatalf("no energy between %v and %v: %s, %s", from, to, g.Counter.Reason, g.Samples.Reason)
			}
			return float64(*g.Counter.Joules), float64(*g.Samples.Joules)
		}
		c1, r1 := part(a, b)
		c2, r2 := part(b, c)
		c3, r3 := part(a, c)
		if math.Abs(c1+c2-c3) > 1e-6 || math.Abs(r1+r2-r3) > 1e-6 {
			t.Fatalf("split at %v: counter %v + %v = %v, whole %v; ring %v + %v = %v, whole %v", b, c1, c2, c1+c2, c3, r1, r2, r1+r2, r3)
		}
	})
}

// TestStatedUncertaintyHolds: the error of the counter's energy stays within
// the stated bound for random bursts, ends and phases.
func TestStatedUncertaintyHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(name string, lo, hi time.Duration) time.Duration {
			return time.Duration(rapid.Int64Range(int64(lo), int64(hi)).Draw(rt, name))
		}
		begin, end := draw("begin", 3*s, 4*s), draw("end", 6*s, 8*s)
		from, to := begin+draw("into", -200*ms, 500*ms), end+draw("over", -500*ms, 200*ms)
		load := burst(begin, end)
		series, _ := record(t, recording{
			devices: []power.SyntheticDevice{{Load: load, TickPhase: draw("phase", 0, 100*ms), CounterLatency: draw("latency", 0, 8*ms), RingPeriod: -1}},
			length:  11 * s, marks: []time.Duration{from, to}, config: power.RecorderConfig{GaugePeriod: s},
		})
		w := series.Window(power.WindowRequest{From: from, To: to})
		if w.Energy == nil {
			rt.Fatalf("no energy: %s", w.EnergyReason)
		}
		want := load.Energy(to) - load.Energy(from)
		if off := math.Abs(float64(*w.Energy - want)); off > float64(*w.Uncertainty)+0.01 {
			rt.Errorf("off by %.3f J of %.1f J, stated ± %.3f J", off, float64(want), float64(*w.Uncertainty))
		}
	})
}

func TestTokensAndSums(t *testing.T) {
	t.Parallel()
	series, _ := record(t, recording{
		devices: []power.SyntheticDevice{
			{UUID: "GPU-a", Load: power.Constant(500), Gauges: map[power.Signal]float64{power.MemoryUsed: 80e9}, Processes: []power.Process{{PID: 41, Bytes: 80e9}}},
			{UUID: "GPU-b", Load: power.Constant(300), Gauges: map[power.Signal]float64{power.MemoryUsed: 70e9}, Processes: []power.Process{{PID: 42, Bytes: 70e9}}},
			{UUID: "GPU-idle", Load: power.Constant(77), Gauges: map[power.Signal]float64{power.MemoryUsed: 5e8}},
		},
		length: 12 * s,
	})
	tokens := int64(8000)
	req := power.WindowRequest{Name: "plateau", Iteration: 2, From: 4 * s, To: 9 * s, Tokens: &tokens, IdleFrom: 2 * s, IdleTo: 3 * s}

	w := series.Window(req)
	if w.GPUBasis != power.BasisMemory || len(w.GPUs) != 2 {
		t.Fatalf("got %d GPUs by %s, want the two with memory", len(w.GPUs), w.GPUBasis)
	}
	near(t, "sum", joules(t, w.Energy), 4000, 1.5)
	near(t, "J/token", *w.JoulesPerToken, 0.5, 1.5)
	near(t, "tokens/J", *w.TokensPerJoule, 2, 1.5)
	near(t, "idle", float64(*w.IdleWatts), 800, 8)
	near(t, "memory", *w.MemoryUsedPeak, 150e9, 0)

	req.OwnPIDs = []int{42}
	if w = series.Window(req); w.GPUBasis != power.BasisPID || len(w.GPUs) != 1 || w.GPUs[0].UUID != "GPU-b" {
		t.Errorf("with the server's process: got %d GPUs by %s", len(w.GPUs), w.GPUBasis)
	}
	req.GPUs = []string{"GPU-a"}
	w = series.Window(req)
	if diff := cmp.Diff([]power.Code{power.CodeForeign}, codes(w.Findings)); diff != "" {
		t.Errorf("a stranger on the card (-want +got):\n%s", diff)
	}
	req.GPUs, req.Tokens, req.OwnPIDs = []string{"GPU-a"}, nil, nil
	if w = series.Window(req); w.JoulesPerToken != nil || w.TokensPerJoule != nil {
		t.Error("figures per token without a token count")
	}
	req.GPUs = []string{"GPU-a", "GPU-gone"}
	if w = series.Window(req); w.Energy != nil || w.EnergyReason != power.NoData {
		t.Errorf("an unknown UUID: energy %v, reason %s; a part is not the sum", w.Energy, w.EnergyReason)
	}
}

// TestCodesFire has one case per code, and each fires alone.
func TestCodesFire(t *testing.T) {
	t.Parallel()
	load := burst(4*s, 14*s)
	from, to := 4*s, 14*s
	tests := []struct {
		about  string
		code   power.Code
		level  power.Level
		device power.SyntheticDevice
		length time.Duration
		from   time.Duration
		step   time.Duration
		source power.EnergySource // that is used after all
	}{
		{"the recording stops too early", power.CodeNotBracketed, power.LevelWarn, power.SyntheticDevice{}, 13900 * ms, 0, 0, power.EnergyNone},
		{"the counter starts again", power.CodeNonMonotonic, power.LevelWarn, power.SyntheticDevice{CounterStart: 5e6, Faults: []power.Fault{{Kind: power.FaultReset, From: 9 * s}}}, 0, 0, 0, power.EnergySamples},
		{"the counter stands still", power.CodeStuck, power.LevelWarn, power.SyntheticDevice{Faults: []power.Fault{{Kind: power.FaultStuck, From: 6 * s, To: 9 * s}}}, 0, 0, 0, power.EnergySamples},
		{"the counter counts 3 % too much", power.CodeDisagree, power.LevelWarn, power.SyntheticDevice{Gain: 1.03}, 0, 0, 0, power.EnergyCounterTicks},
		{"the counter counts 8 % too little", power.CodeDisagree, power.LevelInvalid, power.SyntheticDevice{Gain: 0.92}, 0, 0, 0, power.EnergyCounterTicks},
		{"the step is locked to the sensor", power.CodeAlias, power.LevelWarn, power.SyntheticDevice{}, 0, 0, 20020 * time.Microsecond, power.EnergyCounterTicks},
		{"a module with its CPU", power.CodeScopeModule, power.LevelWarn, power.SyntheticDevice{Scope: power.ScopeModule}, 0, 0, 0, power.EnergyCounterTicks},
		{"a partitioned card", power.CodeMIG, power.LevelWarn, power.SyntheticDevice{MIG: true}, 0, 0, 0, power.EnergyNone},
		{"another card at the index", power.CodeIdentityChanged, power.LevelInvalid, power.SyntheticDevice{Faults: []power.Fault{{Kind: power.FaultIdentity, From: 8 * s}}}, 0, 0, 0, power.EnergyNone},
		{"the card falls off its bus", power.CodeUnavailable, power.LevelWarn, power.SyntheticDevice{Faults: []power.Fault{{Kind: power.FaultLost, From: 8 * s}}}, 0, 0, 0, power.EnergyNone},
		{"the ring buffer was drained too late", power.CodeGap, power.LevelWarn, power.SyntheticDevice{Faults: []power.Fault{{Kind: power.FaultRingLost, From: 7 * s, To: 8 * s}}}, 0, 0, 0, power.EnergyCounterTicks},
	}
	for _, tt := range tests {
		t.Run(tt.about, func(t *testing.T) {
			t.Parallel()
			tt.device.Load, tt.device.TickPhase, tt.device.CounterLatency = load, 31*ms, 3*ms
			if tt.length == 0 {
				tt.length = 18 * s
			}
			series, _ := record(t, recording{devices: []power.SyntheticDevice{tt.device}, length: tt.length, marks: []time.Duration{from, to}})
			w := series.Window(power.WindowRequest{Name: "lmx", From: from, To: to, StepPeriod: tt.step})
			var hit *power.Finding
			for i, f := range w.Findings {
				if f.Code == tt.code {
					hit = &w.Findings[i]
				}
			}
			if hit == nil {
				t.Fatalf("%s does not fire; findings: %+v", tt.code, w.Findings)
			}
			if hit.Level != tt.level || hit.Detail == "" {
				t.Errorf("got level %s, detail %q, want level %s", hit.Level, hit.Detail, tt.level)
			}
			if w.EnergySource != tt.source {
				t.Errorf("energy source %q (%s), want %q", w.EnergySource, w.EnergyReason, tt.source)
			}
			if (w.Energy == nil) != (tt.source == power.EnergyNone) || (w.Energy == nil) != (w.EnergyReason != "") {
				t.Errorf("energy %v, source %q, reason %q do not fit together", w.Energy, w.EnergySource, w.EnergyReason)
			}
			if w.Energy != nil && tt.device.Gain == 0 {
				near(t, "energy", float64(*w.Energy), float64(load.Energy(to)-load.Energy(from)), 0.5)
			}
		})
	}
}

// TestWrapIsUnwound: a counter with a known range goes over its end.
func TestWrapIsUnwound(t *testing.T) {
	t.Parallel()
	series, _ := record(t, recording{
		devices: []power.SyntheticDevice{{Load: power.Constant(200), CounterWrap: 1000, CounterLatency: 2 * ms, TickPhase: 7 * ms}},
		length:  16 * s, marks: []time.Duration{4 * s, 13 * s},
	})
	w := series.Window(power.WindowRequest{From: 4 * s, To: 13 * s})
	near(t, "energy over the wrap", joules(t, w.Energy), 1800, 0.1)
	if len(w.Findings) != 0 {
		t.Errorf("findings: %+v", w.Findings)
	}
}

// TestResetOutsideTheWindow: what happened before or after does not matter.
func TestResetOutsideTheWindow(t *testing.T) {
	t.Parallel()
	series, _ := record(t, recording{
		devices: []power.SyntheticDevice{{Load: power.Constant(200), CounterStart: 1e6, CounterLatency: 2 * ms, Faults: []power.Fault{{Kind: power.FaultReset, From: 9 * s}}}},
		length:  16 * s, marks: []time.Duration{3 * s, 8 * s, 10 * s, 14 * s},
	})
	for _, w := range [][2]time.Duration{{3 * s, 8 * s}, {10 * s, 14 * s}} {
		got := series.Window(power.WindowRequest{From: w[0], To: w[1]})
		near(t, fmt.Sprint(w), joules(t, got.Energy), 200*(w[1]-w[0]).Seconds(), 0.1)
		if len(got.Findings) != 0 {
			t.Errorf("%v: findings: %+v", w, got.Findings)
		}
	}
}

func TestEmptyWindow(t *testing.T) {
	t.Parallel()
	series, _ := record(t, recording{devices: []power.SyntheticDevice{{Load: power.Constant(200)}}, length: 5 * s})
	w := series.Window(power.WindowRequest{From: 3 * s, To: 3 * s})
	if w.Energy != nil || w.EnergyReason != power.EmptyWindow || w.EnergySource != power.EnergyNone {
		t.Errorf("got energy %v, reason %q, source %q", w.Energy, w.EnergyReason, w.EnergySource)
	}
}
