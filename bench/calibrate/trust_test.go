package calibrate

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lmxbench/bench/report"
)

func checkReason(t *testing.T, got, want string) {
	t.Helper()
	switch {
	case want == "" && got != "":
		t.Errorf("got %q, want none", got)
	case !strings.Contains(got, want):
		t.Errorf("got %q, want one that says %q", got, want)
	}
}

func TestStrains(t *testing.T) {
	t.Parallel()
	calm := observed{
		kernelStamps: true, hasLag: true, lagP99: time.Millisecond, readGap: 20 * time.Millisecond,
		events: 1000, cpuShare: 0.09, stall: time.Millisecond, took: 2 * time.Second,
	}
	for _, tt := range []struct {
		name   string
		change func(*observed)
		want   []Strain
	}{
		{"a calm client", func(*observed) {}, []Strain{{codeLate, 0.1}, {codeCoalesced, 0}, {codeSaturated, 0.1}}},
		{"the lag of user stamps is their error: ten times stricter", func(o *observed) { o.kernelStamps = false }, []Strain{{codeLate, 1}, {codeCoalesced, 0}, {codeSaturated, 0.1}}},
		{"without a lag the longest stall stands in", func(o *observed) { o.hasLag, o.stall = false, 40*time.Millisecond }, []Strain{{codeLate, 0.5}, {codeCoalesced, 0}, {codeSaturated, 0.2}}},
		{"five events in a thousand read late together", func(o *observed) { o.lateMerged = 5 }, []Strain{{codeLate, 0.1}, {codeCoalesced, 1}, {codeSaturated, 0.1}}},
		{"without a lag, a stall must be long and a large part of its batch", func(o *observed) { o.hasLag, o.stall = false, 150*time.Millisecond }, []Strain{{codeLate, 1.88}, {codeCoalesced, 0}, {codeSaturated, 0.75}}},
		{"with a lag, a stall says nothing that the lag does not", func(o *observed) { o.stall = time.Second }, []Strain{{codeLate, 0.1}, {codeCoalesced, 0}, {codeSaturated, 0.1}}},
		{"four of a hundred events read late together are too few to count", func(o *observed) { o.events, o.lateMerged = 100, 4 }, []Strain{{codeLate, 0.1}, {codeCoalesced, 0.8}, {codeSaturated, 0.1}}},
		{"all cores but a tenth", func(o *observed) { o.cpuShare = 0.9 }, []Strain{{codeLate, 0.1}, {codeCoalesced, 0}, {codeSaturated, 1}}},
		{"no event at all", func(o *observed) { *o = observed{} }, []Strain{{codeSaturated, 0}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := calm
			tt.change(&o)
			if diff := cmp.Diff(tt.want, strains(o)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The strains must mean what the verdict means: at the threshold a code is at 1.
func TestStrainsUseTheVerdictsThresholds(t *testing.T) {
	t.Parallel()
	gap := 100 * time.Millisecond
	got := strains(observed{
		kernelStamps: true, hasLag: true, readGap: gap, lagP99: time.Duration(report.LateKernelWarn * float64(gap)),
		events: 100_000, lateMerged: int(report.CoalescedWarn * 100_000), cpuShare: report.SaturatedShare,
	})
	if diff := cmp.Diff([]Strain{{codeLate, 1}, {codeCoalesced, 1}, {codeSaturated, 1}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// rung is a sound and trusted one.
func rung(streams int, change ...func(*Rung)) Rung {
	r := Rung{
		Load:     Load{Streams: streams, Shape: Steps, Interval: 20 * time.Millisecond, Tokens: 100},
		Requests: streams, Events: 100 * streams, TimestampSource: "kernel",
		Kernel: &Spread{100 * streams, 4, 50, 200}, User: &Spread{100 * streams, 100, 900, 2000},
		TTFT: &TTFTError{10, 40}, ITL: &ITLError{1, 2, 30},
		Strains: []Strain{{codeLate, 0.2}, {codeCoalesced, 0}, {codeSaturated, 0.1}},
	}
	for _, c := range change {
		c(&r)
	}
	return r
}

func void(r *Rung) { r.Void = "the engine was late" }
func trips(r *Rung) {
	r.Strains = []Strain{{codeLate, 0.9}, {codeCoalesced, 2.5}, {codeSaturated, 0.4}}
}
func strays(r *Rung) { r.Kernel = &Spread{1, 900, 1500, 9000} }
func loses(r *Rung)  { r.Lost = 3 }
func merges(r *Rung) { r.MergedShare = 0.02 }
func phases(r *Rung) { r.Load.Shape = Phases }

func TestSentence(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		rungs   []Rung
		streams int
		first   string
		says    []string
	}{
		{
			"all hold: at least, and what comes nearest",
			[]Rung{rung(64), rung(256)},
			256, codeLate,
			[]string{"Up to at least 256 streams and 12,800 token events/s, all that was tried", "within 50 µs (p99)", "client_late comes nearest to its threshold (0.2 ×)"},
		},
		{
			"a code trips at the second rung",
			[]Rung{rung(64), rung(256, trips)},
			64, codeCoalesced,
			[]string{"Up to 64 streams and 3,200 token events/s", "beyond, client_coalesced trips first (2.5 × its threshold at 256 streams"},
		},
		{
			"the order of the rungs does not matter",
			[]Rung{rung(256, trips), rung(64)},
			64, codeCoalesced,
			[]string{"Up to 64 streams"},
		},
		{
			"stamps stray although no code trips: said as it is",
			[]Rung{rung(64), rung(256, strays)},
			64, codeLate,
			[]string{"at 256 streams × 50 tok/s, steps, stamps are 1.5 ms late (p99), 7.5 % of the interval, while no verdict code trips"},
		},
		{
			"requests lost",
			[]Rung{rung(64), rung(256, loses)},
			64, codeLate,
			[]string{"3 requests of 256 failed"},
		},
		{
			"merged reads",
			[]Rung{rung(64), rung(256, merges)},
			64, codeLate,
			[]string{"2 % of the events were read together with a later one"},
		},
		{
			"heavier rungs are void: the limit is not known",
			[]Rung{rung(64), rung(256, void)},
			64, codeLate,
			[]string{"Up to 64 streams", "heavier rungs are void, since the engine was late"},
		},
		{
			"the other shape of the largest stream count is void",
			[]Rung{rung(64), rung(64, phases, void)},
			64, codeLate,
			[]string{"Up to 64 streams", "64 streams × 50 tok/s, phases is void, since the engine was late"},
		},
		{
			"a void rung below a sound one says nothing either way",
			[]Rung{rung(64, void), rung(256)},
			256, codeLate,
			[]string{"Up to at least 256 streams"},
		},
		{
			"one shape of a stream count fails: the count is not trusted",
			[]Rung{rung(64), rung(256), rung(256, phases, trips)},
			64, codeCoalesced,
			[]string{"Up to 64 streams"},
		},
		{
			"a sound rung above a failed one does not count",
			[]Rung{rung(64), rung(256, trips), rung(1000)},
			64, codeCoalesced,
			[]string{"Up to 64 streams"},
		},
		{
			"none holds",
			[]Rung{rung(64, trips), rung(256, trips)},
			0, codeCoalesced,
			[]string{"No load tried here can be trusted: at 64 streams × 50 tok/s, steps, client_coalesced trips (2.5 × its threshold)"},
		},
		{
			"all are void",
			[]Rung{rung(64, void)},
			0, "",
			[]string{"Nothing can be said about this machine: at 64 streams × 50 tok/s, steps, the engine was late"},
		},
		{"no rung", nil, 0, "", []string{"Nothing was measured"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := trust(tt.rungs)
			if got.Streams != tt.streams || got.First.Code != tt.first {
				t.Errorf("got %d streams, first %q; want %d, %q", got.Streams, got.First.Code, tt.streams, tt.first)
			}
			for _, want := range tt.says {
				if !strings.Contains(got.Sentence, want) {
					t.Errorf("got %q, want a sentence that says %q", got.Sentence, want)
				}
			}
		})
	}
}

// More trouble never raises trust, and the order of rungs never matters.
func TestTroubleNeverRaisesTrust(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		harm := map[string]func(*Rung){
			"none": func(*Rung) {}, "void": void, "trips": trips, "strays": strays, "loses": loses, "merges": merges,
		}
		names := []string{"none", "none", "void", "trips", "strays", "loses", "merges"}
		var rungs []Rung
		for range rapid.IntRange(1, 6).Draw(t, "rungs") {
			streams := rapid.SampledFrom([]int{64, 256, 1000}).Draw(t, "streams")
			rungs = append(rungs, rung(streams, harm[rapid.SampledFrom(names).Draw(t, "harm")]))
		}
		before := trust(rungs)
		shuffled := rapid.Permutation(rungs).Draw(t, "order")
		if got := trust(shuffled).Streams; got != before.Streams {
			t.Fatalf("another order: %d streams, then %d", before.Streams, got)
		}
		worse := slices.Clone(rungs)
		i := rapid.IntRange(0, len(worse)-1).Draw(t, "worse")
		if worse[i].Void != "" {
			return // making a void rung fail adds knowledge, which may lower trust only
		}
		loses(&worse[i])
		if after := trust(worse); after.Streams > before.Streams {
			t.Fatalf("trust rose from %d to %d streams", before.Streams, after.Streams)
		}
	})
}
