package report_test

import (
	"encoding/json"
	"strconv"
	"time"

	"lmxbench/bench/report"
)

// shapes are runs of every kind, small enough to read.
func shapes() map[string]report.Evidence {
	return map[string]report.Evidence{
		"c1":            small(1).evidence(),
		"c8":            eightStreams(),
		"failures":      withFailures(false),
		"failures-kept": withFailures(true),
		"speculation":   speculating(),
		"missing-usage": withoutUsage(),
		"interrupted":   cutShort(),
		"queued":        queued(),
		"simulated":     fromSimulator(),
	}
}

// small is a short load for golden files.
func small(streams int) load {
	return load{
		streams: streams, iterations: 3, tokens: 128, warmup: 1, ttft: 120 * time.Millisecond,
		prefill: 5 * time.Millisecond, step: 11 * time.Millisecond,
	}
}

// eightStreams has counters that agree with usage, and one tool-call stream
// whose tokens lmx does not see.
func eightStreams() report.Evidence {
	e := small(8).evidence()
	withMetrics(&e, 1)
	e.Requests[len(e.Requests)-2].T.LmxNone = true
	return e
}

// withMetrics gives every batch the counters of a server that generated factor
// times what usage says, and whose histogram shows no delay of the front end.
func withMetrics(e *report.Evidence, factor float64) {
	tokens, itl, count := 1e6, 100.0, 10.0
	for i := range e.Batches {
		b := &e.Batches[i]
		b.MetricsBefore = &report.Metrics{
			GenerationTokens: ptr(tokens), Requests: ptr(count), Running: ptr(0.0), ITL: &report.Histogram{Sum: itl, Count: tokens},
		}
		for j := range e.Requests {
			r := &e.Requests[j]
			if r.Phase != b.Phase || r.Iteration != b.Iteration {
				continue
			}
			if r.OutputTokens != nil {
				tokens += factor * float64(*r.OutputTokens)
			}
			count++
			itl += float64(r.T.LastToken-r.T.FirstToken) / 1e9 * 0.99
		}
		b.MetricsAfter = &report.Metrics{
			GenerationTokens: ptr(tokens), Requests: ptr(count), Running: ptr(0.0), ITL: &report.Histogram{Sum: itl, Count: tokens},
		}
	}
}

// withFailures has one truncated stream and one timeout in the second of its
// three iterations.
func withFailures(allowed bool) report.Evidence {
	e := small(4).evidence()
	e.Plan.AllowFailures = allowed
	for i := range e.Requests {
		r := &e.Requests[i]
		if r.Phase != report.PhaseTimed || r.Iteration != 2 {
			continue
		}
		switch r.Request {
		case 2:
			fail(r, report.OutcomeTruncated, "the connection closed before a finish reason")
		case 3:
			fail(r, report.OutcomeTimeout, "no token for 60 s")
			r.ErrorPhase = "betweenTokens"
		}
	}
	return e
}

// fail turns an ok request into one that broke half way.
func fail(r *report.Request, outcome, message string) {
	n := r.Events.Len() / 2
	r.Events.T, r.Events.Lag, r.Events.Bytes = r.Events.T[:n], r.Events.Lag[:n], r.Events.Bytes[:n]
	r.Outcome, r.Error = outcome, message
	r.FinishReason, r.OutputTokens, r.PromptTokens, r.Usage = nil, nil, nil, nil
	r.T.LastToken, r.T.Finish = r.Events.T[n-1], 0
	r.T.End = r.T.LastToken + 1000
}

// speculating brings one to five tokens an event, counted by the server.
func speculating() report.Evidence {
	l := small(1)
	l.tokens, l.perEvent, l.counted, l.step = 512, 5, true, 13*time.Millisecond
	e := l.evidence()
	e.Plan.Spec = &report.Speculation{Method: "MTP", NumTokens: 4}
	e.Plan.ServeCommand = "vllm serve example-org/Tiny-1B --speculative-config '{\"method\":\"mtp\"}'"
	e.Plan.ServeFlags = map[string]any{"tensorParallel": 1, "maxRunningSeqs": 8}
	withMetrics(&e, 1)
	drafts := 5000.0
	for i := range e.Batches {
		b := &e.Batches[i]
		events := 0
		for j := range e.Requests {
			if r := &e.Requests[j]; r.Phase == b.Phase && r.Iteration == b.Iteration {
				events += r.Events.Len()
			}
		}
		for _, m := range []*report.Metrics{b.MetricsBefore, b.MetricsAfter} {
			m.Drafts, m.DraftTokens = ptr(drafts), ptr(drafts*4)
			m.AcceptedTokens = ptr(*m.GenerationTokens - drafts)
			drafts += float64(events)
		}
		drafts -= float64(events)
	}
	return e
}

// withoutUsage is a server that never says how many tokens it made.
func withoutUsage() report.Evidence {
	e := small(2).evidence()
	for i := range e.Requests {
		r := &e.Requests[i]
		r.PromptTokens, r.OutputTokens, r.Usage = nil, nil, nil
	}
	return e
}

// cutShort was interrupted in its third iteration.
func cutShort() report.Evidence {
	e := small(2).evidence()
	e.Batches[len(e.Batches)-1].Interrupted = true
	for i := range e.Requests {
		if r := &e.Requests[i]; r.Phase == report.PhaseTimed && r.Iteration == 3 {
			fail(r, report.OutcomeCancelled, "interrupted")
		}
	}
	return e
}

// queued sends eight streams to four slots of a llama.cpp server.
func queued() report.Evidence {
	l := small(8)
	l.slots = 4
	e := l.evidence()
	e.Plan.Engine, e.Session.EngineKind, e.Session.EngineVersion = "llama.cpp", "llama.cpp", "b10818"
	e.Session.Slots, e.Session.TemplateHead = 4, 21
	e.Session.ModelPath = "/models/tiny-Q4_K_M.gguf"
	e.Session.Quantization = json.RawMessage(`{"cli":"FP8","filename":"Q4_K_M","modelPath":"/models/tiny-Q4_K_M.gguf","trusted":"Q4_K_M","trustedSource":"filename","status":"mismatch"}`)
	for i := range e.Requests {
		r := &e.Requests[i]
		r.CachedTokens = ptr(int64(23))
		r.Timings = json.RawMessage(`{"predicted_n":` + strconv.FormatInt(*r.OutputTokens, 10) + `,"prompt_n":280}`)
	}
	return e
}

// fromSimulator carries what other packages attach.
func fromSimulator() report.Evidence {
	e := small(2).evidence()
	e.Plan.Simulated, e.Plan.PromptName, e.Session.Calibration = "b200-qwen36-35b-fp8", "", nil
	e.Plan.Prices = &report.Prices{GPUHourUSD: ptr(5.98), USDPerKWh: ptr(0.25), PUE: 1.2, ValidOn: "2026-11-01"}
	e.Attached = report.Attached{
		Power: json.RawMessage(`{"source":"synthetic","joulesPerToken":0.056}`),
		Findings: []report.Finding{
			{Code: "power_capped", Level: report.Warn, Detail: "GPU 0 was held at its limit for 12 % of the window"},
			{Code: "thermal", Level: report.Invalid, Detail: "GPU 0 was slowed by heat"},
		},
	}
	return e
}
