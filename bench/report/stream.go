package report

import (
	"slices"
	"time"

	"lmxbench/stats"
)

// plausible takes away output counts beyond the cap by orders of magnitude: no
// rate should ever be computed from one. The requests are copied if any changes.
func plausible(requests []Request, plan *Plan) []Request {
	copied := false
	for i := range requests {
		n := requests[i].OutputTokens
		if n == nil || plan.MaxTokens <= 0 || *n/UsageOrders <= int64(plan.MaxTokens) {
			continue
		}
		if !copied {
			requests, copied = slices.Clone(requests), true
		}
		requests[i].OutputTokens, requests[i].UsageInvalid = nil, true
	}
	return requests
}

// ownStream is a request as our own metrics see it: the first token of any
// channel is a token. Events are left out; see withEvents.
func ownStream(r *Request) stats.Stream {
	s := stats.Stream{
		Send:       time.Duration(r.T.Send),
		FirstToken: time.Duration(r.T.FirstToken),
		LastToken:  time.Duration(max(r.T.FirstToken, r.T.LastToken)),
		End:        time.Duration(r.T.End),
		NoToken:    r.T.FirstToken == 0,
	}
	if r.OutputTokens != nil {
		s.OutputTokens = int(*r.OutputTokens)
	}
	if r.PromptTokens != nil {
		s.PromptTokens = int(*r.PromptTokens)
	}
	return s
}

// lmxStream is a request as lmx sees it: only reasoning and content of the
// first choice are tokens, and without streaming there is no first token. A
// prompt count the user declared stands in for one the server does not give.
func lmxStream(r *Request, plan *Plan) stats.Stream {
	s := ownStream(r)
	if r.T.LmxFirst != 0 {
		s.FirstToken, s.NoToken = time.Duration(r.T.LmxFirst), false
	}
	if r.T.LmxLast != 0 {
		s.LastToken = time.Duration(r.T.LmxLast)
	}
	s.LastToken = max(s.FirstToken, s.LastToken)
	s.NoToken = s.NoToken || r.T.LmxNone || !plan.Stream
	if s.PromptTokens <= 0 {
		s.PromptTokens = plan.DeclaredPromptTokens
	}
	return s
}

// withEvents adds the token events to a stream. The slices are new.
//
// A read without a kernel stamp carries the later user-space one, so an event
// may seem to come before its predecessor; it then gets the predecessor's time.
func withEvents(s stats.Stream, e *Events) stats.Stream {
	n := e.Len()
	if n == 0 {
		return s
	}
	s.EventTimes = make([]time.Duration, n)
	var latest int64
	for i, t := range e.T {
		latest = max(latest, t)
		s.EventTimes[i] = time.Duration(latest)
	}
	if len(e.Tokens) == n {
		s.EventTokens = make([]int, n)
		for i, c := range e.Tokens {
			s.EventTokens[i] = int(c)
		}
	}
	return s
}
