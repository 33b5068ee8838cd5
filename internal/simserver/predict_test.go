package simserver_test

import (
	"math"
	"testing"
	"time"

	"lmxbench/internal/simserver"
)

// TestPredictPublished holds the fitted profiles against the rows they are
// fitted to: rates within 1 %, TTFT within 2 %, wall time within 0.5 %. The
// prompt is the canonical one with its nonce line, 305 tokens.
func TestPredictPublished(t *testing.T) {
	t.Parallel()
	const prompt = 305
	tests := []struct {
		name    string
		profile string
		streams int
		tokens  int
		rate    float64 // as lmx computes it for that concurrency
		ttft    time.Duration
		wall    time.Duration
	}{
		{"Qwen3.6 FP8 on B200, alone", "b200-qwen36-35b-fp8", 1, 1024, 220.4, 0, 0},
		{"Qwen3.6 FP8 on B200, 64 streams", "b200-qwen36-35b-fp8", 64, 512, 6171.9, 0, 0},
		{"Qwen3.6 FP8 on B200, 128 streams", "b200-qwen36-35b-fp8", 128, 512, 9790.9, 0, 0},
		{"Qwen3.6 FP8 on B200, 256 streams", "b200-qwen36-35b-fp8", 256, 512, 14499.4, 857360 * time.Microsecond, 9182 * time.Millisecond},
		{"Nemotron with DSpark on RTX 5090", "rtx5090-nemotron-dspark", 1, 1024, 681.5, 76190 * time.Microsecond, 0},
		{"gemma with MTP on RTX 5090", "rtx5090-gemma-mtp", 1, 1024, 407.0, 258210 * time.Microsecond, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := simserver.LookupProfile(tt.profile)
			if err != nil {
				t.Fatal(err)
			}
			rate, out := 0.0, simserver.Prediction{}
			const seeds = 20 // speculation is drawn
			for seed := range uint64(seeds) {
				out = simserver.Predict(p, simserver.Load{Streams: tt.streams, PromptTokens: prompt, OutputTokens: tt.tokens}, seed)
				if tt.streams == 1 {
					rate += out.InterToken / seeds
				} else {
					rate += out.ConcurrentRequestWindow / seeds
				}
			}
			near(t, "rate", rate, tt.rate, 0.01)
			near(t, "TTFT", out.TTFT.Seconds(), tt.ttft.Seconds(), 0.02)
			near(t, "wall", out.Wall.Seconds(), tt.wall.Seconds(), 0.005)
		})
	}
}

// near compares with a relative tolerance; nothing published is no claim.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if want != 0 && math.Abs(got/want-1) > tolerance {
		t.Errorf("%s: got %.4g, want %.4g within %.1f %%", what, got, want, tolerance*100)
	}
}

// TestPredictSpread: one run differs from another as published runs do, not more.
func TestPredictSpread(t *testing.T) {
	t.Parallel()
	p, err := simserver.LookupProfile("rtx5090-nemotron-dspark")
	if err != nil {
		t.Fatal(err)
	}
	lo, hi := math.Inf(1), 0.0
	for seed := range uint64(30) {
		r := simserver.Predict(p, simserver.Load{Streams: 1, PromptTokens: 305, OutputTokens: 1024}, seed).InterToken
		lo, hi = min(lo, r), max(hi, r)
	}
	if lo == hi || (hi-lo)/lo > 0.05 {
		t.Errorf("30 seeds give %.1f…%.1f tok/s, want some spread below 5 %%", lo, hi)
	}
}

// TestPredictNothing: an empty load and a profile's own limits do no harm.
func TestPredictNothing(t *testing.T) {
	t.Parallel()
	p, err := simserver.LookupProfile("")
	if err != nil {
		t.Fatal(err)
	}
	if got := simserver.Predict(p, simserver.Load{}, 1); got != (simserver.Prediction{}) {
		t.Errorf("got %+v for no streams, want nothing", got)
	}
	// More streams than slots queue: the wall time doubles.
	one := simserver.Predict(p, simserver.Load{Streams: p.Slots, PromptTokens: 10, OutputTokens: 100}, 1)
	two := simserver.Predict(p, simserver.Load{Streams: 2 * p.Slots, PromptTokens: 10, OutputTokens: 100}, 1)
	near(t, "wall of two waves", two.Wall.Seconds(), 2*one.Wall.Seconds(), 0.02)
}
