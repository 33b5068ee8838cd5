package localmaxxing_test

import (
	"fmt"
	"strings"
	"testing"

	"lmxbench/internal/localmaxxing"
)

// published is the row of 407 tok/s as a listing would give it in full.
func published() localmaxxing.Row {
	return localmaxxing.Row{
		HFID: "unsloth/gemma-4-26B-A4B-it-GGUF", Engine: "llama.cpp", Quantization: "Unsloth-Dynamic-Q4_K_XL",
		Hardware: localmaxxing.Hardware{Name: "NVIDIA GeForce RTX 5090", Count: ptr(1)}, Streams: ptr(1),
		OutputTokens: ptr(1024), MaxTokens: ptr(1024), TokSOut: ptr(407.0), Speculation: "draft-mtp k=5",
		PromptSHA256: strings.Repeat("9000edaa", 8),
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why    string
		change func(run, row *localmaxxing.Row)
		want   string // verdict, ratio, criteria that are not the same
	}{
		{"the same work", func(_, _ *localmaxxing.Row) {}, "comparable 98.3 %"},
		{"other cases, the maker left out, the file's name of the quantisation", func(run, _ *localmaxxing.Row) {
			run.HFID = strings.ToLower(run.HFID)
			run.Hardware = localmaxxing.Hardware{Name: "RTX 5090"}
			run.Quantization = "UD-Q4_K_XL"
		}, "comparable 98.3 %"},
		{"the driver's name of the card", func(run, row *localmaxxing.Row) {
			run.Hardware.Name, row.Hardware.Name = "NVIDIA H100 80GB HBM3", "NVIDIA H100 80GB SXM"
		}, "comparable 98.3 %"},
		{"another form of the card", func(run, row *localmaxxing.Row) {
			run.Hardware.Name, row.Hardware.Name = "NVIDIA H100 PCIe", "NVIDIA H100 80GB SXM"
		}, "not comparable – hardware=1 × NVIDIA H100 PCIe|1 × NVIDIA H100 80GB SXM differs"},
		{
			"two cards", func(run, _ *localmaxxing.Row) { run.Hardware.Count = ptr(2) },
			"not comparable – hardware=2 × NVIDIA GeForce RTX 5090|1 × NVIDIA GeForce RTX 5090 differs",
		},
		{
			"another quantisation", func(run, _ *localmaxxing.Row) { run.Quantization = "UD-Q4_K_M" },
			"not comparable – quantization=UD-Q4_K_M|Unsloth-Dynamic-Q4_K_XL differs",
		},
		{
			"3.0 and 30 bits are not the same", func(run, row *localmaxxing.Row) { run.Quantization, row.Quantization = "EXL3-3.0bpw", "EXL3-30bpw" },
			"not comparable – quantization=EXL3-3.0bpw|EXL3-30bpw differs",
		},
		{
			"an eighth of the tokens", func(run, _ *localmaxxing.Row) { run.OutputTokens = ptr(128) },
			"not comparable – output tokens=128|1024 differs",
		},
		{
			"several things at once", func(run, _ *localmaxxing.Row) { run.Streams, run.HFID = ptr(64), "a/b" },
			"not comparable – hf-id=a/b|unsloth/gemma-4-26B-A4B-it-GGUF differs, concurrency=64|1 differs",
		},
		{
			"a row without a hash of its prompt", func(_, row *localmaxxing.Row) { row.PromptSHA256 = "" },
			"comparable as far as known 98.3 % prompt sha256=" + strings.Repeat("9000edaa", 8) + "| not known",
		},
		{"a row that gives only its cap", func(_, row *localmaxxing.Row) { row.OutputTokens = nil }, "comparable 98.3 %"},
		{
			"and another cap", func(_, row *localmaxxing.Row) { row.OutputTokens, row.MaxTokens = nil, ptr(512) },
			"not comparable – token cap=1024|512 differs",
		},
		{
			"neither tokens nor cap", func(_, row *localmaxxing.Row) { row.OutputTokens, row.MaxTokens = nil, nil },
			"comparable as far as known 98.3 % output tokens=1024| not known",
		},
		{
			"what is not known does not hide what differs", func(run, _ *localmaxxing.Row) { run.PromptSHA256, run.Streams = "", ptr(2) },
			"not comparable – prompt sha256=|" + strings.Repeat("9000edaa", 8) + " not known, concurrency=2|1 differs",
		},
		{"a run without a result", func(run, _ *localmaxxing.Row) { run.TokSOut = nil }, "not comparable – the run has no tokSOut"},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			run, row := published(), published()
			run.TokSOut = ptr(400.0)
			c.change(&run, &row)
			got := localmaxxing.Compare(run, row)
			text := string(got.Verdict) + " –"
			if got.Ratio != nil {
				text = fmt.Sprintf("%s %.1f %%", got.Verdict, *got.Ratio*100)
			}
			var odd []string
			for _, k := range got.Criteria {
				if k.State != localmaxxing.Same {
					odd = append(odd, fmt.Sprintf("%s=%s|%s %s", k.Name, k.Run, k.Other, k.State))
				}
			}
			odd = append(odd, got.Refusals...)
			if text = strings.TrimSpace(text + " " + strings.Join(odd, ", ")); text != c.want {
				t.Errorf("got  %s\nwant %s", text, c.want)
			}
		})
	}
}

func TestWhatDoesNotForbidAComparison(t *testing.T) {
	t.Parallel()
	run, row := published(), published()
	run.Engine, run.Speculation, run.EngineVersion = "vLLM", "", "1"
	c := localmaxxing.Compare(run, row)
	var got []string
	for _, k := range c.Others {
		got = append(got, k.Name+" "+string(k.State))
	}
	if want := "engine differs, engine version not known, speculation differs"; strings.Join(got, ", ") != want || c.Verdict != localmaxxing.Comparable {
		t.Errorf("got %q, %s", got, c.Verdict)
	}
	if differ, unknown := c.Differences(); differ != 0 || unknown != 0 {
		t.Errorf("got %d differences and %d unknown", differ, unknown)
	}
	c.Refuse("the run is INVALID")
	if c.Verdict != localmaxxing.NotComparable || c.Ratio != nil || len(c.Refusals) != 1 {
		t.Errorf("after Refuse: %+v", c)
	}
}
