package stats_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lmxbench/stats"
)

func TestHistogramKeepsWhatBucketsBlur(t *testing.T) {
	t.Parallel()
	var h stats.Histogram
	for _, d := range []time.Duration{123_456_789, 1_003_777, 250 * ms} {
		if !h.Record(d) {
			t.Fatalf("%v was refused", d)
		}
	}
	lo, _ := h.Min()
	hi, _ := h.Max()
	if lo != 1_003_777 || hi != 250*ms || h.Count() != 3 {
		t.Errorf("got %v to %v, %d values, want the exact extremes of 3", lo, hi, h.Count())
	}
	median, ok := h.Quantile(0.5)
	if !ok {
		t.Fatal("no median")
	}
	near(t, "median", float64(median), 123_456_789, 0.001)
	if q, _ := h.Quantile(0); q != lo {
		t.Errorf("quantile 0: got %v, want the minimum", q)
	}
	if q, _ := h.Quantile(1); q != hi {
		t.Errorf("quantile 1: got %v, want the maximum", q)
	}
}

func TestEmptyHistogramSaysNothing(t *testing.T) {
	t.Parallel()
	var h stats.Histogram
	if _, ok := h.Quantile(0.5); ok {
		t.Error("quantile of nothing")
	}
	if _, ok := h.Min(); ok {
		t.Error("minimum of nothing")
	}
	if _, ok := h.Max(); ok {
		t.Error("maximum of nothing")
	}
	for b := range h.Buckets() {
		t.Errorf("bucket %v of nothing", b)
	}
	if dropped := h.Merge(&stats.Histogram{}); dropped != 0 || h.Count() != 0 {
		t.Errorf("merging nothing: dropped %d, count %d", dropped, h.Count())
	}
	if got := string(h.AppendCSV(nil)); got != "from_ns,to_ns,count,cumulative\n" {
		t.Errorf("CSV: got %q, want the header", got)
	}
	if h.Record(0); h.Count() != 1 {
		t.Error("zero is a duration")
	}
	if _, ok := h.Quantile(math.NaN()); ok {
		t.Error("NaN is no share")
	}
}

func TestHistogramCountsWhatItRefuses(t *testing.T) {
	t.Parallel()
	h := stats.Histogram{Highest: time.Second}
	for _, d := range []time.Duration{-1, time.Second + 1, math.MaxInt64} {
		if h.Record(d) {
			t.Errorf("%v was counted", d)
		}
	}
	if h.RecordN(5*ms, -1) {
		t.Error("a negative number of values was counted")
	}
	if !h.Record(time.Second) || !h.RecordN(ms, 4) || !h.RecordN(ms, 0) {
		t.Error("values in range were refused")
	}
	if h.Count() != 5 || h.Rejected() != 3 {
		t.Errorf("got %d counted, %d rejected, want 5 and 3", h.Count(), h.Rejected())
	}
}

func TestMergeReportsWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	wide, narrow := stats.Histogram{Highest: time.Hour}, stats.Histogram{Highest: time.Second}
	for _, d := range []time.Duration{10 * ms, 20 * ms, 50 * time.Second} {
		wide.Record(d)
	}
	wide.Record(-1)
	if dropped := narrow.Merge(&wide); dropped != 1 {
		t.Errorf("got %d dropped, want the one of 50 s", dropped)
	}
	hi, _ := narrow.Max()
	if narrow.Count() != 2 || narrow.Rejected() != 2 || hi > time.Second {
		t.Errorf("got %d values up to %v, %d rejected, want 2 within a second and 2 rejected", narrow.Count(), hi, narrow.Rejected())
	}
	if wide.Count() != 3 {
		t.Error("merging changed the source")
	}
}

func TestHistogramExports(t *testing.T) {
	t.Parallel()
	h := stats.Histogram{Lowest: 1, Highest: time.Second, Digits: 2}
	h.RecordN(5, 3)
	h.Record(1000)
	want := "from_ns,to_ns,count,cumulative\n5,5,3,0.750000\n1000,1003,1,1.000000\n"
	if diff := cmp.Diff(want, string(h.AppendCSV(nil))); diff != "" {
		t.Errorf("CSV (-want +got):\n%s", diff)
	}
	text := string(h.AppendText([]byte("ITL\n")))
	for _, part := range []string{"ITL\n", "5ns – 5ns", "75.000 %", "4 values, min 5ns, max 1µs, 0 rejected\n"} {
		if !strings.Contains(text, part) {
			t.Errorf("text lacks %q:\n%s", part, text)
		}
	}
	for range h.Buckets() {
		break // stopping early must be possible
	}
}
