package ceiling

// Architecture is what decoding a model touches: parameters by kind, and what
// each sequence keeps. Counts are elements, not bytes; see [Widths].
type Architecture struct {
	// Name is the model type of the configuration, for instance "qwen3_moe".
	Name string
	// Quantization is what the configuration declares ("FP8", "MXFP4", …),
	// empty when it declares none.
	Quantization string

	// Embedding is a gather of a few rows per step and never read whole.
	Embedding int64
	// Head is the output projection, read every step. With tied embeddings it
	// is the same matrix as Embedding; Tied says so.
	Head int64
	Tied bool
	// Mixers are the projections of attention, linear attention and
	// state-space layers; Dense are feed-forward layers and shared experts;
	// Routers choose the experts. All are read every step.
	Mixers, Dense, Routers int64
	// Experts are the routed ones; the zero value means none.
	Experts Experts

	// Caches grow with the context, one entry per kind of attention layer.
	Caches []Cache
	// StateElements is the recurrent state of one sequence over all layers. A
	// step reads and writes it. Convolution states (under 3 %) are left out.
	StateElements int64
}

// Experts describes the routed experts of a model.
type Experts struct {
	// Layers have PerLayer experts each, of which a token visits Chosen.
	Layers, PerLayer, Chosen int
	// Params is the size of one expert in elements.
	Params int64
}

// Cache is the key and value cache of layers of one kind.
type Cache struct {
	Layers int
	// ElementsPerToken of one layer: 2·heads·dim, or the latent's width.
	ElementsPerToken int64
	// Window limits the context these layers read; 0 means no limit.
	Window int
}

// TotalParams is the size of the model without vision towers and unused
// prediction heads.
func (a Architecture) TotalParams() int64 {
	total := a.Embedding + a.Mixers + a.Dense + a.Routers
	total += int64(a.Experts.Layers) * int64(a.Experts.PerLayer) * a.Experts.Params
	if !a.Tied {
		total += a.Head
	}
	return total
}

// ActiveParams is what one token multiplies with: everything but the embedding
// and the experts not chosen, the head included.
func (a Architecture) ActiveParams() int64 {
	return a.Head + a.Mixers + a.Dense + a.Routers +
		int64(a.Experts.Layers)*int64(a.Experts.Chosen)*a.Experts.Params
}

// CacheElements is the number of cache elements one sequence reads per step at
// a context.
func (a Architecture) CacheElements(context float64) float64 {
	var total float64
	for _, c := range a.Caches {
		read := context
		if c.Window > 0 {
			read = min(read, float64(c.Window))
		}
		total += float64(c.Layers) * float64(c.ElementsPerToken) * read
	}
	return total
}
