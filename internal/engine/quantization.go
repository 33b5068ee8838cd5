package engine

import (
	"path"
	"regexp"
	"strings"
)

// QuantizationResolution compares what was declared of the weights' format with
// what the server shows, in lmx's shape.
type QuantizationResolution struct {
	CLI           string     `json:"cli,omitempty"`       // what the user declared
	V1Models      string     `json:"v1Models,omitempty"`  // from the model list
	Filename      string     `json:"filename,omitempty"`  // from the model file's name
	ModelPath     string     `json:"modelPath,omitempty"` // the file, as the server names it
	Trusted       string     `json:"trusted,omitempty"`
	TrustedSource string     `json:"trustedSource,omitempty"` // filename, v1_models or cli
	Status        string     `json:"status,omitempty"`        // matched or mismatch; empty where nothing is known
	Mismatches    []Mismatch `json:"mismatches,omitempty"`
}

// Mismatch is two sources that disagree.
type Mismatch struct {
	LeftSource  string `json:"leftSource"`
	Left        string `json:"left"`
	RightSource string `json:"rightSource"`
	Right       string `json:"right"`
}

// Quantization compares declared, which may be empty, with what the server
// shows. The file's name is trusted before the model list, that before the
// declaration.
func (i Info) Quantization(declared string) QuantizationResolution {
	r := QuantizationResolution{
		CLI:       declared,
		V1Models:  i.Chosen.quantization(),
		Filename:  quantizationOf(i.ModelPath),
		ModelPath: i.ModelPath,
	}
	known := []struct{ source, value string }{
		{"filename", r.Filename}, {"v1_models", r.V1Models}, {"cli", r.CLI},
	}
	for n, left := range known {
		if left.value == "" {
			continue
		}
		if r.Trusted == "" {
			r.Trusted, r.TrustedSource, r.Status = left.value, left.source, "matched"
		}
		for _, right := range known[n+1:] {
			if right.value != "" && plainQuantization(left.value) != plainQuantization(right.value) {
				r.Mismatches = append(r.Mismatches, Mismatch{left.source, left.value, right.source, right.value})
				r.Status = "mismatch"
			}
		}
	}
	return r
}

// quantizationToken is a weights' format inside a file or repository name.
var quantizationToken = regexp.MustCompile(`(?i)(?:^|[-_.])((?:UD[-_])?(?:` +
	`I?Q[1-8](?:_[01KX]|_NL)?(?:_(?:XXS|XS|S|M|L|XL))*|TQ[12]_0|` +
	`MXFP[468](?:_MOE)?|NVFP4|FP(?:4|8|16|32)|BF16|F16|F32|INT[48]|W[48]A(?:4|8|16)|AWQ|GPTQ` +
	`))(?:$|[-_.])`)

// shard is the part number of a model in several files.
var shard = regexp.MustCompile(`-\d{5}-of-\d{5}$`)

// quantizationOf takes the weights' format from the name of a model file, in
// capitals as such names are written. Empty means that the name shows none. The
// last one counts: names run from the model to its file.
func quantizationOf(modelPath string) string {
	name := path.Base(strings.ReplaceAll(modelPath, `\`, "/"))
	if !isModelFile(name) {
		return ""
	}
	name = shard.ReplaceAllString(strings.TrimSuffix(strings.TrimSuffix(name, ".gguf"), ".GGUF"), "")
	last := ""
	for from := 0; from < len(name); {
		m := quantizationToken.FindStringSubmatchIndex(name[from:])
		if m == nil {
			break
		}
		last = name[from+m[2] : from+m[3]]
		from += m[3]
	}
	return strings.ToUpper(last)
}

// isModelFile reports whether a name is that of a GGUF file.
func isModelFile(name string) bool { return strings.HasSuffix(strings.ToLower(name), ".gguf") }

// sameQuantization are spellings of one format.
var sameQuantization = strings.NewReplacer(
	"unslothdynamic", "ud", "float16", "f16", "fp16", "f16", "bfloat16", "bf16",
	"float32", "f32", "fp32", "f32", "float8", "fp8",
)

// plainQuantization is a format in the form that is compared.
func plainQuantization(value string) string { return sameQuantization.Replace(plainKey(value)) }
