package stats

// InterToken is the decode rate of one stream in tokens per second:
//
//	(n − 1) / (last token − first token)
//
// The first token is the end of prefill, so n tokens span n − 1 steps. It is
// lmx's tokSOut of a single stream. ok is false when fewer than two tokens are
// known or no time passed between them (one chunk, or a buffered stream).
//
// The rule takes the first event for one token. Under speculation it holds
// more and the rate reads high (about +2.6 % at 64 tokens, +0.05 % at 1,024 for
// a mean accepted length of 3.3); see [InterTokenAfterFirst].
func InterToken(s Stream) (rate float64, ok bool) {
	if s.NoToken || s.OutputTokens < 2 || s.LastToken <= s.FirstToken {
		return 0, false
	}
	return perSecond(float64(s.OutputTokens-1), s.LastToken-s.FirstToken), true
}

// InterTokenAfterFirst is [InterToken] with the real size of the first event:
//
//	(n − tokens of the first event) / (last token − first token)
//
// in tokens per second. ok is false where InterToken's is, and unless the
// server counted the tokens of each event (an even spread would only divide
// the total by the number of events).
func InterTokenAfterFirst(s Stream) (rate float64, ok bool) {
	if _, ok := InterToken(s); !ok || len(s.EventTokens) == 0 {
		return 0, false
	}
	rest := s.OutputTokens - s.EventTokens[0]
	if rest <= 0 {
		return 0, false
	}
	return perSecond(float64(rest), s.LastToken-s.FirstToken), true
}

// ConcurrentRequestWindow is the rate of a batch in tokens per second:
//
//	Σ n / (latest end − earliest first token of any stream)
//
// It is lmx's tokSOut above one stream. Most of the prefill of a burst lies
// inside this window, so it grows with the output length on the same engine.
// ok is false when any stream's token count is unknown or the window is empty.
func ConcurrentRequestWindow(streams []Stream) (rate float64, ok bool) {
	w, ok := LMXWindow(streams)
	return rateOver(streams, w, ok)
}

// BatchWall is the rate of a batch in tokens per second as its customer sees
// it, and the basis of money:
//
//	Σ n / (latest end − earliest send)
//
// ok is false when any stream's token count is unknown or no time passed.
func BatchWall(streams []Stream) (rate float64, ok bool) {
	w, ok := RequestWindow(streams)
	return rateOver(streams, w, ok)
}

func rateOver(streams []Stream, w Window, ok bool) (float64, bool) {
	total, known := OutputTokens(streams)
	if !ok || !known {
		return 0, false
	}
	return perSecond(float64(total), w.To-w.From), true
}

// OutputTokens is Σ n. ok is false without streams and when any count is
// unknown: a sum with a missing term is not a smaller sum.
func OutputTokens(streams []Stream) (total int, ok bool) {
	for _, s := range streams {
		if s.OutputTokens <= 0 {
			return 0, false
		}
		total += s.OutputTokens
	}
	return total, len(streams) > 0
}

// SumOfStreamRates is Σ (nᵢ − 1)/(lastᵢ − firstᵢ) in tokens per second. It is
// not a throughput: streams that queued are counted as if they had run side by
// side, so it has no upper bound (twice the truth with half the slots). Debug
// tables only. ok is false unless every stream has an [InterToken] rate.
func SumOfStreamRates(streams []Stream) (rate float64, ok bool) {
	rates := make([]float64, len(streams))
	for i, s := range streams {
		if rates[i], ok = InterToken(s); !ok {
			return 0, false
		}
	}
	return sumAnyOrder(rates), len(streams) > 0
}

// PlateauRate is the engine's decode capability, measured where every stream
// decodes.
type PlateauRate struct {
	// Window is [PlateauWindow].
	Window Window
	// Tokens counted within it ([TokensWithin]); seldom a whole number.
	Tokens float64
	// TokensPerSecond is Tokens ÷ the window's seconds.
	TokensPerSecond float64
	// OverlapFraction is the plateau's seconds ÷ the seconds of [LMXWindow],
	// in (0, 1]. A small fraction means that the plateau says little about the
	// batch.
	OverlapFraction float64
}

// Plateau is the rate while all N streams are past their first token and none
// has had its last one:
//
//	tokens in (latest first token, earliest last token] / that time
//
// Edges: the window is open on the left, so the token that opens it does not
// count, and closed on the right, so the token that closes it does; an event of
// another stream whose gap straddles an edge counts by the share of its gap
// inside ([TokensWithin]). Streams of constant rate therefore give exactly the
// sum of their rates, in step or not. ok is false without overlap and where
// TokensWithin is.
func Plateau(streams []Stream) (p PlateauRate, ok bool) {
	w, ok := PlateauWindow(streams)
	if !ok {
		return PlateauRate{}, false
	}
	whole, ok := LMXWindow(streams)
	if !ok {
		return PlateauRate{}, false
	}
	tokens, ok := TokensWithin(streams, w)
	if !ok {
		return PlateauRate{}, false
	}
	return PlateauRate{
		Window:          w,
		Tokens:          tokens,
		TokensPerSecond: perSecond(tokens, w.To-w.From),
		OverlapFraction: float64(w.To-w.From) / float64(whole.To-whole.From),
	}, true
}
