package report_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lmxbench/bench/report"
)

func marshal(t testing.TB, d *report.Document) string {
	t.Helper()
	raw, err := d.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestResultIsWrittenAsLmxWritesIt(t *testing.T) {
	t.Parallel()
	e := small(2).evidence()
	e.Plan.Hardware = json.RawMessage(`{"vramGb":24.0,"gpuName":"X","gpus":[{"b":1.50,"a":2}]}`)
	text := marshal(t, build(t, e))
	for _, c := range []struct{ why, want string }{
		{"two spaces", "{\n  \"backend\": \"cuda\",\n"},
		{"a newline at the end", "\n}\n"},
		{"HTML escaped", `"prompt": "Say \u003csomething\u003e short \u0026 sweet about tides."`},
		{"whole floats without a fraction", `"vramGb": 24`},
		{"a number's own digits", "\"a\": 2,\n        \"b\": 1.5\n"},
		{"an empty array", `"detectedEngines": [],`},
	} {
		if !strings.Contains(text, c.want) {
			t.Errorf("%s: no %q", c.why, c.want)
		}
	}
	sortedKeys(t, "", json.NewDecoder(strings.NewReader(text)))
}

// sortedKeys walks a JSON text and fails for keys that are out of order.
func sortedKeys(t *testing.T, path string, d *json.Decoder) {
	t.Helper()
	token, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return
	}
	before := ""
	for d.More() {
		if delim == '{' {
			key, err := d.Token()
			if err != nil {
				t.Fatal(err)
			}
			if key.(string) <= before {
				t.Errorf("%s: %q comes after %q", path, key, before)
			}
			before = key.(string)
		}
		sortedKeys(t, path+"."+before, d)
	}
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
}

func TestBuildIsPure(t *testing.T) {
	t.Parallel()
	for name, e := range shapes() {
		before, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		first, second := marshal(t, build(t, e)), marshal(t, build(t, e))
		if first != second {
			t.Errorf("%s: two results of one evidence differ", name)
		}
		after, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if string(before) != string(after) {
			t.Errorf("%s: the evidence was changed", name)
		}
	}
}

// results are the fields that make a file a result in lmx's eyes.
func results(d *report.Document) map[string]bool {
	return map[string]bool{
		"tokSOut": d.TokSOut != nil, "tokSOutSource": d.TokSOutSource != "", "tokSTotal": d.TokSTotal != nil,
		"tokSPrefill": d.TokSPrefill != nil, "ttftMs": d.TTFTMs != nil, "samples": d.Samples != nil, "sampleStats": d.SampleStats != nil,
	}
}

func all(v bool) map[string]bool {
	return map[string]bool{"tokSOut": v, "tokSOutSource": v, "tokSTotal": v, "tokSPrefill": v, "ttftMs": v, "samples": v, "sampleStats": v}
}

func TestWhichRunsHaveAResult(t *testing.T) {
	t.Parallel()
	noCounts := all(false)
	noCounts["ttftMs"], noCounts["samples"], noCounts["sampleStats"] = true, true, true
	everyIterationFailed := func(allow bool) report.Evidence {
		e := withFailures(allow)
		timed(&e, func(r *report.Request) {
			if r.Request == 1 {
				fail(r, report.OutcomeTruncated, "cut")
			}
		})
		return e
	}
	nothingOK := func(allow bool) report.Evidence {
		e := withFailures(allow)
		timed(&e, func(r *report.Request) { r.Outcome = report.OutcomeMalformed })
		return e
	}
	for _, c := range []struct {
		why     string
		e       report.Evidence
		results map[string]bool
		status  string
		counted int
		partial bool
	}{
		{"a good run has one", small(4).evidence(), all(true), report.StatusValid, 3, false},
		{"a failed iteration takes it away", withFailures(false), all(false), report.StatusInvalid, 2, false},
		{"--allow-failures brings it back, INVALID", withFailures(true), all(true), report.StatusInvalid, 2, false},
		{"no good iteration, none allowed", everyIterationFailed(false), all(false), report.StatusInvalid, 0, false},
		{"no good iteration, failures allowed: the ok requests", everyIterationFailed(true), all(true), report.StatusInvalid, 3, false},
		{"no ok request at all", nothingOK(true), all(false), report.StatusInvalid, 0, false},
		{"without counts there is a TTFT and no rate", withoutUsage(), noCounts, report.StatusInvalid, 3, false},
		{"an interrupted run has none", cutShort(), all(false), report.StatusInvalid, 2, true},
		{"nothing was timed", report.Evidence{Plan: small(1).plan()}, all(false), report.StatusInvalid, 0, false},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			d := build(t, c.e)
			if diff := cmp.Diff(c.results, results(d)); diff != "" {
				t.Errorf("fields of lmx (-want +got):\n%s", diff)
			}
			if d.Bench.Verdict.Status != c.status || d.Bench.Partial != c.partial {
				t.Errorf("status %s, partial %v: %+v", d.Bench.Verdict.Status, d.Bench.Partial, d.Bench.Verdict.Codes)
			}
			counted := 0
			for _, it := range d.Bench.Iterations {
				if it.Counted {
					counted++
				}
				if !it.Counted && (it.TokSOut != nil || it.BatchWall != nil || it.Plateau != nil) {
					t.Errorf("iteration %d does not count and has a rate", it.Iteration)
				}
			}
			if counted != c.counted {
				t.Errorf("%d iterations count, want %d", counted, c.counted)
			}
			if w := d.Bench.Throughput.BatchWall; (w != nil) != (counted > 0 && c.e.Requests[0].OutputTokens != nil) {
				t.Errorf("batch wall is %v with %d counted iterations", w, counted)
			}
		})
	}
}

func TestOkRequestsOfFailedIterationsSayThatTheyAre(t *testing.T) {
	t.Parallel()
	e := withFailures(true)
	timed(&e, func(r *report.Request) {
		if r.Request == 1 {
			fail(r, report.OutcomeTruncated, "cut")
		}
	})
	d := build(t, e)
	if d.Bench.Throughput.Basis != "ok_requests" {
		t.Errorf("basis %q", d.Bench.Throughput.Basis)
	}
	if d.TokSOutSource != "concurrent_request_window" {
		t.Errorf("source %q", d.TokSOutSource)
	}
	for _, s := range d.Samples {
		if s.Request == 1 {
			t.Errorf("the failed request %d of iteration %d is among the samples", s.Request, s.Iteration)
		}
	}
}

func TestSingleStreamSources(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, source, headline, ttft string
		change                      func(*report.Evidence)
	}{
		{"streamed", "inter_token", "interToken", "stream_first_token", func(*report.Evidence) {}},
		{"not streamed", "request_window", "batchWall", "unavailable_no_stream", func(e *report.Evidence) {
			e.Plan.Stream = false
			timed(e, func(r *report.Request) { r.T.FirstToken, r.T.LastToken, r.T.FirstContent, r.Events = 0, 0, 0, nil })
		}},
		{"all in one event", "request_window", "concurrentRequestWindow", "stream_first_token", func(e *report.Evidence) {
			timed(e, func(r *report.Request) { squeeze(r, r.Events.Len()) })
		}},
		{"tool calls only, which lmx does not see", "request_window", "batchWall", "unavailable_no_stream", func(e *report.Evidence) {
			timed(e, func(r *report.Request) { r.T.LmxNone = true })
		}},
	} {
		e := single.evidence()
		c.change(&e)
		d := build(t, e)
		if d.TokSOutSource != c.source || d.Bench.Throughput.Headline != c.headline || d.TTFTSource != c.ttft {
			t.Errorf("%s: source %q, headline %q, ttft %q", c.why, d.TokSOutSource, d.Bench.Throughput.Headline, d.TTFTSource)
		}
		if (d.TTFTMs == nil) != (c.ttft == "unavailable_no_stream") {
			t.Errorf("%s: ttftMs %v", c.why, d.TTFTMs)
		}
		if d.TokSOut == nil {
			t.Errorf("%s: no tokSOut", c.why)
		}
	}
}

// lmx counts reasoning and content of the first choice only; our own metrics
// take every channel.
func TestLmxTokenRule(t *testing.T) {
	t.Parallel()
	e := single.evidence()
	late := int64(500 * time.Millisecond)
	timed(&e, func(r *report.Request) {
		r.T.LmxFirst, r.T.LmxLast = r.T.FirstToken+late, r.T.LastToken
	})
	d := build(t, e)
	if got, want := *d.TTFTMs-d.Bench.Latency.TTFTMs.P50, 500.0; math.Abs(got-want) > 0.02 {
		t.Errorf("lmx's ttftMs is %v later than ours, want %v", got, want)
	}
	if *d.TokSOut <= d.Bench.Throughput.SumOfStreamRates.P50+1 {
		t.Errorf("lmx's rate %v over the shorter span is not above ours %v", *d.TokSOut, d.Bench.Throughput.SumOfStreamRates.P50)
	}
}

func TestMediansOfCountsAreWhole(t *testing.T) {
	t.Parallel()
	e := small(2).evidence()
	timed(&e, func(r *report.Request) {
		*r.PromptTokens, *r.OutputTokens = int64(303+r.Request), int64(126+r.Request%2)
	})
	d := build(t, e) // 304, 305 and 127, 126
	if *d.PromptTokens != 305 || *d.OutputTokens != 127 {
		t.Errorf("medians %d and %d, want x.5 rounded up: 305 and 127", *d.PromptTokens, *d.OutputTokens)
	}
}

func TestDeclaredPromptTokens(t *testing.T) {
	t.Parallel()
	e := small(1).evidence()
	e.Plan.DeclaredPromptTokens = 280
	timed(&e, func(r *report.Request) { r.PromptTokens = nil })
	d := build(t, e)
	if *d.PromptTokens != 280 || d.TokenSources.Prompt != "explicit_flag" || d.Warnings != nil {
		t.Errorf("promptTokens %d from %q, warnings %v", *d.PromptTokens, d.TokenSources.Prompt, d.Warnings)
	}
	e = small(1).evidence()
	e.Plan.DeclaredPromptTokens = 280
	want := []string{"Endpoint usage reported 301 prompt tokens; using it instead of --prompt-tokens 280."}
	if diff := cmp.Diff(want, build(t, e).Warnings); diff != "" {
		t.Error(diff)
	}
}

func TestCommandSnippetNeverHoldsTheAddress(t *testing.T) {
	t.Parallel()
	e := small(8).evidence()
	snippet := build(t, e).EngineFlags["commandSnippet"].(string)
	if snippet == "" || strings.Contains(snippet, "192.0.2.10") {
		t.Errorf("snippet %q", snippet)
	}
	e.Plan.ServeCommand = "vllm serve X"
	if got := build(t, e).EngineFlags["commandSnippet"]; got != "vllm serve X" {
		t.Errorf("snippet %q", got)
	}
}

// The counts of the median iteration are those of one set of requests: accepted
// tokens and verifications add up to its output tokens.
func TestSpeculationFlagsBelongToOneIteration(t *testing.T) {
	t.Parallel()
	d := build(t, speculating())
	flags, s := d.EngineFlags, d.Bench.Engine.Speculation
	accepted := flags["specAcceptedTokens"].(float64)
	verified := flags["specDraftTokens"].(float64) / 4
	if accepted+verified != float64(*d.Bench.MedianIteration.OutputTokens) {
		t.Errorf("%v accepted + %v verifications, output tokens %d", accepted, verified, *d.Bench.MedianIteration.OutputTokens)
	}
	if s.DraftTokens <= flags["specDraftTokens"].(float64) {
		t.Errorf("%v drafted over all iterations, %v in one", s.DraftTokens, flags["specDraftTokens"])
	}
	if flags["mtpEnabled"] != true || flags["specMethod"] != "MTP" || flags["specNumTokens"] != 4 {
		t.Errorf("flags %v", flags)
	}
}

func TestSpeculationFromTimings(t *testing.T) {
	t.Parallel()
	e := small(1).evidence()
	timed(&e, func(r *report.Request) {
		r.Timings = json.RawMessage(`{"predicted_n":128,"draft_n":120,"draft_n_accepted":90}`)
	})
	want := &report.SpeculationCount{Source: "timings", DraftTokens: 360, AcceptedTokens: 270, AcceptanceRate: ptr(0.75)}
	if diff := cmp.Diff(want, build(t, e).Bench.Engine.Speculation); diff != "" {
		t.Error(diff)
	}
}

func TestContradictionsAreErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, want string
		change    func(*report.Evidence)
	}{
		{"columns of unequal length", "unequal length", func(e *report.Evidence) { e.Requests[3].Events.Lag = nil }},
		{"a batch seen twice", "observed twice", func(e *report.Evidence) { e.Batches = append(e.Batches, e.Batches[1]) }},
		{"a plan without streams", "at least 1", func(e *report.Evidence) { e.Plan.Concurrency = 0 }},
		{"an event before the origin", "not a moment", func(e *report.Evidence) { e.Requests[2].Events.T[4] = -5 }},
	} {
		e := small(2).evidence()
		c.change(&e)
		if _, err := report.Build(e); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.why, err)
		}
	}
}

// A read without a kernel stamp carries the later user-space one, so stamps may
// step back by a little. That is no reason to lose a run.
func TestStampsThatStepBackAreTolerated(t *testing.T) {
	t.Parallel()
	e := small(2).evidence()
	timed(&e, func(r *report.Request) { r.Events.T[10] = r.Events.T[11] + 50_000 })
	d := build(t, e)
	if d.Bench.Latency.InterChunkMs.Min < 0 || d.Bench.Throughput.Plateau == nil {
		t.Errorf("gaps %+v, plateau %+v", d.Bench.Latency.InterChunkMs, d.Bench.Throughput.Plateau)
	}
}

func TestBatchTokSOutIsTheIterationsRate(t *testing.T) {
	t.Parallel()
	for _, l := range []load{small(1), small(8)} {
		e := l.evidence()
		var lines []report.Request
		for _, r := range e.Requests {
			if r.Phase == report.PhaseTimed && r.Iteration == 2 {
				lines = append(lines, r)
			}
		}
		got, ok := report.BatchTokSOut(&e.Plan, lines)
		if want := *build(t, e).Bench.Iterations[1].TokSOut; !ok || got != want {
			t.Errorf("c%d: %v, %v, want %v", l.streams, got, ok, want)
		}
		lines[0].Outcome = report.OutcomeTruncated
		if _, ok := report.BatchTokSOut(&e.Plan, lines); ok {
			t.Errorf("c%d: a rate beside a failure", l.streams)
		}
		if _, ok := report.BatchTokSOut(&e.Plan, nil); ok {
			t.Errorf("c%d: a rate of nothing", l.streams)
		}
	}
}
