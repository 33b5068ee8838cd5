package engine_test

import (
	"testing"

	"lmxbench/internal/engine"
)

func TestNormalizeName(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"llama": "llama.cpp", "llamacpp": "llama.cpp", "llama-bench": "llama.cpp", "llama.cpp-bench": "llama.cpp",
		"vllm serve": "vllm", "vllm-bench": "vllm", " vLLM ": "vllm",
		"sgl": "sglang", "sglang-bench": "sglang",
		"zml": "llmd", "zml/llmd": "llmd", "zml llmd": "llmd",
		"free-token": "freetoken", "free token": "freetoken",
		"n-infer": "ninfer", "n infer": "ninfer",
		"ollama": "ollama", "TensorRT-LLM": "TensorRT-LLM", "My Engine": "My Engine", "": "",
	} {
		if got := engine.NormalizeName(in); got != want {
			t.Errorf("NormalizeName(%q) = %q, want %q", in, got, want)
		}
	}
}
