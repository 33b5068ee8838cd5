package bench

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lmxbench/bench/report"
	"lmxbench/internal/engine"
	"lmxbench/loadgen"
)

func TestStamps(t *testing.T) {
	t.Parallel()
	times := loadgen.Stamps{
		Connect: 1, Send: 2, FirstByte: 3, FirstEvent: 4, FirstToken: 5, FirstContent: 6, LastToken: 7, Finish: 8, End: 9,
	}
	plain := report.Stamps{
		Connect: 1, Send: 2, FirstByte: 3, FirstEvent: 4, FirstToken: 5, FirstContent: 6, LastToken: 7, Finish: 8, End: 9,
	}
	tests := map[string]struct {
		tokens      bool
		first, last time.Duration
		want        func(*report.Stamps)
	}{
		"lmx's moments are ours: they are not written": {true, 5, 7, func(*report.Stamps) {}},
		"its first token is a later one":               {true, 6, 7, func(s *report.Stamps) { s.LmxFirst, s.LmxLast = 6, 7 }},
		"its last token is an earlier one":             {true, 5, 6, func(s *report.Stamps) { s.LmxFirst, s.LmxLast = 5, 6 }},
		"no event counts by its rule":                  {true, 0, 0, func(s *report.Stamps) { s.LmxNone = true }},
		"no event at all":                              {false, 0, 0, func(*report.Stamps) {}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, want := times, plain
			in.FirstLmx, in.LastLmx = tt.first, tt.last
			tt.want(&want)
			if diff := cmp.Diff(want, stamps(&in, tt.tokens)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRequestLine(t *testing.T) {
	t.Parallel()
	nonce := engine.NewNonces(1)[0]
	output, prompt := int64(3), int64(9)
	record := &loadgen.Record{
		Outcome: loadgen.OK, Status: 200, FinishReason: "length", HasFinish: true, Done: true,
		PromptTokens: &prompt, OutputTokens: &output, Usage: []byte(`{"completion_tokens":3}`),
		Text: []byte("tide"), OtherEvents: 2, LateMerged: 1,
		T:      loadgen.Stamps{Send: 10, FirstToken: 20, LastToken: 30, FirstLmx: 20, LastLmx: 30, End: 40},
		Events: loadgen.Events{At: []int64{20, 30}, Lag: []int64{1, loadgen.NoStamp}, Bytes: []int32{5, 6}},
	}
	got := requestLine(batch{phase: phaseTimed, iteration: 2}, 6, nonce, record)
	if got.Phase != "timed" || got.Iteration != 2 || got.Request != 7 || got.Nonce != nonce.String() {
		t.Errorf("got the place %s %d %d with nonce %s", got.Phase, got.Iteration, got.Request, got.Nonce)
	}
	if got.FinishReason == nil || *got.FinishReason != "length" || got.OutputText == nil || *got.OutputText != "tide" {
		t.Errorf("got finish reason %v and text %v", got.FinishReason, got.OutputText)
	}
	if diff := cmp.Diff(&report.Events{T: []int64{20, 30}, Lag: []int64{1, -1}, Bytes: []int32{5, 6}}, got.Events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if len(got.OutputSHA256) != 64 || string(got.Usage) != `{"completion_tokens":3}` || *got.OutputTokens != 3 || got.LateMerged != 1 {
		t.Errorf("got hash %q, usage %s, %d tokens, %d merged late", got.OutputSHA256, got.Usage, *got.OutputTokens, got.LateMerged)
	}

	failed := requestLine(batch{phase: phaseWarmup, iteration: 1}, 0, nonce, &loadgen.Record{
		Outcome: loadgen.HTTPError, Status: 503, Error: "HTTP status 503", RetryAfter: "2", BodyExcerpt: "busy",
	})
	if failed.FinishReason != nil || failed.OutputTokens != nil || failed.Events != nil || failed.OutputSHA256 != "" || failed.OutputText != nil {
		t.Errorf("a failed request has what it cannot have: %+v", failed)
	}
	if failed.Outcome != "http_error" || failed.RetryAfter != "2" || failed.BodyExcerpt != "busy" {
		t.Errorf("a failed request lacks what came back: %+v", failed)
	}
}

func TestRoundStatus(t *testing.T) {
	t.Parallel()
	for in, want := range map[time.Duration]float64{12_344_000: 12.34, 12_345_000: 12.35, 0: 0} {
		if got := roundStatus(in); got != want {
			t.Errorf("%s is printed as %v ms, want %v", in, got, want)
		}
	}
}

func TestContradictions(t *testing.T) {
	t.Parallel()
	info := engine.Info{Kind: engine.LlamaCPP, ModelPath: "/models/tiny-Q4_K_M.gguf"}
	s := &server{info: info, quantization: info.Quantization("Q8_0")}
	got := strings.Join(s.contradictions(&report.Plan{Engine: "vllm"}), "\n")
	for _, want := range []string{"the server says it is llama.cpp, the command line says vllm", "Q4_K_M by the model's file name and Q8_0 by the command line"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want %q in it", got, want)
		}
	}
	s = &server{info: engine.Info{Kind: engine.VLLM}}
	if got := s.contradictions(&report.Plan{Engine: "vllm"}); len(got) > 0 {
		t.Errorf("agreement was called a contradiction: %v", got)
	}
}

func TestCompletePlan(t *testing.T) {
	t.Parallel()
	info := engine.Info{
		Kind: engine.LlamaCPP, Chosen: engine.Model{ID: "tiny"}, Source: engine.SourceListed, HFID: "org/Tiny",
		ModelPath: "/models/tiny-Q4_K_M.gguf",
	}
	s := &server{info: info, quantization: info.Quantization("")}
	s.can.Alterations = []engine.Alteration{{Field: "stream_options"}, {Field: "max_tokens", RenamedTo: "max_completion_tokens"}}
	var p report.Plan
	s.complete(&p)
	want := report.Plan{
		Engine: "llama.cpp", HFID: "org/Tiny", ServedModel: "tiny", ServedModelSource: "v1_models", Quantization: "Q4_K_M",
		Adaptations: []string{"dropped stream_options", "renamed max_tokens to max_completion_tokens"},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("what only the server knows (-want +got):\n%s", diff)
	}
	given := report.Plan{Engine: "own", HFID: "a/b", Quantization: "FP8"}
	s.complete(&given)
	if given.Engine != "own" || given.HFID != "a/b" || given.Quantization != "FP8" {
		t.Errorf("the user's words were overwritten: %+v", given)
	}
}
