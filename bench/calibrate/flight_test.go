package calibrate

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"lmxbench/internal/simserver"
)

func open(recv, finish int64) simserver.Record {
	return simserver.Record{Recv: recv, Finish: finish}
}

func TestStreamsInFlight(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		records []simserver.Record
		want    int
	}{
		{"none", nil, 0},
		{"all at once", []simserver.Record{open(1, 9), open(2, 8), open(3, 7)}, 3},
		{"one after the other, as a client with too few workers does", []simserver.Record{open(1, 3), open(4, 6), open(7, 9)}, 1},
		{"one ends as the next arrives: they were not side by side", []simserver.Record{open(1, 4), open(4, 6)}, 1},
		{"a request that never ended is not known to have been open", []simserver.Record{open(1, 0), open(2, 3)}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := inFlight(tt.records); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

// The peak is found by counting, at each arrival, who is open.
func TestStreamsInFlightAgainstCounting(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var records []simserver.Record
		for range rapid.IntRange(0, 12).Draw(t, "requests") {
			from := rapid.Int64Range(1, 30).Draw(t, "from")
			records = append(records, open(from, from+rapid.Int64Range(1, 10).Draw(t, "length")))
		}
		want := 0
		for _, r := range records {
			n := 0
			for _, o := range records {
				if o.Recv <= r.Recv && r.Recv < o.Finish {
					n++
				}
			}
			want = max(want, n)
		}
		if got := inFlight(records); got != want {
			t.Fatalf("got %d, want %d of %v", got, want, records)
		}
	})
}

func sentAt(times ...int64) simserver.Record {
	return simserver.Record{Events: simserver.Events{Sent: times}}
}

func TestLoadHeld(t *testing.T) {
	t.Parallel()
	load := Load{Streams: 2, Shape: Steps, Interval: 10, Tokens: 3} // planned: 20 ns from first to last
	for _, tt := range []struct {
		name    string
		records []simserver.Record
		want    float64
	}{
		{"as planned", []simserver.Record{sentAt(100, 110, 120), sentAt(100, 110, 120)}, 1},
		{"one stream started a step late", []simserver.Record{sentAt(100, 110, 120), sentAt(110, 120, 140)}, 0.5},
		{"faster than planned is no more than all", []simserver.Record{sentAt(100, 105, 110)}, 1},
		{"a request without a token takes nothing away", []simserver.Record{sentAt(), sentAt(100, 110, 120)}, 1},
		{"nothing sent", nil, 0},
		{"one event has no length", []simserver.Record{sentAt(100)}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := loadHeld(load, tt.records); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestVoidRounds(t *testing.T) {
	t.Parallel()
	load := Load{Streams: 4, Shape: Steps, Interval: 20 * time.Millisecond, Tokens: 8}
	sound := func() *round {
		r := &round{joined: joined{pairs: make([]pair, 4)}}
		r.stats.StepStart = simserver.Lateness{Count: 8, P99: 4999}
		return r
	}
	for _, tt := range []struct {
		name string
		harm func(*round)
		want string // part of the reason; "" for none
	}{
		{"bursts up to a quarter of the step late are the engine's right", func(*round) {}, ""},
		{"bursts later than a quarter of the step", func(r *round) { r.stats.StepStart.P99 = 5001 }, "began up to 5 ms behind plan"},
		{"a schedule given up", func(r *round) { r.stats.Reanchored = 1 }, "gave up its schedule 1 time"},
		{"books that forgot requests", func(r *round) { r.stats.RecordsDropped = 2 }, "lost 2 requests of its own books"},
		{"a clock that was set", func(r *round) { r.stepped = true }, "wall clock was set"},
		{"an engine that sent nothing", func(r *round) { r.stats.StepStart.Count = 0 }, "sent nothing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := sound()
			tt.harm(r)
			checkReason(t, voidReason(load, r), tt.want)
		})
	}
}

// A round that says nothing is left out of the rung; only where none says
// anything is the rung void.
func TestVoidRoundsAreLeftOut(t *testing.T) {
	t.Parallel()
	load := Load{Streams: 4, Shape: Steps, Interval: 20 * time.Millisecond, Tokens: 8}
	sound, late := &round{joined: joined{pairs: make([]pair, 4)}}, &round{joined: joined{pairs: make([]pair, 4)}}
	sound.stats.StepStart = simserver.Lateness{Count: 8, P99: 100}
	late.stats.StepStart = simserver.Lateness{Count: 8, P99: 9000}
	for _, tt := range []struct {
		name          string
		rounds        []*round
		used, leftOut int
		void          string
	}{
		{"both sound", []*round{sound, sound}, 2, 0, ""},
		{"one late", []*round{late, sound}, 1, 1, ""},
		{"both late: the rung shows what it saw and is void", []*round{late, late}, 2, 0, "the engine was late"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			use, reasons, void := sift(load, tt.rounds)
			if len(use) != tt.used || len(reasons) != tt.leftOut {
				t.Errorf("got %d used, %d left out; want %d, %d", len(use), len(reasons), tt.used, tt.leftOut)
			}
			checkReason(t, void, tt.void)
		})
	}
}
