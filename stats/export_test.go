package stats

// NewGapsKeeping returns a pool that turns into histograms beyond n values, to
// test that without ten million of them.
func NewGapsKeeping(n int) *Gaps {
	return &Gaps{interChunk: plainPool{pool[plain]{limit: n}}, itl: weightedPool{pool[weighted]{limit: n}}}
}
