package ceiling

import (
	"fmt"
	"strings"
)

// Widths are bits per element, scales of block formats included. A zero means
// undeclared: [Model] then takes what engines do by default, [Hard] the least
// that is plausible.
type Widths struct {
	// Weight is for mixers and dense layers. Required.
	Weight float64
	// Expert is for routed experts. Default Weight.
	Expert float64
	// Head is the output projection, often left at 16 in quantised
	// checkpoints. Default 16, at least Weight plausible.
	Head float64
	// Router is the experts' router. Default 16.
	Router float64
	// Cache is the key and value cache. Default 16, at least 4 plausible.
	Cache float64
	// State is the recurrent state. Default 32, at least 8 plausible.
	State float64
}

// declared fills what is undeclared with what engines do by default.
func (w Widths) declared() Widths { return w.fill(16, 16, 16, 32) }

// smallest fills what is undeclared with the least that is plausible.
func (w Widths) smallest() Widths { return w.fill(w.Weight, w.Weight, 4, 8) }

func (w Widths) fill(head, router, cache, state float64) Widths {
	or := func(declared, fallback float64) float64 {
		if declared > 0 {
			return declared
		}
		return fallback
	}
	return Widths{
		Weight: w.Weight, Expert: or(w.Expert, w.Weight),
		Head: or(w.Head, head), Router: or(w.Router, router),
		Cache: or(w.Cache, cache), State: or(w.State, state),
	}
}

// WidthsFor are the widths of a model served under a quantisation, named as for
// [WeightBits]; empty means what the configuration declares, and 16 bits where
// it declares nothing. Head, router, cache and state stay undeclared.
//
// gpt-oss keeps everything but its experts at 16 bits. Other mixed checkpoints
// (NVFP4 ones often leave attention wider) are not told apart: their real
// ceiling is lower than what these widths give.
func WidthsFor(a Architecture, quantization string) (Widths, error) {
	if quantization == "" {
		quantization = a.Quantization
	}
	if quantization == "" {
		quantization = "BF16"
	}
	bits, err := WeightBits(quantization)
	if err != nil {
		return Widths{}, err
	}
	if a.Name == "gpt_oss" && bits < 8 {
		return Widths{Weight: 16, Expert: bits}, nil
	}
	return Widths{Weight: bits}, nil
}

// WeightBits are the bits per weight of a named quantisation, the scales of its
// blocks included. Case, and the prefix of "Unsloth-Dynamic-", do not matter.
// For mixed formats (the K types of llama.cpp) it is the usual average over a
// model and good to a few per cent: the file's size ÷ its parameters is better.
// An unknown name is an error.
func WeightBits(name string) (bits float64, err error) {
	key := strings.ToUpper(strings.TrimSpace(name))
	key = strings.TrimPrefix(strings.TrimPrefix(key, "UNSLOTH-DYNAMIC-"), "UD-")
	switch key {
	case "FP32", "F32":
		return 32, nil
	case "BF16", "FP16", "F16":
		return 16, nil
	case "FP8", "INT8", "W8A8", "MXFP8":
		return 8, nil // block scales of 1/128² or per channel: under 0.1 %
	case "Q8_0":
		return 8.5, nil // 32 weights and one 16-bit scale
	case "NVFP4":
		return 4.5, nil // 16 weights and one 8-bit scale
	case "MXFP4", "MXFP4_MOE":
		return 4.25, nil // 32 weights and one 8-bit scale
	case "INT4", "AWQ", "GPTQ":
		return 4.15, nil // groups of 128 with a 16-bit scale and a zero point
	case "Q4_0", "IQ4_NL":
		return 4.5, nil // 32 weights and one 16-bit scale
	case "Q6_K":
		return 6.5625, nil
	case "Q5_K_M":
		return 5.7, nil
	case "Q5_K_S":
		return 5.5, nil
	case "Q4_K_M", "Q4_K_XL":
		return 4.85, nil
	case "Q4_K_S":
		return 4.6, nil
	case "Q3_K_M":
		return 3.9, nil
	}
	return 0, fmt.Errorf("width of quantisation %q is not known; give the bits per weight", name)
}
