package stats

import (
	"math"
	"slices"
)

// Median is the middle value of xs, or the mean of the two middle ones. xs need
// not be sorted and is not changed. ok is false for an empty or non-finite
// sample.
func Median(xs []float64) (median float64, ok bool) {
	if !finite(xs) || len(xs) == 0 {
		return 0, false
	}
	return medianSorted(slices.Sorted(slices.Values(xs))), true
}

// Quantile is the type 7 quantile of Hyndman and Fan: with n values sorted
// ascending and h = (n − 1)·q it interpolates linearly between the values at
// ⌊h⌋ and ⌊h⌋ + 1 (counted from 0). q is in [0, 1]. xs need not be sorted and is
// not changed. ok is false for an empty or non-finite sample and for a q
// outside its range.
func Quantile(xs []float64, q float64) (value float64, ok bool) {
	if !finite(xs) || len(xs) == 0 || !(q >= 0 && q <= 1) {
		return 0, false
	}
	return quantileSorted(slices.Sorted(slices.Values(xs)), q), true
}

type number interface{ ~int64 | ~float64 }

func medianSorted[T number](sorted []T) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return float64(sorted[n/2])
	}
	return (float64(sorted[n/2-1]) + float64(sorted[n/2])) / 2
}

func quantileSorted[T number](sorted []T, q float64) float64 {
	h := float64(len(sorted)-1) * q
	lo := int(h)
	if lo >= len(sorted)-1 {
		return float64(sorted[len(sorted)-1])
	}
	return between(float64(sorted[lo]), float64(sorted[lo+1]), h-float64(lo))
}

// between is the point a fraction of the way from a to b, never outside them.
func between(a, b, fraction float64) float64 {
	if a == b {
		return a
	}
	return min(a+(b-a)*fraction, b)
}

// sumCompensated is Neumaier's sum: the rounding error does not grow with the
// number of terms.
func sumCompensated[T number](xs []T) float64 {
	var sum, lost float64
	for _, v := range xs {
		x := float64(v)
		t := sum + x
		if math.Abs(sum) >= math.Abs(x) {
			lost += (sum - t) + x
		} else {
			lost += (x - t) + sum
		}
		sum = t
	}
	return sum + lost
}

func finite(xs []float64) bool {
	for _, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}
