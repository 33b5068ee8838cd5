package engine

import (
	"math"
	"slices"
	"time"
)

// Histogram is a distribution of durations as a server counts it: how many were
// at most each bound. It comes from /metrics, summed over engines and labels.
type Histogram struct {
	// Count is the number of observations and Sum their total, in seconds.
	Count float64
	Sum   float64
	// Buckets are ordered by bound. The last bound is +Inf where the server
	// writes it, as all known ones do.
	Buckets []Bucket
}

// Bucket counts the observations that were at most Bound seconds long.
type Bucket struct {
	Bound float64 // seconds; the last one is +Inf
	Count float64 // of all observations up to Bound
}

// Mean is the mean duration. It is exact, as the server adds the durations up;
// ok is false where nothing was observed.
func (h Histogram) Mean() (mean time.Duration, ok bool) {
	if h.Count <= 0 || h.Sum < 0 {
		return 0, false
	}
	return seconds(h.Sum / h.Count), true
}

// Bounds returns the bucket that quantile q, from 0 to 1, lies in: the true
// value is above low and at most high. high is [math.MaxInt64] for the last
// bucket, which has no upper bound. ok is false where nothing was observed.
func (h Histogram) Bounds(q float64) (low, high time.Duration, ok bool) {
	i, ok := h.bucket(q)
	if !ok {
		return 0, 0, false
	}
	if i > 0 {
		low = seconds(h.Buckets[i-1].Bound)
	}
	return low, seconds(h.Buckets[i].Bound), true
}

// Quantile estimates quantile q by a straight line through its bucket, as
// Prometheus does. ok is false where nothing was observed or where the quantile
// lies in the last bucket, which has no upper bound.
func (h Histogram) Quantile(q float64) (value time.Duration, ok bool) {
	i, ok := h.bucket(q)
	if !ok || math.IsInf(h.Buckets[i].Bound, 1) {
		return 0, false
	}
	low, below := 0.0, 0.0
	if i > 0 {
		low, below = h.Buckets[i-1].Bound, h.Buckets[i-1].Count
	}
	rank := q * h.total()
	inside := h.Buckets[i].Count - below
	share := 1.0
	if inside > 0 {
		share = (rank - below) / inside
	}
	return seconds(low + (h.Buckets[i].Bound-low)*share), true
}

// bucket is the first bucket that holds the q-th part of the observations.
func (h Histogram) bucket(q float64) (int, bool) {
	total := h.total()
	if total <= 0 || q < 0 || q > 1 {
		return 0, false
	}
	rank := q * total
	i := slices.IndexFunc(h.Buckets, func(b Bucket) bool { return b.Count >= rank && b.Count > 0 })
	return i, i >= 0
}

// total is what the buckets hold together.
func (h Histogram) total() float64 {
	if len(h.Buckets) == 0 {
		return 0
	}
	return h.Buckets[len(h.Buckets)-1].Count
}

// minus subtracts an earlier state of the same histogram. ok is false where the
// two are not of one make, and down is true where a count went down.
func (h Histogram) minus(before Histogram) (d Histogram, down, ok bool) {
	d = Histogram{Count: h.Count - before.Count, Sum: h.Sum - before.Sum}
	if d.Count < 0 {
		return Histogram{}, true, true
	}
	if len(h.Buckets) != len(before.Buckets) {
		return Histogram{}, false, false
	}
	for i, b := range h.Buckets {
		if b.Bound != before.Buckets[i].Bound {
			return Histogram{}, false, false
		}
		if b.Count < before.Buckets[i].Count {
			return Histogram{}, true, true
		}
		d.Buckets = append(d.Buckets, Bucket{Bound: b.Bound, Count: b.Count - before.Buckets[i].Count})
	}
	return d, false, true
}

// seconds converts; what does not fit a Duration is the longest one.
func seconds(s float64) time.Duration {
	if s >= math.MaxInt64/float64(time.Second) {
		return math.MaxInt64
	}
	return time.Duration(math.Round(s * float64(time.Second)))
}
