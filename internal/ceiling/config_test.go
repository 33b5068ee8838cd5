package ceiling_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lmxbench/internal/ceiling"
)

// repeat lists the kinds of layers, in JSON.
func repeat(times int, kinds ...string) string {
	var all []string
	for range times {
		all = append(all, kinds...)
	}
	b, _ := json.Marshal(all)
	return string(b)
}

// Published sizes: total and active parameters, from the tensors of the
// checkpoints where exact, else from the cards; vision towers and prediction
// heads excluded. Active includes what the rule for it includes.
func TestParametersOfPublishedModels(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, config  string
		total, active float64 // 10⁹; active with the head, without the embedding
		share         float64
		cacheBytes    float64 // per token at a short context, 16 bits
		state         int64   // elements
	}{
		{
			name:   "Llama 3.1 8B: dense, grouped queries",
			config: `{"model_type":"llama","hidden_size":4096,"num_hidden_layers":32,"vocab_size":128256,"intermediate_size":14336,"num_attention_heads":32,"num_key_value_heads":8,"tie_word_embeddings":false}`,
			total:  8.030261248, active: 8.030261248 - 128256*4096/1e9, share: 1e-4, cacheBytes: 131072,
		},
		{
			name:   "Gemma 3 27B: five of six layers slide, tied",
			config: `{"model_type":"gemma3","text_config":{"model_type":"gemma3_text","hidden_size":5376,"num_hidden_layers":62,"vocab_size":262208,"intermediate_size":21504,"num_attention_heads":32,"num_key_value_heads":16,"head_dim":128,"sliding_window":1024,"sliding_window_pattern":6}}`,
			total:  27.009, active: 27.009, share: 1e-4, cacheBytes: 62 * 2 * 16 * 128 * 2,
		},
		{
			name: "Gemma 4 26B-A4B: experts beside a dense layer, global layers of another shape",
			config: `{"model_type":"gemma4","text_config":{"model_type":"gemma4_text","hidden_size":2816,"num_hidden_layers":30,"vocab_size":262144,"intermediate_size":2112,"num_attention_heads":16,"num_key_value_heads":8,"num_global_key_value_heads":2,"head_dim":256,"global_head_dim":512,"attention_k_eq_v":true,"enable_moe_block":true,"num_experts":128,"top_k_experts":8,"moe_intermediate_size":704,"sliding_window":1024,"layer_types":` +
				repeat(5, "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "full_attention") + `}}`,
			total: 25.2, active: 3.8, share: 0.006, cacheBytes: (25*2*8*256 + 5*2*2*512) * 2,
		},
		{
			name:   "Mixtral 8x7B: experts named local",
			config: `{"model_type":"mixtral","hidden_size":4096,"num_hidden_layers":32,"vocab_size":32000,"intermediate_size":14336,"num_attention_heads":32,"num_key_value_heads":8,"num_local_experts":8,"num_experts_per_tok":2,"sliding_window":null}`,
			total:  46.7, active: 12.9 - 32000*4096/1e9, share: 0.005, cacheBytes: 131072,
		},
		{
			name:   "OLMoE 1B-7B: exact tensor counts",
			config: `{"model_type":"olmoe","hidden_size":2048,"num_hidden_layers":16,"vocab_size":50304,"intermediate_size":1024,"num_attention_heads":16,"num_key_value_heads":16,"num_experts":64,"num_experts_per_tok":8,"tie_word_embeddings":false}`,
			total:  6.919161856, active: 1.282017280 - 50304*2048/1e9, share: 2e-4, cacheBytes: 16 * 2 * 16 * 128 * 2,
		},
		{
			name:   "Qwen3-30B-A3B",
			config: `{"model_type":"qwen3_moe","hidden_size":2048,"num_hidden_layers":48,"vocab_size":151936,"intermediate_size":6144,"num_attention_heads":32,"num_key_value_heads":4,"head_dim":128,"num_experts":128,"num_experts_per_tok":8,"moe_intermediate_size":768,"decoder_sparse_step":1,"mlp_only_layers":[],"sliding_window":null,"use_sliding_window":false}`,
			total:  30.532122624, active: 3.3 - 151936*2048/1e9, share: 0.02, cacheBytes: 48 * 2 * 4 * 128 * 2,
		},
		{
			name: "gpt-oss-20b: every other layer slides",
			config: `{"model_type":"gpt_oss","hidden_size":2880,"num_hidden_layers":24,"vocab_size":201088,"intermediate_size":2880,"num_attention_heads":64,"num_key_value_heads":8,"head_dim":64,"num_local_experts":32,"num_experts_per_tok":4,"sliding_window":128,"quantization_config":{"quant_method":"mxfp4"},"layer_types":` +
				repeat(12, "sliding_attention", "full_attention") + `}`,
			total: 20.914757184, active: 3.6, share: 0.005, cacheBytes: 24 * 2 * 8 * 64 * 2,
		},
		{
			name:   "GLM-4.5-Air: first layer dense, one shared expert",
			config: `{"model_type":"glm4_moe","hidden_size":4096,"num_hidden_layers":46,"vocab_size":151552,"intermediate_size":10944,"num_attention_heads":96,"num_key_value_heads":8,"head_dim":128,"n_routed_experts":128,"n_shared_experts":1,"num_experts_per_tok":8,"moe_intermediate_size":1408,"first_k_dense_replace":1}`,
			total:  106.8, active: 12.7, share: 0.02, cacheBytes: 46 * 2 * 8 * 128 * 2,
		},
		{
			name:   "DeepSeek-V2-Lite: latent attention without a query latent, two shared experts",
			config: `{"model_type":"deepseek_v2","hidden_size":2048,"num_hidden_layers":27,"vocab_size":102400,"intermediate_size":10944,"num_attention_heads":16,"num_key_value_heads":16,"q_lora_rank":null,"kv_lora_rank":512,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128,"n_routed_experts":64,"n_shared_experts":2,"num_experts_per_tok":6,"moe_intermediate_size":1408,"first_k_dense_replace":1,"moe_layer_freq":1}`,
			total:  15.706484224, active: 2.66 - 102400*2048/1e9, share: 0.01, cacheBytes: 27 * 576 * 2,
		},
		{
			name:   "DeepSeek-V3: latent attention, three dense layers",
			config: `{"model_type":"deepseek_v3","hidden_size":7168,"num_hidden_layers":61,"vocab_size":129280,"intermediate_size":18432,"num_attention_heads":128,"num_key_value_heads":128,"q_lora_rank":1536,"kv_lora_rank":512,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128,"n_routed_experts":256,"n_shared_experts":1,"num_experts_per_tok":8,"moe_intermediate_size":2048,"first_k_dense_replace":3,"moe_layer_freq":1,"quantization_config":{"quant_method":"fp8"}}`,
			total:  671.026, active: 36.6, share: 0.005, cacheBytes: 61 * 576 * 2,
		},
		{
			name:   "Qwen3-Coder-Next: three of four layers Gated DeltaNet",
			config: `{"model_type":"qwen3_next","hidden_size":2048,"num_hidden_layers":48,"vocab_size":151936,"intermediate_size":5120,"head_dim":256,"num_attention_heads":16,"num_key_value_heads":2,"num_experts":512,"num_experts_per_tok":10,"moe_intermediate_size":512,"shared_expert_intermediate_size":512,"linear_num_key_heads":16,"linear_key_head_dim":128,"linear_num_value_heads":32,"linear_value_head_dim":128,"full_attention_interval":4,"tie_word_embeddings":false}`,
			total:  79.674391296, active: 3.874929408 - 151936*2048/1e9, share: 1e-3, cacheBytes: 12 * 2 * 2 * 256 * 2, state: 36 * 32 * 128 * 128,
		},
		{
			name: "Nemotron 3 Super 120B: Mamba-2, experts in a latent space",
			config: `{"model_type":"nemotron_h","hidden_size":4096,"num_hidden_layers":88,"vocab_size":131072,"hybrid_override_pattern":"MEMEMEM*EMEMEMEM*EMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEM*EMEMEMEME",` +
				`"mamba_num_heads":128,"mamba_head_dim":64,"n_groups":8,"ssm_state_size":128,"num_attention_heads":32,"num_key_value_heads":2,"head_dim":128,"n_routed_experts":512,"n_shared_experts":1,"num_experts_per_tok":22,"moe_latent_size":1024,"moe_intermediate_size":2688,"moe_shared_expert_intermediate_size":5376,"tie_word_embeddings":false}`,
			total: 123.611012096 - 2.942324736, active: 12.770216960 - 131072*4096/1e9, share: 5e-4, cacheBytes: 8 * 2 * 2 * 128 * 2, state: 40 * 128 * 64 * 128,
		},
		{
			name: "Nemotron 3 Nano 30B-A3B: layers as a list",
			config: `{"model_type":"nemotron_h","hidden_size":2688,"vocab_size":131072,"mamba_num_heads":64,"mamba_head_dim":64,"n_groups":8,"ssm_state_size":128,"num_attention_heads":32,"num_key_value_heads":2,"head_dim":128,"n_routed_experts":128,"n_shared_experts":1,"num_experts_per_tok":6,"moe_intermediate_size":1856,"moe_shared_expert_intermediate_size":3712,"layers_block_type":` +
				repeat(1, strings.Split(strings.Repeat("mamba,moe,", 23)+strings.Repeat("attention,", 5)+"attention", ",")...) + `}`,
			total: 31.6, active: 3.6 - 131072*2688/1e9, share: 0.02, cacheBytes: 6 * 2 * 2 * 128 * 2, state: 23 * 64 * 64 * 128,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			a, err := ceiling.ParseConfig([]byte(row.config))
			if err != nil {
				t.Fatal(err)
			}
			within := func(what string, got, want float64) {
				if math.Abs(got-want) > row.share*want {
					t.Errorf("%s: got %.4f, want %.4f ± %g %%", what, got, want, 100*row.share)
				}
			}
			within("total, 10⁹", float64(a.TotalParams())/1e9, row.total)
			within("active, 10⁹", float64(a.ActiveParams())/1e9, row.active)
			if got := a.CacheElements(1) * 2; got != row.cacheBytes {
				t.Errorf("cache: got %v bytes per token, want %v", got, row.cacheBytes)
			}
			if a.StateElements != row.state {
				t.Errorf("state: got %d elements, want %d", a.StateElements, row.state)
			}
		})
	}
}

func TestWindowsLimitWhatIsRead(t *testing.T) {
	t.Parallel()
	gptOSS := `{"model_type":"gpt_oss","hidden_size":2880,"num_hidden_layers":24,"vocab_size":201088,"intermediate_size":2880,"num_attention_heads":64,"num_key_value_heads":8,"head_dim":64,"num_local_experts":32,"num_experts_per_tok":4,"sliding_window":128}`
	a, err := ceiling.ParseConfig([]byte(gptOSS))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := a.CacheElements(1000), float64(12*2*8*64*(128+1000)); got != want {
		t.Errorf("got %v elements, want %v: twelve layers read 128 tokens, twelve 1,000", got, want)
	}
	for config, sliding := range map[string]int{
		`"model_type":"mistral","sliding_window":4096`:                                                               32,
		`"model_type":"mistral","sliding_window":null`:                                                               0,
		`"model_type":"gemma2","sliding_window":4096`:                                                                16,
		`"model_type":"gemma3_text","sliding_window":1024`:                                                           27,
		`"model_type":"qwen2","sliding_window":4096,"use_sliding_window":false`:                                      0,
		`"model_type":"qwen2","sliding_window":4096`:                                                                 0,
		`"model_type":"llama","layer_types":` + repeat(32, "full_attention"):                                         0,
		`"model_type":"llama","sliding_window":9,"layer_types":` + repeat(16, "full_attention", "sliding_attention"): 16,
	} {
		a, err := ceiling.ParseConfig([]byte(`{` + config + `,"hidden_size":4096,"num_hidden_layers":32,"vocab_size":32000,"intermediate_size":14336,"num_attention_heads":32}`))
		if err != nil {
			t.Errorf("%s: %v", config, err)
			continue
		}
		got := 0
		for _, c := range a.Caches {
			if c.Window > 0 {
				got += c.Layers
			}
		}
		if got != sliding {
			t.Errorf("%s: got %d sliding layers, want %d", config, got, sliding)
		}
	}
}

func TestKnownModelsAreTheirConfigurations(t *testing.T) {
	t.Parallel()
	config := `{"model_type":"qwen3_5_moe","quantization_config":{"quant_method":"fp8"},"text_config":{"model_type":"qwen3_5_moe_text","hidden_size":2048,"num_hidden_layers":40,"vocab_size":248320,"num_attention_heads":16,"num_key_value_heads":2,"head_dim":256,"attn_output_gate":true,"num_experts":256,"num_experts_per_tok":8,"moe_intermediate_size":512,"shared_expert_intermediate_size":512,"linear_num_key_heads":16,"linear_key_head_dim":128,"linear_num_value_heads":32,"linear_value_head_dim":128,"layer_types":` +
		repeat(10, "linear_attention", "linear_attention", "linear_attention", "full_attention") + `}}`
	got, err := ceiling.ParseConfig([]byte(config))
	if err != nil {
		t.Fatal(err)
	}
	want, _ := model(t, q36)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-known +parsed):\n%s", diff)
	}
	if _, _, ok := ceiling.KnownModel("someone/else"); ok {
		t.Error("an unknown model was known")
	}
}

func TestWhatIsNotKnownIsNotGuessed(t *testing.T) {
	t.Parallel()
	const shape = `"hidden_size":4096,"num_hidden_layers":32,"vocab_size":32000,"intermediate_size":14336,"num_attention_heads":32`
	for _, row := range []struct {
		why, config string
		unknown     bool
		text        string
	}{
		{"a model type without a rule", `{"model_type":"rwkv7",` + shape + `}`, true, "rwkv7"},
		{"no model type", `{` + shape + `}`, true, ""},
		{"a layer type without a rule", `{"model_type":"llama",` + shape + `,"layer_types":` + repeat(32, "chunked_attention") + `}`, true, "chunked_attention"},
		{"per-layer inputs", `{"model_type":"gemma4","hidden_size_per_layer_input":256,` + shape + `}`, true, "per-layer"},
		{"a pattern letter without a rule", `{"model_type":"nemotron_h",` + shape + `,"hybrid_override_pattern":"` + strings.Repeat("X", 32) + `"}`, true, ""},
		{"not JSON", `{`, false, "read model configuration"},
		{"a string for a number", `{"model_type":"llama","hidden_size":"big"}`, false, "hidden_size"},
		{"a missing size", `{"model_type":"llama","num_hidden_layers":1,"vocab_size":9}`, false, "hidden_size is 0"},
		{"a negative size", `{"model_type":"llama","hidden_size":-5,"num_hidden_layers":1,"vocab_size":9}`, false, "hidden_size is -5"},
		{"no feed-forward", `{"model_type":"llama","hidden_size":64,"num_hidden_layers":1,"vocab_size":9,"num_attention_heads":4}`, false, "intermediate_size"},
		{"fewer layer types than layers", `{"model_type":"llama",` + shape + `,"layer_types":["full_attention"]}`, false, "1 of 32"},
		{"a window that no layer claims", `{"model_type":"llama",` + shape + `,"sliding_window":64}`, false, "sliding_window"},
		{"more experts per token than experts", `{"model_type":"mixtral",` + shape + `,"num_local_experts":2,"num_experts_per_tok":3}`, false, "3 experts per token of 2"},
		{"numbers beyond reason", `{"model_type":"llama","hidden_size":16000000,"num_hidden_layers":999,"vocab_size":9,"intermediate_size":16000000,"num_attention_heads":32}`, false, "plausible"},
		{"latent attention without its ranks", `{"model_type":"deepseek_v3",` + shape + `}`, false, "kv_lora_rank"},
		{"linear attention without its heads", `{"model_type":"qwen3_next",` + shape + `}`, false, "linear_num_key_heads"},
		{"Mamba without its heads", `{"model_type":"nemotron_h",` + shape + `,"hybrid_override_pattern":"` + strings.Repeat("M", 32) + `"}`, false, "mamba_num_heads"},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			a, err := ceiling.ParseConfig([]byte(row.config))
			if err == nil {
				t.Fatalf("got %+v, want an error", a)
			}
			if errors.Is(err, ceiling.ErrUnknownArchitecture) != row.unknown || !strings.Contains(err.Error(), row.text) {
				t.Errorf("got %v, want unknown %v and %q", err, row.unknown, row.text)
			}
		})
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add([]byte(`{"model_type":"llama","hidden_size":64,"num_hidden_layers":2,"vocab_size":99,"intermediate_size":128,"num_attention_heads":4}`))
	f.Add([]byte(`{"model_type":"nemotron_h","layers_block_type":["mamba","moe"]}`))
	f.Add([]byte(`{"text_config":{"model_type":"qwen3_5","layer_types":[]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := ceiling.ParseConfig(data)
		if err == nil && (a.ActiveParams() <= 0 || a.TotalParams() <= 0) {
			t.Errorf("got %+v without an error", a)
		}
	})
}

func TestWidths(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]float64{
		"FP8": 8, "bf16": 16, "NVFP4": 4.5, "mxfp4": 4.25, "Q8_0": 8.5, "Unsloth-Dynamic-Q4_K_XL": 4.85, "UD-Q4_K_M": 4.85,
	} {
		if got, err := ceiling.WeightBits(name); got != want || err != nil {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, want)
		}
	}
	if got, err := ceiling.WeightBits("Q1_TERNARY"); err == nil {
		t.Errorf("unknown quantisation: got %v", got)
	}
	for _, row := range []struct {
		a    ceiling.Architecture
		q    string
		want ceiling.Widths
	}{
		{ceiling.Architecture{Name: "gpt_oss", Quantization: "MXFP4"}, "", ceiling.Widths{Weight: 16, Expert: 4.25}},
		{ceiling.Architecture{Name: "llama"}, "", ceiling.Widths{Weight: 16}},
		{ceiling.Architecture{Name: "llama", Quantization: "FP8"}, "", ceiling.Widths{Weight: 8}},
		{ceiling.Architecture{Name: "llama", Quantization: "FP8"}, "Q4_K_M", ceiling.Widths{Weight: 4.85}},
	} {
		if got, err := ceiling.WidthsFor(row.a, row.q); got != row.want || err != nil {
			t.Errorf("%+v under %q: got %+v, %v, want %+v", row.a, row.q, got, err, row.want)
		}
	}
	if _, err := ceiling.WidthsFor(ceiling.Architecture{}, "Q1_TERNARY"); err == nil {
		t.Error("unknown quantisation had widths")
	}
}

func TestHardwareTable(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]float64{
		"NVIDIA B200": 8000, "nvidia h200": 4800, "NVIDIA H200 SXM": 4800, "NVIDIA H100 80GB HBM3": 3350, "NVIDIA H100 PCIe": 2000,
		"NVIDIA GeForce RTX 5090": 1792, "RTX 5090": 1792, "NVIDIA RTX PRO 6000 Blackwell Workstation Edition": 1792,
		"NVIDIA RTX PRO 6000 Blackwell Server Edition": 1597, "NVIDIA A100-SXM4-80GB": 2039, "AMD Instinct MI300X": 5300, "Apple M4 Max": 546,
	} {
		if g, ok := ceiling.FindGPU(name); !ok || g.BandwidthGBps != want || g.Source == "" {
			t.Errorf("%s: got %+v, %v, want %v GB/s with a source", name, g, ok, want)
		}
	}
	for _, name := range []string{"", "H100", "NVIDIA GB200", "Apple M4 Ultra", "NVIDIA B2000"} {
		if g, ok := ceiling.FindGPU(name); ok {
			t.Errorf("%q: got %+v, want none", name, g)
		}
	}
	printed(t, "H200 by its own clock", ceiling.BandwidthFromClock(3201, 6016), 4814, 1)
	for _, row := range []struct{ mhz, bus, want float64 }{{14001, 512, 1792}, {10501, 384, 1008}, {9751, 384, 936}} {
		printed(t, fmt.Sprintf("%v MHz × %v bit", row.mhz, row.bus), ceiling.BandwidthFromClock(row.mhz, row.bus), row.want, 1)
	}
	if g, _ := ceiling.FindGPU("B200"); g.PeakTFLOPS(4.5) != 0 || g.PeakTFLOPS(8) != 4500 || g.PeakTFLOPS(16) != 2250 {
		t.Errorf("peaks of %+v: four bits are not known", g)
	}
}
