package report

import (
	"math"

	"lmxbench/stats"
)

// Decimals of the numbers under lmxbench.
const (
	rateDecimals  = 2 // tokens per second
	timeDecimals  = 3 // milliseconds, microseconds, seconds
	shareDecimals = 6
)

// decimals rounds x to n decimals, halves away from zero. It is nil for values
// that JSON cannot hold.
func decimals(x float64, n int) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	p := math.Pow10(n)
	r := math.Round(x*p) / p
	if r == 0 {
		r = 0 // not −0
	}
	return &r
}

// rounded is decimals for values that are known to be finite.
func rounded(x float64, n int) float64 {
	if r := decimals(x, n); r != nil {
		return *r
	}
	return 0
}

// ratio is part ÷ whole rounded to n decimals, nil when whole is not positive.
func ratio(part, whole float64, n int) *float64 {
	if !(whole > 0) {
		return nil
	}
	return decimals(part/whole, n)
}

// rate rounds a result of package stats, nil when it is not defined.
func rate(x float64, ok bool) *float64 {
	if !ok {
		return nil
	}
	return decimals(x, rateDecimals)
}

// millis turns ns into milliseconds.
func millis(ns int64) float64 { return rounded(float64(ns)/1e6, timeDecimals) }

// summary puts a summary of package stats into the document's form.
func summary(s stats.Summary, n int) *Summary {
	out := &Summary{
		Count: s.Count,
		Min:   rounded(s.Min, n), Mean: rounded(s.Mean, n), Max: rounded(s.Max, n),
		P50: rounded(s.P50, n), P90: rounded(s.P90, n), P99: rounded(s.P99, n),
	}
	if s.StdDev != nil {
		out.StdDev = decimals(*s.StdDev, n)
	}
	return out
}

// summarize is the summary of a pool, nil when the pool is empty.
func summarize(xs []float64, n int) *Summary {
	s, err := stats.Summarize(xs)
	if err != nil {
		return nil
	}
	return summary(s, n)
}

// intervalLevel is the confidence asked of the interval beside a median.
const intervalLevel = 0.95

// summarizeRates summarises one rate of the counted iterations, nil when it is
// not defined in each of them: a median of some iterations would be a choice.
func summarizeRates(xs []float64, iterations int) *Rates {
	s, err := stats.Summarize(xs)
	if err != nil || len(xs) != iterations {
		return nil
	}
	r := &Rates{
		Count: s.Count,
		Min:   rounded(s.Min, rateDecimals), P50: rounded(s.P50, rateDecimals),
		Mean: rounded(s.Mean, rateDecimals), Max: rounded(s.Max, rateDecimals),
	}
	if s.StdDev != nil {
		r.StdDev = decimals(*s.StdDev, rateDecimals)
	}
	if ci, ok := stats.MedianInterval(xs, intervalLevel); ok {
		r.MedianInterval = &Interval{
			Low: rounded(ci.Lo, rateDecimals), High: rounded(ci.Hi, rateDecimals),
			Confidence: rounded(ci.Coverage, 4),
		}
	}
	return r
}
