package stats

import (
	"errors"
	"math"
	"slices"
	"time"
)

// Errors of samples that cannot be summarised.
var (
	// ErrEmpty: there is nothing to summarise. Leave the metric out.
	ErrEmpty = errors.New("no samples")
	// ErrNotFinite: the sample holds a NaN or an infinity. Some earlier
	// division went unchecked; the sample has no meaning.
	ErrNotFinite = errors.New("sample is not finite")
)

// Summary describes a sample. All fields but Count are in the unit of the
// values. Quantiles are type 7 ([Quantile]), P50 is the [Median].
type Summary struct {
	Count                              int
	Min, Mean, P50, P90, P95, P99, Max float64
	// StdDev is the sample standard deviation (n − 1), nil at Count 1.
	StdDev *float64
}

// Summarize describes xs, which need not be sorted and is not changed. The
// result does not depend on the order of xs. The error is [ErrEmpty] or
// [ErrNotFinite].
func Summarize(xs []float64) (Summary, error) {
	if len(xs) == 0 {
		return Summary{}, ErrEmpty
	}
	if !finite(xs) {
		return Summary{}, ErrNotFinite
	}
	return summarizeSorted(slices.Sorted(slices.Values(xs))), nil
}

// SummarizeDurations describes ds in the given unit, for instance
// [time.Millisecond]. ds need not be sorted and is not changed. The error is
// [ErrEmpty].
func SummarizeDurations(ds []time.Duration, unit time.Duration) (Summary, error) {
	if len(ds) == 0 {
		return Summary{}, ErrEmpty
	}
	return summarizeSorted(slices.Sorted(slices.Values(ds))).per(unit), nil
}

// Scale multiplies every value by a factor above zero, to change the unit.
func (s Summary) Scale(factor float64) Summary {
	return s.each(func(x float64) float64 { return x * factor })
}

// per changes nanoseconds into a unit. It divides, because 1e-6 is not a
// binary fraction and 1e6 is exact.
func (s Summary) per(unit time.Duration) Summary {
	return s.each(func(x float64) float64 { return x / float64(unit) })
}

func (s Summary) each(f func(float64) float64) Summary {
	out := Summary{
		Count: s.Count,
		Min:   f(s.Min), Mean: f(s.Mean), P50: f(s.P50), P90: f(s.P90),
		P95: f(s.P95), P99: f(s.P99), Max: f(s.Max),
	}
	if s.StdDev != nil {
		sd := f(*s.StdDev)
		out.StdDev = &sd
	}
	return out
}

// summarizeSorted needs at least one value. The mean is taken over the sorted
// values, so the order of the sample cannot show in the last bit.
func summarizeSorted[T number](sorted []T) Summary {
	mean := sumCompensated(sorted) / float64(len(sorted))
	s := Summary{
		Count: len(sorted),
		Min:   float64(sorted[0]),
		Mean:  mean,
		P50:   medianSorted(sorted),
		P90:   quantileSorted(sorted, 0.90),
		P95:   quantileSorted(sorted, 0.95),
		P99:   quantileSorted(sorted, 0.99),
		Max:   float64(sorted[len(sorted)-1]),
	}
	if len(sorted) > 1 {
		var squares float64
		for _, x := range sorted {
			d := float64(x) - mean
			squares += d * d
		}
		sd := math.Sqrt(squares / float64(len(sorted)-1))
		s.StdDev = &sd
	}
	return s
}
