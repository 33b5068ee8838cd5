package stats_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"lmxbench/stats"
)

func TestInterChunkAndTokenITLDifferUnderSpeculation(t *testing.T) {
	t.Parallel()
	// Three chunks of 1, 4 and 2 tokens, 8 ms and 6 ms apart.
	s := stats.Stream{
		LastToken: 14 * ms, OutputTokens: 7,
		EventTimes: []time.Duration{0, 8 * ms, 14 * ms}, EventTokens: []int{1, 4, 2},
	}
	var g stats.Gaps
	if err := g.Add(s); err != nil {
		t.Fatal(err)
	}
	chunk, ok := g.InterChunk(time.Millisecond)
	if !ok || chunk.Count != 2 || chunk.Min != 6 || chunk.Max != 8 || chunk.Mean != 7 {
		t.Errorf("inter-chunk: got %+v, %v, want 6 and 8 ms", chunk, ok)
	}
	// Six samples: four of 2 ms, two of 3 ms.
	itl, ok := g.TokenITL(time.Millisecond)
	want := stats.Summary{
		Count: 6, Min: 2, Mean: 14.0 / 6, P50: 2, P90: 3, P95: 3, P99: 3, Max: 3,
		StdDev: ptr(math.Sqrt((4*math.Pow(1.0/3, 2) + 2*math.Pow(2.0/3, 2)) / 5)),
	}
	if diff := cmp.Diff(want, itl, cmpopts.EquateApprox(1e-14, 0)); diff != "" || !ok {
		t.Errorf("token ITL, %v (-want +got):\n%s", ok, diff)
	}
	if tpot, _ := stats.TPOT(s); tpot != 14e6/6 {
		t.Errorf("TPOT: got %v ns, want 14 ms ÷ 6", tpot)
	}
	if g.Spread() != 0 || g.Uncounted() != 0 || !g.Exact() {
		t.Errorf("got spread %d, uncounted %d, exact %v, want counted and exact", g.Spread(), g.Uncounted(), g.Exact())
	}
}

func TestGapMeasuresAgreeWhenEveryEventIsOneToken(t *testing.T) {
	t.Parallel()
	var g stats.Gaps
	if err := g.Add(steady(5*ms, 10*ms, 4)); err != nil { // spread: 4 tokens over 4 events
		t.Fatal(err)
	}
	counted := steady(0, 30*ms, 3)
	counted.EventTokens = []int{5, 1, 1} // the first event's tokens have no gap
	if err := g.Add(counted); err != nil {
		t.Fatal(err)
	}
	chunk, _ := g.InterChunk(time.Millisecond)
	itl, _ := g.TokenITL(time.Millisecond)
	if diff := cmp.Diff(chunk, itl); diff != "" {
		t.Errorf("inter-chunk and ITL differ (-chunk +itl):\n%s", diff)
	}
	if chunk.Count != 5 || chunk.P50 != 10 || chunk.Max != 30 {
		t.Errorf("got %+v, want three gaps of 10 and two of 30 ms", chunk)
	}
	if g.Spread() != 1 {
		t.Errorf("got %d streams with spread counts, want 1", g.Spread())
	}
}

func TestGapEdges(t *testing.T) {
	t.Parallel()
	var empty stats.Gaps
	if s, ok := empty.InterChunk(ms); ok {
		t.Errorf("empty pool: got %+v", s)
	}
	if s, ok := empty.TokenITL(ms); ok {
		t.Errorf("empty pool: got %+v", s)
	}

	t.Run("an event without tokens passes its gap on", func(t *testing.T) {
		t.Parallel()
		var g stats.Gaps
		_ = g.Add(stats.Stream{EventTimes: []time.Duration{0, 4 * ms, 10 * ms}, EventTokens: []int{1, 0, 2}})
		if itl, _ := g.TokenITL(ms); itl.Count != 2 || itl.Min != 5 || itl.Max != 5 {
			t.Errorf("ITL: got %+v, want two samples of 5 ms", itl)
		}
		if chunk, _ := g.InterChunk(ms); chunk.Count != 2 || chunk.Min != 4 {
			t.Errorf("inter-chunk: got %+v, want gaps of 4 and 6 ms", chunk)
		}
	})
	t.Run("events read together have gaps of zero", func(t *testing.T) {
		t.Parallel()
		var g stats.Gaps
		_ = g.Add(stats.Stream{OutputTokens: 3, EventTimes: []time.Duration{0, 9 * ms, 9 * ms}})
		if chunk, _ := g.InterChunk(ms); chunk.Count != 2 || chunk.Min != 0 || chunk.Max != 9 {
			t.Errorf("got %+v, want gaps of 9 and 0 ms", chunk)
		}
	})
	t.Run("an unknown count leaves ITL, not inter-chunk", func(t *testing.T) {
		t.Parallel()
		var g stats.Gaps
		_ = g.Add(steady(0, 10*ms, 3))
		unknown := steady(0, 20*ms, 3)
		unknown.OutputTokens = 0
		_ = g.Add(unknown)
		if chunk, _ := g.InterChunk(ms); chunk.Count != 4 {
			t.Errorf("inter-chunk: got %+v, want four gaps", chunk)
		}
		if itl, _ := g.TokenITL(ms); itl.Count != 2 || itl.Max != 10 {
			t.Errorf("ITL: got %+v, want two samples of 10 ms", itl)
		}
		if g.Uncounted() != 1 {
			t.Errorf("got %d uncounted, want 1", g.Uncounted())
		}
	})
	t.Run("evidence that does not fit is refused whole", func(t *testing.T) {
		t.Parallel()
		var g stats.Gaps
		if err := g.Add(stats.Stream{OutputTokens: 2, EventTimes: []time.Duration{5, 4}}); !errors.Is(err, stats.ErrUnordered) {
			t.Errorf("got %v, want ErrUnordered", err)
		}
		if err := g.Add(stats.Stream{EventTimes: []time.Duration{4, 5}, EventTokens: []int{1}}); !errors.Is(err, stats.ErrTokenCounts) {
			t.Errorf("got %v, want ErrTokenCounts", err)
		}
		if s, ok := g.InterChunk(ms); ok {
			t.Errorf("got %+v from refused streams", s)
		}
	})
	t.Run("a single event has no gap", func(t *testing.T) {
		t.Parallel()
		var g stats.Gaps
		if err := g.Add(stats.Stream{OutputTokens: 9, EventTimes: []time.Duration{3}}); err != nil {
			t.Fatal(err)
		}
		if s, ok := g.TokenITL(ms); ok {
			t.Errorf("got %+v", s)
		}
	})
}

// Past the limit the pool becomes a histogram; what it says hardly changes.
func TestPoolPastItsLimitStaysTrue(t *testing.T) {
	t.Parallel()
	exact, coarse, merged := &stats.Gaps{}, stats.NewGapsKeeping(500), stats.NewGapsKeeping(500)
	for i := range 40 {
		s := stats.Stream{OutputTokens: 150}
		at := time.Duration(0)
		for j := range 100 {
			at += time.Duration(1+(i*31+j*17)%97) * 211 * time.Microsecond
			s.EventTimes = append(s.EventTimes, at)
		}
		if i%3 == 0 {
			s.OutputTokens = 100
		}
		part := stats.NewGapsKeeping(500)
		for _, g := range []*stats.Gaps{exact, coarse, part} {
			if err := g.Add(s); err != nil {
				t.Fatal(err)
			}
		}
		merged.Merge(part)
	}
	if !exact.Exact() || coarse.Exact() || merged.Exact() {
		t.Fatalf("exact %v, coarse %v, merged %v: want only the first exact", exact.Exact(), coarse.Exact(), merged.Exact())
	}
	within := cmpopts.EquateApprox(0.002, 0)
	wantChunk, _ := exact.InterChunk(ms)
	wantITL, _ := exact.TokenITL(ms)
	for name, g := range map[string]*stats.Gaps{"recorded": coarse, "merged": merged} {
		chunk, _ := g.InterChunk(ms)
		itl, _ := g.TokenITL(ms)
		if diff := cmp.Diff(wantChunk, chunk, within); diff != "" {
			t.Errorf("%s, inter-chunk (-exact +coarse):\n%s", name, diff)
		}
		if diff := cmp.Diff(wantITL, itl, within); diff != "" {
			t.Errorf("%s, ITL (-exact +coarse):\n%s", name, diff)
		}
	}
	if late, _ := coarse.InterChunk(ms); late.Max != wantChunk.Max || late.Min != wantChunk.Min || late.Count != wantChunk.Count {
		t.Errorf("count, minimum and maximum must stay exact: got %+v", late)
	}
}
