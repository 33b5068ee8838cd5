package report

import (
	"math"

	"lmxbench/stats"
)

// iterations describes the timed batches. Rates are only given for those that
// count: beside a failed stream the others had a faster server.
func (a *analysis) iterations() []Iteration {
	counted := make(map[*iteration]bool)
	for _, it := range a.counted {
		counted[it] = true
	}
	all := make([]Iteration, 0, len(a.timed))
	for _, it := range a.timed {
		x := it.describe()
		if counted[it] {
			x.Counted = true
			a.rates(it, &x)
		}
		all = append(all, x)
	}
	return all
}

// describe gives counts and windows.
func (it *iteration) describe() Iteration {
	x := Iteration{Iteration: it.number, Requests: len(it.requests), OK: len(it.ok)}
	x.OutputTokens = sumTokens(it.own, func(s stats.Stream) int { return s.OutputTokens })
	x.PromptTokens = sumTokens(it.own, func(s stats.Stream) int { return s.PromptTokens })
	for _, r := range it.ok {
		x.TokenEvents += int64(r.Events.Len())
	}
	x.Windows.LMX = window(stats.LMXWindow(it.lmx))
	x.Windows.Request = window(stats.RequestWindow(it.lmx))
	var ttft []float64
	for _, s := range it.own {
		if d, ok := stats.TTFT(s); ok {
			ttft = append(ttft, float64(d)/1e6)
		}
	}
	if m, ok := stats.Median(ttft); ok {
		x.TTFTMs = decimals(m, timeDecimals)
	}
	if spread, ok := it.sendSpread(); ok {
		ms := millis(spread)
		x.SendSpreadMs = &ms
	}
	return x
}

// rates fills in every throughput of a counted iteration.
func (a *analysis) rates(it *iteration, x *Iteration) {
	if v, source, ok := a.tokSOut(it); ok {
		x.TokSOut, x.TokSOutSource = &v, source
	}
	if v, ok := stats.TotalThroughput(it.lmx); ok {
		x.TokSTotal = &v
	}
	if a.Plan.Concurrency == 1 {
		x.InterToken = rate(stats.InterToken(it.lmx[0]))
	}
	x.ConcurrentRequestWindow = rate(stats.ConcurrentRequestWindow(it.lmx))
	x.BatchWall = rate(stats.BatchWall(it.lmx))
	x.SumOfStreamRates = rate(stats.SumOfStreamRates(it.own))
	if p := it.plateau; p != nil {
		x.Plateau = decimals(p.TokensPerSecond, rateDecimals)
		x.OverlapFraction = decimals(p.OverlapFraction, shareDecimals)
		x.Windows.Plateau = window(p.Window, true)
	}
}

// throughput summarises the counted iterations, each rate unrounded.
func (a *analysis) throughput(source string) Throughput {
	t := Throughput{Headline: a.headline(source)}
	if a.okBasis {
		t.Basis = "ok_requests"
	}
	over := func(f func(it *iteration) (float64, bool)) *Rates {
		var xs []float64
		for _, it := range a.counted {
			if v, ok := f(it); ok {
				xs = append(xs, v)
			}
		}
		return summarizeRates(xs, len(a.counted))
	}
	if a.Plan.Concurrency == 1 {
		t.InterToken = over(func(it *iteration) (float64, bool) { return stats.InterToken(it.lmx[0]) })
	}
	t.ConcurrentRequestWindow = over(func(it *iteration) (float64, bool) { return stats.ConcurrentRequestWindow(it.lmx) })
	t.BatchWall = over(func(it *iteration) (float64, bool) { return stats.BatchWall(it.lmx) })
	t.SumOfStreamRates = over(func(it *iteration) (float64, bool) { return stats.SumOfStreamRates(it.own) })
	plateau := over(func(it *iteration) (float64, bool) {
		if it.plateau == nil {
			return 0, false
		}
		return it.plateau.TokensPerSecond, true
	})
	if plateau != nil {
		t.Plateau = a.plateauRates(plateau)
	}
	return t
}

func (a *analysis) plateauRates(r *Rates) *PlateauRates {
	var seconds, overlap []float64
	for _, it := range a.counted {
		seconds = append(seconds, it.plateau.Window.Seconds())
		overlap = append(overlap, it.plateau.OverlapFraction)
	}
	s, _ := stats.Median(seconds)
	o, _ := stats.Median(overlap)
	return &PlateauRates{Rates: *r, Seconds: rounded(s, timeDecimals), OverlapFraction: rounded(o, shareDecimals)}
}

// headline names the formula behind tokSOut. lmx's request_window is one of
// ours for a single stream: from its first token, or from its send without one.
func (a *analysis) headline(source string) string {
	switch {
	case a.Plan.Concurrency > 1:
		return headlineWindow
	case source != stats.SourceRequestWindow:
		return headlineInterToken
	case a.counted[len(a.counted)-1].lmx[0].NoToken:
		return headlineWall
	default:
		return headlineWindow
	}
}

// middle is the counted iteration whose tokSOut is nearest to the median, the
// earlier of two; nil when none has one.
func (a *analysis) middle() *iteration {
	var rates []float64
	var known []*iteration
	for _, it := range a.counted {
		if v, _, ok := a.tokSOut(it); ok {
			rates, known = append(rates, v), append(known, it)
		}
	}
	median, ok := stats.Median(rates)
	if !ok {
		return nil
	}
	best := 0
	for i, v := range rates {
		if math.Abs(v-median) < math.Abs(rates[best]-median) {
			best = i
		}
	}
	return known[best]
}

func (a *analysis) medianIteration(x *Extension) *MedianIteration {
	it := a.middle()
	if it == nil {
		return nil
	}
	for _, i := range x.Iterations {
		if i.Iteration == it.number {
			return &MedianIteration{
				Iteration: i.Iteration, PromptTokens: i.PromptTokens, OutputTokens: i.OutputTokens,
				TokSOut: i.TokSOut, TokSTotal: i.TokSTotal, TTFTMs: i.TTFTMs,
			}
		}
	}
	return nil
}

// sendSpread is the time between the first and the last send, ns.
func (it *iteration) sendSpread() (ns int64, ok bool) {
	var first, last int64
	for _, r := range it.requests {
		if r.T.Send == 0 {
			continue
		}
		if !ok || r.T.Send < first {
			first = r.T.Send
		}
		last, ok = max(last, r.T.Send), true
	}
	return last - first, ok
}

// sumTokens is a sum of counts, nil when one of them is unknown.
func sumTokens(streams []stats.Stream, count func(stats.Stream) int) *int64 {
	var sum int64
	for _, s := range streams {
		n := count(s)
		if n <= 0 {
			return nil
		}
		sum += int64(n)
	}
	if len(streams) == 0 {
		return nil
	}
	return &sum
}

func window(w stats.Window, ok bool) *Window {
	if !ok {
		return nil
	}
	return &Window{StartNs: int64(w.From), EndNs: int64(w.To), Seconds: rounded(w.Seconds(), timeDecimals)}
}
