package stats

import (
	"math"
	"slices"

	moremath "github.com/aclements/go-moremath/stats"
	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is a confidence interval in the unit of the values.
type Interval struct {
	Lo, Hi float64
	// Coverage is the probability the interval really has, at least the one
	// asked for where the method is discrete.
	Coverage float64
}

// MedianInterval is the order-statistic interval for the median: two values of
// the sample, chosen so that a binomial distribution puts the median between
// them with at least the given level (0 < level < 1). It assumes nothing about
// the shape of the distribution, and is the interval benchstat prints: above
// 30 values it uses the normal approximation, and where two intervals serve
// equally it takes the lower.
//
// ok is false when the sample is too small for the level (below 6 values at
// 0.95, see [MinSamples]), when it is not finite, and for a level outside its
// range.
func MedianInterval(xs []float64, level float64) (ci Interval, ok bool) {
	if !(level > 0 && level < 1) || len(xs) < 2 || !finite(xs) {
		return Interval{}, false
	}
	r := moremath.QuantileCI(len(xs), 0.5, level)
	if r.LoOrder < 1 || r.HiOrder > len(xs) {
		return Interval{}, false
	}
	sorted := slices.Sorted(slices.Values(xs))
	return Interval{Lo: sorted[r.LoOrder-1], Hi: sorted[r.HiOrder-1], Coverage: r.Confidence}, true
}

// MinMaxCoverage is the probability that the smallest and the largest of n
// values enclose the median of their population: 1 − 2^(1−n). It is 0 below
// two values.
func MinMaxCoverage(n int) float64 {
	if n < 2 {
		return 0
	}
	return 1 - math.Exp2(float64(1-n))
}

// MinSamples is the smallest sample whose median has an interval of the given
// level (0 < level < 1): 6 at 0.95. ok is false for a level outside its range.
func MinSamples(level float64) (n int, ok bool) {
	if !(level > 0 && level < 1) {
		return 0, false
	}
	for n = 2; MinMaxCoverage(n) < level; n++ {
	}
	return n, true
}

// StudentHalfWidth is the half-width of the interval for a mean, in units of
// the sample standard deviation of n values: t(n − 1)/√n. 2.48 at n = 3, 1.05
// at 6, 0.72 at 10 for a level of 0.95. It assumes normal values. ok is false
// below two values and for a level outside (0, 1).
func StudentHalfWidth(n int, level float64) (factor float64, ok bool) {
	if n < 2 || !(level > 0 && level < 1) {
		return 0, false
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}
	return t.Quantile(0.5+level/2) / math.Sqrt(float64(n)), true
}

// MeanInterval is mean ± [StudentHalfWidth]·σ. ok is false below two values,
// for a non-finite sample and for a level outside (0, 1).
func MeanInterval(xs []float64, level float64) (ci Interval, ok bool) {
	factor, ok := StudentHalfWidth(len(xs), level)
	if !ok {
		return Interval{}, false
	}
	s, err := Summarize(xs)
	if err != nil {
		return Interval{}, false
	}
	half := factor * *s.StdDev
	return Interval{Lo: s.Mean - half, Hi: s.Mean + half, Coverage: level}, true
}

// EarlyStoppingFloor is the smallest number of samples that can certify a
// percentile p (0 < p < 1) at a confidence (0 < confidence < 1) when one of
// them may lie above the bound, the rule of MLPerf's load generator: the least
// n with
//
//	P(X ≤ 1) = pⁿ + n·(1 − p)·pⁿ⁻¹ ≤ 1 − confidence, X binomial(n, 1 − p)
//
// At 0.99: 11 for p50, 64 for p90, 130 for p95, 662 for p99, 6,636 for p99.9.
// A percentile printed from fewer samples is a description, not a claim.
func EarlyStoppingFloor(p, confidence float64) (n int, ok bool) {
	if !(p > 0 && p < 1) || !(confidence > 0 && confidence < 1) {
		return 0, false
	}
	enough := func(n int) bool {
		q := math.Exp(float64(n-1) * math.Log(p))
		return q*(p+float64(n)*(1-p)) <= 1-confidence
	}
	high := 1
	for !enough(high) {
		if high > math.MaxInt/2 {
			return 0, false
		}
		high *= 2
	}
	low := high / 2 // not enough, or 0
	for high-low > 1 {
		mid := low + (high-low)/2
		if enough(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high, true
}
