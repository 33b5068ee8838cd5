package stats_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"lmxbench/stats"
)

func ptr(x float64) *float64 { return &x }

func TestQuantilesAreTypeSeven(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		why  string
		xs   []float64
		q    float64
		want float64
		ok   bool
	}{
		{"the median of an even sample is the mean of the middle two", []float64{4, 1, 3, 2}, 0.5, 2.5, true},
		{"the median of an odd sample is its middle", []float64{5, 4, 3, 2, 1}, 0.5, 3, true},
		{"p90 of five lies between the last two", []float64{1, 2, 3, 4, 5}, 0.9, 4.6, true},
		{"p99 of two is one per cent from the top", []float64{0, 100}, 0.99, 99, true},
		{"the ends are the extremes", []float64{3, 9, 6}, 0, 3, true},
		{"the ends are the extremes", []float64{3, 9, 6}, 1, 9, true},
		{"one value is every quantile", []float64{7}, 0.99, 7, true},
		{"no value, no quantile", nil, 0.5, 0, false},
		{"not a share", []float64{1, 2}, 1.5, 0, false},
		{"not a share", []float64{1, 2}, math.NaN(), 0, false},
		{"NaN orders nowhere", []float64{1, math.NaN()}, 0.5, 0, false},
		{"infinity interpolates to nonsense", []float64{1, math.Inf(1)}, 0.5, 0, false},
	} {
		got, ok := stats.Quantile(row.xs, row.q)
		if math.Abs(got-row.want) > 1e-12 || ok != row.ok {
			t.Errorf("%s: got %v, %v, want %v, %v", row.why, got, ok, row.want, row.ok)
		}
	}
	if got, ok := stats.Median([]float64{30, 10, 20, 25}); got != 22.5 || !ok {
		t.Errorf("median: got %v, want 22.5", got)
	}
	if _, ok := stats.Median(nil); ok {
		t.Error("median of nothing")
	}
}

func TestSummarize(t *testing.T) {
	t.Parallel()
	in := []float64{5, 1, 4, 2, 3}
	got, err := stats.Summarize(in)
	if err != nil {
		t.Fatal(err)
	}
	want := stats.Summary{
		Count: 5, Min: 1, Mean: 3, P50: 3, P90: 4.6, P95: 4.8, P99: 4.96, Max: 5,
		StdDev: ptr(math.Sqrt(2.5)), // population: √2
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-15, 0)); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	if !slices.Equal(in, []float64{5, 1, 4, 2, 3}) {
		t.Errorf("the sample was changed to %v", in)
	}

	one, _ := stats.Summarize([]float64{42})
	if one.StdDev != nil || one.P99 != 42 {
		t.Errorf("one value: got %+v, want no deviation and 42 everywhere", one)
	}
	if _, err := stats.Summarize(nil); !errors.Is(err, stats.ErrEmpty) {
		t.Errorf("nothing: got %v, want ErrEmpty", err)
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, err := stats.Summarize([]float64{1, x}); !errors.Is(err, stats.ErrNotFinite) {
			t.Errorf("%v: got %v, want ErrNotFinite", x, err)
		}
	}
}

func TestSummariesCarryTheirUnit(t *testing.T) {
	t.Parallel()
	s, err := stats.SummarizeDurations([]time.Duration{857_360_000, 100_000_000}, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if s.Max != 857.36 || s.Min != 100 {
		t.Errorf("got %v to %v ms, want 100 to 857.36", s.Min, s.Max)
	}
	us := s.Scale(1000)
	if us.Min != 100_000 || *us.StdDev != *s.StdDev*1000 || us.Count != 2 {
		t.Errorf("in µs: got %+v", us)
	}
	if _, err := stats.SummarizeDurations(nil, time.Second); !errors.Is(err, stats.ErrEmpty) {
		t.Errorf("nothing: got %v, want ErrEmpty", err)
	}
}

// A mean over many values must not drift with their number: one large value
// first makes a plain sum lose every small one after it.
func TestMeanKeepsSmallValues(t *testing.T) {
	t.Parallel()
	xs := slices.Repeat([]float64{1}, 1000)
	xs = append(xs, 1e16, -1e16)
	s, err := stats.Summarize(xs)
	if err != nil {
		t.Fatal(err)
	}
	if want := 1000.0 / 1002; s.Mean != want {
		t.Errorf("got %v, want %v", s.Mean, want)
	}
}
