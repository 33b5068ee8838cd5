package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// The limits of [Drift.Steady].
const (
	// MaxSlopeFraction is the largest fitted change over the whole series.
	MaxSlopeFraction = 0.02
	// MinThirdsFraction is the smallest difference between first and last third
	// that counts. Series of simulators have almost no noise, and a real
	// change of a tenth of a per cent is not worth a warning.
	MinThirdsFraction = 0.005
)

// Drift says whether a rate stayed the same over a run. Fractions are relative
// to the mean of the series and have its sign of change: −0.03 means that the
// rate fell by 3 %.
type Drift struct {
	// Bins is the length of the series, Mean its mean.
	Bins int
	Mean float64
	// SlopeFraction is the change of a straight line fitted to the series from
	// the start of the first bin to the end of the last.
	SlopeFraction float64
	// ThirdsFraction is the mean of the last third of the bins minus that of
	// the first.
	ThirdsFraction float64
	// ThirdsDiffer says that this difference is beyond its 95 % interval
	// (Welch's, from the scatter of the bins within each third).
	ThirdsDiffer bool
	// Steady is true when the slope is within [MaxSlopeFraction] and the thirds
	// do not differ by [MinThirdsFraction] or more beyond their interval.
	Steady bool
}

// MeasureDrift judges a series of rates of equal bins in time order, for
// instance ten [RateBins] of the plateau. ok is false below six bins (two per
// third), for a series that is not finite, and when its mean is not positive.
//
// Successive bins share an engine's state, so the interval of the thirds is
// narrower than it would be for independent values: a doubt, not a proof.
func MeasureDrift(rates []float64) (d Drift, ok bool) {
	if len(rates) < 6 || !finite(rates) {
		return Drift{}, false
	}
	mean := sumCompensated(rates) / float64(len(rates))
	if mean <= 0 {
		return Drift{}, false
	}
	d = Drift{Bins: len(rates), Mean: mean, SlopeFraction: slope(rates) * float64(len(rates)) / mean}

	third := len(rates) / 3
	first, firstVar := stat.MeanVariance(rates[:third], nil)
	last, lastVar := stat.MeanVariance(rates[len(rates)-third:], nil)
	d.ThirdsFraction = (last - first) / mean
	d.ThirdsDiffer = math.Abs(last-first) > welchHalfWidth(firstVar, lastVar, third)
	apart := d.ThirdsDiffer && math.Abs(d.ThirdsFraction) >= MinThirdsFraction
	d.Steady = math.Abs(d.SlopeFraction) <= MaxSlopeFraction && !apart
	return d, true
}

// slope is the least-squares change per bin.
func slope(ys []float64) float64 {
	xs := make([]float64, len(ys))
	for i := range xs {
		xs[i] = float64(i)
	}
	_, beta := stat.LinearRegression(xs, ys, nil, false)
	return beta
}

// welchHalfWidth is the half-width of the 95 % interval for the difference of
// two means of n values each with the given variances, 0 without scatter.
func welchHalfWidth(v1, v2 float64, n int) float64 {
	a, b := v1/float64(n), v2/float64(n)
	if a+b == 0 {
		return 0
	}
	nu := (a + b) * (a + b) / ((a*a + b*b) / float64(n-1))
	return distuv.StudentsT{Sigma: 1, Nu: nu}.Quantile(0.975) * math.Sqrt(a+b)
}
