package report_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lmxbench/bench/report"
)

// The order of the streams in a batch changes no aggregate, and a server at
// half the speed has half the rates and twice the gaps.
func TestMetamorphicProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := load{
			streams: rapid.IntRange(1, 12).Draw(t, "streams"), iterations: rapid.IntRange(1, 4).Draw(t, "iterations"),
			tokens: rapid.IntRange(2, 60).Draw(t, "tokens"), perEvent: rapid.IntRange(0, 4).Draw(t, "perEvent"),
			counted: rapid.Bool().Draw(t, "counted"), slots: rapid.IntRange(0, 4).Draw(t, "slots"),
			ttft: 50 * time.Millisecond, prefill: 3 * time.Millisecond, step: 10 * time.Millisecond,
		}
		if l.slots > l.streams {
			l.slots = 0
		}
		e := l.evidence()
		d := mustBuild(t, e)

		shuffled := e
		shuffled.Requests = slices.Clone(e.Requests)
		order := rapid.Permutation(slices.Collect(irange(1, l.streams+1))).Draw(t, "order")
		for i := range shuffled.Requests {
			shuffled.Requests[i].Request = order[shuffled.Requests[i].Request-1]
		}
		slices.SortStableFunc(shuffled.Requests, func(x, y report.Request) int {
			return (x.Iteration-y.Iteration)*1000 + x.Request - y.Request
		})
		s := mustBuild(t, shuffled)
		for name, pair := range map[string][2]any{
			"throughput": {d.Bench.Throughput, s.Bench.Throughput}, "latency": {d.Bench.Latency, s.Bench.Latency},
			"streamTokS": {d.Bench.StreamTokS, s.Bench.StreamTokS}, "sampleStats": {d.SampleStats, s.SampleStats},
			"verdict": {d.Bench.Verdict.Status, s.Bench.Verdict.Status},
		} {
			if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
				t.Errorf("%s depends on the order of the streams:\n%s", name, diff)
			}
		}

		slow := l.evidence()
		for i := range slow.Requests {
			double(&slow.Requests[i])
		}
		half := mustBuild(t, slow)
		near(t, "batchWall", half.Bench.Throughput.BatchWall.P50*2, d.Bench.Throughput.BatchWall.P50, 0.02)
		near(t, "e2eMs", half.Bench.Latency.E2EMs.Mean, 2*d.Bench.Latency.E2EMs.Mean, 0.002)
		if gaps := d.Bench.Latency.InterChunkMs; gaps != nil {
			near(t, "interChunkMs", half.Bench.Latency.InterChunkMs.Mean, 2*gaps.Mean, 0.002)
		}
	})
}

func irange(from, to int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := from; i < to && yield(i); i++ { //nolint:revive // all is in the head
		}
	}
}

func mustBuild(t *rapid.T, e report.Evidence) *report.Document {
	d, err := report.Build(e)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.JSON(); err != nil {
		t.Fatal(err)
	}
	return d
}

func near(t *rapid.T, name string, got, want, tolerance float64) {
	if math.Abs(got-want) > tolerance {
		t.Errorf("%s: %v, want %v", name, got, want)
	}
}

// double stretches a request's time twofold from the origin.
func double(r *report.Request) {
	for _, at := range []*int64{
		&r.T.Connect, &r.T.Send, &r.T.FirstByte, &r.T.FirstEvent, &r.T.FirstToken, &r.T.FirstContent,
		&r.T.LastToken, &r.T.Finish, &r.T.End,
	} {
		*at *= 2
	}
	for i := range r.Events.T {
		r.Events.T[i] *= 2
	}
}

// Whatever is missing, there is a result, and it is JSON: no panic, no NaN.
func TestAnyEvidenceGivesAResult(t *testing.T) {
	t.Parallel()
	outcomes := report.Outcomes()
	rapid.Check(t, func(t *rapid.T) {
		e := small(rapid.IntRange(1, 4).Draw(t, "streams")).evidence()
		e.Plan.AllowFailures, e.Plan.Stream = rapid.Bool().Draw(t, "allow"), rapid.Bool().Draw(t, "stream")
		if rapid.Bool().Draw(t, "metrics") {
			withMetrics(&e, rapid.Float64Range(0, 3).Draw(t, "factor"))
		}
		stamp := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(1, 1<<40))
		for i := range e.Requests {
			r := &e.Requests[i]
			label := fmt.Sprint(i)
			switch rapid.IntRange(0, 7).Draw(t, "kind"+label) {
			case 0:
				r.Outcome = rapid.SampledFrom(outcomes).Draw(t, "outcome"+label).Name
			case 1:
				r.Events = nil
			case 2:
				r.T = report.Stamps{}
			case 3:
				r.OutputTokens = ptr(rapid.Int64Range(0, 1<<40).Draw(t, "tokens"+label))
			case 4:
				r.PromptTokens, r.OutputTokens, r.FinishReason = nil, nil, nil
			case 5:
				r.T = report.Stamps{
					Send: stamp.Draw(t, "send"+label), FirstToken: stamp.Draw(t, "first"+label), LastToken: stamp.Draw(t, "last"+label),
					End: stamp.Draw(t, "end"+label), FirstContent: stamp.Draw(t, "content"+label),
				}
			case 6:
				r.Timings = json.RawMessage(rapid.SampledFrom([]string{`[]`, `"x"`, `{"predicted_n":"7"}`, `{"draft_n":1e308,"draft_n_accepted":1}`}).Draw(t, "timings"+label))
			}
		}
		if rapid.Bool().Draw(t, "dropped") {
			e.Requests = e.Requests[:rapid.IntRange(0, len(e.Requests)).Draw(t, "kept")]
			e.Batches = e.Batches[:rapid.IntRange(0, len(e.Batches)).Draw(t, "seen")]
		}
		d := mustBuild(t, e)
		if err := (report.Text{}).Write(discard{}, d); err != nil {
			t.Fatal(err)
		}
	})
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
