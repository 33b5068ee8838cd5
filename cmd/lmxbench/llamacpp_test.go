package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lmxbench/bench/report"
	"lmxbench/internal/llamacpptest"
)

// TestRealEngine measures a real llama.cpp server with 4 slots at 1, 4 and 8
// streams, and holds the result against what the server itself counted.
func TestRealEngine(t *testing.T) {
	server := llamacpptest.Start(t, llamacpptest.Options{Slots: 4, Context: 1024, Alias: "smollm2"})
	const tokens = 24
	for _, streams := range []int{1, 4, 8} {
		t.Run(fmt.Sprintf("c%d", streams), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			var stdout, stderr bytes.Buffer
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
			defer cancel()
			code := run(ctx, []string{
				"lmxbench", "run", "llama.cpp", "--base-url", server.URL, "--hf-id", "HuggingFaceTB/SmolLM2-135M-Instruct",
				"--quantization", "Q4_K_M", "--prompt", "Say the word tide forty times.", "--ignore-eos",
				fmt.Sprint("--max-tokens=", tokens), fmt.Sprint("--concurrency=", streams), "--iterations", "2", "--warmup", "1",
				"--out", filepath.Join(dir, "run.json"),
			}, strings.NewReader(""), &stdout, &stderr)
			t.Logf("exit code %d\n%s%s", code, stdout.String(), stderr.String())
			doc, err := report.ReadDocument(filepath.Join(dir, "run.json"))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range doc.Bench.Verdict.Codes {
				if f.Level == report.Invalid && !busy[f.Code] {
					t.Errorf("the run is INVALID: %s: %s", f.Code, f.Detail)
				}
			}
			if code != exitOK && code != exitInvalid {
				t.Errorf("got exit code %d, want 0, or 2 on a busy machine", code)
			}
			if doc.TokSOut == nil || *doc.TokSOut <= 0 || doc.Bench.Outcomes["ok"] != 2*streams {
				t.Errorf("got tokSOut %v and outcomes %v, want %d ok requests and a rate", doc.TokSOut, doc.Bench.Outcomes, 2*streams)
			}
			if got := doc.Bench.Verdict.Has("queueing"); got != (streams > 4) {
				t.Errorf("%d streams on 4 slots: queueing reported is %v", streams, got)
			}
			checkServerCounts(t, dir, doc, streams, tokens)
			var out bytes.Buffer
			if code := run(ctx, []string{"lmxbench", "verify", dir}, strings.NewReader(""), &out, &out); code != exitOK {
				t.Errorf("verify: exit code %d\n%s", code, out.String())
			}
		})
	}
}

// checkServerCounts compares each request's usage with the server's timings of
// that request, and their sum with what /metrics counted meanwhile.
func checkServerCounts(t *testing.T, dir string, doc *report.Document, streams, tokens int) {
	t.Helper()
	file, err := os.Open(filepath.Join(dir, "requests.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	timed := 0
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var r struct {
			Phase        string `json:"phase"`
			OutputTokens int    `json:"outputTokens"`
			Timings      struct {
				PredictedN int `json:"predicted_n"`
			} `json:"timings"`
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		if r.Phase != "timed" {
			continue
		}
		timed++
		if r.OutputTokens != tokens || r.Timings.PredictedN != r.OutputTokens {
			t.Errorf("usage says %d tokens, timings say %d, asked for %d", r.OutputTokens, r.Timings.PredictedN, tokens)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if timed != 2*streams {
		t.Errorf("got %d timed requests, want %d", timed, 2*streams)
	}
	delta := doc.Bench.Engine.MetricsDelta
	if delta == nil || delta.GenerationTokens == nil || int(*delta.GenerationTokens) != 2*streams*tokens {
		t.Errorf("/metrics counted %+v, want %d generated tokens", delta, 2*streams*tokens)
	}
}
