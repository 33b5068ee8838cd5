package report_test

import (
	"encoding/json"
	"slices"
	"time"

	"lmxbench/bench/report"
)

// sound is a run without any finding: eight streams, six iterations,
// calibrated, canonical prompt, counters that agree.
func sound() report.Evidence {
	l := eight
	l.iterations = 6
	e := l.evidence()
	withMetrics(&e, 1)
	return e
}

// timed calls change for each timed request.
func timed(e *report.Evidence, change func(*report.Request)) {
	for i := range e.Requests {
		if e.Requests[i].Phase == report.PhaseTimed {
			change(&e.Requests[i])
		}
	}
}

// batches calls change for each timed batch.
func batches(e *report.Evidence, change func(*report.Batch)) {
	for i := range e.Batches {
		if e.Batches[i].Phase == report.PhaseTimed {
			change(&e.Batches[i])
		}
	}
}

// firstTimed is the first request of the first timed iteration.
func firstTimed(e *report.Evidence) *report.Request {
	for i := range e.Requests {
		if e.Requests[i].Phase == report.PhaseTimed {
			return &e.Requests[i]
		}
	}
	return nil
}

// squeeze moves a stream's token events into bursts of size events each,
// spaced as the events were.
func squeeze(r *report.Request, size int) {
	n := r.Events.Len()
	times := slices.Clone(r.Events.T)
	for i := range n {
		r.Events.T[i] = times[min(n-1, i/size*size+size-1)]
	}
	r.T.FirstToken, r.T.LastToken = r.Events.T[0], r.Events.T[n-1]
	r.T.FirstContent = r.T.FirstToken
}

var verdictCases = []struct {
	code, why string
	level     report.Level
	change    func(*report.Evidence)
}{
	{"failed_requests", "one request of six iterations timed out", report.Invalid, func(e *report.Evidence) {
		fail(firstTimed(e), report.OutcomeTimeout, "no token for 60 s")
	}},
	{"failed_requests", "the run gave up after two iterations without an ok request", report.Invalid, func(e *report.Evidence) {
		timed(e, func(r *report.Request) {
			*r = report.Request{Phase: r.Phase, Iteration: r.Iteration, Request: r.Request, Outcome: report.OutcomeConnectError}
		})
		e.Requests = slices.DeleteFunc(e.Requests, func(r report.Request) bool { return r.Phase == report.PhaseTimed && r.Iteration > 2 })
		e.Batches = slices.DeleteFunc(e.Batches, func(b report.Batch) bool { return b.Phase == report.PhaseTimed && b.Iteration > 2 })
	}},
	{"token_count_missing", "the server never sends usage", report.Invalid, func(e *report.Evidence) {
		timed(e, func(r *report.Request) { r.OutputTokens = nil })
	}},
	{"token_count_missing", "one response of many says 0 tokens", report.Invalid, func(e *report.Evidence) {
		firstTimed(e).OutputTokens = ptr(int64(0))
	}},
	{"usage_invalid", "one usage was negative and dropped", report.Invalid, func(e *report.Evidence) {
		firstTimed(e).UsageInvalid, firstTimed(e).OutputTokens = true, nil
	}},
	{"usage_invalid", "one usage says a million million", report.Invalid, func(e *report.Evidence) {
		firstTimed(e).OutputTokens = ptr(int64(1e12))
	}},
	{"token_count_mismatch", "usage is twice what the server's counter says", report.Invalid, func(e *report.Evidence) {
		withMetrics(e, 0.5)
	}},
	{"token_count_mismatch", "llama.cpp's timings count fewer tokens", report.Invalid, func(e *report.Evidence) {
		firstTimed(e).Timings = json.RawMessage(`{"predicted_n":128}`)
	}},
	{"token_count_mismatch", "usage is twice the number of events and above the cap", report.Invalid, func(e *report.Evidence) {
		timed(e, func(r *report.Request) { *r.OutputTokens *= 2 })
		withMetrics(e, 1)
	}},
	{"token_count_mismatch", "the counts of the events add up to more than usage", report.Invalid, func(e *report.Evidence) {
		r := firstTimed(e)
		r.Events.Tokens = make([]int32, r.Events.Len())
		for i := range r.Events.Tokens {
			r.Events.Tokens[i] = 2
		}
	}},
	{"cap_ignored", "the cap was 100 and 256 tokens came in 256 events", report.Invalid, func(e *report.Evidence) {
		e.Plan.MaxTokens = 100
	}},
	{"output_short", "--min-tokens was not kept", report.Invalid, func(e *report.Evidence) {
		r := firstTimed(e)
		r.Outcome, *r.OutputTokens = report.OutcomeShort, 200
	}},
	{"output_short", "texts of 200 of 256 tokens, none demanded", report.Warn, func(e *report.Evidence) {
		e.Plan.IgnoreEOS = nil
		timed(e, func(r *report.Request) { *r.OutputTokens = 200 })
		withMetrics(e, 1)
	}},
	{"buffered_stream", "a proxy sends the whole body at the end", report.Invalid, func(e *report.Evidence) {
		timed(e, func(r *report.Request) { squeeze(r, r.Events.Len()) })
	}},
	{"buffered_stream", "one stream of many comes in its last read", report.Invalid, func(e *report.Evidence) {
		squeeze(firstTimed(e), 256)
	}},
	{"buffered_stream", "a proxy writes what it held back event by event, 20 µs apart", report.Invalid, func(e *report.Evidence) {
		timed(e, func(r *report.Request) {
			for i := range r.Events.T {
				r.Events.T[i] = r.T.LastToken - int64(len(r.Events.T)-1-i)*20_000
			}
			r.T.FirstToken, r.T.FirstContent = r.Events.T[0], r.Events.T[0]
		})
	}},
	{"buffered_stream", "16 KiB at a time: four bursts of 64 events", report.Invalid, func(e *report.Evidence) {
		timed(e, func(r *report.Request) { squeeze(r, 64) })
	}},
	{"buffered_stream", "a scheduler that sends every eighth step: 32 bursts", report.Warn, func(e *report.Evidence) {
		timed(e, func(r *report.Request) { squeeze(r, 8) })
	}},
	{"clock_step", "the time daemon stepped the clock", report.Invalid, func(e *report.Evidence) {
		e.Batches[3].ClockSteps = 1
	}},
	{"client_saturated", "the client used all cores", report.Invalid, func(e *report.Evidence) {
		batches(e, func(b *report.Batch) { b.Cores = 2; b.CPUUserNs = (b.EndNs - b.StartNs) * 19 / 10 })
	}},
	{"client_saturated", "the process was stopped for half a second, with user stamps", report.Invalid, func(e *report.Evidence) {
		userStamps(e)
		e.Batches[4].StallNs = int64(500 * time.Millisecond)
	}},
	{"interrupted", "the user pressed ^C in the last iteration", report.Invalid, func(e *report.Evidence) {
		e.Batches[len(e.Batches)-1].Interrupted = true
	}},
	{"interrupted", "the user pressed ^C between two iterations", report.Invalid, func(e *report.Evidence) {
		e.Requests = slices.DeleteFunc(e.Requests, func(r report.Request) bool { return r.Phase == report.PhaseTimed && r.Iteration > 4 })
		e.Batches = slices.DeleteFunc(e.Batches, func(b report.Batch) bool { return b.Phase == report.PhaseTimed && b.Iteration > 4 })
	}},
	{"interrupted", "the machine went down", report.Invalid, func(e *report.Evidence) { e.Unfinished = true }},
	{"above_hard_ceiling", "found by the ceiling's own package", report.Invalid, func(e *report.Evidence) {
		e.Attached.Findings = []report.Finding{{Code: "above_hard_ceiling", Level: report.Invalid, Detail: "1,000 tok/s, hard ceiling 500"}}
	}},
	{"client_late", "kernel stamps, p99 of the lag at 5 ms of an 8 ms gap", report.Warn, func(e *report.Evidence) {
		timed(e, func(r *report.Request) { lagTail(r, 2, 5_000_000) })
	}},
	{"client_late", "kernel stamps, always a whole step behind", report.Invalid, func(e *report.Evidence) {
		timed(e, func(r *report.Request) { lagTail(r, 100, 9_000_000) })
	}},
	{"client_late", "stamps of both kinds, the lag of an error of 1 ms at the tail", report.Warn, func(e *report.Evidence) {
		batches(e, func(b *report.Batch) { b.TimestampSource, b.UnstampedReads = "mixed", b.Reads/4 })
		timed(e, func(r *report.Request) { lagTail(r, 2, 1_000_000) })
	}},
	{"client_late", "stamps of both kinds, the lag of an error of 5 ms at the tail", report.Invalid, func(e *report.Evidence) {
		batches(e, func(b *report.Batch) { b.TimestampSource, b.UnstampedReads = "mixed", b.Reads/4 })
		timed(e, func(r *report.Request) { lagTail(r, 2, 5_000_000) })
	}},
	{"client_late", "user stamps, no lag measured, a stall of 40 ms", report.Warn, func(e *report.Evidence) {
		userStamps(e)
		e.Batches[3].StallNs = int64(40 * time.Millisecond)
	}},
	{"client_coalesced", "1 % of the events merged because we were late", report.Warn, func(e *report.Evidence) {
		timed(e, func(r *report.Request) { r.LateMerged = 3 })
	}},
	{"client_coalesced", "10 % of the events merged because we were late", report.Invalid, func(e *report.Evidence) {
		timed(e, func(r *report.Request) { r.LateMerged = 26 })
	}},
	{"cpu_steal", "5 % steal", report.Warn, func(e *report.Evidence) {
		batches(e, func(b *report.Batch) { b.StealTicks = b.CPUTicks / 20 })
	}},
	{"cpu_steal", "20 % steal", report.Invalid, func(e *report.Evidence) {
		batches(e, func(b *report.Batch) { b.StealTicks = b.CPUTicks / 5 })
	}},
	{"foreign_traffic", "the server made 5 % more tokens than ours", report.Warn, func(e *report.Evidence) {
		withMetrics(e, 1.05)
	}},
	{"foreign_traffic", "the server made half as many tokens again", report.Invalid, func(e *report.Evidence) {
		withMetrics(e, 1.5)
	}},
	{"foreign_traffic", "no token counter, but more requests than ours", report.Warn, func(e *report.Evidence) {
		batches(e, func(b *report.Batch) {
			b.MetricsBefore.GenerationTokens, b.MetricsAfter.GenerationTokens = nil, nil
			*b.MetricsAfter.Requests += 2
		})
	}},
	{"foreign_traffic", "no token counter, and a request running before the batch", report.Warn, func(e *report.Evidence) {
		batches(e, func(b *report.Batch) {
			b.MetricsBefore.GenerationTokens = nil
			b.MetricsBefore.Requests = nil
			b.MetricsBefore.Running = ptr(1.0)
		})
	}},
	{"finish_not_length", "one text ended by itself", report.Warn, func(e *report.Evidence) {
		firstTimed(e).FinishReason = ptr("stop")
	}},
	{"finish_not_length", "[DONE] without a finish reason", report.Warn, func(e *report.Evidence) {
		firstTimed(e).FinishReason = nil
	}},
	{"first_chunk_multi_token", "the first event holds eight of 256 tokens", report.Warn, func(e *report.Evidence) {
		timed(e, func(r *report.Request) {
			r.Events.Tokens = make([]int32, r.Events.Len())
			for i := range r.Events.Tokens {
				r.Events.Tokens[i] = 1
			}
			r.Events.Tokens[0] = 8
			*r.OutputTokens += 7
		})
		e.Plan.MaxTokens += 7
		withMetrics(e, 1)
	}},
	{"queueing", "the server states four slots", report.Warn, func(e *report.Evidence) { e.Session.Slots = 4 }},
	{"queueing", "the serve command says --max-num-seqs 4", report.Warn, func(e *report.Evidence) {
		e.Plan.ServeFlags = map[string]any{"maxRunningSeqs": 4.0}
	}},
	{"queueing", "nobody says how many slots, but the streams come in two waves", report.Warn, func(e *report.Evidence) {
		l := eight
		l.iterations, l.slots = 6, 4
		*e = l.evidence()
	}},
	{"frontend_bound", "tokens arrive in 26 ms that the engine made in 14 ms", report.Warn, func(e *report.Evidence) {
		batches(e, func(b *report.Batch) {
			b.MetricsAfter.ITL.Sum = b.MetricsBefore.ITL.Sum + (b.MetricsAfter.ITL.Sum-b.MetricsBefore.ITL.Sum)*14/26
		})
	}},
	{"cache_hit", "the nonce does not work: 200 cached tokens", report.Warn, func(e *report.Evidence) {
		e.Session.TemplateHead = 7
		timed(e, func(r *report.Request) { r.CachedTokens = ptr(int64(200)) })
	}},
	{"cache_hit", "a cache that ignores what the prompt says: the head looks as long as the prompt", report.Warn, func(e *report.Evidence) {
		e.Session.TemplateHead = 299
		timed(e, func(r *report.Request) { r.CachedTokens = ptr(*r.PromptTokens - 1) })
	}},
	{"reconnected", "one stale keep-alive", report.Warn, func(e *report.Evidence) { firstTimed(e).Reconnected = true }},
	{"coded_body", "a proxy compresses", report.Warn, func(e *report.Evidence) { firstTimed(e).CodedBody = "gzip" }},
	{"short_window", "batches of half a second", report.Warn, func(e *report.Evidence) {
		l := eight
		l.iterations, l.tokens = 6, 64
		*e = l.evidence()
	}},
	{"plateau_short", "prefill takes longer than decoding", report.Warn, func(e *report.Evidence) {
		l := eight
		l.iterations, l.prefill = 6, 200*time.Millisecond
		*e = l.evidence()
	}},
	{"drift", "each iteration 2 % slower than the one before", report.Warn, func(e *report.Evidence) {
		timed(e, func(r *report.Request) {
			longer := (r.T.End - r.T.FirstToken) * int64(r.Iteration) / 50
			r.T.End += longer
		})
	}},
	{"warmup_failed", "a warm-up request was refused", report.Warn, func(e *report.Evidence) {
		e.Requests[0].Outcome = report.OutcomeHTTPError
	}},
	{"simulated", "the simulated engine", report.Info, func(e *report.Evidence) { e.Plan.Simulated = "b200" }},
	{"non_canonical_prompt", "a prompt of one's own", report.Info, func(e *report.Evidence) { e.Plan.PromptName = "" }},
	{"uncalibrated", "no calibration", report.Info, func(e *report.Evidence) { e.Session.Calibration = nil }},
	{"n_too_small", "three iterations", report.Info, func(e *report.Evidence) { *e = eight.evidence() }},
}

// lagTail sets the lag of a percentage of a stream's events.
func lagTail(r *report.Request, percentage int, lag int64) {
	for i := range r.Events.Lag {
		if i%100 < percentage {
			r.Events.Lag[i] = lag
		}
	}
}

// userStamps takes the kernel's stamps away.
func userStamps(e *report.Evidence) {
	batches(e, func(b *report.Batch) { b.TimestampSource = "user" })
	timed(e, func(r *report.Request) { lagTail(r, 100, -1) })
}
