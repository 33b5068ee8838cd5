package report_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lmxbench/bench/report"
)

func TestGoodRunsRaiseNoAlarm(t *testing.T) {
	t.Parallel()
	speculative := load{streams: 1, iterations: 6, tokens: 1024, ttft: 80 * time.Millisecond, step: 15 * time.Millisecond, perEvent: 5, warmup: 1}
	counted := speculative
	counted.counted = true
	manySpeculative := load{streams: 64, iterations: 3, tokens: 512, ttft: 100 * time.Millisecond, prefill: 3 * time.Millisecond, step: 30 * time.Millisecond, perEvent: 5}
	packed := eight
	packed.packed = 2
	for _, c := range []struct {
		why   string
		e     func() report.Evidence
		codes []string
	}{
		{"nothing at all about a sound run", sound, nil},
		{"one stream, 5 × 1,024 tokens", func() report.Evidence { return single.evidence() }, []string{"n_too_small"}},
		{"256 streams × 512 tokens × 3 with prefill", func() report.Evidence { return burst.evidence() }, []string{"n_too_small"}},
		{"speculation without counts per event", func() report.Evidence { return speculative.evidence() }, nil},
		{"speculation with counts per event", func() report.Evidence { return counted.evidence() }, nil},
		{"64 speculating streams", func() report.Evidence { return manySpeculative.evidence() }, []string{"n_too_small"}},
		{"a server that packs two events into a write", func() report.Evidence { return packed.evidence() }, []string{"n_too_small"}},
		{"user stamps on a machine that keeps up", func() report.Evidence { e := sound(); userStamps(&e); return e }, nil},
		{"two merged events of a short run", func() report.Evidence {
			l := single
			l.tokens, l.iterations = 256, 6
			e := l.evidence()
			firstTimed(&e).LateMerged = 4
			return e
		}, nil},
		{"a watchdog that woke late while the readers did not", func() report.Evidence {
			e := sound()
			e.Batches[4].StallNs = int64(500 * time.Millisecond)
			return e
		}, nil},
		{"one read without a stamp among thousands", func() report.Evidence {
			e := sound()
			batches(&e, func(b *report.Batch) { b.TimestampSource, b.UnstampedReads = "mixed", 1 })
			timed(&e, func(r *report.Request) { r.Events.Lag[0] = -1; lagTail(r, 5, 2_000_000) })
			return e
		}, nil},
		{"an engine that does not count the last token", func() report.Evidence { e := sound(); withMetrics(&e, 255.0/256); return e }, nil},
		{"an engine that counts one token more", func() report.Evidence { e := sound(); withMetrics(&e, 257.0/256); return e }, nil},
		{"a server that restarted its counters between batches", func() report.Evidence {
			e := sound()
			*e.Batches[4].MetricsAfter.GenerationTokens = 5
			return e
		}, nil},
		{"the template's head in the cache, and the nonce's first letters", func() report.Evidence {
			e := sound()
			e.Session.TemplateHead = 21
			timed(&e, func(r *report.Request) { r.CachedTokens = ptr(int64(23)) })
			return e
		}, nil},
		{"one stream of 256 that stopped early while others were still prefilled", func() report.Evidence {
			e := burst.evidence()
			r := firstTimed(&e)
			r.Events.T, r.Events.Lag, r.Events.Bytes = r.Events.T[:20], r.Events.Lag[:20], r.Events.Bytes[:20]
			r.FinishReason, *r.OutputTokens, r.T.LastToken, r.T.End = ptr("stop"), 20, r.Events.T[19], r.Events.T[19]+1000
			e.Plan.IgnoreEOS = nil
			return e
		}, []string{"finish_not_length", "plateau_short", "n_too_small"}},
		{"noise of 3 % without a trend", func() report.Evidence {
			e := sound()
			timed(&e, func(r *report.Request) {
				r.T.End += (r.T.End - r.T.FirstToken) * []int64{0, 30, 0, 20, 5, 30, 10}[r.Iteration] / 1000
			})
			return e
		}, nil},
		{"an early stall of one stream by preemption", func() report.Evidence {
			e := sound()
			r := firstTimed(&e)
			for i := 100; i < r.Events.Len(); i++ {
				r.Events.T[i] += int64(2 * time.Second)
			}
			r.T.LastToken += int64(2 * time.Second)
			r.T.End += int64(2 * time.Second)
			return e
		}, nil},
		{"eight streams for four slots of llama.cpp", queued, []string{"plateau_short", "queueing", "n_too_small"}},
		{"a long prefill and a short answer", func() report.Evidence {
			l := load{streams: 1, iterations: 6, tokens: 160, ttft: 40 * time.Second, step: 10 * time.Millisecond}
			return l.evidence()
		}, nil},
		{"a fast engine whose answer takes 1 ms a token", func() report.Evidence {
			l := load{streams: 1, iterations: 6, tokens: 2048, ttft: 20 * time.Millisecond, step: time.Millisecond, perEvent: 1}
			return l.evidence()
		}, nil},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			v := build(t, c.e()).Bench.Verdict
			var codes []string
			for _, f := range v.Codes {
				codes = append(codes, f.Code)
			}
			if diff := cmp.Diff(c.codes, codes); diff != "" {
				t.Errorf("codes (-want +got):\n%s%+v", diff, v.Codes)
			}
		})
	}
}
