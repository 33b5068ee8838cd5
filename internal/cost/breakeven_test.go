package cost_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"lmxbench/internal/cost"
)

// sweep is the published sweep of Qwen3.6 FP8 on a B200.
func sweep() []cost.Rung { return []cost.Rung{{256, 14499.4}, {1, 220.4}, {128, 9790.9}, {64, 6171.9}} }

func TestBreakEvenOfThePublishedSweep(t *testing.T) {
	t.Parallel()
	rate, ok := cost.BreakEvenRate(5.60, 0.70)
	if printed(t, "rate", rate, 2222.2, 0.1); !ok {
		t.Fatal("no rate")
	}
	b, err := cost.FindBreakEven(sweep(), rate)
	if err != nil {
		t.Fatal(err)
	}
	if b.Where != cost.Between || b.Lower.Streams != 1 || b.Upper.Streams != 64 {
		t.Fatalf("got %+v, want between 1 and 64 streams", b)
	}
	printed(t, "rate linear", b.Methods.Rate, 22.19, 0.01)
	printed(t, "log-log", b.Methods.LogLog, 17.89, 0.01)
	printed(t, "step time linear", b.Methods.StepTime, 12.44, 0.01)
	printed(t, "estimate", b.Streams, 12.44, 0.01)
	printed(t, "bracket from", b.Lo, 12.44, 0.01)
	printed(t, "bracket to", b.Hi, 22.19, 0.01)
	if b.Methods.Cubic == nil {
		t.Error("monotone cubic: got none")
	} else {
		printed(t, "monotone cubic", *b.Methods.Cubic, 21.10, 0.01)
	}
	if !slices.Equal(b.Missing, []int{8, 16, 32}) {
		t.Errorf("rungs to measure: got %v, want 8, 16, 32", b.Missing)
	}
	// The published figure divides by the stream rate at 64, printed as 96.4;
	// unrounded it is 23.04. Either lies outside the bracket.
	seed, _ := cost.StreamsAtRungRate(cost.Rung{Streams: 64, TokensPerSecond: 96.4 * 64}, rate)
	printed(t, "as published", seed, 23.05, 0.01)
	seed, _ = cost.StreamsAtRungRate(cost.Rung{Streams: 64, TokensPerSecond: 6171.9}, rate)
	printed(t, "as published, unrounded", seed, 23.04, 0.01)
	if seed <= b.Hi {
		t.Errorf("got %v within the bracket to %v", seed, b.Hi)
	}
}

func TestBreakEvenOnAnH100(t *testing.T) {
	t.Parallel()
	rate, _ := cost.BreakEvenRate(1.20, 0.70)
	printed(t, "rate", rate, 476.2, 0.1)
	b, err := cost.FindBreakEven([]cost.Rung{{1, 247.4}, {64, 5496}, {128, 7509.4}, {256, 9867.8}}, rate)
	if err != nil {
		t.Fatal(err)
	}
	if b.Lo >= b.Hi || b.Lo < 1 || b.Hi > 64 {
		t.Errorf("got %+v", b)
	}
	seed, _ := cost.StreamsAtRungRate(cost.Rung{Streams: 64, TokensPerSecond: 5496}, rate)
	printed(t, "by the rate of one stream at 64", seed, 5.5, 0.1)
}

func TestBreakEvenNeverExtrapolates(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		why   string
		rungs []cost.Rung
		rate  float64
		want  cost.BreakEven
	}{
		{"already one stream is enough", sweep(), 100, cost.BreakEven{Where: cost.BelowFirst, Upper: cost.Rung{1, 220.4}}},
		{"no rung is enough", sweep(), 20000, cost.BreakEven{Where: cost.NotReached, Lower: cost.Rung{256, 14499.4}}},
		{"one rung, too slow", sweep()[1:2], 300, cost.BreakEven{Where: cost.NotReached, Lower: cost.Rung{1, 220.4}}},
	} {
		b, err := cost.FindBreakEven(row.rungs, row.rate)
		if err != nil {
			t.Fatal(err)
		}
		if b.Where != row.want.Where || b.Lower != row.want.Lower || b.Upper != row.want.Upper || b.Streams != 0 || b.Hi != 0 {
			t.Errorf("%s: got %+v, want %+v", row.why, b, row.want)
		}
	}
	b, _ := cost.FindBreakEven(sweep(), 6171.9)
	if b.Where != cost.AtRung || b.Streams != 64 || b.Lo != 64 || b.Hi != 64 {
		t.Errorf("exactly a rung: got %+v", b)
	}
}

func TestBreakEvenOfOddSweeps(t *testing.T) {
	t.Parallel()
	// The rate falls at 128 (an overloaded server): the first crossing counts,
	// and no monotone curve exists.
	b, err := cost.FindBreakEven([]cost.Rung{{1, 100}, {64, 3000}, {128, 2000}, {256, 4000}}, 2500)
	if err != nil || b.Upper.Streams != 64 || b.Methods.Cubic != nil {
		t.Errorf("got %+v, %v, want a crossing below 64 and no cubic", b, err)
	}
	// Neighbours close together need no more rungs.
	if b, _ = cost.FindBreakEven([]cost.Rung{{16, 1000}, {20, 1200}}, 1100); len(b.Missing) != 0 {
		t.Errorf("got %v, want no missing rungs", b.Missing)
	}
	for why, rungs := range map[string][]cost.Rung{
		"no rungs":          nil,
		"no streams":        {{0, 5}},
		"twice":             {{4, 5}, {4, 6}},
		"a rate of zero":    {{1, 0}},
		"an undefined rate": {{1, math.NaN()}},
	} {
		if b, err := cost.FindBreakEven(rungs, 3); err == nil {
			t.Errorf("%s: got %+v, want an error", why, b)
		}
	}
	if _, err := cost.FindBreakEven(sweep(), 0); err == nil {
		t.Error("a rate of zero breaks even nowhere")
	}
	if rate, ok := cost.BreakEvenRate(0, 1); ok {
		t.Errorf("a free machine: got %v", rate)
	}
	if _, ok := cost.StreamsAtRungRate(cost.Rung{}, 1); ok {
		t.Error("no rung")
	}
}

// Whatever the sweep, every method stays between the neighbours, and the
// bracket holds the truth of an engine whose step grows by a concave law.
func TestBreakEvenBracketsTheTruth(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.Float64Range(0.001, 0.02).Draw(t, "base")
		slope := rapid.Float64Range(1e-6, 1e-3).Draw(t, "slope")
		bend := rapid.Float64Range(0.5, 1).Draw(t, "bend") // step = base + slope·c^bend
		rate := func(c float64) float64 { return c / (base + slope*math.Pow(c, bend)) }
		var rungs []cost.Rung
		for _, c := range []int{1, 16, 64, 256} {
			rungs = append(rungs, cost.Rung{c, rate(float64(c))})
		}
		truth := rapid.Float64Range(1.01, 255).Draw(t, "truth")
		b, err := cost.FindBreakEven(rungs, rate(truth))
		if err != nil {
			t.Fatal(err)
		}
		if b.Where != cost.Between {
			return
		}
		lo, hi := float64(b.Lower.Streams), float64(b.Upper.Streams)
		for name, c := range map[string]float64{"step time": b.Methods.StepTime, "rate": b.Methods.Rate, "log-log": b.Methods.LogLog} {
			if c < lo*(1-1e-9) || c > hi*(1+1e-9) {
				t.Fatalf("%s: got %v outside %v to %v", name, c, lo, hi)
			}
		}
		if truth < b.Lo*(1-1e-9) || truth > b.Hi*(1+1e-9) {
			t.Fatalf("truth %v outside the bracket %v to %v", truth, b.Lo, b.Hi)
		}
	})
}
