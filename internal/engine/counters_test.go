package engine_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lmxbench/internal/engine"
)

func TestDelta(t *testing.T) {
	t.Parallel()
	at := func(life string, tokens, drafts float64) engine.Counters {
		c := engine.Counters{
			Flavour: engine.VLLMMetrics, Life: life,
			Values: map[engine.Quantity]float64{engine.GenerationTokens: tokens, engine.Running: 5},
		}
		if drafts >= 0 {
			c.Values[engine.Drafts] = drafts
		}
		return c
	}
	hist := func(buckets ...float64) engine.Counters {
		h := engine.Histogram{}
		for i, n := range buckets {
			h.Buckets = append(h.Buckets, engine.Bucket{Bound: float64(i + 1), Count: n})
			h.Count, h.Sum = n, n
		}
		return engine.Counters{Latencies: map[engine.Latency]engine.Histogram{engine.TTFT: h}}
	}
	grown := func(values map[engine.Quantity]float64) engine.Growth { return engine.Growth{Values: values} }
	tests := []struct {
		why           string
		before, after engine.Counters
		want          engine.Growth
	}{
		{"growth, and no growth of what goes up and down", at("9", 10, 1), at("9", 15, 1), grown(map[engine.Quantity]float64{engine.GenerationTokens: 5, engine.Drafts: 0})},
		{"a quantity that is new is not known", at("9", 10, -1), at("9", 15, 3), grown(map[engine.Quantity]float64{engine.GenerationTokens: 5})},
		{"a quantity that is gone is not known", at("9", 10, 3), at("9", 15, -1), grown(map[engine.Quantity]float64{engine.GenerationTokens: 5})},
		{"a count that went down", at("", 10, 1), at("", 9, 1), engine.Growth{Restarted: true}},
		{"a later start, although all counts grew", at("100", 10, 1), at("200", 15, 1), engine.Growth{Restarted: true}},
		{"a start that one of them does not tell", at("", 10, 1), at("200", 15, 1), grown(map[engine.Quantity]float64{engine.GenerationTokens: 5, engine.Drafts: 0})},
		{"another flavour", at("", 1, 1), engine.Counters{Flavour: engine.SGLangMetrics}, engine.Growth{Restarted: true}},
		{"a distribution that went down", hist(3, 4), hist(2, 4), engine.Growth{Restarted: true}},
		{"a distribution with other bounds is not known", hist(3, 4), hist(3, 4, 4), engine.Growth{}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			got := engine.Delta(tt.before, tt.after)
			if len(got.Values) == 0 {
				got.Values = nil
			}
			if len(got.Latencies) == 0 {
				got.Latencies = nil
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("growth (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRatesOfNothingAreUnknown(t *testing.T) {
	t.Parallel()
	idle := engine.Growth{Values: map[engine.Quantity]float64{engine.Drafts: 0, engine.DraftTokens: 0, engine.AcceptedTokens: 0}}
	for why, growth := range map[string]engine.Growth{"no draft": idle, "nothing known": {}} {
		if rate, ok := growth.AcceptanceRate(); ok {
			t.Errorf("%s: acceptance rate %v", why, rate)
		}
		if length, ok := growth.MeanAcceptedLength(); ok {
			t.Errorf("%s: mean accepted length %v", why, length)
		}
	}
}

func TestHistogram(t *testing.T) {
	t.Parallel()
	// 10 up to 1 s, 30 more up to 2 s, none up to 4 s, 10 beyond.
	h := engine.Histogram{Count: 50, Sum: 100, Buckets: []engine.Bucket{
		{Bound: 1, Count: 10}, {Bound: 2, Count: 40}, {Bound: 4, Count: 40}, {Bound: math.Inf(1), Count: 50},
	}}
	if mean, ok := h.Mean(); !ok || mean != 2*time.Second {
		t.Errorf("mean %v (%v), want 2s", mean, ok)
	}
	tests := []struct {
		q         float64
		low, high time.Duration
		value     time.Duration
		ok        bool
	}{
		{0, 0, time.Second, 0, true},
		{0.1, 0, time.Second, 500 * time.Millisecond, true},
		{0.2, 0, time.Second, time.Second, true},
		{0.5, time.Second, 2 * time.Second, 1500 * time.Millisecond, true},
		{0.8, time.Second, 2 * time.Second, 2 * time.Second, true},
		{0.9, 4 * time.Second, math.MaxInt64, 0, false},
	}
	for _, tt := range tests {
		low, high, ok := h.Bounds(tt.q)
		if !ok || low != tt.low || high != tt.high {
			t.Errorf("quantile %v lies in (%v, %v] (%v), want (%v, %v]", tt.q, low, high, ok, tt.low, tt.high)
		}
		if value, ok := h.Quantile(tt.q); ok != tt.ok || value != tt.value {
			t.Errorf("quantile %v is %v (%v), want %v (%v)", tt.q, value, ok, tt.value, tt.ok)
		}
	}
	for _, q := range []float64{-0.1, 1.1, math.NaN()} {
		if _, ok := h.Quantile(q); ok {
			t.Errorf("quantile %v is known", q)
		}
	}
	if _, ok := (engine.Histogram{}).Mean(); ok {
		t.Error("the mean of nothing is known")
	}
	if _, _, ok := (engine.Histogram{}).Bounds(0.5); ok {
		t.Error("the median of nothing is known")
	}
}

// Splitting a window in two and adding the growths gives the growth of the
// whole window.
func TestDeltaAddsUp(t *testing.T) {
	t.Parallel()
	quantities := []engine.Quantity{engine.GenerationTokens, engine.Requests, engine.DraftTokens}
	rapid.Check(t, func(t *rapid.T) {
		states := make([]engine.Counters, 3)
		for i := range states {
			states[i] = engine.Counters{Values: map[engine.Quantity]float64{}}
			for _, q := range quantities {
				n := float64(rapid.IntRange(0, 1<<30).Draw(t, string(q)))
				if i > 0 {
					n += states[i-1].Values[q]
				}
				states[i].Values[q] = n
			}
		}
		first, second := engine.Delta(states[0], states[1]), engine.Delta(states[1], states[2])
		whole := engine.Delta(states[0], states[2])
		for _, q := range quantities {
			if first.Values[q]+second.Values[q] != whole.Values[q] {
				t.Fatalf("%s: %v and %v make %v", q, first.Values[q], second.Values[q], whole.Values[q])
			}
		}
	})
}
