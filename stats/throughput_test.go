package stats_test

import (
	"math"
	"testing"
	"time"

	"lmxbench/stats"
)

const ms = time.Millisecond

// near fails unless got is within a share of want.
func near(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if math.Abs(got-want) > share*math.Abs(want) || math.IsNaN(got) {
		t.Errorf("%s: got %v, want %v (± %g %%)", what, got, want, share*100)
	}
}

// steady is a stream with one token at first and one every step after it.
func steady(first, step time.Duration, tokens int) stats.Stream {
	s := stats.Stream{OutputTokens: tokens, FirstToken: first}
	for i := range tokens {
		s.EventTimes = append(s.EventTimes, first+time.Duration(i)*step)
	}
	s.LastToken = s.EventTimes[tokens-1]
	s.End = s.LastToken
	return s
}

func TestRatesOfOneStream(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		why  string
		s    stats.Stream
		want float64
		ok   bool
	}{
		{"eleven tokens span ten steps", stats.Stream{FirstToken: 100 * ms, LastToken: 1100 * ms, End: 1300 * ms, OutputTokens: 11}, 10, true},
		{"one token spans no step", stats.Stream{FirstToken: 100 * ms, LastToken: 100 * ms, End: 1300 * ms, OutputTokens: 1}, 0, false},
		{"a buffered stream has no gaps", stats.Stream{FirstToken: 900 * ms, LastToken: 900 * ms, End: 900 * ms, OutputTokens: 100}, 0, false},
		{"stamps that go backwards are no time", stats.Stream{FirstToken: 900 * ms, LastToken: 800 * ms, OutputTokens: 100}, 0, false},
		{"an unknown count is not zero tokens", stats.Stream{FirstToken: 1 * ms, LastToken: 2 * ms}, 0, false},
		{"without a token event there is no first one", stats.Stream{NoToken: true, FirstToken: 1 * ms, LastToken: 2 * ms, OutputTokens: 9}, 0, false},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			got, ok := stats.InterToken(row.s)
			if got != row.want || ok != row.ok {
				t.Errorf("InterToken: got %v, %v, want %v, %v", got, ok, row.want, row.ok)
			}
			if tpot, ok := stats.TPOT(row.s); ok != row.ok || ok && tpot != 1e9/row.want {
				t.Errorf("TPOT: got %v, %v, want the inverse of %v, %v", tpot, ok, row.want, row.ok)
			}
		})
	}
}

func TestInterTokenAfterFirstUsesTheRealFirstEvent(t *testing.T) {
	t.Parallel()
	s := stats.Stream{
		LastToken: time.Second, OutputTokens: 12,
		EventTimes: []time.Duration{0, 500 * ms, time.Second}, EventTokens: []int{4, 4, 4},
	}
	if got, ok := stats.InterTokenAfterFirst(s); got != 8 || !ok {
		t.Errorf("4 + 4 + 4 tokens in a second: got %v, %v, want 8", got, ok)
	}
	s.EventTokens = nil
	if got, ok := stats.InterTokenAfterFirst(s); ok {
		t.Errorf("counts unknown: got %v, want none", got)
	}
	s.EventTokens = []int{12, 0, 0}
	if got, ok := stats.InterTokenAfterFirst(s); ok {
		t.Errorf("everything in the first event: got %v, want none", got)
	}
}

func TestRatesOfABatch(t *testing.T) {
	t.Parallel()
	// Two streams; the second starts late and ends first.
	a := stats.Stream{Send: 0, FirstToken: 200 * ms, LastToken: 2200 * ms, End: 2250 * ms, OutputTokens: 100}
	b := stats.Stream{Send: 10 * ms, FirstToken: 450 * ms, LastToken: 1450 * ms, End: 1500 * ms, OutputTokens: 64}
	unknown, silent := b, b
	unknown.OutputTokens = 0
	silent.NoToken, silent.FirstToken = true, 0

	for _, row := range []struct {
		why              string
		streams          []stats.Stream
		window, wall, Σ  float64
		wOK, wallOK, ΣOK bool
	}{
		{"windows open at the earliest and close at the latest stamp", []stats.Stream{a, b}, 164 / 2.05, 164 / 2.25, 99/2.0 + 63/1.0, true, true, true},
		{"a stream without a token opens no window", []stats.Stream{a, silent}, 164 / 2.05, 164 / 2.25, 0, true, true, false},
		{"without any token lmx falls back to the start of the batch", []stats.Stream{silent}, 64 / 1.49, 64 / 1.49, 0, true, true, false},
		{"a sum with a missing term is no smaller sum", []stats.Stream{a, unknown}, 0, 0, 0, false, false, false},
		{"no streams, no rate", nil, 0, 0, 0, false, false, false},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			check := func(name string, f func([]stats.Stream) (float64, bool), want float64, wantOK bool) {
				got, ok := f(row.streams)
				if ok != wantOK || math.Abs(got-want) > 1e-9 {
					t.Errorf("%s: got %v, %v, want %v, %v", name, got, ok, want, wantOK)
				}
			}
			check("ConcurrentRequestWindow", stats.ConcurrentRequestWindow, row.window, row.wOK)
			check("BatchWall", stats.BatchWall, row.wall, row.wallOK)
			check("SumOfStreamRates", stats.SumOfStreamRates, row.Σ, row.ΣOK)
		})
	}
}

// The published B200 row: 256 streams of 512 tokens, 304 prompt tokens each;
// tokSOut 14,499.4 and tokSTotal 22,751 imply the two windows.
func TestPublishedRowIsOneBatchSeenThroughTwoWindows(t *testing.T) {
	t.Parallel()
	wall := seconds((77824.0 + 131072) / 22751)
	window := seconds(131072 / 14499.4)
	near(t, "window", window.Seconds(), 9.0398, 1e-5)
	near(t, "wall", wall.Seconds(), 9.1818, 1e-5)

	streams := make([]stats.Stream, 256)
	for i := range streams {
		streams[i] = stats.Stream{FirstToken: wall - window, LastToken: wall, End: wall, PromptTokens: 304, OutputTokens: 512}
	}
	if n, ok := stats.OutputTokens(streams); n != 131072 || !ok {
		t.Errorf("tokens: got %d, want 131072", n)
	}
	if got, source, _ := stats.BatchThroughput(streams); got != 14499.4 || source != stats.SourceConcurrentRequestWindow {
		t.Errorf("tokSOut: got %v by %q, want 14499.4 by concurrent_request_window", got, source)
	}
	if got, _ := stats.TotalThroughput(streams); got != 22751 {
		t.Errorf("tokSTotal: got %v, want 22751", got)
	}
	got, _ := stats.BatchWall(streams)
	near(t, "batch wall", got, 14275.1, 5e-6)
}

func TestPlateauOfConstantRatesIsTheirSum(t *testing.T) {
	t.Parallel()
	step := 17_660_000 * time.Nanosecond
	for _, row := range []struct {
		why     string
		streams []stats.Stream
		want    float64
		overlap float64
	}{
		{
			"in step: the opening token does not count, the closing one does",
			[]stats.Stream{steady(0, step, 100), steady(0, step, 100), steady(0, step, 100)},
			3 / step.Seconds(), 1,
		},
		{
			"in step with microseconds of jitter: no step is won or lost at the edges",
			[]stats.Stream{steady(3, step, 100), steady(4000, step, 100), steady(9000, step, 100)},
			3 / step.Seconds(), 0.99999,
		},
		{
			"out of step and of different rates",
			[]stats.Stream{steady(0, 10*ms, 300), steady(333_333, 7*ms, 300), steady(500*ms, 3*ms, 500)},
			1/0.010 + 1/0.007 + 1/0.003, 0.5004,
		},
		{
			"one stream is its own plateau: the inter-token rate",
			[]stats.Stream{steady(42*ms, 10*ms, 51)},
			100, 1,
		},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			p, ok := stats.Plateau(row.streams)
			if !ok {
				t.Fatal("no plateau")
			}
			near(t, "tokens/s", p.TokensPerSecond, row.want, 1e-12)
			near(t, "tokens", p.Tokens, row.want*p.Window.Seconds(), 1e-12)
			near(t, "overlap", p.OverlapFraction, row.overlap, 1e-3)
		})
	}
}

func TestPlateauCountsWhatTheServerCounted(t *testing.T) {
	t.Parallel()
	s := stats.Stream{
		LastToken: 300 * ms, End: 400 * ms, OutputTokens: 10,
		EventTimes:  []time.Duration{0, 100 * ms, 200 * ms, 300 * ms},
		EventTokens: []int{1, 4, 2, 3},
	}
	p, _ := stats.Plateau([]stats.Stream{s})
	if p.Tokens != 9 || p.TokensPerSecond != 30 || p.OverlapFraction != 0.75 {
		t.Errorf("got %+v, want 9 tokens in 0.3 s of 0.4 s", p)
	}
	// Without counts ten tokens are spread over four events, 2.5 each.
	s.EventTokens = nil
	p, _ = stats.Plateau([]stats.Stream{s})
	if p.Tokens != 7.5 || p.TokensPerSecond != 25 {
		t.Errorf("got %+v, want 7.5 tokens in 0.3 s", p)
	}
	if w, err := s.Weights(); err != nil || !w.Spread() || w.At(3) != 2.5 {
		t.Errorf("weights: got %v, %v, want 2.5 each, spread", w, err)
	}
}

func TestEventsThatShareAReadShareTheGap(t *testing.T) {
	t.Parallel()
	// Two events read together after 100 ms: half of both lies before 50 ms.
	s := stats.Stream{OutputTokens: 3, EventTimes: []time.Duration{0, 100 * ms, 100 * ms}}
	got, ok := stats.TokensWithin([]stats.Stream{s}, stats.Window{From: 0, To: 50 * ms})
	if got != 1 || !ok {
		t.Errorf("got %v, %v, want 1", got, ok)
	}
}

func TestNoPlateau(t *testing.T) {
	t.Parallel()
	bad := steady(0, ms, 10)
	bad.EventTimes[4] = 0
	short := steady(0, ms, 10)
	short.EventTokens = []int{1, 2}
	negative := steady(0, ms, 3)
	negative.EventTokens = []int{1, -1, 3}
	uncounted := steady(0, ms, 10)
	uncounted.OutputTokens = 0
	for _, row := range []struct {
		why     string
		streams []stats.Stream
	}{
		{"one ends before the other starts", []stats.Stream{steady(0, ms, 10), steady(time.Second, ms, 10)}},
		{"they only touch", []stats.Stream{steady(0, ms, 10), steady(9*ms, ms, 10)}},
		{"a stream without a token never decodes", []stats.Stream{steady(0, ms, 10), {NoToken: true, OutputTokens: 5, End: ms}}},
		{"events out of order", []stats.Stream{bad}},
		{"counts that are not one per event", []stats.Stream{short}},
		{"a negative count", []stats.Stream{negative}},
		{"no counts and no total", []stats.Stream{uncounted}},
		{"no event times", []stats.Stream{{LastToken: ms, End: ms, OutputTokens: 5}}},
		{"no streams", nil},
	} {
		if p, ok := stats.Plateau(row.streams); ok {
			t.Errorf("%s: got %+v, want none", row.why, p)
		}
	}
}

func TestRateBinsTileTheWindow(t *testing.T) {
	t.Parallel()
	streams := []stats.Stream{steady(0, 10*ms, 301), steady(3*ms, 7*ms, 429)}
	w := stats.Window{From: 10 * ms, To: 2990 * ms}
	rates, ok := stats.RateBins(streams, w, 7)
	if !ok || len(rates) != 7 {
		t.Fatalf("got %d bins, %v, want 7", len(rates), ok)
	}
	for i, r := range rates {
		near(t, "bin "+string(rune('0'+i)), r, 1/0.010+1/0.007, 1e-9)
	}
	if _, ok := stats.RateBins(streams, stats.Window{From: 1, To: 1}, 7); ok {
		t.Error("an empty window has no bins")
	}
	if _, ok := stats.RateBins(streams, w, 0); ok {
		t.Error("no bins is no series")
	}
}
