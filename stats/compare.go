package stats

import (
	"errors"
	"fmt"
	"math"
	"slices"

	moremath "github.com/aclements/go-moremath/stats"
)

// Comparison says how two samples of one quantity differ, without assuming a
// shape for their distributions.
type Comparison struct {
	// CountA and CountB are the sizes of the samples.
	CountA, CountB int
	// MedianA and MedianB are their medians, Difference is B − A, all in the
	// unit of the values.
	MedianA, MedianB, Difference float64
	// P is the two-sided p-value of the Mann–Whitney U test: how often samples
	// from one population would differ at least this much.
	P float64
	// Shift is the Hodges–Lehmann estimate of B − A, the median of all pairwise
	// differences. It may differ a little from Difference.
	Shift float64
	// ShiftInterval encloses the shift; it goes with P: without ties it leaves
	// out zero exactly when P ≤ 1 − level. nil when the samples are too small.
	ShiftInterval *Interval
	// Warnings say what the samples cannot show, one sentence each.
	Warnings []error
}

// maxPairs bounds the pairwise differences that are sorted.
const maxPairs = 10_000_000

// Compare compares sample b with sample a, for instance the tokens per second
// of the iterations of two builds, at a confidence level (0 < level < 1,
// usually 0.95). Exact up to 50 values each without ties (25 with), beyond that
// by the normal approximation.
//
// The error is [ErrEmpty], [ErrNotFinite], or one that names a level out of
// range or samples too large (10 million pairs). Samples too small for the
// level are no error: the result says so in Warnings and has no interval.
func Compare(a, b []float64, level float64) (Comparison, error) {
	switch {
	case len(a) == 0 || len(b) == 0:
		return Comparison{}, ErrEmpty
	case !finite(a) || !finite(b):
		return Comparison{}, ErrNotFinite
	case !(level > 0 && level < 1):
		return Comparison{}, fmt.Errorf("confidence level %v is not between 0 and 1", level)
	case len(a) > maxPairs/len(b):
		return Comparison{}, fmt.Errorf("%d × %d values are too many to compare pairwise", len(a), len(b))
	}
	c := Comparison{CountA: len(a), CountB: len(b)}
	c.MedianA, _ = Median(a)
	c.MedianB, _ = Median(b)
	c.Difference = c.MedianB - c.MedianA
	c.P = mannWhitney(a, b)

	shifts := pairwiseDifferences(a, b)
	c.Shift = medianSorted(shifts)
	if k, coverage, ok := shiftRank(len(a), len(b), level); ok {
		c.ShiftInterval = &Interval{Lo: shifts[k-1], Hi: shifts[len(shifts)-k], Coverage: coverage}
	} else {
		c.Warnings = append(c.Warnings, tooSmallToCompare(len(a), len(b), level))
	}
	return c, nil
}

// mannWhitney needs two samples that are not empty.
func mannWhitney(a, b []float64) float64 {
	r, err := moremath.MannWhitneyUTest(a, b, moremath.LocationDiffers)
	if errors.Is(err, moremath.ErrSamplesEqual) {
		return 1 // every value is the same: nothing differs
	}
	return min(r.P, 1)
}

func pairwiseDifferences(a, b []float64) []float64 {
	d := make([]float64, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			d = append(d, y-x)
		}
	}
	slices.Sort(d)
	return d
}

// shiftRank finds the interval from the k-th smallest to the k-th largest
// pairwise difference: the largest k ≥ 1 with
//
//	coverage = 1 − 2·P(U ≤ k − 1) ≥ level
//
// where U has the Mann–Whitney distribution of two samples of one population.
func shiftRank(n1, n2 int, level float64) (k int, coverage float64, ok bool) {
	cdf := uDistribution(n1, n2)
	cover := func(k int) float64 { return 1 - 2*cdf(float64(k-1)) }
	if cover(1) < level {
		return 0, 0, false
	}
	low, high := 1, n1*n2/2+1 // cover(high) ≤ 0
	for high-low > 1 {
		if mid := (low + high) / 2; cover(mid) >= level {
			low = mid
		} else {
			high = mid
		}
	}
	return low, cover(low), true
}

// uDistribution is the cumulative distribution of U without ties, exact where
// [moremath.MannWhitneyUTest] is.
func uDistribution(n1, n2 int) func(u float64) float64 {
	if max(n1, n2) <= moremath.MannWhitneyExactLimit {
		return moremath.UDist{N1: n1, N2: n2}.CDF
	}
	n, m := float64(n1), float64(n2)
	normal := moremath.NormalDist{Mu: n * m / 2, Sigma: math.Sqrt(n * m * (n + m + 1) / 12)}
	return func(u float64) float64 { return normal.CDF(u + 0.5) }
}

// tooSmallToCompare names the equal sample size that would do: the smallest
// p-value of two samples of n is 2/C(2n, n).
func tooSmallToCompare(n1, n2 int, level float64) error {
	need, smallest := 1, 1.0
	for smallest > 1-level {
		need++
		// C(2n, n) = C(2n − 2, n − 1) · 2·(2n − 1)/n
		smallest /= 2 * float64(2*need-1) / float64(need)
	}
	return fmt.Errorf("%d and %d samples: need ≥ %d each to detect a difference at level %v", n1, n2, need, level)
}
