package stats

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// pool keeps samples until there are too many, then counts them in a histogram.
type pool[T sample] struct {
	limit   int // values kept, 0 for MaxExact
	values  []T
	sorted  bool
	hist    *Histogram
	moments moments
}

// sample is what a pool holds.
type sample interface {
	// count enters the sample where there are too many to keep.
	count(m *moments, h *Histogram)
}

func (p *pool[T]) coarse() bool { return p.hist != nil }

func (p *pool[T]) add(v T) {
	if p.hist != nil {
		v.count(&p.moments, p.hist)
		return
	}
	p.values = append(p.values, v)
	p.sorted = false
	if len(p.values) > cmp.Or(p.limit, MaxExact) {
		p.coarsen()
	}
}

func (p *pool[T]) coarsen() {
	p.hist = poolHistogram()
	for _, v := range p.values {
		v.count(&p.moments, p.hist)
	}
	p.values = nil
}

func (p *pool[T]) merge(o *pool[T]) {
	if o.hist == nil {
		for _, v := range o.values {
			p.add(v)
		}
		return
	}
	if p.hist == nil {
		p.coarsen()
	}
	p.moments.merge(o.moments)
	p.hist.Merge(o.hist)
}

// plainPool is a pool of nanoseconds.
type plainPool struct{ pool[plain] }

// plain is a value in nanoseconds.
type plain int64

func (ns plain) count(m *moments, h *Histogram) {
	m.add(float64(ns), 1)
	h.Record(time.Duration(ns))
}

func (p *plainPool) summary() (Summary, bool) {
	if p.hist != nil {
		return p.moments.coarseSummary(p.hist), true
	}
	if len(p.values) == 0 {
		return Summary{}, false
	}
	if !p.sorted {
		slices.Sort(p.values)
		p.sorted = true
	}
	return summarizeSorted(p.values), true
}

// weighted is a value that stands for as many equal samples as it weighs.
type weighted struct{ value, weight float64 }

// compare orders by value, then weight. It is spelled out because cmp.Compare
// looks for NaN, of which there is none here, and sorting is most of the work.
func (w weighted) compare(o weighted) int {
	switch {
	case w.value < o.value:
		return -1
	case w.value > o.value:
		return 1
	case w.weight < o.weight:
		return -1
	case w.weight > o.weight:
		return 1
	}
	return 0
}

// weightedPool is a pool of values with weights. Its histogram counts
// thousandths of a weight, since spread weights are not whole.
type weightedPool struct{ pool[weighted] }

const weightUnits = 1000

func (w weighted) count(m *moments, h *Histogram) {
	m.add(w.value, w.weight)
	h.RecordN(time.Duration(math.Round(w.value)), int64(math.Round(w.weight*weightUnits)))
}

// copyFrom fills an empty pool with plain samples of weight one.
func (p *weightedPool) copyFrom(o *plainPool) {
	if o.hist != nil {
		p.hist = poolHistogram()
		p.hist.mergeTimes(o.hist, weightUnits)
		p.moments = o.moments
		return
	}
	p.values = make([]weighted, len(o.values))
	for i, v := range o.values {
		p.values[i] = weighted{value: float64(v), weight: 1}
	}
}

func (p *weightedPool) summary() (Summary, bool) {
	if p.hist != nil {
		return p.moments.coarseSummary(p.hist), true
	}
	if len(p.values) == 0 {
		return Summary{}, false
	}
	if !p.sorted {
		slices.SortFunc(p.values, weighted.compare)
		p.sorted = true
	}
	return summarizeWeighted(p.values), true
}

// summarizeWeighted gives what [summarizeSorted] would give for the sample in
// which each value is repeated as often as it weighs, without repeating it.
func summarizeWeighted(sorted []weighted) Summary {
	var m moments
	for _, v := range sorted {
		m.add(v.value, v.weight)
	}
	// One walk serves all quantiles, because they ascend.
	walk := weightedWalk{sorted: sorted}
	quantile := func(q float64) float64 {
		h := max(0, (m.weight-1)*q)
		lo := walk.at(math.Floor(h))
		// The upper neighbour may lie beyond the next quantile's lower one: look
		// ahead with a copy.
		ahead := walk
		return between(lo, ahead.at(math.Floor(h)+1), h-math.Floor(h))
	}
	p50, p90, p95, p99 := quantile(0.50), quantile(0.90), quantile(0.95), quantile(0.99)
	return m.summary(p50, p90, p95, p99)
}

// weightedWalk finds sample number i of the expanded sample, i ascending.
type weightedWalk struct {
	sorted []weighted
	next   int
	before float64 // weight of sorted[:next]
}

func (w *weightedWalk) at(i float64) float64 {
	for w.next < len(w.sorted)-1 && w.before+w.sorted[w.next].weight <= i {
		w.before += w.sorted[w.next].weight
		w.next++
	}
	return w.sorted[w.next].value
}

func poolHistogram() *Histogram {
	return &Histogram{Lowest: time.Nanosecond, Highest: time.Hour, Digits: 3}
}

// coarseSummary takes the quantiles from a histogram of the same values.
func (m *moments) coarseSummary(h *Histogram) Summary {
	at := func(q float64) float64 {
		v, _ := h.Quantile(q)
		return float64(v)
	}
	return m.summary(at(0.50), at(0.90), at(0.95), at(0.99))
}
