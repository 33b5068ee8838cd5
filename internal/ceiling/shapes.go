package ceiling

import (
	"errors"
	"fmt"
	"strings"
)

// base fills what every model type shares.
func (c config) base() (Architecture, error) {
	err := need(field{"hidden_size", c.Hidden}, field{"num_hidden_layers", c.layerCount()}, field{"vocab_size", c.Vocab})
	if err != nil {
		return Architecture{}, err
	}
	if c.layerCount() > 1000 {
		return Architecture{}, fmt.Errorf("%d layers are not plausible", c.layerCount())
	}
	matrix := int64(c.Vocab) * int64(c.Hidden)
	return Architecture{Embedding: matrix, Head: matrix, Tied: c.tied()}, nil
}

// tied is declared, or the habit of the family.
func (c config) tied() bool { return c.Tied || strings.HasPrefix(c.ModelType, "gemma") }

func (c config) layerCount() int {
	if c.Layers == 0 {
		return max(len(c.BlockTypes), len(c.HybridPattern))
	}
	return c.Layers
}

// attention is a grouped-query layer: its shapes and what its cache holds.
type attention struct{ heads, kvHeads, dim int }

func (c config) attention() (attention, error) {
	a := attention{c.Heads, c.KVHeads, c.HeadDim}
	if err := need(field{"num_attention_heads", a.heads}); err != nil {
		return a, err
	}
	if a.kvHeads == 0 {
		a.kvHeads = a.heads
	}
	if a.dim == 0 {
		a.dim = c.Hidden / a.heads
	}
	return a, need(field{"num_key_value_heads", a.kvHeads}, field{"head_dim", a.dim})
}

// params are the projections of query, key, value and output.
func (a attention) params(hidden int) int64 {
	return int64(hidden) * int64(a.dim) * int64(2*a.heads+2*a.kvHeads)
}

func (a attention) cache() int64 { return 2 * int64(a.kvHeads) * int64(a.dim) }

// gated is a feed-forward layer of three matrices.
func gated(hidden, inner int) int64 { return 3 * int64(hidden) * int64(inner) }

// plain is a feed-forward layer of two.
func plain(hidden, inner int) int64 { return 2 * int64(hidden) * int64(inner) }

// transformer covers dense and mixture-of-experts decoders with grouped-query
// attention, global, sliding or mixed.
func (c config) transformer() (Architecture, error) {
	a, err := c.base()
	if err != nil {
		return a, err
	}
	att, err := c.attention()
	if err != nil {
		return a, err
	}
	sliding, err := c.slidingLayers()
	if err != nil {
		return a, err
	}
	c.addAttention(&a, att, sliding)
	return a, c.addFeedForward(&a)
}

// addAttention adds sliding layers and global ones, which Gemma 4 shapes
// differently.
func (c config) addAttention(a *Architecture, local attention, sliding int) {
	global, globalParams := local, local.params(c.Hidden)
	if c.GlobalHeadDim > 0 && sliding > 0 {
		global.dim = c.GlobalHeadDim
		if c.GlobalKVHeads > 0 {
			global.kvHeads = c.GlobalKVHeads
		}
		globalParams = global.params(c.Hidden)
		if c.KEqualsV { // one projection serves as key and value
			globalParams -= int64(c.Hidden) * int64(global.kvHeads) * int64(global.dim)
		}
	}
	full := c.Layers - sliding
	a.Mixers += int64(sliding)*local.params(c.Hidden) + int64(full)*globalParams
	if sliding > 0 {
		a.Caches = append(a.Caches, Cache{Layers: sliding, ElementsPerToken: local.cache(), Window: c.SlidingWindow})
	}
	if full > 0 {
		a.Caches = append(a.Caches, Cache{Layers: full, ElementsPerToken: global.cache()})
	}
}

// slidingLayers counts the layers that see only a window: those the
// configuration lists, else the habit of the family.
func (c config) slidingLayers() (int, error) {
	if len(c.LayerTypes) > 0 {
		return c.listedSlidingLayers()
	}
	if c.SlidingWindow <= 0 || c.UseSlidingWindow != nil && !*c.UseSlidingWindow {
		return 0, nil
	}
	switch c.ModelType {
	case "mistral", "mixtral", "phi3": // every layer, where a window is given
		return c.Layers, nil
	case "gemma2", "gpt_oss": // every other layer
		return (c.Layers + 1) / 2, nil
	case "gemma3", "gemma3_text", "gemma4", "gemma4_text": // five of six
		every := c.SlidingWindowPattern
		if every < 2 {
			every = 6
		}
		return c.Layers - c.Layers/every, nil
	case "qwen2", "qwen3", "qwen2_moe", "qwen3_moe":
		if c.UseSlidingWindow == nil {
			return 0, nil // a window is given but off by default
		}
	}
	return 0, errors.New("sliding_window is given, but not which layers use it")
}

func (c config) listedSlidingLayers() (n int, err error) {
	if len(c.LayerTypes) != c.Layers {
		return 0, fmt.Errorf("layer_types lists %d of %d layers", len(c.LayerTypes), c.Layers)
	}
	for _, kind := range c.LayerTypes {
		switch kind {
		case "full_attention":
		case "sliding_attention":
			n++
		default:
			return 0, fmt.Errorf("layer type %q: %w", kind, ErrUnknownArchitecture)
		}
	}
	if n > 0 {
		err = need(field{"sliding_window", c.SlidingWindow})
	}
	return n, err
}

// addFeedForward adds dense layers, routed experts and shared ones.
func (c config) addFeedForward(a *Architecture) error {
	e, err := c.experts()
	if err != nil {
		return err
	}
	dense := c.Layers - e.Layers
	if strings.HasPrefix(c.ModelType, "gemma4") {
		dense = c.Layers // its experts work beside the dense layer, not instead
	}
	if dense > 0 {
		if err := need(field{"intermediate_size", c.Intermediate}); err != nil {
			return err
		}
		a.Dense += int64(dense) * gated(c.Hidden, c.Intermediate)
	}
	shared := c.SharedIntermediate + c.SharedExperts*c.MoEIntermediate
	a.Dense += int64(e.Layers) * gated(c.Hidden, shared)
	a.Routers += int64(e.Layers) * int64(c.Hidden) * int64(e.PerLayer)
	a.Experts = e
	return nil
}

// experts reads the routed experts under the names of the families. The zero
// value says that there are none.
func (c config) experts() (Experts, error) {
	e := Experts{PerLayer: max(c.NumExperts, c.NumLocalExperts, c.NumRoutedExperts), Chosen: max(c.ExpertsPerToken, c.TopKExperts)}
	if e.PerLayer == 0 {
		return Experts{}, nil
	}
	inner := c.MoEIntermediate
	if inner == 0 {
		inner = c.Intermediate // Mixtral, OLMoE and gpt-oss name it so
	}
	e.Layers = c.sparseLayers()
	err := need(field{"experts per layer", e.PerLayer}, field{"num_experts_per_tok", e.Chosen},
		field{"moe_intermediate_size", inner}, field{"layers with experts", e.Layers})
	if err == nil && e.Chosen > e.PerLayer {
		err = fmt.Errorf("%d experts per token of %d", e.Chosen, e.PerLayer)
	}
	e.Params = gated(c.Hidden, inner)
	return e, err
}

// sparseLayers counts the layers that have routed experts.
func (c config) sparseLayers() int {
	dense := make(map[int]bool, len(c.DenseOnly))
	for _, i := range c.DenseOnly {
		dense[i] = true
	}
	n := 0
	for i := range c.Layers {
		skipped := i < c.FirstDense || dense[i] ||
			c.SparseStep > 1 && (i+1)%c.SparseStep != 0 ||
			c.MoELayerFreq > 1 && i%c.MoELayerFreq != 0
		if !skipped {
			n++
		}
	}
	return n
}
