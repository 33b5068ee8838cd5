package report_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lmxbench/bench/report"
)

// exampleEvidence is a run of lmx on two streams, given by its stream times in
// milliseconds from the start of each batch.
func exampleEvidence() report.Evidence {
	e := report.Evidence{
		Tool: report.Tool{Version: "1.2.3"},
		Plan: report.Plan{
			Engine: "vllm", EngineVersion: "9.9.9", HFID: "example-org/Tiny-1B", ModelRevision: "main",
			Quantization: "FP16", Backend: "cuda", BaseURL: "http://192.0.2.10:8000",
			ServedModel: "tiny-1b", ServedModelSource: "explicit",
			Prompt: "Say something short about tides.", PromptSource: "inline", DeclaredPromptTokens: 64,
			Concurrency: 2, Iterations: 3, Warmup: 1, WarmupConcurrency: 1, MaxTokens: 128, Stream: true, TimeoutMs: 600_000,
			Hardware: json.RawMessage(`{"hwClass":"DISCRETE_GPU","gpuName":"NVIDIA GeForce RTX 4090","gpuCount":1,"vramGb":24.0,
				"totalVramGb":24.0,"gpus":[{"name":"NVIDIA GeForce RTX 4090","vramGb":24.0}],"cpu":"Example CPU 16-Core",
				"cpuThreads":32,"ramGb":64,"os":"linux"}`),
		},
		Session: report.Session{CreatedAt: "2026-01-02T03:04:05Z", ContextLength: 8192},
	}
	streams := [][6]float64{ // start, first, last, completed, prompt, output
		{0, 210.4, 1485.9, 1486.7, 61, 128},
		{0.3, 248.9, 1502.1, 1502.8, 62, 128},
		{0, 207.8, 1479.0, 1479.9, 61, 128},
		{0.2, 243.0, 1497.3, 1498.2, 61, 128},
		{0, 215.5, 1493.8, 1494.4, 62, 128},
		{0.4, 251.6, 1508.2, 1509.0, 61, 121},
	}
	for i, s := range streams {
		start := int64(time.Second) * int64(2*(i/2)+1)
		at := func(ms float64) int64 { return start + int64(ms*1000+0.5)*1000 }
		r := report.Request{
			Phase: report.PhaseTimed, Iteration: i/2 + 1, Request: i%2 + 1, Outcome: report.OutcomeOK, FinishReason: ptr("length"),
			PromptTokens: ptr(int64(s[4])), OutputTokens: ptr(int64(s[5])),
			T: report.Stamps{Send: at(s[0]), FirstToken: at(s[1]), LastToken: at(s[2]), End: at(s[3])},
		}
		if i == len(streams)-1 {
			r.OutputText = ptr("A synthetic answer.")
		}
		e.Requests = append(e.Requests, r)
		if i%2 == 1 {
			e.Batches = append(e.Batches, report.Batch{Phase: report.PhaseTimed, Iteration: i/2 + 1, Concurrency: 2, StartNs: start, EndNs: r.T.End, TimestampSource: "kernel"})
		}
	}
	return e
}

// Every field of lmx's document must be what lmx writes. What differs on
// purpose is named here, and nothing else may.
func TestLmxExampleIsReproduced(t *testing.T) {
	t.Parallel()
	raw, err := build(t, exampleEvidence()).JSON()
	if err != nil {
		t.Fatal(err)
	}
	got, want := tree(t, raw), tree(t, readFile(t, "testdata/lmx-example.json"))

	if _, ok := got["lmxbench"]; !ok {
		t.Error("the lmxbench key is missing")
	}
	delete(got, "lmxbench")
	flags := got["engineFlags"].(map[string]any)
	for _, addition := range []string{"temperature", "commandSnippet"} {
		if _, ok := flags[addition]; !ok {
			t.Errorf("engineFlags.%s is missing", addition)
		}
		delete(flags, addition)
	}
	if cli := got["provenance"].(map[string]any)["cli"]; cli != "lmxbench" {
		t.Errorf("provenance.cli is %v", cli)
	}
	got["provenance"].(map[string]any)["cli"] = "localmaxxing-go"
	// lmx asks its site for candidates and finds none; we do not ask.
	delete(want["modelResolution"].(map[string]any), "candidates")

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differs from lmx (-lmx +ours):\n%s", diff)
	}
}

func tree(t testing.TB, data []byte) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
