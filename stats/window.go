package stats

import (
	"slices"
	"sort"
	"time"
)

// Window is a span of time, offsets from the origin of the streams.
type Window struct{ From, To time.Duration }

// Seconds is the length of the window.
func (w Window) Seconds() float64 { return float64(w.To-w.From) / float64(time.Second) }

// RequestWindow runs from the earliest send to the latest end: the batch as a
// wall clock sees it. ok is false without streams or when nothing lasted.
func RequestWindow(streams []Stream) (w Window, ok bool) {
	if len(streams) == 0 {
		return Window{}, false
	}
	w = Window{From: streams[0].Send, To: streams[0].End}
	for _, s := range streams {
		w.From = min(w.From, s.Send)
		w.To = max(w.To, s.End)
	}
	return w, w.To > w.From
}

// LMXWindow runs from the earliest first token of any stream to the latest
// end. Where no stream had a token it starts at the earliest send, as in lmx.
func LMXWindow(streams []Stream) (w Window, ok bool) {
	w, _ = RequestWindow(streams)
	if first, found := earliestFirstToken(streams); found {
		w.From = first
	}
	return w, w.To > w.From
}

func earliestFirstToken(streams []Stream) (first time.Duration, found bool) {
	for _, s := range streams {
		if s.NoToken {
			continue
		}
		if !found || s.FirstToken < first {
			first, found = s.FirstToken, true
		}
	}
	return first, found
}

// PlateauWindow is the time in which every stream decodes: from the latest
// first token to the earliest last token. ok is false when the two do not
// overlap, when a stream had no token, and without streams.
func PlateauWindow(streams []Stream) (w Window, ok bool) {
	for i, s := range streams {
		if s.NoToken {
			return Window{}, false
		}
		if i == 0 {
			w = Window{From: s.FirstToken, To: s.LastToken}
		}
		w.From = max(w.From, s.FirstToken)
		w.To = min(w.To, s.LastToken)
	}
	return w, len(streams) > 0 && w.To > w.From
}

// TokensWithin counts the tokens of all streams stamped within the window,
// open at From and closed at To. The tokens of an event count as produced
// evenly over the gap that ends with it, so an event whose gap straddles an
// edge counts by the share of its gap inside. Streams of one batch share the
// engine's steps and their stamps differ by microseconds; whole events would
// gain or lose one step of N tokens by chance, shares do not.
//
// The first event of a stream has no gap: it counts whole at its stamp. ok is
// false when a stream has no usable token counts ([Stream.Weights]), when its
// events are not in order, and when the window is empty.
func TokensWithin(streams []Stream, w Window) (tokens float64, ok bool) {
	if w.To <= w.From || len(streams) == 0 {
		return 0, false
	}
	parts := make([]float64, len(streams))
	for i, s := range streams {
		weights, err := s.Weights()
		if err != nil || !s.ordered() {
			return 0, false
		}
		parts[i] = s.tokensUntil(weights, w.To) - s.tokensUntil(weights, w.From)
	}
	return sumAnyOrder(parts), true
}

// RateWithin is [TokensWithin] ÷ the window's seconds, in tokens per second.
func RateWithin(streams []Stream, w Window) (rate float64, ok bool) {
	tokens, ok := TokensWithin(streams, w)
	if !ok {
		return 0, false
	}
	return perSecond(tokens, w.To-w.From), true
}

// RateBins cuts the window into n bins of equal length (to the nanosecond) and
// gives the rate of each. It is the series [MeasureDrift] judges.
func RateBins(streams []Stream, w Window, n int) (rates []float64, ok bool) {
	if n <= 0 || w.To-w.From < time.Duration(n) {
		return nil, false
	}
	bins := time.Duration(n)
	each, rest := (w.To-w.From)/bins, (w.To-w.From)%bins
	edge := func(i time.Duration) time.Duration { return w.From + each*i + rest*i/bins }
	rates = make([]float64, n)
	for i := range bins {
		if rates[i], ok = RateWithin(streams, Window{From: edge(i), To: edge(i + 1)}); !ok {
			return nil, false
		}
	}
	return rates, true
}

// tokensUntil is the number of tokens produced up to and including t: whole
// events stamped until t plus the share of the gap that t falls into. Events
// with one stamp were produced over the same gap and share it.
func (s Stream) tokensUntil(weights Weights, t time.Duration) float64 {
	next := sort.Search(len(s.EventTimes), func(i int) bool { return s.EventTimes[i] > t })
	tokens := weights.sum(0, next)
	if next == 0 || next == len(s.EventTimes) {
		return tokens
	}
	after := next
	for after < len(s.EventTimes) && s.EventTimes[after] == s.EventTimes[next] {
		after++
	}
	before := s.EventTimes[next-1]
	share := float64(t-before) / float64(s.EventTimes[next]-before)
	return tokens + weights.sum(next, after)*share
}

// perSecond is tokens ÷ d. One multiplication that is exact for fewer than
// nine million tokens and one division: scaling d by two scales the rate by
// exactly one half.
func perSecond(tokens float64, d time.Duration) float64 {
	return tokens * float64(time.Second) / float64(d)
}

// sumAnyOrder adds xs so that their order does not matter. It sorts xs.
func sumAnyOrder(xs []float64) float64 {
	slices.Sort(xs)
	return sumCompensated(xs)
}
