package stats_test

import (
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lmxbench/stats"
)

func TestDecodeThroughputFollowsLMX(t *testing.T) {
	t.Parallel()
	at := func(n int) stats.Stream {
		return stats.Stream{FirstToken: 100 * ms, LastToken: 1100 * ms, End: 1300 * ms, OutputTokens: n}
	}
	silent, oneRead, instant := at(13), at(20), at(0)
	silent.NoToken = true
	oneRead.LastToken = oneRead.FirstToken
	instant.OutputTokens, instant.LastToken, instant.End = 5, 100*ms, 100*ms
	slow := stats.Stream{FirstToken: 0, LastToken: 0, End: 100 * time.Second, OutputTokens: 1}
	for _, row := range []struct {
		why    string
		s      stats.Stream
		want   float64
		source string
	}{
		{"eleven tokens: ten steps in one second", at(11), 10, "inter_token"},
		{"one token: over the time from it to the end", at(1), 0.8, "request_window"},
		{"all tokens in one read: same", oneRead, 16.7, "request_window"},
		{"no token event: over the whole request", silent, 10, "request_window"},
		{"unknown count: omitted", at(0), 0, ""},
		{"no time at all: omitted", instant, 0, ""},
		{"a rate that rounds to zero: omitted, zero would be invalid", slow, 0, ""},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			got, source, ok := stats.DecodeThroughput(row.s)
			if got != row.want || source != row.source || ok != (row.source != "") {
				t.Errorf("got %v, %q, %v, want %v, %q", got, source, ok, row.want, row.source)
			}
		})
	}
}

func TestRoundingGoesAwayFromZero(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ in, one, two float64 }{
		{0.25, 0.3, 0.25},
		{-0.25, -0.3, -0.25},
		{0.125, 0.1, 0.13},
		{2.5, 2.5, 2.5},
		{14499.35, 14499.4, 14499.35},
		{1.005, 1, 1}, // stored as 1.00499…
		{0, 0, 0},
	} {
		if got := stats.Round1(row.in); got != row.one {
			t.Errorf("Round1(%v): got %v, want %v", row.in, got, row.one)
		}
		if got := stats.Round2(row.in); got != row.two {
			t.Errorf("Round2(%v): got %v, want %v", row.in, got, row.two)
		}
	}
}

// exampleBatches are three iterations of two streams whose lmx document is
// known in full: start, first, last, end in ms, prompt and output tokens.
func exampleBatches() [][]stats.Stream {
	at := func(start, first, last, end float64, prompt, output int) stats.Stream {
		d := func(x float64) time.Duration { return time.Duration(math.Round(x * 1e6)) }
		return stats.Stream{
			Send: d(start), FirstToken: d(first), LastToken: d(last), End: d(end),
			PromptTokens: prompt, OutputTokens: output,
		}
	}
	return [][]stats.Stream{
		{at(0, 210.4, 1485.9, 1486.7, 61, 128), at(0.3, 248.9, 1502.1, 1502.8, 62, 128)},
		{at(0, 207.8, 1479.0, 1479.9, 61, 128), at(0.2, 243.0, 1497.3, 1498.2, 61, 128)},
		{at(0, 215.5, 1493.8, 1494.4, 62, 128), at(0.4, 251.6, 1508.2, 1509.0, 61, 121)},
	}
}

func TestExampleRunSamples(t *testing.T) {
	t.Parallel()
	type sample struct{ TokSOut, TokSPrefill, TTFTMs float64 }
	want := []sample{
		{99.6, 289.9, 210.4},
		{101.3, 249.4, 248.6},
		{99.9, 293.6, 207.8},
		{101.3, 251.2, 242.8},
		{99.4, 287.7, 215.5},
		{95.5, 242.8, 251.2},
	}
	var got []sample
	for _, batch := range exampleBatches() {
		for _, s := range batch {
			var one sample
			one.TokSOut, _, _ = stats.DecodeThroughput(s)
			one.TokSPrefill, _ = stats.PrefillThroughput(s)
			ttft, _ := stats.TTFT(s)
			one.TTFTMs = stats.Round2(float64(ttft) / 1e6)
			got = append(got, one)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}
}

func TestExampleRunStatistics(t *testing.T) {
	t.Parallel()
	var out, total, ttft, prefill, prompt, output []float64
	for _, batch := range exampleBatches() {
		rate, source, ok := stats.BatchThroughput(batch)
		if source != stats.SourceConcurrentRequestWindow || !ok {
			t.Fatalf("source: got %q, want concurrent_request_window", source)
		}
		all, _ := stats.TotalThroughput(batch)
		out, total = append(out, rate), append(total, all)
		for _, s := range batch {
			d, _ := stats.TTFT(s)
			p, _ := stats.PrefillThroughput(s)
			ttft, prefill = append(ttft, float64(d)/1e6), append(prefill, p)
			prompt, output = append(prompt, float64(s.PromptTokens)), append(output, float64(s.OutputTokens))
		}
	}
	if diff := cmp.Diff([]float64{198.1, 198.4, 192.5}, out); diff != "" {
		t.Errorf("tokSOut of the iterations (-want +got):\n%s", diff)
	}
	for _, row := range []struct {
		name   string
		values []float64
		want   string
	}{
		{"tokSOut", out, `{"count":3,"max":198.4,"mean":196.33,"min":192.5,"p50":198.1,"stddev":3.32}`},
		{"tokSTotal", total, `{"count":3,"max":252.3,"mean":250.33,"min":246.5,"p50":252.2,"stddev":3.32}`},
		{"ttftMs", ttft, `{"count":6,"max":251.2,"mean":229.38,"min":207.8,"p50":229.15,"stddev":20.22}`},
	} {
		m, err := stats.SummarizeMetric(row.values)
		if err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		got, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(row.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.name, diff)
		}
	}
	for _, row := range []struct {
		name   string
		values []float64
		want   float64
	}{
		{"tokSPrefill", prefill, 269.45},
		{"promptTokens", prompt, 61},
		{"outputTokens", output, 128},
	} {
		m, _ := stats.Median(row.values)
		if got := stats.Round2(m); got != row.want {
			t.Errorf("median %s: got %v, want %v", row.name, got, row.want)
		}
	}
}

func TestMetricSummaryForms(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		why    string
		values []float64
		want   string
	}{
		{"an empty pool has only its count", nil, `{"count":0}`},
		{"one value has no deviation", []float64{256}, `{"count":1,"max":256,"mean":256,"min":256,"p50":256}`},
		{"whole floats print without a fraction", []float64{2, 4}, `{"count":2,"max":4,"mean":3,"min":2,"p50":3,"stddev":1.41}`},
		{"a deviation of zero is a deviation", []float64{7, 7}, `{"count":2,"max":7,"mean":7,"min":7,"p50":7,"stddev":0}`},
	} {
		m, err := stats.SummarizeMetric(row.values)
		if err != nil {
			t.Fatalf("%s: %v", row.why, err)
		}
		got, _ := json.Marshal(m)
		if string(got) != row.want {
			t.Errorf("%s: got %s, want %s", row.why, got, row.want)
		}
	}
	if _, err := stats.SummarizeMetric([]float64{math.NaN()}); !errors.Is(err, stats.ErrNotFinite) {
		t.Errorf("NaN: got %v, want ErrNotFinite", err)
	}
}

func TestPrefillAndTotalNeedTheirCounts(t *testing.T) {
	t.Parallel()
	s := stats.Stream{FirstToken: ms, LastToken: 2 * ms, End: 3 * ms, OutputTokens: 2}
	if got, ok := stats.PrefillThroughput(s); ok {
		t.Errorf("prompt count unknown: got %v", got)
	}
	if got, ok := stats.TotalThroughput([]stats.Stream{s}); ok {
		t.Errorf("prompt count unknown: got %v", got)
	}
	s.PromptTokens = 4
	if got, ok := stats.TotalThroughput([]stats.Stream{s}); got != 2000 || !ok {
		t.Errorf("6 tokens in 3 ms: got %v, %v, want 2000", got, ok)
	}
	s.FirstToken = 0
	if got, ok := stats.PrefillThroughput(s); ok {
		t.Errorf("no time to first token: got %v", got)
	}
}
