package simserver

import "time"

// Profiles returns the built-in profiles, the default first. The slice and what
// it holds are the caller's.
//
// The fitted ones reproduce published leaderboard rows; the numbers behind each
// fit stand beside it, and a test holds the prediction against the row.
func Profiles() []Profile {
	return []Profile{
		{
			Name:        "default",
			About:       "a small quick engine: 200 tok/s alone, 64 slots, first token after 10 ms",
			Source:      "invented",
			Model:       "sim-small",
			Root:        "simulated/sim-small",
			Flavor:      VLLM,
			Version:     "0.28.0",
			MaxModelLen: 32768,
			Slots:       64, PrefillBudget: 8192, PrefillRate: 100_000,
			StepCurve: []StepPoint{{1, 5 * time.Millisecond}, {64, 8 * time.Millisecond}},
			Gather:    time.Millisecond,
		},
		{
			Name:        "fixed",
			About:       "every stream one token every 17 ms on a common grid, no prefill: for calibration",
			Source:      "invented; 17 ms is the step of a 256-stream batch on one B200",
			Model:       "sim-fixed",
			Root:        "simulated/sim-fixed",
			Flavor:      VLLM,
			Version:     "0.28.0",
			MaxModelLen: 131072,
			Tick:        17 * time.Millisecond,
		},
		b200Qwen(), rtx5090Nemotron(), rtx5090Gemma(),
	}
}

// b200Qwen is fitted to the four rows of Qwen3.6-35B-A3B-FP8 on one B200:
// 220.4, 6171.9, 9790.9 and 14499.4 tok/s at 1, 64, 128 and 256 streams give the
// four points of the curve; vLLM's default budget and the TTFT of the c256 row
// (857 ms) give the prefill rate. The wall time (9.18 s) then follows to 0.3 %.
func b200Qwen() Profile {
	return Profile{
		Name:        "b200-qwen36-35b-fp8",
		About:       "Qwen3.6-35B-A3B-FP8 on one B200, vLLM: 220 tok/s alone, 14.5 k at 256 streams",
		Source:      "leaderboard rows of 2026-09-06, c1/c64/c128/c256",
		Model:       "Qwen/Qwen3.6-35B-A3B-FP8",
		Root:        "Qwen/Qwen3.6-35B-A3B-FP8",
		Flavor:      VLLM,
		Version:     "0.28.0",
		MaxModelLen: 32768,
		Slots:       256, PrefillBudget: 8192, PrefillRate: 50_500,
		StepCurve: []StepPoint{
			{1, 4537 * time.Microsecond},
			{64, 9927 * time.Microsecond},
			{128, 11842 * time.Microsecond},
			{256, 14829 * time.Microsecond},
		},
		Gather: 2 * time.Millisecond,
	}
}

// rtx5090Nemotron is fitted to Nemotron 3.5 30B-A3B NVFP4 with the DSpark draft
// on one RTX 5090: 681.5 tok/s, TTFT 76.19 ms, 714 of 927 draft tokens accepted
// with k = 3, so 3.311 tokens per step.
func rtx5090Nemotron() Profile {
	return Profile{
		Name:        "rtx5090-nemotron-dspark",
		About:       "Nemotron 3.5 30B-A3B NVFP4 + DSpark (k 3) on one RTX 5090, vLLM: 681.5 tok/s alone",
		Source:      "leaderboard row of 2026-09-06, c1",
		Model:       "nvidia/NVIDIA-Nemotron-3.5-Lightning-30B-A3B-NVFP4",
		Root:        "nvidia/NVIDIA-Nemotron-3.5-Lightning-30B-A3B-NVFP4",
		Flavor:      VLLM,
		Version:     "0.28.0",
		MaxModelLen: 32768,
		Slots:       16, PrefillBudget: 8192, PrefillRate: 4_400,
		StepCurve: []StepPoint{{1, 4858 * time.Microsecond}, {16, 7400 * time.Microsecond}},
		Gather:    time.Millisecond,
		Draft:     3, Acceptance: 714.0 / 927.0,
	}
}

// rtx5090Gemma is fitted to gemma-4-26B-A4B Q4_K_XL with its MTP head on one RTX
// 5090 under llama.cpp: 407.0 tok/s, TTFT 258.21 ms, 769 of 1264 draft tokens
// accepted with n = 5, so 4.042 tokens per step.
func rtx5090Gemma() Profile {
	return Profile{
		Name:        "rtx5090-gemma-mtp",
		About:       "gemma-4-26B-A4B Q4_K_XL + MTP (n 5) on one RTX 5090, llama.cpp: 407 tok/s alone",
		Source:      "leaderboard row of 2026-09-06, c1",
		Model:       "unsloth/gemma-4-26B-A4B-it-GGUF",
		Root:        "unsloth/gemma-4-26B-A4B-it-GGUF",
		File:        "gemma-4-26B-A4B-it-UD-Q4_K_XL.gguf",
		Flavor:      LlamaCPP,
		Version:     "b10818-4d9176092",
		MaxModelLen: 16384,
		Slots:       4, PrefillBudget: 2048, PrefillRate: 1_240,
		StepCurve: []StepPoint{{1, 9932 * time.Microsecond}, {4, 16 * time.Millisecond}},
		Gather:    time.Millisecond,
		Draft:     5, Acceptance: 769.0 / 1264.0,
	}
}
