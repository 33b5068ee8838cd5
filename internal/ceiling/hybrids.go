package ceiling

import "fmt"

// latent covers multi-head latent attention: keys and values of all heads are
// kept as one latent vector and one rotary key per token.
func (c config) latent() (Architecture, error) {
	a, err := c.base()
	if err != nil {
		return a, err
	}
	err = need(field{"num_attention_heads", c.Heads}, field{"kv_lora_rank", c.KVLoRARank},
		field{"qk_nope_head_dim", c.NopeDim}, field{"qk_rope_head_dim", c.RopeDim}, field{"v_head_dim", c.VHeadDim})
	if err != nil {
		return a, err
	}
	query := c.Hidden * c.Heads * (c.NopeDim + c.RopeDim)
	if c.QLoRARank > 0 {
		query = c.QLoRARank * (c.Hidden + c.Heads*(c.NopeDim+c.RopeDim))
	}
	keyValue := c.Hidden*(c.KVLoRARank+c.RopeDim) + c.KVLoRARank*c.Heads*(c.NopeDim+c.VHeadDim)
	output := c.Heads * c.VHeadDim * c.Hidden
	a.Mixers = int64(c.Layers) * int64(query+keyValue+output)
	a.Caches = []Cache{{Layers: c.Layers, ElementsPerToken: int64(c.KVLoRARank + c.RopeDim)}}
	return a, c.addFeedForward(&a)
}

// gatedDelta covers Gated DeltaNet layers mixed with full attention whose
// output is gated.
func (c config) gatedDelta() (Architecture, error) {
	a, err := c.base()
	if err != nil {
		return a, err
	}
	att, err := c.attention()
	if err != nil {
		return a, err
	}
	err = need(field{"linear_num_key_heads", c.LinearKeyHeads}, field{"linear_key_head_dim", c.LinearKeyDim},
		field{"linear_num_value_heads", c.LinearValueHeads}, field{"linear_value_head_dim", c.LinearValueDim})
	if err != nil {
		return a, err
	}
	full, err := c.fullLayers()
	if err != nil {
		return a, err
	}
	attParams := att.params(c.Hidden)
	if c.OutputGate == nil || *c.OutputGate {
		attParams += int64(c.Hidden) * int64(att.heads) * int64(att.dim)
	}
	key, value := c.LinearKeyHeads*c.LinearKeyDim, c.LinearValueHeads*c.LinearValueDim
	// Query, key, value, output gate, two rates per head; then the output.
	delta := int64(c.Hidden)*int64(2*key+2*value+2*c.LinearValueHeads) + int64(value)*int64(c.Hidden)
	linear := c.Layers - full
	a.Mixers = int64(full)*attParams + int64(linear)*delta
	a.Caches = []Cache{{Layers: full, ElementsPerToken: att.cache()}}
	a.StateElements = int64(linear) * int64(value) * int64(c.LinearKeyDim)
	return a, c.addFeedForward(&a)
}

// fullLayers counts the layers of full attention.
func (c config) fullLayers() (int, error) {
	if len(c.LayerTypes) == 0 {
		if err := need(field{"full_attention_interval", c.FullInterval}); err != nil {
			return 0, err
		}
		return c.Layers / c.FullInterval, nil
	}
	if len(c.LayerTypes) != c.Layers {
		return 0, fmt.Errorf("layer_types lists %d of %d layers", len(c.LayerTypes), c.Layers)
	}
	full := 0
	for _, kind := range c.LayerTypes {
		switch kind {
		case "full_attention":
			full++
		case "linear_attention":
		default:
			return 0, fmt.Errorf("layer type %q: %w", kind, ErrUnknownArchitecture)
		}
	}
	return full, nil
}

// mambaHybrid covers Mamba-2 layers mixed with attention, feed-forward layers
// and experts, each a layer of its own. Its feed-forward layers have two
// matrices.
func (c config) mambaHybrid() (Architecture, error) {
	a, err := c.base()
	if err != nil {
		return a, err
	}
	kinds, err := c.blocks()
	if err != nil {
		return a, err
	}
	if n := kinds["mamba"]; n > 0 {
		if err := c.addMamba(&a, n); err != nil {
			return a, err
		}
	}
	if n := kinds["attention"]; n > 0 {
		att, err := c.attention()
		if err != nil {
			return a, err
		}
		a.Mixers += int64(n) * att.params(c.Hidden)
		a.Caches = []Cache{{Layers: n, ElementsPerToken: att.cache()}}
	}
	if n := kinds["mlp"]; n > 0 {
		if err := need(field{"intermediate_size", c.Intermediate}); err != nil {
			return a, err
		}
		a.Dense += int64(n) * plain(c.Hidden, c.Intermediate)
	}
	if n := kinds["moe"]; n > 0 {
		err = c.addLatentExperts(&a, n)
	}
	return a, err
}

// blocks counts the layers by kind, from the pattern string of older
// configurations or the list of newer ones.
func (c config) blocks() (map[string]int, error) {
	list := c.BlockTypes
	if len(list) == 0 {
		letters := map[rune]string{'M': "mamba", '*': "attention", '-': "mlp", 'E': "moe"}
		for _, r := range c.HybridPattern {
			list = append(list, letters[r])
		}
	}
	if len(list) != c.layerCount() {
		return nil, fmt.Errorf("pattern lists %d of %d layers", len(list), c.layerCount())
	}
	kinds := map[string]int{}
	for _, kind := range list {
		switch kind {
		case "mamba", "attention", "mlp", "moe":
			kinds[kind]++
		case "linear_attention":
			kinds["mamba"]++
		case "full_attention":
			kinds["attention"]++
		default:
			return nil, fmt.Errorf("layer type %q: %w", kind, ErrUnknownArchitecture)
		}
	}
	return kinds, nil
}

func (c config) addMamba(a *Architecture, layers int) error {
	err := need(field{"mamba_num_heads", c.MambaHeads}, field{"mamba_head_dim", c.MambaHeadDim},
		field{"ssm_state_size", c.MambaState}, field{"n_groups", c.MambaGroups})
	inner := c.MambaHeads * c.MambaHeadDim
	// Gate and input, B and C of each group, one rate per head; then the output.
	in := c.Hidden * (2*inner + 2*c.MambaGroups*c.MambaState + c.MambaHeads)
	a.Mixers += int64(layers) * int64(in+inner*c.Hidden)
	a.StateElements = int64(layers) * int64(inner) * int64(c.MambaState)
	return err
}

// addLatentExperts adds experts of two matrices, which may work in a narrower
// space that all of them share the projections of.
func (c config) addLatentExperts(a *Architecture, layers int) error {
	err := need(field{"n_routed_experts", c.NumRoutedExperts}, field{"num_experts_per_tok", c.ExpertsPerToken},
		field{"moe_intermediate_size", c.MoEIntermediate})
	if err == nil && c.ExpertsPerToken > c.NumRoutedExperts {
		err = fmt.Errorf("%d experts per token of %d", c.ExpertsPerToken, c.NumRoutedExperts)
	}
	width := c.Hidden
	if c.MoELatent > 0 {
		width = c.MoELatent
		a.Dense += int64(layers) * plain(c.Hidden, c.MoELatent)
	}
	a.Experts = Experts{
		Layers: layers, PerLayer: c.NumRoutedExperts, Chosen: c.ExpertsPerToken,
		Params: plain(width, c.MoEIntermediate),
	}
	a.Dense += int64(layers) * plain(c.Hidden, max(c.SharedExperts, 1)*c.MoESharedDim)
	a.Routers += int64(layers) * int64(c.Hidden) * int64(c.NumRoutedExperts)
	return err
}
