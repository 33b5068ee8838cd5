package ceiling

import "strings"

// KnownModel returns the architecture and the declared widths of the models
// whose figures are published with test vectors, by their name on the Hugging
// Face hub (case does not matter). ok is false for every other model: read its
// config.json with [ParseConfig].
//
// Both run a Gated DeltaNet whose state is 32 bits wide by default and 16 on
// request, and leave head and routers at 16 bits in their FP8 checkpoints.
func KnownModel(hfID string) (a Architecture, w Widths, ok bool) {
	fp8 := Widths{Weight: 8, Head: 16, Router: 16, Cache: 16, State: 32}
	c := config{Vocab: 248_320, HeadDim: 256, FullInterval: 4, LinearKeyHeads: 16, LinearKeyDim: 128, LinearValueDim: 128}
	switch strings.ToLower(hfID) {
	case "qwen/qwen3.6-35b-a3b-fp8":
		c.ModelType = "qwen3_5_moe_text"
		c.Hidden, c.Layers, c.Heads, c.KVHeads, c.LinearValueHeads = 2048, 40, 16, 2, 32
		c.NumExperts, c.ExpertsPerToken, c.MoEIntermediate, c.SharedIntermediate = 256, 8, 512, 512
	case "qwen/qwen3.8-27b-fp8":
		c.ModelType = "qwen3_5_text"
		c.Hidden, c.Layers, c.Heads, c.KVHeads, c.LinearValueHeads = 5120, 64, 24, 4, 48
		c.Intermediate = 17_408
	default:
		return Architecture{}, Widths{}, false
	}
	a, err := c.architecture()
	a.Name, a.Quantization = c.ModelType, "FP8"
	return a, fp8, err == nil
}
