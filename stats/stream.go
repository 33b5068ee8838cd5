package stats

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Errors of streams whose evidence does not fit together.
var (
	// ErrUnordered: an event is stamped before its predecessor. The stamps
	// cannot be used for gaps or windows; look for a clock step.
	ErrUnordered = errors.New("events are not in time order")
	// ErrTokenCounts: the counts per event are negative or not one per event.
	ErrTokenCounts = errors.New("token counts do not match the events")
	// ErrUnknownTokens: neither counts per event nor a total are known.
	ErrUnknownTokens = errors.New("token count unknown")
)

// Stream is what one successful streamed response left behind. Times are
// offsets from an origin that all streams of a batch share.
//
//	Send ──────► FirstToken ──► … ──► LastToken ──► End
//	      TTFT               gaps                  rest of the body
type Stream struct {
	// Send is taken just before the first byte of the request is written.
	Send time.Duration
	// FirstToken and LastToken are the stamps of the first and last token
	// event. They mean nothing when NoToken is set.
	FirstToken, LastToken time.Duration
	// End is the end of the body. "Completion" in every formula is End.
	End time.Duration
	// PromptTokens and OutputTokens are the server's usage. Zero or less means
	// unknown; every result that needs the count is then undefined.
	PromptTokens, OutputTokens int
	// NoToken says that the response was not streamed or carried no token
	// event. Zero value: there was one.
	NoToken bool

	// EventTimes are the stamps of the token events, in order, from FirstToken
	// to LastToken. Only window counts and gaps need them. Events read together
	// may share a stamp.
	EventTimes []time.Duration
	// EventTokens are the tokens each event carries, one entry per event, where
	// the server counts as it goes; nil where it does not. See [Stream.Weights].
	EventTokens []int
}

// Weights says how many tokens each token event of a stream carries: counted
// by the server, or spread evenly.
type Weights struct {
	counts []int
	each   float64
}

// CountedWeights are the counts the server gave, one per event. The slice is
// kept, not copied.
func CountedWeights(counts []int) Weights { return Weights{counts: counts} }

// SpreadWeights spreads total tokens evenly over the events: each carries
// total/events. It is the rule for servers that report only the total; the
// weights are then an assumption (see [Weights.Spread]) and seldom whole
// numbers. No events means no weights.
func SpreadWeights(total, events int) Weights {
	if events <= 0 {
		return Weights{}
	}
	return Weights{each: float64(total) / float64(events)}
}

// At is the number of tokens of event i.
func (w Weights) At(i int) float64 {
	if w.counts != nil {
		return float64(w.counts[i])
	}
	return w.each
}

// Spread reports whether the weights were spread evenly rather than counted.
func (w Weights) Spread() bool { return w.counts == nil }

// sum is the tokens of events from..to-1.
func (w Weights) sum(from, to int) float64 {
	if w.counts == nil {
		return w.each * float64(to-from)
	}
	total := 0
	for _, c := range w.counts[from:to] {
		total += c
	}
	return float64(total)
}

// Weights are the tokens per event of s: EventTokens where the server counted,
// else OutputTokens spread evenly over the events. Counts are taken as they
// are, also when they do not add up to OutputTokens: comparing the two is a
// check of its own. The error is [ErrTokenCounts] or [ErrUnknownTokens].
func (s Stream) Weights() (Weights, error) {
	if s.EventTokens == nil {
		if s.OutputTokens <= 0 || len(s.EventTimes) == 0 {
			return Weights{}, ErrUnknownTokens
		}
		return SpreadWeights(s.OutputTokens, len(s.EventTimes)), nil
	}
	if len(s.EventTokens) != len(s.EventTimes) {
		return Weights{}, fmt.Errorf("%d counts for %d events: %w", len(s.EventTokens), len(s.EventTimes), ErrTokenCounts)
	}
	for i, c := range s.EventTokens {
		if c < 0 {
			return Weights{}, fmt.Errorf("event %d has %d tokens: %w", i, c, ErrTokenCounts)
		}
	}
	return CountedWeights(s.EventTokens), nil
}

// ordered reports whether the events are in time order.
func (s Stream) ordered() bool { return slices.IsSorted(s.EventTimes) }

// TTFT is FirstToken − Send, ok == false without a token.
func TTFT(s Stream) (ttft time.Duration, ok bool) {
	if s.NoToken || s.FirstToken < s.Send {
		return 0, false
	}
	return s.FirstToken - s.Send, true
}
