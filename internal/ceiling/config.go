package ceiling

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// ErrUnknownArchitecture: the model type has no rule here. Use
// [DenseFallback] with the size of the files, and say that it is one.
var ErrUnknownArchitecture = errors.New("unknown architecture")

// ParseConfig reads the config.json of a checkpoint in the form of the Hugging
// Face hub. Of a multimodal model only the text part counts, since decoding
// reads nothing else.
//
// The error wraps [ErrUnknownArchitecture] for a model type without a rule, and
// otherwise names the field that is missing or out of range.
func ParseConfig(data []byte) (Architecture, error) {
	var c config
	if err := json.Unmarshal(data, &c); err != nil {
		return Architecture{}, fmt.Errorf("read model configuration: %w", err)
	}
	quantization := c.quantization()
	for _, nested := range []*config{c.TextConfig, c.LLMConfig} {
		if nested != nil {
			inner := *nested
			// A tied head is declared outside by some models.
			inner.Tied = inner.Tied || c.Tied
			if inner.ModelType == "" {
				inner.ModelType = c.ModelType
			}
			if quantization == "" {
				quantization = inner.quantization()
			}
			c = inner
			break
		}
	}
	a, err := c.architecture()
	if err != nil {
		return Architecture{}, fmt.Errorf("model type %q: %w", c.ModelType, err)
	}
	// The upper limit also catches products that overflowed.
	if n := a.TotalParams(); n < 1e5 || n > 1e14 {
		return Architecture{}, fmt.Errorf("model type %q: %d parameters are not plausible", c.ModelType, n)
	}
	a.Name, a.Quantization = c.ModelType, quantization
	return a, nil
}

// config holds the fields of config.json that shapes depend on, under the names
// the model types give them.
type config struct {
	ModelType  string  `json:"model_type"`
	TextConfig *config `json:"text_config"`
	LLMConfig  *config `json:"llm_config"`
	Tied       bool    `json:"tie_word_embeddings"`

	Hidden       int `json:"hidden_size"`
	Layers       int `json:"num_hidden_layers"`
	Vocab        int `json:"vocab_size"`
	Intermediate int `json:"intermediate_size"`

	Heads         int   `json:"num_attention_heads"`
	KVHeads       int   `json:"num_key_value_heads"`
	HeadDim       int   `json:"head_dim"`
	GlobalKVHeads int   `json:"num_global_key_value_heads"`
	GlobalHeadDim int   `json:"global_head_dim"`
	KEqualsV      bool  `json:"attention_k_eq_v"`
	OutputGate    *bool `json:"attn_output_gate"`

	SlidingWindow        int      `json:"sliding_window"`
	UseSlidingWindow     *bool    `json:"use_sliding_window"`
	SlidingWindowPattern int      `json:"sliding_window_pattern"`
	LayerTypes           []string `json:"layer_types"`
	FullInterval         int      `json:"full_attention_interval"`

	QLoRARank  int `json:"q_lora_rank"`
	KVLoRARank int `json:"kv_lora_rank"`
	NopeDim    int `json:"qk_nope_head_dim"`
	RopeDim    int `json:"qk_rope_head_dim"`
	VHeadDim   int `json:"v_head_dim"`

	NumExperts         int   `json:"num_experts"`
	NumLocalExperts    int   `json:"num_local_experts"`
	NumRoutedExperts   int   `json:"n_routed_experts"`
	ExpertsPerToken    int   `json:"num_experts_per_tok"`
	TopKExperts        int   `json:"top_k_experts"`
	MoEIntermediate    int   `json:"moe_intermediate_size"`
	SharedIntermediate int   `json:"shared_expert_intermediate_size"`
	SharedExperts      int   `json:"n_shared_experts"`
	FirstDense         int   `json:"first_k_dense_replace"`
	SparseStep         int   `json:"decoder_sparse_step"`
	MoELayerFreq       int   `json:"moe_layer_freq"`
	DenseOnly          []int `json:"mlp_only_layers"`

	LinearKeyHeads   int `json:"linear_num_key_heads"`
	LinearKeyDim     int `json:"linear_key_head_dim"`
	LinearValueHeads int `json:"linear_num_value_heads"`
	LinearValueDim   int `json:"linear_value_head_dim"`

	HybridPattern string   `json:"hybrid_override_pattern"`
	BlockTypes    []string `json:"layers_block_type"`
	MambaHeads    int      `json:"mamba_num_heads"`
	MambaHeadDim  int      `json:"mamba_head_dim"`
	MambaState    int      `json:"ssm_state_size"`
	MambaGroups   int      `json:"n_groups"`
	MoELatent     int      `json:"moe_latent_size"`
	MoESharedDim  int      `json:"moe_shared_expert_intermediate_size"`

	// What Gemma's small models do, and no rule here covers.
	PerLayerInput  int `json:"hidden_size_per_layer_input"`
	KVSharedLayers int `json:"num_kv_shared_layers"`

	Quantization *quantizationConfig `json:"quantization_config"`
}

type quantizationConfig struct {
	Method string `json:"quant_method"`
	Algo   string `json:"quant_algo"`
	Bits   int    `json:"bits"`
}

// quantization names what the checkpoint declares, in the words of
// [WeightBits], and is empty where that is nothing or several things at once.
func (c config) quantization() string {
	q := c.Quantization
	switch {
	case q == nil:
		return ""
	case strings.EqualFold(q.Method, "fp8"), strings.EqualFold(q.Algo, "FP8"):
		return "FP8"
	case strings.EqualFold(q.Method, "mxfp4"):
		return "MXFP4"
	case strings.EqualFold(q.Algo, "NVFP4"):
		return "NVFP4"
	case (strings.EqualFold(q.Method, "awq") || strings.EqualFold(q.Method, "gptq")) && q.Bits == 4:
		return strings.ToUpper(q.Method)
	}
	return ""
}

// architecture chooses the rule of the model type.
func (c config) architecture() (Architecture, error) {
	if c.PerLayerInput > 0 || c.KVSharedLayers > 0 {
		return Architecture{}, fmt.Errorf("per-layer inputs or shared caches: %w", ErrUnknownArchitecture)
	}
	switch c.ModelType {
	case "llama", "mistral", "qwen2", "qwen3", "phi3", "olmo2", "granite",
		"gemma2", "gemma3", "gemma3_text",
		"mixtral", "qwen2_moe", "qwen3_moe", "olmoe", "gpt_oss", "glm4_moe",
		"gemma4", "gemma4_text":
		return c.transformer()
	case "deepseek_v2", "deepseek_v3", "kimi_k2":
		return c.latent()
	case "qwen3_next", "qwen3_5", "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text":
		return c.gatedDelta()
	case "nemotron_h":
		return c.mambaHybrid()
	}
	return Architecture{}, ErrUnknownArchitecture
}

// need reports the first field that is not a positive, plausible number.
func need(fields ...field) error {
	for _, f := range fields {
		if f.value < 1 || f.value > 1<<24 {
			return fmt.Errorf("field %s is %d", f.name, f.value)
		}
	}
	return nil
}

type field struct {
	name  string
	value int
}
