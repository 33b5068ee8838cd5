package stats

import (
	"math"
	"time"
)

// MaxExact is the number of gaps up to which [Gaps] keeps every value. Beyond
// it the pool turns into a histogram (see [Histogram]) and memory stays put.
const MaxExact = 10_000_000

// TPOT is the time per output token of one stream in nanoseconds:
//
//	(last token − first token) / (n − 1)
//
// the inverse of [InterToken], undefined where that is.
func TPOT(s Stream) (nanoseconds float64, ok bool) {
	if _, ok := InterToken(s); !ok {
		return 0, false
	}
	return float64(s.LastToken-s.FirstToken) / float64(s.OutputTokens-1), true
}

// Gaps pools the gaps between the token events of many streams. Two measures
// come out of it, which agree only where every event carries one token:
//
//   - inter-chunk latency: the gap between successive token events, one sample
//     per gap, whatever the events carry;
//   - token ITL: that gap ÷ the tokens of the later event, one sample per token
//     (the gap of an event of w tokens weighs w). An event that carries no
//     token passes its gap on to the next that does.
//
// The tokens of a stream's first event have no gap and no sample. Events read
// together have gaps of zero; they are kept, since dropping them would turn
// coalescing into speed.
//
// The zero value is an empty pool. Not safe for concurrent use; let each
// collector have its own and Merge them.
type Gaps struct {
	// interChunk and itl hold nanoseconds. itl stays empty as long as every
	// sample so far weighs one: it would repeat interChunk.
	interChunk plainPool
	itl        weightedPool
	diverged   bool

	spread, uncounted int
}

// Add puts the gaps of a stream into the pool. It keeps nothing of the stream.
// The error is [ErrUnordered] or [ErrTokenCounts], and nothing was added. A
// stream whose token count is unknown adds inter-chunk gaps only and is
// counted in [Gaps.Uncounted].
func (g *Gaps) Add(s Stream) error {
	if !s.ordered() {
		return ErrUnordered
	}
	weights, err := s.Weights()
	if err != nil && s.EventTokens != nil {
		return err
	}
	if counted := err == nil; counted {
		g.addITL(s.EventTimes, weights)
	} else {
		g.diverge()
		g.uncounted++
	}
	for i := 1; i < len(s.EventTimes); i++ {
		g.interChunk.add(plain(s.EventTimes[i] - s.EventTimes[i-1]))
	}
	return nil
}

// addITL adds one weighted sample per event that carries tokens. It must run
// before the same stream's inter-chunk gaps are added.
func (g *Gaps) addITL(times []time.Duration, weights Weights) {
	if weights.Spread() {
		g.spread++
	}
	if !g.diverged && everyOne(weights, len(times)) {
		return
	}
	g.diverge()
	if len(times) == 0 {
		return
	}
	last := times[0]
	for i := 1; i < len(times); i++ {
		w := weights.At(i)
		if w == 0 {
			continue
		}
		g.itl.add(weighted{value: float64(times[i]-last) / w, weight: w})
		last = times[i]
	}
}

func everyOne(weights Weights, events int) bool {
	for i := 1; i < events; i++ {
		if weights.At(i) != 1 {
			return false
		}
	}
	return true
}

// diverge starts the separate ITL pool with what it shared until now.
func (g *Gaps) diverge() {
	if g.diverged {
		return
	}
	g.diverged = true
	g.itl.copyFrom(&g.interChunk)
}

// Merge adds the samples of other, which stays as it is.
func (g *Gaps) Merge(other *Gaps) {
	if g.diverged || other.diverged {
		g.diverge()
		if other.diverged {
			g.itl.merge(&other.itl.pool)
		} else {
			var shared weightedPool
			shared.copyFrom(&other.interChunk)
			g.itl.merge(&shared.pool)
		}
	}
	g.interChunk.merge(&other.interChunk.pool)
	g.spread += other.spread
	g.uncounted += other.uncounted
}

// InterChunk describes the gaps between successive token events, in the given
// unit. ok is false when there are none.
func (g *Gaps) InterChunk(unit time.Duration) (s Summary, ok bool) {
	s, ok = g.interChunk.summary()
	return s.per(unit), ok
}

// TokenITL describes the time per token, in the given unit per token. Count is
// the number of tokens, rounded where counts were spread. ok is false when no
// stream with known counts had a second event.
func (g *Gaps) TokenITL(unit time.Duration) (s Summary, ok bool) {
	if !g.diverged {
		return g.InterChunk(unit)
	}
	s, ok = g.itl.summary()
	return s.per(unit), ok
}

// Exact reports whether every sample was kept. Where it is false, quantiles
// come from histograms and are good to 0.1 %; count, mean, minimum, maximum and
// standard deviation stay exact.
func (g *Gaps) Exact() bool { return !g.interChunk.coarse() && !g.itl.coarse() }

// Spread is the number of streams whose token counts were spread evenly over
// their events ([SpreadWeights]): their token ITL is an assumption.
func (g *Gaps) Spread() int { return g.spread }

// Uncounted is the number of streams of unknown token count, which are missing
// from token ITL.
func (g *Gaps) Uncounted() int { return g.uncounted }

// moments keeps count, mean and spread of a weighted sample as it comes, for
// pools that no longer keep values.
type moments struct {
	weight, mean, squares float64
	min, max              float64
}

func (m *moments) add(value, weight float64) {
	if m.weight == 0 {
		m.min, m.max = value, value
	}
	m.min, m.max = min(m.min, value), max(m.max, value)
	m.weight += weight
	d := value - m.mean
	m.mean += d * weight / m.weight
	m.squares += d * (value - m.mean) * weight
}

func (m *moments) merge(o moments) {
	if o.weight == 0 {
		return
	}
	if m.weight == 0 {
		*m = o
		return
	}
	total := m.weight + o.weight
	d := o.mean - m.mean
	m.squares += o.squares + d*d*m.weight*o.weight/total
	m.mean += d * o.weight / total
	m.weight = total
	m.min, m.max = min(m.min, o.min), max(m.max, o.max)
}

// summary completes the moments with quantiles.
func (m *moments) summary(p50, p90, p95, p99 float64) Summary {
	s := Summary{
		Count: int(math.Round(m.weight)),
		Min:   m.min, Mean: m.mean, Max: m.max,
		P50: p50, P90: p90, P95: p95, P99: p99,
	}
	if m.weight > 1 {
		sd := math.Sqrt(m.squares / (m.weight - 1))
		s.StdDev = &sd
	}
	return s
}
