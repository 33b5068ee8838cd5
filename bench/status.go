package bench

import (
	"time"

	"lmxbench/bench/report"
	"lmxbench/loadgen"
)

// opening reports what is going to be measured.
func (r *rung) opening() {
	r.status("speed_test_mode_selected", "mode", "remote", "engine", r.plan.Engine, "model", r.plan.HFID)
	r.status("speed_test_remote_start", "baseUrl", r.plan.BaseURL, "servedModel", r.plan.ServedModel)
	if fault := r.server.info.ListFault; fault != nil {
		r.status("served_model_fallback", "servedModel", r.plan.ServedModel, "source", r.plan.ServedModelSource, "reason", fault.Error())
	} else {
		r.status("served_model_detected", "servedModel", r.plan.ServedModel, "source", r.plan.ServedModelSource)
	}
	switch q := r.server.quantization; q.Status {
	case "mismatch":
		r.status("remote_quantization_mismatch", "cli", q.CLI, "filename", q.Filename, "v1Models", q.V1Models,
			"trusted", q.Trusted, "hint", "check --quantization")
	case "matched":
		r.status("remote_quantization_detected", "quantization", q.Trusted, "source", q.TrustedSource)
	}
}

// batchStatus reports a finished batch in lmx's words.
func (r *rung) batchStatus(b batch, lines []report.Request) {
	for i := range lines {
		t := lines[i].T
		if t.FirstToken > 0 {
			r.status("first_token_received", "ttftMs", roundStatus(time.Duration(t.FirstToken-t.Send)))
		}
	}
	if b.phase != phaseTimed {
		return
	}
	var rate any
	if tokSOut, ok := report.BatchTokSOut(&r.plan, lines); ok {
		rate = tokSOut
	}
	r.status("endpoint_iteration_complete", "iteration", b.iteration, "iterations", r.plan.Iterations,
		"concurrency", b.streams, "tokSOut", rate)
}

// closing reports what came out.
func (r *rung) closing(doc *report.Document) {
	if declared, seen := r.plan.DeclaredPromptTokens, doc.PromptTokens; declared > 0 && seen != nil && *seen != int64(declared) {
		r.status("prompt_token_count_adjusted", "declared", declared, "observed", *seen, "source", doc.TokenSources.Prompt)
	}
	r.status("token_count_source", "prompt", doc.TokenSources.Prompt, "output", doc.TokenSources.Output,
		"promptTokens", value(doc.PromptTokens))
	r.status("speed_test_payload_ready", "mode", "remote", "tokSOut", value(doc.TokSOut),
		"tokSPrefill", value(doc.TokSPrefill), "tokSTotal", value(doc.TokSTotal), "ttftMs", value(doc.TTFTMs))
}

// status tells the observer and status.jsonl an event with name, value pairs.
func (r *rung) status(event string, pairs ...any) {
	fields := make(map[string]any, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		fields[pairs[i].(string)] = pairs[i+1]
	}
	r.cfg.Observer.Status(event, fields)
	r.writer.Status(event, time.Now(), fields) // an error comes back from EndBatch
}

func (r *rung) stage(name string, b batch) {
	r.cfg.Observer.Stage(Stage{
		Name: name, Rung: r.plan.Concurrency, Index: b.iteration, Of: r.ofBatches(b.phase), Streams: b.streams,
		Tokens: b.streams * r.plan.MaxTokens, Started: time.Now(), Counts: r.pool.Progress, BatchesLeft: r.batches,
	})
}

func (r *rung) ofBatches(phase string) int {
	switch phase {
	case phaseWarmup:
		return r.plan.Warmup
	case phaseTimed:
		return r.plan.Iterations
	}
	return 0
}

func okCount(lines []report.Request) int {
	n := 0
	for i := range lines {
		if lines[i].Outcome == string(loadgen.OK) {
			n++
		}
	}
	return n
}

// value is what p points to, or nil: an absent figure is left out of an event.
func value[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}
