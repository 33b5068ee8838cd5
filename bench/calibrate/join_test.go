package calibrate

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lmxbench/internal/simserver"
	"lmxbench/loadgen"
)

// record is what the client has of a request with that many token events.
func record(outcome loadgen.Outcome, events int) *loadgen.Record {
	return &loadgen.Record{Outcome: outcome, Events: loadgen.Events{At: make([]int64, events), Lag: make([]int64, events)}}
}

// truth is what the server has of it.
func truth(nonce string, events int) simserver.Record {
	return simserver.Record{Nonce: nonce, Events: simserver.Events{Sent: make([]int64, events), Tokens: make([]int32, events)}}
}

func nonces(j joined) []string {
	var list []string
	for _, p := range j.pairs {
		list = append(list, p.server.Nonce)
	}
	return list
}

func TestJoinByNonce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		requests []asked
		records  []simserver.Record
		want     []string
		lost     int
	}{
		{
			"records come in another order than requests, with strangers among them",
			[]asked{{"a", record(loadgen.OK, 2)}, {"b", record(loadgen.OK, 3)}},
			[]simserver.Record{truth("b", 3), truth("x", 9), truth("a", 2)},
			[]string{"a", "b"},
			0,
		},
		{
			"a request that was not ok is lost although the server knows it",
			[]asked{{"a", record(loadgen.Truncated, 2)}, {"b", record(loadgen.OK, 3)}},
			[]simserver.Record{truth("a", 2), truth("b", 3)},
			[]string{"b"},
			1,
		},
		{
			"another number of events cannot be compared event by event",
			[]asked{{"a", record(loadgen.OK, 2)}},
			[]simserver.Record{truth("a", 3)},
			nil, 1,
		},
		{
			"a nonce that the server has twice has no counterpart",
			[]asked{{"a", record(loadgen.OK, 2)}},
			[]simserver.Record{truth("a", 2), truth("a", 2)},
			nil, 1,
		},
		{
			"three of a nonce are no better than two",
			[]asked{{"a", record(loadgen.OK, 2)}},
			[]simserver.Record{truth("a", 2), truth("a", 2), truth("a", 2)},
			nil, 1,
		},
		{
			"requests without a nonce do not match records without one",
			[]asked{{"", record(loadgen.OK, 2)}},
			[]simserver.Record{truth("", 2)},
			nil, 1,
		},
		{
			"a request without an event has nothing to compare",
			[]asked{{"a", record(loadgen.OK, 0)}},
			[]simserver.Record{truth("a", 0)},
			nil, 1,
		},
		{"nothing sent, nothing lost", nil, []simserver.Record{truth("a", 1)}, nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := join(tt.requests, tt.records)
			if diff := cmp.Diff(tt.want, nonces(got)); diff != "" {
				t.Errorf("pairs (-want +got):\n%s", diff)
			}
			if got.lost != tt.lost {
				t.Errorf("lost: got %d, want %d", got.lost, tt.lost)
			}
		})
	}
}

// Every request is either paired with its own nonce or lost, whatever the order
// of the server's books.
func TestJoinLosesNothingSilently(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		known := rapid.SliceOfDistinct(rapid.StringMatching(`[0-9a-f]{4}`), rapid.ID).Draw(t, "nonces")
		var requests []asked
		var records []simserver.Record
		for _, n := range known {
			outcome := rapid.SampledFrom([]loadgen.Outcome{loadgen.OK, loadgen.OK, loadgen.Timeout}).Draw(t, "outcome")
			requests = append(requests, asked{n, record(outcome, rapid.IntRange(0, 2).Draw(t, "seen"))})
			for range rapid.IntRange(0, 2).Draw(t, "copies") {
				records = append(records, truth(n, rapid.IntRange(0, 2).Draw(t, "sent")))
			}
		}
		got := join(requests, records)
		if len(got.pairs)+got.lost != len(requests) {
			t.Fatalf("%d pairs and %d lost of %d requests", len(got.pairs), got.lost, len(requests))
		}
		for _, p := range got.pairs {
			i := slices.IndexFunc(requests, func(q asked) bool { return q.nonce == p.server.Nonce })
			if requests[i].record != p.client {
				t.Fatalf("nonce %s is paired with another request's record", p.server.Nonce)
			}
		}
		reversed := slices.Clone(records) // pairs point into the books
		slices.Reverse(reversed)
		if again := join(requests, reversed); !slices.Equal(nonces(again), nonces(got)) || again.lost != got.lost {
			t.Fatalf("the order of the books matters: %v, then %v", nonces(got), nonces(again))
		}
	})
}
