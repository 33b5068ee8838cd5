package stats_test

import (
	"math/rand/v2"
	"slices"
	"sort"
	"time"

	"lmxbench/stats"
)

// engineModel is a continuous-batching engine as a discrete-event model. One
// step decodes a token of every running stream and prefills at most
// prefillBudget prompt tokens, oldest request first:
//
//	step = scale · stepSeconds(streams decoding) + prompt tokens / prefillRate
//
// A stream's first token comes at the end of the step that finishes its prompt.
type engineModel struct {
	slots         int     // requests admitted at once
	prefillBudget int     // prompt tokens per step
	prefillRate   float64 // prompt tokens per second
	scale         float64 // of the step time
}

// modelRequest is one request: when it arrives and what it asks for.
type modelRequest struct {
	arrival        float64 // seconds
	prompt, output int
}

// measuredSteps are seconds per decode step at a batch, batch ÷ published
// tokens per second of Qwen3.6-35B-A3B FP8 on one B200.
var measuredSteps = []struct{ batch, seconds float64 }{
	{1, 1 / 220.4}, {64, 64 / 6171.9}, {128, 128 / 9790.9}, {256, 256 / 14499.4},
}

// stepSeconds interpolates measuredSteps linearly.
func stepSeconds(batch int) float64 {
	b := float64(batch)
	i := sort.Search(len(measuredSteps), func(i int) bool { return measuredSteps[i].batch >= b })
	i = min(max(i, 1), len(measuredSteps)-1)
	lo, hi := measuredSteps[i-1], measuredSteps[i]
	return lo.seconds + (b-lo.batch)/(hi.batch-lo.batch)*(hi.seconds-lo.seconds)
}

type modelStream struct {
	stats.Stream
	left, prompt int // tokens to decode, prompt tokens to prefill
}

// run serves the requests, given in order of arrival. With refill set, request
// i + refill arrives when some request ends: a closed loop of that many clients.
func (m engineModel) run(requests []modelRequest, refill int) []stats.Stream {
	var running, done []*modelStream
	waiting := slices.Clone(requests)
	held := []modelRequest{}
	if refill > 0 && refill < len(waiting) {
		waiting, held = waiting[:refill:refill], waiting[refill:]
	}
	now := 0.0
	for len(waiting) > 0 || len(running) > 0 {
		for len(waiting) > 0 && len(running) < m.slots && waiting[0].arrival <= now {
			running = append(running, newModelStream(waiting[0]))
			waiting = waiting[1:]
		}
		if len(running) == 0 {
			now = waiting[0].arrival
			continue
		}
		now += m.step(running)
		var ended int
		running, ended = emit(running, &done, seconds(now))
		for ; ended > 0 && len(held) > 0; ended-- {
			next := held[0]
			held, next.arrival = held[1:], now
			waiting = append(waiting, next)
		}
	}
	streams := make([]stats.Stream, len(done))
	for i, s := range done {
		streams[i] = s.Stream
	}
	return streams
}

func newModelStream(r modelRequest) *modelStream {
	return &modelStream{
		Stream: stats.Stream{Send: seconds(r.arrival), OutputTokens: r.output, PromptTokens: r.prompt},
		left:   r.output, prompt: r.prompt,
	}
}

// step prefills what the budget allows and returns the step's seconds.
func (m engineModel) step(running []*modelStream) float64 {
	decoding, budget := 0, m.prefillBudget
	for _, s := range running {
		if s.prompt == 0 {
			decoding++
			continue
		}
		take := min(s.prompt, budget)
		budget -= take
		// A finished prompt yields a token at the end of this step, an
		// unfinished one does not: -1 marks the first.
		if s.prompt -= take; s.prompt == 0 {
			s.prompt = -1
		}
	}
	return m.scale*stepSeconds(max(decoding, 1)) + float64(m.prefillBudget-budget)/m.prefillRate
}

// emit gives a token to every stream that decoded or finished its prompt.
func emit(running []*modelStream, done *[]*modelStream, now time.Duration) (still []*modelStream, ended int) {
	still = running[:0]
	for _, s := range running {
		if s.prompt > 0 {
			still = append(still, s)
			continue
		}
		if s.prompt == -1 {
			s.prompt, s.FirstToken = 0, now
		}
		s.EventTimes = append(s.EventTimes, now)
		if s.left--; s.left > 0 {
			still = append(still, s)
			continue
		}
		s.LastToken, s.End = now, now
		*done = append(*done, s)
		ended++
	}
	return still, ended
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// burst is n requests at once, each of 305 prompt tokens.
func burst(n, output int) []modelRequest {
	requests := make([]modelRequest, n)
	for i := range requests {
		requests[i] = modelRequest{prompt: 305, output: output}
	}
	return requests
}

// over spreads the arrivals evenly over a time.
func over(seconds float64, requests []modelRequest) []modelRequest {
	for i := range requests {
		requests[i].arrival = seconds * float64(i) / float64(len(requests))
	}
	return requests
}

// lengths draws every output length uniformly from lo to hi.
func lengths(seed uint64, lo, hi int, requests []modelRequest) []modelRequest {
	r := rand.New(rand.NewPCG(seed, seed))
	for i := range requests {
		requests[i].output = lo + r.IntN(hi-lo+1)
	}
	return requests
}
