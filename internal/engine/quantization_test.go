package engine_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lmxbench/internal/engine"
)

func TestQuantization(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/models/Tiny-1B.Q4_1.gguf":             "Q4_1",
		"/m/gemma-4-26B-A4B-it-UD-Q4_K_XL.gguf": "UD-Q4_K_XL",
		"Qwen3-8B-IQ4_NL.gguf":                  "IQ4_NL",
		"Qwen3-8B-iq2_xxs.gguf":                 "IQ2_XXS",
		"big-Q6_K-00001-of-00003.gguf":          "Q6_K",
		"gpt-oss-20b-mxfp4.gguf":                "MXFP4",
		"tiny-bf16.gguf":                        "BF16",
		`C:\models\tiny.F16.gguf`:               "F16",
		"Qwen3-8B-FP8-Q8_0.gguf":                "Q8_0",
		"tiny.gguf":                             "",
		"/models/Qwen3.6-35B-A3B-FP8":           "",
		"":                                      "",
		"/root/models--x--Q4_0-GGUF/snapshots/1/tiny-Q5_K_M.gguf": "Q5_K_M",
	} {
		if got := engine.QuantizationOf(path); got != want {
			t.Errorf("quantization of %q is %q, want %q", path, got, want)
		}
	}
}

func TestQuantizationResolution(t *testing.T) {
	t.Parallel()
	server := fake(t, llamaRoutes)
	info, err := engine.Probe(within(t), targetOf(t, server.URL), engine.Wanted{})
	if err != nil {
		t.Fatal(err)
	}
	const file = "/models/Tiny-1B.Q4_1.gguf"
	tests := []struct {
		why, declared string
		want          engine.QuantizationResolution
	}{
		{"the file's name is trusted where all agree", "q4_1", engine.QuantizationResolution{
			CLI: "q4_1", V1Models: "Q4_1", Filename: "Q4_1", ModelPath: file,
			Trusted: "Q4_1", TrustedSource: "filename", Status: "matched",
		}},
		{"a declaration that differs is a mismatch with both others", "Q8_0", engine.QuantizationResolution{
			CLI: "Q8_0", V1Models: "Q4_1", Filename: "Q4_1", ModelPath: file,
			Trusted: "Q4_1", TrustedSource: "filename", Status: "mismatch",
			Mismatches: []engine.Mismatch{
				{LeftSource: "filename", Left: "Q4_1", RightSource: "cli", Right: "Q8_0"},
				{LeftSource: "v1_models", Left: "Q4_1", RightSource: "cli", Right: "Q8_0"},
			},
		}},
		{"nothing declared is no mismatch", "", engine.QuantizationResolution{
			V1Models: "Q4_1", Filename: "Q4_1", ModelPath: file,
			Trusted: "Q4_1", TrustedSource: "filename", Status: "matched",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, info.Quantization(tt.declared)); diff != "" {
				t.Errorf("resolution (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("spellings of one format agree", func(t *testing.T) {
		t.Parallel()
		none := engine.Info{ModelPath: "/m/gemma-UD-Q4_K_XL.gguf"}
		if got := none.Quantization("Unsloth-Dynamic-Q4_K_XL"); got.Status != "matched" {
			t.Errorf("got %+v, want a match", got)
		}
		if got := (engine.Info{}).Quantization(""); got.Status != "" {
			t.Errorf("got %+v of nothing, want no status", got)
		}
	})
}
