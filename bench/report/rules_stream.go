package report

import (
	"cmp"
	"slices"
	"time"

	"lmxbench/stats"
)

func bufferedStream(a *analysis, _ *Document) *Finding {
	if !a.Plan.Stream {
		return nil
	}
	all, held := 0, 0
	for _, it := range a.timed {
		for _, s := range it.own {
			all++
			if heldBack(s) {
				held++
			}
		}
	}
	if held > 0 {
		return find(Invalid, "the tokens of %s of %s came at once, after %s of waiting (median)",
			Grouped(int64(held)), count(all, "stream"), span(a.heldWait()))
	}
	return a.burstyStream()
}

// notStreamed reports a run whose first and last tokens came together, so that
// there are no waves, no plateau and no window to judge.
func (a *analysis) notStreamed(d *Document) bool {
	f := bufferedStream(a, d)
	return f != nil && f.Level == Invalid
}

// burstyStream looks for streams that arrive in clusters.
func (a *analysis) burstyStream() *Finding {
	long := 0
	var sizes, counts []float64
	for r := range a.timedRequests() {
		if r.Outcome != OutcomeOK || r.Events.Len() < BurstMinEvents {
			continue
		}
		long++
		if n, ok := bursts(r.Events, r.LateMerged); ok {
			counts = append(counts, float64(n))
			sizes = append(sizes, float64(r.Events.Len())/float64(n))
		}
	}
	if 2*len(counts) <= long {
		return nil
	}
	level := Warn
	n, _ := stats.Median(counts)
	if n < BurstFew {
		level = Invalid
	}
	size, _ := stats.Median(sizes)
	return find(level, "%s of %s came in %s bursts of %s events (median)",
		Grouped(int64(len(counts))), count(long, "stream"), amount(n), amount(size))
}

// heldBack reports a stream whose tokens all came together at its end. No
// engine decodes one stream at ten thousand tokens per second.
func heldBack(s stats.Stream) bool {
	if s.NoToken || s.OutputTokens < BufferedMinTokens {
		return false
	}
	took := s.LastToken - s.FirstToken
	if took <= 0 {
		return true
	}
	return float64(took) < BufferedSpanShare*float64(s.LastToken-s.Send) &&
		took < time.Duration(s.OutputTokens-1)*BufferedTokenGap
}

// heldWait is the median time to the first token of the streams held back.
func (a *analysis) heldWait() time.Duration {
	var waits []float64
	for _, it := range a.timed {
		for _, s := range it.own {
			if heldBack(s) {
				waits = append(waits, float64(s.FirstToken-s.Send))
			}
		}
	}
	m, _ := stats.Median(waits)
	return time.Duration(m)
}

// bursts counts the clusters of a stream whose gaps are nearly all tiny beside
// their mean, and reports false for any other stream. Events that merged
// because the client was late are the client's fault and not the stream's.
func bursts(e *Events, late int) (n int, ok bool) {
	gaps := len(e.T) - 1
	mean := float64(e.T[gaps]-e.T[0]) / float64(gaps)
	tiny := 0
	for i := 1; i <= gaps; i++ {
		if float64(e.T[i]-e.T[i-1]) < BurstGapShare*mean {
			tiny++
		}
	}
	tiny = max(0, tiny-late)
	return gaps - tiny + 1, tiny*BurstEvents >= gaps*(BurstEvents-1)
}

func firstChunkMultiToken(a *analysis, _ *Document) *Finding {
	var biases, sizes []float64
	for r := range a.countedRequests() {
		n := 0.0
		if r.OutputTokens != nil {
			n = float64(*r.OutputTokens)
		}
		if n < 2 || r.Events.Len() < 2 || r.T.LastToken <= r.T.FirstToken {
			continue
		}
		k := firstTokens(r.Events, n)
		biases, sizes = append(biases, (k-1)/(n-1)), append(sizes, k)
	}
	bias, ok := stats.Median(biases)
	if !ok || bias <= FirstChunkBias {
		return nil
	}
	size, _ := stats.Median(sizes)
	return find(Warn, "the first read of a stream brought %s tokens (median): its rate reads %s high", amount(size), percent(bias))
}

// firstTokens is the number of tokens that came with the first stamp. Where
// the server does not count them, each event is taken to hold the same.
func firstTokens(e *Events, n float64) (k float64) {
	for i, t := range e.T {
		if t != e.T[0] {
			break
		}
		if len(e.Tokens) > 0 {
			k += float64(e.Tokens[i])
		} else {
			k += n / float64(len(e.T))
		}
	}
	return k
}

func queueing(a *analysis, d *Document) *Finding {
	n := a.Plan.Concurrency
	if slots := a.Session.Slots; slots > 0 && n > slots {
		return find(Warn, "%d streams for %d slots", n, slots)
	}
	for _, flag := range [...]string{"maxRunningSeqs", "numParallel"} {
		if limit, ok := wholeFlag(a.Plan.ServeFlags[flag]); ok && limit > 0 && n > limit {
			return find(Warn, "%d streams for %s %d", n, flag, limit)
		}
	}
	if a.notStreamed(d) {
		return nil
	}
	for _, it := range a.counted {
		late, peak := it.waves()
		if late > 0 && float64(late) >= QueueLateShare*float64(n) && float64(peak) <= QueuePeakShare*float64(n) {
			return find(Warn, "iteration %d: %d of %d streams began after another had ended, at most %d ran side by side", it.number, late, n, peak)
		}
	}
	return nil
}

// wholeFlag reads an integer of the serve command, which is a float after a
// trip through JSON.
func wholeFlag(v any) (int, bool) {
	switch v := v.(type) {
	case int:
		return v, true
	case int64:
		return int(v), true
	case float64:
		return int(v), true
	default:
		return 0, false
	}
}

// waves counts the streams whose first token came after another stream's last
// one, and the most streams that decoded at the same time.
func (it *iteration) waves() (late, peak int) {
	type edge struct {
		at   time.Duration
		step int
	}
	var edges []edge
	earliest := time.Duration(-1)
	for _, s := range it.own {
		if s.NoToken {
			continue
		}
		edges = append(edges, edge{s.FirstToken, 1}, edge{s.LastToken, -1})
		if earliest < 0 || s.LastToken < earliest {
			earliest = s.LastToken
		}
	}
	for _, s := range it.own {
		if !s.NoToken && s.FirstToken > earliest {
			late++
		}
	}
	slices.SortFunc(edges, func(x, y edge) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(y.step, x.step)) })
	running := 0
	for _, e := range edges {
		running += e.step
		peak = max(peak, running)
	}
	return late, peak
}

func frontendBound(a *analysis, _ *Document) *Finding {
	d, ok := a.decodeSums()
	if !ok || d.arrivalNs <= (1+FrontendShare)*d.engineNs {
		return nil
	}
	if !a.histogramIsOurs(d) {
		return nil
	}
	n := time.Duration(d.streams)
	return find(Warn, "a stream's tokens took %s to arrive, the engine %s to make them",
		span(time.Duration(d.arrivalNs)/n), span(time.Duration(d.engineNs)/n))
}

// histogramIsOurs reports whether the engine's histogram covers just our
// streams: by its token counter, else by its count, which is one per token
// after the first where nothing is speculated.
func (a *analysis) histogramIsOurs(d decode) bool {
	if moved, requests, usage, ok := a.counterDelta(); ok {
		off := moved - float64(usage)
		slack := counterSlack(requests, usage)
		return off <= slack && off >= -slack
	}
	want := float64(d.tokens - d.streams)
	return d.engineCount >= (1-FrontendCountSlack)*want && d.engineCount <= (1+FrontendCountSlack)*want
}

func reconnected(a *analysis, _ *Document) *Finding {
	return countTimed(a, "was sent again on a new connection", "were sent again on new connections", func(r *Request) bool { return r.Reconnected })
}

func codedBody(a *analysis, _ *Document) *Finding {
	return countTimed(a, "had a compressed body", "had compressed bodies", func(r *Request) bool { return r.CodedBody != "" })
}

// countTimed warns of timed requests with a property.
func countTimed(a *analysis, one, many string, has func(*Request) bool) *Finding {
	n := 0
	for r := range a.timedRequests() {
		if has(r) {
			n++
		}
	}
	switch n {
	case 0:
		return nil
	case 1:
		return find(Warn, "1 timed request %s", one)
	default:
		return find(Warn, "%s timed requests %s", Grouped(int64(n)), many)
	}
}
