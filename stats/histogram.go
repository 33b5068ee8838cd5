package stats

import (
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Histogram counts durations in buckets of constant relative width, for when
// there are too many to keep. It is an HdrHistogram with what that one lacks:
// the exact minimum, maximum and count are kept beside the buckets, and values
// it had to refuse are counted.
//
// The zero value works. Set the fields before the first value, or not at all;
// later changes have no effect. Not safe for concurrent use: one per worker,
// merged at the end.
type Histogram struct {
	// Lowest is the finest difference that is told apart. Default 1 µs.
	Lowest time.Duration
	// Highest is the largest value that is counted; larger ones are refused.
	// Default 10 minutes.
	Highest time.Duration
	// Digits is the number of significant decimal digits, 1 to 5. Default 3,
	// a relative error of 0.1 % at most and 180 KB of memory with the other
	// defaults; 2 costs 26 KB.
	Digits int

	hdr             *hdrhistogram.Histogram
	count, rejected int64
	min, max        time.Duration
}

func (h *Histogram) buckets() *hdrhistogram.Histogram {
	if h.hdr == nil {
		if h.Lowest <= 0 {
			h.Lowest = time.Microsecond
		}
		if h.Highest < 2*h.Lowest {
			h.Highest = max(10*time.Minute, 2*h.Lowest)
		}
		if h.Digits < 1 || h.Digits > 5 {
			h.Digits = 3
		}
		h.hdr = hdrhistogram.New(int64(h.Lowest), int64(h.Highest), h.Digits)
	}
	return h.hdr
}

// Record counts one value. It reports false, and adds to [Histogram.Rejected],
// for values below zero and above Highest.
func (h *Histogram) Record(d time.Duration) bool { return h.RecordN(d, 1) }

// RecordN counts a value n times, n ≥ 0.
func (h *Histogram) RecordN(d time.Duration, n int64) bool {
	if n <= 0 {
		return n == 0
	}
	hdr := h.buckets()
	if d > h.Highest || hdr.RecordValues(int64(d), n) != nil {
		h.rejected += n
		return false
	}
	h.note(d, d, n)
	return true
}

func (h *Histogram) note(lo, hi time.Duration, n int64) {
	if h.count == 0 {
		h.min, h.max = lo, hi
	}
	h.min, h.max = min(h.min, lo), max(h.max, hi)
	h.count += n
}

// Count is the number of values counted; refused ones are not among them.
func (h *Histogram) Count() int64 { return h.count }

// Rejected is the number of values refused here or in histograms merged into
// this one. Where it is not zero, quantiles describe only part of the sample.
func (h *Histogram) Rejected() int64 { return h.rejected }

// Min is the smallest value counted, exact; ok is false when there is none.
func (h *Histogram) Min() (d time.Duration, ok bool) { return h.min, h.count > 0 }

// Max is the largest value counted, exact; ok is false when there is none.
func (h *Histogram) Max() (d time.Duration, ok bool) { return h.max, h.count > 0 }

// Quantile is the value below or at which the share q (0 to 1) of the values
// lies, good to Digits digits and never outside Min and Max, which it equals at
// 0 and 1. Unlike the quantiles of a [Summary] it does not interpolate. ok is
// false when the histogram is empty or q out of range.
func (h *Histogram) Quantile(q float64) (d time.Duration, ok bool) {
	if h.count == 0 || !(q >= 0 && q <= 1) {
		return 0, false
	}
	switch q {
	case 0:
		return h.min, true
	case 1:
		return h.max, true
	}
	d = time.Duration(h.hdr.ValueAtQuantile(q * 100))
	return min(max(d, h.min), h.max), true
}

// Merge adds the values counted in other, which stays as it is, and returns how
// many of them did not fit and were dropped (none when the fields of both are
// equal). Dropped values and those other had refused count as Rejected.
//
// With values dropped, Min and Max are exact only as far as other's lie within
// this histogram; a Max beyond it is replaced by Highest.
func (h *Histogram) Merge(other *Histogram) (dropped int64) {
	h.rejected += other.rejected
	if other.count == 0 {
		return 0
	}
	dropped = h.buckets().Merge(other.hdr)
	h.rejected += dropped
	if kept := other.count - dropped; kept > 0 {
		h.note(min(other.min, h.Highest), min(other.max, h.Highest), kept)
	}
	return dropped
}

// mergeTimes is Merge with every count multiplied, for equal fields.
func (h *Histogram) mergeTimes(other *Histogram, factor int64) {
	h.rejected += other.rejected * factor
	if other.count == 0 {
		return
	}
	h.buckets()
	for _, bar := range other.hdr.Distribution() {
		if bar.Count > 0 {
			// A bucket's own bound always fits a histogram of the same shape.
			_ = h.hdr.RecordValues(bar.From, bar.Count*factor)
		}
	}
	h.note(other.min, other.max, other.count*factor)
}

// Bucket is a range of values, both ends included, and how many fell into it.
type Bucket struct {
	From, To time.Duration
	Count    int64
}

// Buckets are the buckets that hold values, ascending.
func (h *Histogram) Buckets() iter.Seq[Bucket] {
	return func(yield func(Bucket) bool) {
		if h.hdr == nil {
			return
		}
		for _, bar := range h.hdr.Distribution() {
			if bar.Count == 0 {
				continue
			}
			if !yield(Bucket{From: time.Duration(bar.From), To: time.Duration(bar.To), Count: bar.Count}) {
				return
			}
		}
	}
}

// AppendCSV appends the buckets as CSV with a header line: from_ns, to_ns (both
// included), count, and the cumulative share of the values up to to_ns.
func (h *Histogram) AppendCSV(dst []byte) []byte {
	dst = append(dst, "from_ns,to_ns,count,cumulative\n"...)
	var seen int64
	for b := range h.Buckets() {
		seen += b.Count
		dst = strconv.AppendInt(dst, int64(b.From), 10)
		dst = append(dst, ',')
		dst = strconv.AppendInt(dst, int64(b.To), 10)
		dst = append(dst, ',')
		dst = strconv.AppendInt(dst, b.Count, 10)
		dst = append(dst, ',')
		dst = strconv.AppendFloat(dst, float64(seen)/float64(h.count), 'f', 6, 64)
		dst = append(dst, '\n')
	}
	return dst
}

// AppendText appends the buckets as a table for people, durations in their
// usual form, and a last line with count, minimum, maximum and refused values.
func (h *Histogram) AppendText(dst []byte) []byte {
	var seen int64
	for b := range h.Buckets() {
		seen += b.Count
		share := 100 * float64(seen) / float64(h.count)
		dst = fmt.Appendf(dst, "%14v – %-14v %10d %8.3f %%\n", b.From, b.To, b.Count, share)
	}
	return fmt.Appendf(dst, "%d values, min %v, max %v, %d rejected\n", h.count, h.min, h.max, h.rejected)
}
