package stats_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/perf/benchmath"

	"lmxbench/stats"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		why     string
		a, b    []float64
		diff, p float64
		lo, hi  float64 // of the shift; NaN: no interval
		warning string
	}{
		{
			"three against three cannot differ at 95 %, however far apart",
			[]float64{1, 2, 3},
			[]float64{101, 102, 103},
			100, 0.1, math.NaN(), 0, "need ≥ 4 each",
		},
		{
			"four against four can",
			[]float64{1, 2, 3, 4},
			[]float64{11, 12, 13, 14},
			10, 2.0 / 70, 7, 13, "",
		},
		{
			"no difference: zero lies inside",
			[]float64{1, 3, 5, 7, 9, 11},
			[]float64{2, 4, 6, 8, 10, 12},
			1, 0.69913, -5, 7, "",
		},
		{
			"equal values: nothing differs",
			[]float64{5, 5, 5, 5},
			[]float64{5, 5, 5, 5},
			0, 1, 0, 0, "",
		},
		{
			"one value each",
			[]float64{5},
			[]float64{7},
			2, 1, math.NaN(), 0, "need ≥ 4 each",
		},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			c, err := stats.Compare(row.a, row.b, 0.95)
			if err != nil {
				t.Fatal(err)
			}
			if c.Difference != row.diff || math.Abs(c.P-row.p) > 1e-4 {
				t.Errorf("got difference %v, p %v, want %v, %v", c.Difference, c.P, row.diff, row.p)
			}
			if math.IsNaN(row.lo) {
				if c.ShiftInterval != nil {
					t.Errorf("got interval %+v, want none", c.ShiftInterval)
				}
			} else if ci := c.ShiftInterval; ci == nil || ci.Lo != row.lo || ci.Hi != row.hi || ci.Coverage < 0.95 {
				t.Errorf("got interval %+v, want %v to %v", ci, row.lo, row.hi)
			}
			if row.warning == "" != (len(c.Warnings) == 0) {
				t.Errorf("got warnings %v, want %q", c.Warnings, row.warning)
			}
			for _, w := range c.Warnings {
				if !strings.Contains(w.Error(), row.warning) {
					t.Errorf("got warning %q, want %q", w, row.warning)
				}
			}
		})
	}
}

func TestCompareRefusesWhatHasNoMeaning(t *testing.T) {
	t.Parallel()
	ok := []float64{1, 2}
	if _, err := stats.Compare(nil, ok, 0.95); !errors.Is(err, stats.ErrEmpty) {
		t.Errorf("got %v, want ErrEmpty", err)
	}
	if _, err := stats.Compare(ok, []float64{math.NaN()}, 0.95); !errors.Is(err, stats.ErrNotFinite) {
		t.Errorf("got %v, want ErrNotFinite", err)
	}
	for _, level := range []float64{0, 1, 95, math.NaN()} {
		if _, err := stats.Compare(ok, ok, level); err == nil {
			t.Errorf("level %v was taken", level)
		}
	}
	if _, err := stats.Compare(make([]float64, 10_000), make([]float64, 10_000), 0.95); err == nil {
		t.Error("a hundred million pairs were taken")
	}
}

// The p-value is benchstat's, and the interval excludes zero exactly when the
// test rejects.
func TestComparisonIsConsistent(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		a, b := make([]float64, 4+r.IntN(12)), make([]float64, 4+r.IntN(60))
		shift := 2 * r.Float64()
		for i := range a {
			a[i] = r.NormFloat64()
		}
		for i := range b {
			b[i] = r.NormFloat64() + shift
		}
		c, err := stats.Compare(a, b, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		want := benchmath.AssumeNothing.Compare(
			benchmath.NewSample(append([]float64(nil), a...), &benchmath.DefaultThresholds),
			benchmath.NewSample(append([]float64(nil), b...), &benchmath.DefaultThresholds))
		if math.Abs(c.P-want.P) > 1e-12 {
			t.Fatalf("p: got %v, benchstat %v", c.P, want.P)
		}
		if c.ShiftInterval == nil {
			t.Fatalf("no interval for %d and %d values", len(a), len(b))
		}
		excludes := c.ShiftInterval.Lo > 0 || c.ShiftInterval.Hi < 0
		if excludes != (c.P <= 0.05) && math.Abs(c.P-0.05) > 0.002 {
			t.Fatalf("p %v but interval %+v", c.P, c.ShiftInterval)
		}
		if c.Shift < c.ShiftInterval.Lo || c.Shift > c.ShiftInterval.Hi {
			t.Fatalf("shift %v outside %+v", c.Shift, c.ShiftInterval)
		}
	}
}
