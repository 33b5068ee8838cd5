package stats_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"golang.org/x/perf/benchmath"

	"lmxbench/stats"
)

func TestSmallSamplesSayLittle(t *testing.T) {
	t.Parallel()
	// n, sample ÷ population σ, half-width of the 95 % t interval in σ, and the
	// chance that minimum and maximum enclose the median.
	for _, row := range []struct {
		n                    int
		ratio, half, covered float64
	}{
		{3, 1.225, 2.48, 0.750},
		{5, 1.118, 1.24, 0.938},
		{6, 1.095, 1.05, 0.969},
		{10, 1.054, 0.72, 0.998},
		{20, 1.026, 0.47, 1.000},
	} {
		t.Run(fmt.Sprintf("n=%d", row.n), func(t *testing.T) {
			t.Parallel()
			xs := make([]float64, row.n)
			xs[0] = 1
			s, _ := stats.Summarize(xs)
			n := float64(row.n)
			population := math.Sqrt((n - 1) / n / n) // one 1 among zeros
			if got := *s.StdDev / population; math.Abs(got-row.ratio) > 0.0005 {
				t.Errorf("σ ratio: got %.4f, want %.3f", got, row.ratio)
			}
			if got, ok := stats.StudentHalfWidth(row.n, 0.95); !ok || math.Abs(got-row.half) > 0.005 {
				t.Errorf("half-width: got %.4f, %v, want %.2f", got, ok, row.half)
			}
			if got := stats.MinMaxCoverage(row.n); math.Abs(got-row.covered) > 0.0005 {
				t.Errorf("coverage: got %.4f, want %.3f", got, row.covered)
			}
		})
	}
}

func TestPublishedSigmaOfThreeIterations(t *testing.T) {
	t.Parallel()
	factor, ok := stats.StudentHalfWidth(3, 0.95)
	if got := stats.Round1(108 * factor); got != 268.3 || !ok {
		t.Errorf("σ 108 at n 3: got ±%v tok/s, want ±268.3", got)
	}
	ci, ok := stats.MeanInterval([]float64{14391, 14499, 14607}, 0.95)
	if !ok || stats.Round1(ci.Hi-14499) != 268.3 || stats.Round1(14499-ci.Lo) != 268.3 {
		t.Errorf("got %+v, %v, want 14499 ± 268.3", ci, ok)
	}
	if _, ok := stats.MeanInterval([]float64{1}, 0.95); ok {
		t.Error("one value has no interval")
	}
	if _, ok := stats.StudentHalfWidth(1, 0.95); ok {
		t.Error("one value has no half-width")
	}
	if _, ok := stats.StudentHalfWidth(3, 1); ok {
		t.Error("certainty has no half-width")
	}
}

func TestMedianIntervalNeedsSixValues(t *testing.T) {
	t.Parallel()
	xs := []float64{9, 1, 8, 2, 7}
	if ci, ok := stats.MedianInterval(xs, 0.95); ok {
		t.Errorf("five values: got %+v, want none", ci)
	}
	ci, ok := stats.MedianInterval(append(xs, 3), 0.95)
	if !ok || ci.Lo != 1 || ci.Hi != 9 || ci.Coverage != 0.96875 {
		t.Errorf("six values: got %+v, %v, want minimum to maximum at 96.875 %%", ci, ok)
	}
	for _, row := range []struct {
		level float64
		want  int
		ok    bool
	}{{0.95, 6, true}, {0.9, 5, true}, {0.99, 8, true}, {0.5, 2, true}, {1, 0, false}, {0, 0, false}, {math.NaN(), 0, false}} {
		if got, ok := stats.MinSamples(row.level); got != row.want || ok != row.ok {
			t.Errorf("MinSamples(%v): got %d, %v, want %d, %v", row.level, got, ok, row.want, row.ok)
		}
	}
	for _, bad := range [][]float64{nil, {1}, {1, 2, 3, 4, 5, math.NaN()}} {
		if ci, ok := stats.MedianInterval(bad, 0.95); ok {
			t.Errorf("%v: got %+v, want none", bad, ci)
		}
	}
}

// The interval is benchstat's for every size.
func TestMedianIntervalIsBenchstats(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for n := 2; n <= 60; n++ {
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = r.NormFloat64()
		}
		sample := benchmath.NewSample(append([]float64(nil), xs...), &benchmath.DefaultThresholds)
		want := benchmath.AssumeNothing.Summary(sample, 0.95)
		got, ok := stats.MedianInterval(xs, 0.95)
		if math.IsInf(want.Lo, 0) || math.IsInf(want.Hi, 0) {
			if ok {
				t.Errorf("n %d: got %+v, benchstat has none", n, got)
			}
			continue
		}
		if !ok || got.Lo != want.Lo || got.Hi != want.Hi || got.Coverage != want.Confidence {
			t.Errorf("n %d: got %+v, %v, want %+v", n, got, ok, want)
		}
	}
}

// The interval holds what it promises, also for a skewed distribution.
func TestMedianIntervalCovers(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	const trials = 20_000
	for _, n := range []int{6, 9, 15, 40} {
		hits, promised := 0, 0.0
		for range trials {
			xs := make([]float64, n)
			for i := range xs {
				xs[i] = r.ExpFloat64()
			}
			ci, ok := stats.MedianInterval(xs, 0.95)
			if !ok {
				t.Fatalf("n %d: no interval", n)
			}
			promised = ci.Coverage
			if ci.Lo <= math.Ln2 && math.Ln2 <= ci.Hi {
				hits++
			}
		}
		// Three standard errors of 20,000 trials at 95 % are 0.5 points.
		if got := float64(hits) / trials; math.Abs(got-promised) > 0.006 {
			t.Errorf("n %d: covered %.3f, promised %.3f", n, got, promised)
		}
	}
}

func TestEarlyStoppingFloors(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		p    float64
		want int
	}{{0.50, 11}, {0.90, 64}, {0.95, 130}, {0.99, 662}, {0.999, 6636}} {
		if got, ok := stats.EarlyStoppingFloor(row.p, 0.99); got != row.want || !ok {
			t.Errorf("p%g: got %d, %v, want %d", row.p*100, got, ok, row.want)
		}
	}
	for _, bad := range [][2]float64{{0, 0.99}, {1, 0.99}, {0.5, 0}, {0.5, 1}, {math.NaN(), 0.5}} {
		if got, ok := stats.EarlyStoppingFloor(bad[0], bad[1]); ok {
			t.Errorf("%v: got %d, want none", bad, got)
		}
	}
}
