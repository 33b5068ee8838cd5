package stats_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"lmxbench/stats"
)

// manyStreams are 1,000 streams of 1,024 events with jittered gaps around
// 17.66 ms. tokens is the tokens of each event.
func manyStreams(tokens int) []stats.Stream {
	r := rand.New(rand.NewPCG(9, 9))
	streams := make([]stats.Stream, 1000)
	for i := range streams {
		s := stats.Stream{OutputTokens: 1024 * tokens, EventTimes: make([]time.Duration, 1024)}
		at := time.Duration(r.Int64N(int64(time.Second)))
		for j := range s.EventTimes {
			s.EventTimes[j] = at
			at += 17_660_000 + time.Duration(r.NormFloat64()*200_000)
		}
		s.FirstToken, s.LastToken = s.EventTimes[0], s.EventTimes[1023]
		s.End = s.LastToken
		streams[i] = s
	}
	return streams
}

// BenchmarkGaps pools and summarises 1,000 streams × 1,024 events.
//
//	go test -run '^$' -bench Gaps -benchmem ./stats
func BenchmarkGaps(b *testing.B) {
	for _, tokens := range []int{1, 3} {
		streams := manyStreams(tokens)
		b.Run(fmt.Sprintf("tokens-per-event=%d", tokens), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var g stats.Gaps
				for _, s := range streams {
					if err := g.Add(s); err != nil {
						b.Fatal(err)
					}
				}
				if _, ok := g.InterChunk(ms); !ok {
					b.Fatal("no gaps")
				}
				if _, ok := g.TokenITL(ms); !ok {
					b.Fatal("no ITL")
				}
			}
			b.ReportMetric(1000*1024*float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// BenchmarkThroughputs computes every throughput of the same streams.
//
//	go test -run '^$' -bench Throughputs -benchmem ./stats
func BenchmarkThroughputs(b *testing.B) {
	streams := manyStreams(1)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = stats.ConcurrentRequestWindow(streams)
		_, _ = stats.BatchWall(streams)
		_, _ = stats.SumOfStreamRates(streams)
		p, ok := stats.Plateau(streams)
		if !ok {
			b.Fatal("no plateau")
		}
		if _, ok := stats.RateBins(streams, p.Window, 10); !ok {
			b.Fatal("no bins")
		}
	}
}

// BenchmarkHistogram records one duration.
//
//	go test -run '^$' -bench Histogram -benchmem ./stats
func BenchmarkHistogram(b *testing.B) {
	var h stats.Histogram
	h.Record(0)
	b.ReportAllocs()
	for b.Loop() {
		h.Record(17_660_000)
	}
}

func TestRecordingAllocatesNothing(t *testing.T) {
	var h stats.Histogram
	h.Record(0)
	if n := testing.AllocsPerRun(100, func() { h.Record(17_660_000) }); n != 0 {
		t.Errorf("got %v allocations per value, want 0", n)
	}
}

// Token ITL must not hold one value per token: a stream of a few events with a
// million tokens each costs no more than one with a token each.
func TestTokenITLCostsEventsNotTokens(t *testing.T) {
	s := stats.Stream{EventTimes: []time.Duration{0, ms, 2 * ms, 3 * ms}, EventTokens: []int{1, 1_000_000, 2_000_000, 3_000_000}}
	n := testing.AllocsPerRun(20, func() {
		var g stats.Gaps
		_ = g.Add(s)
		if itl, _ := g.TokenITL(ms); itl.Count != 6_000_000 {
			t.Errorf("got %d samples, want 6,000,000", itl.Count)
		}
	})
	if n > 20 {
		t.Errorf("got %v allocations, want a few per stream", n)
	}
}
