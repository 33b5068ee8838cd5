package engine_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lmxbench/internal/engine"
)

func TestParseServeCommand(t *testing.T) {
	t.Parallel()
	type command struct {
		Kind         engine.Kind
		Program      string
		Model        string
		Env          []string
		Container    int // words
		Flags        string
		EngineFlags  map[string]any
		ContextWords int
	}
	tests := []struct {
		why, text string
		want      command
	}{
		{
			"vLLM over several lines, with speculation in JSON",
			"CUDA_VISIBLE_DEVICES=0 vllm serve nvidia/Nemotron-30B-NVFP4 \\\n  --served-model-name nemotron --max-model-len 16384 \\\n" +
				"  --max-num-seqs 8 --gpu-memory-utilization 0.92 --kv-cache-dtype fp8 --trust-remote-code \\\n" +
				`  --speculative-config '{"method": "dspark", "model": "nvidia/Nemotron-30B-DSpark", "num_speculative_tokens": 3}'` + "\n",
			command{
				Kind: engine.VLLM, Program: "vllm serve", Model: "nvidia/Nemotron-30B-NVFP4",
				Env: []string{"CUDA_VISIBLE_DEVICES=0"}, ContextWords: 16384,
				Flags: `--served-model-name=nemotron --max-model-len=16384 --max-num-seqs=8 --gpu-memory-utilization=0.92 ` +
					`--kv-cache-dtype=fp8 --trust-remote-code --speculative-config={"method": "dspark", "model": "nvidia/Nemotron-30B-DSpark", "num_speculative_tokens": 3}`,
				EngineFlags: map[string]any{
					"tensorParallel": 1, "contBatching": true, "prefixCaching": true, "maxRunningSeqs": 8, "gpuMemUtil": 0.92,
					"kvCacheDtype": "fp8", "specDecoding": true, "specMethod": "dspark", "specNumTokens": 3, "specModel": "Nemotron-30B-DSpark",
				},
			},
		},
		{
			"vLLM's module, --flag=value and underscores, prefix caching off",
			"python3 -m vllm.entrypoints.openai.api_server --model=org/m --tensor_parallel_size=4 --no-enable-prefix-caching --max-model-len 32k",
			command{
				Kind: engine.VLLM, Program: "python3 -m vllm.entrypoints.openai.api_server", Model: "org/m", ContextWords: 32000,
				Flags:       "--model=org/m --tensor_parallel_size=4 --no-enable-prefix-caching --max-model-len=32k",
				EngineFlags: map[string]any{"tensorParallel": 4, "contBatching": true, "prefixCaching": false},
			},
		},
		{
			"speculation member by member, the method is MTP",
			"vllm serve m --speculative-config.method mtp --speculative-config.num_speculative_tokens 5",
			command{
				Kind: engine.VLLM, Program: "vllm serve", Model: "m",
				Flags: "--speculative-config.method=mtp --speculative-config.num_speculative_tokens=5",
				EngineFlags: map[string]any{
					"tensorParallel": 1, "contBatching": true, "prefixCaching": true,
					"specDecoding": true, "specMethod": "mtp", "specNumTokens": 5, "mtpEnabled": true,
				},
			},
		},
		{
			"ngram speculation has no model",
			`vllm serve m --speculative-config "{\"method\":\"ngram\",\"num_speculative_tokens\":4,\"prompt_lookup_max\":4}"`,
			command{
				Kind: engine.VLLM, Program: "vllm serve", Model: "m",
				Flags: `--speculative-config={"method":"ngram","num_speculative_tokens":4,"prompt_lookup_max":4}`,
				EngineFlags: map[string]any{
					"tensorParallel": 1, "contBatching": true, "prefixCaching": true,
					"specDecoding": true, "specMethod": "ngram", "specNumTokens": 4, "specNgramSize": 4,
				},
			},
		},
		{
			"docker run with options of its own",
			`sudo docker run -d --rm --name llm --gpus all --ipc=host -p8000:8000 -v "$HOME/.cache:/root/.cache" -e HF_HUB_OFFLINE=1 --env A=b ` +
				`vllm/vllm-openai:v0.28.0 --model Qwen/Qwen3.6-35B-A3B-FP8 -tp 2 --quantization fp8 --enable-chunked-prefill`,
			command{
				Kind: engine.VLLM, Model: "Qwen/Qwen3.6-35B-A3B-FP8", Env: []string{"HF_HUB_OFFLINE=1", "A=b"}, Container: 17,
				Flags: "--model=Qwen/Qwen3.6-35B-A3B-FP8 -tp=2 --quantization=fp8 --enable-chunked-prefill",
				EngineFlags: map[string]any{
					"tensorParallel": 2, "contBatching": true, "prefixCaching": true, "engineQuant": "fp8", "chunkedPrefill": true,
				},
			},
		},
		{
			"a container that names its program",
			"podman run --network host lmsysorg/sglang:v0.5.4 python3 -m sglang.launch_server --model-path org/m --tp 8 " +
				"--mem-fraction-static 0.85 --max-running-requests 256 --disable-radix-cache --speculative-algorithm EAGLE3 " +
				"--speculative-draft-model-path org/draft --speculative-num-draft-tokens 4",
			command{
				Kind: engine.SGLang, Program: "python3 -m sglang.launch_server", Model: "org/m", Container: 5,
				Flags: "--model-path=org/m --tp=8 --mem-fraction-static=0.85 --max-running-requests=256 --disable-radix-cache " +
					"--speculative-algorithm=EAGLE3 --speculative-draft-model-path=org/draft --speculative-num-draft-tokens=4",
				EngineFlags: map[string]any{
					"tensorParallel": 8, "contBatching": true, "prefixCaching": false, "gpuMemUtil": 0.85, "maxRunningSeqs": 256,
					"specDecoding": true, "specMethod": "EAGLE3", "specNumTokens": 4, "specModel": "draft",
				},
			},
		},
		{
			"llama.cpp's options alone, as a container gets them",
			"-m /models/gemma-UD-Q4_K_XL.gguf -md /models/mtp-gemma.gguf --spec-type draft-mtp --spec-draft-n-max 5 -ngl 99 -fa on -c 32768 -np 1 --host 0.0.0.0 --jinja --port 8000",
			command{
				Kind: engine.LlamaCPP, Model: "/models/gemma-UD-Q4_K_XL.gguf", ContextWords: 32768,
				Flags: "-m=/models/gemma-UD-Q4_K_XL.gguf -md=/models/mtp-gemma.gguf --spec-type=draft-mtp --spec-draft-n-max=5 -ngl=99 -fa=on -c=32768 -np=1 --host=0.0.0.0 --jinja --port=8000",
				EngineFlags: map[string]any{
					"tensorParallel": 1, "contBatching": true, "gpuLayers": 99, "flashAttn": true, "numParallel": 1,
					"specDecoding": true, "specMethod": "draft-mtp", "specNumTokens": 5, "specModel": "mtp-gemma.gguf",
				},
			},
		},
		{
			"llama-server with a negative number, bare -fa and cache types",
			"./build/bin/llama-server -hf ggml-org/tiny-GGUF:Q4_0 -fa --n-gpu-layers -1 -ctk q8_0 -ctv q4_0 -nocb --split-mode row",
			command{
				Kind: engine.LlamaCPP, Program: "./build/bin/llama-server", Model: "ggml-org/tiny-GGUF:Q4_0",
				Flags: "-hf=ggml-org/tiny-GGUF:Q4_0 -fa --n-gpu-layers=-1 -ctk=q8_0 -ctv=q4_0 -nocb --split-mode=row",
				EngineFlags: map[string]any{
					"tensorParallel": 1, "contBatching": false, "gpuLayers": -1, "flashAttn": true, "kvCacheDtype": "q8_0/q4_0", "splitMode": "row",
				},
			},
		},
		{
			"a script: comments, exports, variables, wrappers, redirections",
			"#!/bin/bash\nset -euo pipefail\nexport MODEL=org/m # the model\nARGS=\"--max-num-seqs 64 --port 8000\"\n" +
				"pip install vllm\nnohup numactl -N 0 uv run vllm serve \"$MODEL\" $ARGS --api-key $KEY --x $(hostname) > log 2>&1 &\n",
			command{
				Kind: engine.VLLM, Program: "vllm serve", Model: "org/m",
				Flags: "--max-num-seqs=64 --port=8000 --api-key=$KEY --x=$(hostname)",
				EngineFlags: map[string]any{
					"tensorParallel": 1, "contBatching": true, "prefixCaching": true, "maxRunningSeqs": 64,
				},
			},
		},
		{
			"a shell inside a container",
			`docker run --entrypoint bash img:1 -c 'X=2; vllm serve m -tp $X'`,
			command{
				Kind: engine.VLLM, Program: "vllm serve", Model: "m", Container: 5, Flags: "-tp=2",
				EngineFlags: map[string]any{"tensorParallel": 2, "contBatching": true, "prefixCaching": true},
			},
		},
		{
			"an unknown program keeps its options",
			"trtllm-serve org/m --tp_size 2 --foo bar --last",
			command{
				Program: "trtllm-serve", Flags: "--tp_size=2 --foo=bar --last",
				EngineFlags: map[string]any{"tensorParallel": 2},
			},
		},
		{
			"values that are no numbers are left out, the last of two counts",
			"vllm serve m --max-num-seqs many --gpu-memory-utilization 0.5 --gpu-memory-utilization 0.6 --max-model-len auto",
			command{
				Kind: engine.VLLM, Program: "vllm serve", Model: "m",
				Flags:       "--max-num-seqs=many --gpu-memory-utilization=0.5 --gpu-memory-utilization=0.6 --max-model-len=auto",
				EngineFlags: map[string]any{"tensorParallel": 1, "contBatching": true, "prefixCaching": true, "gpuMemUtil": 0.6},
			},
		},
		{
			"a draft model alone tells its method by its name",
			"vllm serve m --speculative-config '{\"model\":\"org/x-DFlash\"}'\r\n",
			command{
				Kind: engine.VLLM, Program: "vllm serve", Model: "m", Flags: `--speculative-config={"model":"org/x-DFlash"}`,
				EngineFlags: map[string]any{
					"tensorParallel": 1, "contBatching": true, "prefixCaching": true,
					"specDecoding": true, "specMethod": "dflash", "specModel": "x-DFlash",
				},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			c, err := engine.ParseServeCommand(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			var flags []string
			for _, f := range c.Flags {
				word := f.Name
				if f.HasValue {
					word += "=" + f.Value
				}
				flags = append(flags, word)
			}
			got := command{
				Kind: c.Kind, Program: strings.Join(c.Program, " "), Model: c.Model, Env: c.Env, Container: len(c.Container),
				Flags: strings.Join(flags, " "), EngineFlags: c.EngineFlags(), ContextWords: c.ContextLength(),
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("command (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseServeCommandRefuses(t *testing.T) {
	t.Parallel()
	for why, tt := range map[string]struct{ text, want string }{
		"nothing":             {" \n# only a comment\n", "is empty"},
		"an open quote":       {"vllm serve 'm", "not shell"},
		"assignments alone":   {"A=b", "is empty"},
		"too much of it":      {strings.Repeat("x ", 1<<20), "longer than"},
		"a file that is none": {"\x00\x01((", "not shell"},
	} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			c, err := engine.ParseServeCommand(tt.text)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %+v, %v, want one line with %q", c, err, tt.want)
			}
		})
	}
}

// A text that grows by itself is not grown.
func TestParseServeCommandIsBounded(t *testing.T) {
	t.Parallel()
	text := "A=0123456789abcdef\n" + strings.Repeat("A=$A$A\n", 40) + "vllm serve $A"
	c, err := engine.ParseServeCommand(text)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Model) > 1<<20 {
		t.Errorf("model name of %d bytes", len(c.Model))
	}
}

func FuzzParseServeCommand(f *testing.F) {
	for _, seed := range []string{
		"vllm serve m -tp 2", "docker run -it img python -m sglang.launch_server --model-path x",
		"-m x.gguf -ngl 99", "A=$B B=${A:-x} vllm serve $A", "bash -c 'bash -c \"vllm serve m\"'", "docker run", "x --",
		"for i in 1 2; do vllm serve $i; done", "vllm serve ~/m {a,b} $((1<<99)) `x` <<EOF\nEOF\n", "docker container run -e",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := engine.ParseServeCommand(text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\r\n\x1b") {
				t.Fatalf("error is not one plain line: %q", err)
			}
			return
		}
		c.EngineFlags()
		if n := c.ContextLength(); n < 0 {
			t.Fatalf("context of %d tokens", n)
		}
	})
}

// The three commands whose leaderboard rows are published give the engine flags
// of those rows.
func TestEngineFlagsOfPublishedRows(t *testing.T) {
	t.Parallel()
	const (
		b200 = `vllm serve /workspace/models/Qwen3.6-35B-A3B-FP8 --served-model-name Qwen/Qwen3.6-35B-A3B-FP8 ` +
			`--host 127.0.0.1 --port 8000 --max-model-len 32768 --max-num-seqs 256 --gpu-memory-utilization 0.90 ` +
			`--enable-prefix-caching --limit-mm-per-prompt '{"image":0,"video":0}'`
		dspark = `vllm serve /workspace/models/NVIDIA-Nemotron-3.5-Lightning-30B-A3B-NVFP4 --served-model-name ` +
			`nvidia/NVIDIA-Nemotron-3.5-Lightning-30B-A3B-NVFP4 --host 127.0.0.1 --port 8000 --max-model-len 16384 ` +
			`--max-num-seqs 8 --gpu-memory-utilization 0.92 --enable-prefix-caching --async-scheduling ` +
			`--mamba-backend flashinfer --mamba-ssm-cache-dtype float16 --speculative-config ` +
			`'{"model":"/workspace/models/NVIDIA-Nemotron-3.5-Lightning-30B-A3B-NVFP4-DSpark","num_speculative_tokens":3}'`
		gemma = `docker run -d --name llamacpp --gpus all -v /workspace/gguf:/models -p 127.0.0.1:8000:8000 ` +
			`ghcr.io/ggml-org/llama.cpp:server-cuda -m /models/gemma-4-26B-A4B-it-GGUF/gemma-4-26B-A4B-it-UD-Q4_K_XL.gguf ` +
			`--alias gemma-4-26B-A4B-it-UD-Q4_K_XL -c 32768 -ngl 99 -fa on -np 1 --no-mmap --jinja --reasoning-format none ` +
			`--host 0.0.0.0 --port 8000 --spec-type draft-mtp -md /models/gemma-4-26B-A4B-it-GGUF/mtp-gemma-4-26B-A4B-it.gguf ` +
			`-ngld 99 --spec-draft-n-max 5`
	)
	tests := []struct {
		why, command string
		context      int
		want         map[string]any
	}{
		{"Qwen3.6 FP8 on a B200", b200, 32768, map[string]any{
			"tensorParallel": 1, "gpuMemUtil": 0.9, "prefixCaching": true, "maxRunningSeqs": 256, "contBatching": true,
		}},
		{"Nemotron NVFP4 with DSpark on an RTX 5090", dspark, 16384, map[string]any{
			"tensorParallel": 1, "gpuMemUtil": 0.92, "prefixCaching": true, "maxRunningSeqs": 8, "contBatching": true,
			"specDecoding": true, "specMethod": "dspark", "specNumTokens": 3,
			"specModel": "NVIDIA-Nemotron-3.5-Lightning-30B-A3B-NVFP4-DSpark",
		}},
		{"gemma GGUF with MTP on an RTX 5090; numParallel is ours", gemma, 32768, map[string]any{
			"tensorParallel": 1, "contBatching": true, "gpuLayers": 99, "flashAttn": true, "numParallel": 1,
			"specDecoding": true, "specMethod": "draft-mtp", "specNumTokens": 5, "specModel": "mtp-gemma-4-26B-A4B-it.gguf",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			c, err := engine.ParseServeCommand(tt.command)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, c.EngineFlags()); diff != "" {
				t.Errorf("engine flags (-want +got):\n%s", diff)
			}
			if got := c.ContextLength(); got != tt.context {
				t.Errorf("context of %d tokens, want %d", got, tt.context)
			}
		})
	}
}
