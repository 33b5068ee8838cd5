package simserver

import (
	"sync/atomic"
	"time"
)

// histogram counts durations or sizes in fixed buckets. Any goroutine may add.
type histogram struct {
	edges  []float64
	counts []atomic.Uint64 // one more than edges
	sum    atomic.Int64    // in the unit's billionths, so that adding is exact
}

func newHistogram(edges []float64) *histogram {
	return &histogram{edges: edges, counts: make([]atomic.Uint64, len(edges)+1)}
}

// addN counts n observations of v.
func (h *histogram) addN(v float64, n int) {
	i := 0
	for i < len(h.edges) && v > h.edges[i] {
		i++
	}
	h.counts[i].Add(uint64(n))
	h.sum.Add(int64(v*1e9+0.5) * int64(n))
}

func (h *histogram) add(v float64)               { h.addN(v, 1) }
func (h *histogram) addDuration(d time.Duration) { h.addN(d.Seconds(), 1) }

func (h *histogram) reset() {
	for i := range h.counts {
		h.counts[i].Store(0)
	}
	h.sum.Store(0)
}

// Bucket edges as vLLM 0.25.1 exports them.
var (
	ttftEdges = []float64{
		0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5,
		10, 20, 40, 80, 160, 640, 2560,
	}
	itlEdges = []float64{
		0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80,
	}
	requestEdges = []float64{
		0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680,
	}
	sizeEdges      = []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000}
	iterationEdges = []float64{1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384}
)

// metrics are the counters of the engine. Any goroutine may add; a reader sees
// every token whose bytes it could have received, since counting comes first.
type metrics struct {
	prompt, cached, generated          atomic.Int64
	stop, length, aborted, failed      atomic.Int64
	drafts, draftTokens, accepted      atomic.Int64
	acceptedAt                         [16]atomic.Int64
	running, waiting                   atomic.Int64
	ttft, itl, tpot, e2e               *histogram
	queue, inference, prefillTime      *histogram
	decodeTime, promptSize, outputSize *histogram
	iteration                          *histogram
}

func newMetrics(maxModelLen int) *metrics {
	sizes := sizeEdges
	for len(sizes) > 1 && sizes[len(sizes)-1] > float64(maxModelLen) {
		sizes = sizes[:len(sizes)-1]
	}
	return &metrics{
		ttft: newHistogram(ttftEdges), itl: newHistogram(itlEdges), tpot: newHistogram(itlEdges),
		e2e: newHistogram(requestEdges), queue: newHistogram(requestEdges),
		inference: newHistogram(requestEdges), prefillTime: newHistogram(requestEdges),
		decodeTime: newHistogram(requestEdges),
		promptSize: newHistogram(sizes), outputSize: newHistogram(sizes),
		iteration: newHistogram(iterationEdges),
	}
}

// count books one yield at the engine's time, before its bytes are sent.
func (m *metrics) count(st *stream, y yield) {
	now := y.at
	m.generated.Add(int64(y.tokens))
	if y.first {
		m.prompt.Add(int64(st.job.prompt))
		m.cached.Add(int64(st.cached))
		m.ttft.addDuration(now - st.arrived)
		st.firstAt = now
	} else {
		m.itl.addDuration(now - st.lastAt)
	}
	st.lastAt = now
	if y.drafted > 0 {
		m.drafts.Add(1)
		m.draftTokens.Add(int64(y.drafted))
		m.accepted.Add(int64(y.accepted))
		for i := range y.accepted {
			m.acceptedAt[i].Add(1)
		}
		st.drafted += y.drafted
		st.accepted += y.accepted
	}
	if y.last {
		m.complete(st, now)
	}
}

func (m *metrics) complete(st *stream, now time.Duration) {
	switch st.finish {
	case "length":
		m.length.Add(1)
	case "stop":
		m.stop.Add(1)
	case "abort":
		m.aborted.Add(1)
	default:
		m.failed.Add(1)
	}
	m.e2e.addDuration(now - st.arrived)
	m.queue.addDuration(max(0, st.job.admitted-st.arrived))
	m.inference.addDuration(now - st.job.admitted)
	m.prefillTime.addDuration(st.firstAt - st.job.admitted)
	m.decodeTime.addDuration(now - st.firstAt)
	m.promptSize.add(float64(st.job.prompt))
	m.outputSize.add(float64(st.job.produced))
	if st.job.produced > 1 {
		m.tpot.addDuration((now - st.firstAt) / time.Duration(st.job.produced-1))
	}
}

// addForeign counts a request of half the size that nobody here served.
func (m *metrics) addForeign(st *stream) {
	m.generated.Add(int64(max(1, st.job.limit/2)))
	m.prompt.Add(int64(st.job.prompt))
	m.stop.Add(1)
}

func (m *metrics) reset() {
	for _, c := range []*atomic.Int64{
		&m.prompt, &m.cached, &m.generated, &m.stop, &m.length, &m.aborted, &m.failed,
		&m.drafts, &m.draftTokens, &m.accepted,
	} {
		c.Store(0)
	}
	for i := range m.acceptedAt {
		m.acceptedAt[i].Store(0)
	}
	for _, h := range []*histogram{
		m.ttft, m.itl, m.tpot, m.e2e, m.queue, m.inference, m.prefillTime, m.decodeTime,
		m.promptSize, m.outputSize, m.iteration,
	} {
		h.reset()
	}
}
