package ceiling_test

import (
	"testing"

	"lmxbench/internal/ceiling"
)

// Rows the leaderboard verified, all above the dense reading of its rule, so
// that reading cannot be what it does everywhere. The limits are published; so
// are the sizes, except the two BF16 ones, which were solved from the limits.
func TestVerifiedRowsExceedTheDenseReading(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		why         string
		gpu         string
		totalGB     float64
		length      float64
		rate, limit float64
		unit        float64
	}{
		{"Qwen3.6 FP8 on H200, 37.5 GB", "H200", 37.5, 0, 261.5, 147, 1},
		{"Qwen3.6 FP8 on H100, 37.5 GB", "H100 SXM", 37.5, 0, 247.4, 103, 1},
		{"Nemotron BF16 on H200, 63.2 GB", "H200", 63.2, 0, 337.6, 87, 1},
		{"gemma BF16 on B200, 51.6 GB", "B200", 51.6, 0, 245.3, 178, 1},
		{"Nemotron NVFP4 with DSpark on 5090, 21.6 GB, times 3.31", "RTX 5090", 21.6, 3.31, 681.5, 316, 1},
		{"35 GB of weights on H200", "H200", 35, 0, 261.5, 158, 1},
		{"35 GB of weights on H100", "H100 SXM", 35, 0, 247.4, 110, 1},
		{"60 GB of weights on H100", "H100 SXM", 60, 0, 280.9, 64, 1},
	} {
		variants, ok := ceiling.SiteVariants(row.rate, machine(t, row.gpu), row.totalGB*1e9, 3e9, row.length)
		if !ok {
			t.Fatalf("%s: no variants", row.why)
		}
		dense := variants[0]
		if row.length > 0 {
			dense = variants[2]
		}
		printed(t, row.why, dense.Limit, row.limit, row.unit)
		if dense.Passes || !dense.Dense || dense.Accepted != (row.length > 0) {
			t.Errorf("%s: got %+v, want the dense reading to fail", row.why, dense)
		}
		if !variants[1].Passes && row.length == 0 {
			t.Errorf("%s: got %+v, want the active reading to pass", row.why, variants[1])
		}
	}
}

func TestSiteVariants(t *testing.T) {
	t.Parallel()
	m := ceiling.Machine{BandwidthGBps: 1792}
	// The one published pair: 383 rejected against "329", 407 accepted by its
	// accepted length.
	variants, ok := ceiling.SiteVariants(407, m, 26e9*4.5/8, 4e9*4.5/8, 4.04)
	if !ok || len(variants) != 4 {
		t.Fatalf("got %d variants, %v, want 4", len(variants), ok)
	}
	printed(t, "dense", variants[0].Ceiling, 122.5, 0.1)
	if variants[0].Passes || !variants[2].Passes {
		t.Errorf("got %+v, want 407 to pass only with its accepted length", variants)
	}
	if variants, _ = ceiling.SiteVariants(1, m, 1e9, 0, 0); len(variants) != 1 {
		t.Errorf("active bytes unknown: got %d variants, want the dense one", len(variants))
	}
	if _, ok := ceiling.SiteVariants(1, ceiling.Machine{}, 1e9, 0, 0); ok {
		t.Error("bandwidth unknown: want none")
	}
	if _, ok := ceiling.SiteVariants(1, m, 0, 1e9, 0); ok {
		t.Error("size unknown: want none")
	}
}
