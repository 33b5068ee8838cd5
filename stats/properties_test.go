package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lmxbench/stats"
)

// drawStream makes a stream whose evidence fits together: events in order,
// sometimes read together, sometimes counted, sometimes with empty events.
func drawStream(t *rapid.T) stats.Stream {
	send := time.Duration(rapid.Int64Range(0, 1e8).Draw(t, "send"))
	events := rapid.IntRange(1, 30).Draw(t, "events")
	s := stats.Stream{Send: send, PromptTokens: rapid.IntRange(1, 500).Draw(t, "prompt")}
	at := send + time.Duration(rapid.Int64Range(1, 1e9).Draw(t, "ttft"))
	for range events {
		s.EventTimes = append(s.EventTimes, at)
		at += time.Duration(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(1, 5e7)).Draw(t, "gap"))
	}
	s.FirstToken, s.LastToken = s.EventTimes[0], s.EventTimes[events-1]
	s.End = s.LastToken + time.Duration(rapid.Int64Range(0, 1e7).Draw(t, "tail"))
	s.OutputTokens = rapid.IntRange(events, 4*events).Draw(t, "tokens")
	if rapid.Bool().Draw(t, "counted") {
		s.EventTokens = rapid.SliceOfN(rapid.IntRange(0, 5), events, events).Draw(t, "counts")
	}
	return s
}

func drawStreams(t *rapid.T) []stats.Stream {
	return rapid.SliceOfN(rapid.Custom(drawStream), 1, 6).Draw(t, "streams")
}

// everything is all that this package says about a batch.
type everything struct {
	Window, Wall, Sum, Total float64
	TokSOut                  float64
	Source                   string
	Plateau                  stats.PlateauRate
	HasPlateau               bool
	Chunk, ITL               stats.Summary
	TTFT                     stats.Summary
	Bins                     []float64
}

func measureAll(t *rapid.T, streams []stats.Stream) everything {
	var e everything
	e.Window, _ = stats.ConcurrentRequestWindow(streams)
	e.Wall, _ = stats.BatchWall(streams)
	e.Sum, _ = stats.SumOfStreamRates(streams)
	e.Total, _ = stats.TotalThroughput(streams)
	e.TokSOut, e.Source, _ = stats.BatchThroughput(streams)
	e.Plateau, e.HasPlateau = stats.Plateau(streams)
	g := pool(t, streams)
	e.Chunk, _ = g.InterChunk(time.Millisecond)
	e.ITL, _ = g.TokenITL(time.Millisecond)
	var ttfts []time.Duration
	for _, s := range streams {
		d, _ := stats.TTFT(s)
		ttfts = append(ttfts, d)
	}
	e.TTFT, _ = stats.SummarizeDurations(ttfts, time.Millisecond)
	if w, ok := stats.RequestWindow(streams); ok {
		e.Bins, _ = stats.RateBins(streams, w, 8)
	}
	return e
}

func pool(t *rapid.T, streams []stats.Stream) *stats.Gaps {
	var g stats.Gaps
	for _, s := range streams {
		if err := g.Add(s); err != nil {
			t.Fatalf("add: %v", err)
		}
	}
	return &g
}

func moved(streams []stats.Stream, f func(time.Duration) time.Duration) []stats.Stream {
	out := slices.Clone(streams)
	for i, s := range out {
		s.Send, s.FirstToken, s.LastToken, s.End = f(s.Send), f(s.FirstToken), f(s.LastToken), f(s.End)
		s.EventTimes = slices.Clone(s.EventTimes)
		for j, at := range s.EventTimes {
			s.EventTimes[j] = f(at)
		}
		out[i] = s
	}
	return out
}

func TestOrderOfStreamsChangesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		streams := drawStreams(t)
		want := measureAll(t, streams)
		got := measureAll(t, rapid.Permutation(streams).Draw(t, "order"))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("permuted (-want +got):\n%s", diff)
		}
	})
}

func TestOriginChangesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		streams := drawStreams(t)
		shift := time.Duration(rapid.Int64Range(-1e15, 1e15).Draw(t, "shift"))
		want := measureAll(t, streams)
		got := measureAll(t, moved(streams, func(d time.Duration) time.Duration { return d + shift }))
		want.Plateau.Window.From += shift
		want.Plateau.Window.To += shift
		if !want.HasPlateau {
			want.Plateau.Window = stats.Window{}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("shifted by %v (-want +got):\n%s", shift, diff)
		}
	})
}

func TestTwiceTheTimeIsHalfTheRate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		streams := drawStreams(t)
		want := measureAll(t, streams)
		got := measureAll(t, moved(streams, func(d time.Duration) time.Duration { return 2 * d }))
		for _, pair := range [][2]*float64{
			{&want.Window, &got.Window},
			{&want.Wall, &got.Wall},
			{&want.Sum, &got.Sum},
			{&want.Plateau.TokensPerSecond, &got.Plateau.TokensPerSecond},
		} {
			if *pair[0] != 2**pair[1] {
				t.Fatalf("rate %v became %v, want exactly half", *pair[0], *pair[1])
			}
		}
		if want.Plateau.Tokens != got.Plateau.Tokens || want.Plateau.OverlapFraction != got.Plateau.OverlapFraction {
			t.Fatalf("plateau %+v became %+v", want.Plateau, got.Plateau)
		}
		for _, pair := range [][2]stats.Summary{{want.Chunk, got.Chunk}, {want.ITL, got.ITL}, {want.TTFT, got.TTFT}} {
			if diff := cmp.Diff(pair[0].Scale(2), pair[1]); diff != "" {
				t.Fatalf("gaps did not double exactly (-want +got):\n%s", diff)
			}
		}
	})
}

func TestMergingIsRecordingTogether(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		left, right := drawStreams(t), drawStreams(t)
		together := pool(t, slices.Concat(left, right))
		merged := pool(t, left)
		merged.Merge(pool(t, right))
		for _, f := range []func(*stats.Gaps) stats.Summary{
			func(g *stats.Gaps) stats.Summary { s, _ := g.InterChunk(ms); return s },
			func(g *stats.Gaps) stats.Summary { s, _ := g.TokenITL(ms); return s },
		} {
			if diff := cmp.Diff(f(together), f(merged)); diff != "" {
				t.Fatalf("merged (-together +merged):\n%s", diff)
			}
		}
		if together.Spread() != merged.Spread() || together.Uncounted() != merged.Uncounted() {
			t.Fatalf("counters: %d, %d merged became %d, %d", together.Spread(), together.Uncounted(), merged.Spread(), merged.Uncounted())
		}
	})
}

func TestMergingHistogramsIsRecordingTogether(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(rapid.Int64Range(-10, 2e12))
		left, right := values.Draw(t, "left"), values.Draw(t, "right")
		record := func(parts ...[]int64) *stats.Histogram {
			var h stats.Histogram
			for _, part := range parts {
				for _, v := range part {
					h.Record(time.Duration(v))
				}
			}
			return &h
		}
		together, merged := record(left, right), record(left)
		if dropped := merged.Merge(record(right)); dropped != 0 {
			t.Fatalf("equal histograms dropped %d", dropped)
		}
		if diff := cmp.Diff(string(together.AppendText(nil)), string(merged.AppendText(nil))); diff != "" {
			t.Fatalf("merged (-together +merged):\n%s", diff)
		}
		if got := int(merged.Count() + merged.Rejected()); got != len(left)+len(right) {
			t.Fatalf("counted and rejected %d of %d", got, len(left)+len(right))
		}
	})
}

// Weighted ITL is the plain summary of one sample per token.
func TestTokenITLIsOneSamplePerToken(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		streams := drawStreams(t)
		var samples []float64
		for i := range streams {
			s := &streams[i]
			if s.EventTokens == nil {
				s.EventTokens = slices.Repeat([]int{3}, len(s.EventTimes))
			}
			last := s.EventTimes[0]
			for j := 1; j < len(s.EventTimes); j++ {
				n := s.EventTokens[j]
				if n == 0 {
					continue
				}
				samples = append(samples, slices.Repeat([]float64{float64(s.EventTimes[j]-last) / float64(n)}, n)...)
				last = s.EventTimes[j]
			}
		}
		got, ok := pool(t, streams).TokenITL(time.Nanosecond)
		if ok != (len(samples) > 0) {
			t.Fatalf("got %v for %d samples", ok, len(samples))
		}
		if !ok {
			return
		}
		want, err := stats.Summarize(samples)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, approximately(1e-9)); diff != "" {
			t.Fatalf("weighted (-one per token +weighted):\n%s", diff)
		}
	})
}

// approximately compares floats relatively, and absolutely near zero.
func approximately(share float64) cmp.Option {
	return cmp.Comparer(func(a, b float64) bool {
		return math.Abs(a-b) <= share*max(1, math.Abs(a), math.Abs(b))
	})
}

func TestQuantilesAscendWithinTheSample(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.Float64Range(-1e12, 1e12), 1, 50).Draw(t, "sample")
		last, _ := stats.Quantile(xs, 0)
		if last != slices.Min(xs) {
			t.Fatalf("quantile 0: got %v, want the minimum", last)
		}
		for i := 1; i <= 20; i++ {
			q, ok := stats.Quantile(xs, float64(i)/20)
			if !ok || q < last {
				t.Fatalf("quantile %v: got %v below %v", float64(i)/20, q, last)
			}
			last = q
		}
		if last != slices.Max(xs) {
			t.Fatalf("quantile 1: got %v, want the maximum", last)
		}
	})
}

// Whatever the stamps, nothing panics and nothing is NaN or infinite.
func TestNonsenseStaysFinite(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		any64 := rapid.Int64()
		streams := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) stats.Stream {
			s := stats.Stream{
				Send: time.Duration(any64.Draw(t, "send")), FirstToken: time.Duration(any64.Draw(t, "first")),
				LastToken: time.Duration(any64.Draw(t, "last")), End: time.Duration(any64.Draw(t, "end")),
				OutputTokens: rapid.Int().Draw(t, "tokens"), PromptTokens: rapid.Int().Draw(t, "prompt"),
				NoToken: rapid.Bool().Draw(t, "silent"),
			}
			for _, v := range rapid.SliceOfN(any64, 0, 6).Draw(t, "events") {
				s.EventTimes = append(s.EventTimes, time.Duration(v))
			}
			if rapid.Bool().Draw(t, "sorted") {
				slices.Sort(s.EventTimes)
			}
			return s
		}), 0, 4).Draw(t, "streams")
		var rates []float64
		for _, f := range []func([]stats.Stream) (float64, bool){
			stats.ConcurrentRequestWindow, stats.BatchWall, stats.SumOfStreamRates, stats.TotalThroughput,
		} {
			rate, _ := f(streams)
			rates = append(rates, rate)
		}
		p, _ := stats.Plateau(streams)
		rates = append(rates, p.TokensPerSecond, p.OverlapFraction)
		var g stats.Gaps
		for _, s := range streams {
			_ = g.Add(s)
		}
		itl, _ := g.TokenITL(ms)
		rates = append(rates, itl.Mean, itl.P99, itl.Max)
		for i, r := range rates {
			if math.IsNaN(r) || math.IsInf(r, 0) {
				t.Fatalf("result %d is %v", i, r)
			}
		}
	})
}

// Streams of constant rates give a plateau of exactly the sum of the rates,
// whatever their phases.
func TestPlateauOfConstantRates(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		var streams []stats.Stream
		want := 0.0
		for range 1 + r.IntN(8) {
			step := time.Duration(1e6 + r.Int64N(3e7))
			streams = append(streams, steady(time.Duration(r.Int64N(1e8)), step, int(2e9/step)))
			want += 1 / step.Seconds()
		}
		p, ok := stats.Plateau(streams)
		if !ok || math.Abs(p.TokensPerSecond-want) > 1e-9*want {
			t.Fatalf("got %v, %v, want %v", p.TokensPerSecond, ok, want)
		}
	})
}
