package loadgen

import (
	"fmt"
	"time"
)

// decidedGrace is how long after a request's class is decided its body may go
// on: after [DONE], after an error object, after a status that is an error. A
// server that holds the connection must not hold the run.
const decidedGrace = 2 * time.Second

// limits are how long the phases of a request may take; zero is no limit.
type limits struct {
	request, firstToken, stall, grace time.Duration
}

// deadline is a limit that passed. It is the cause a request is stopped with.
type deadline struct {
	phase Phase
	what  string // what did not happen
	limit time.Duration
}

// Error says what did not happen within which time.
func (d deadline) Error() string { return fmt.Sprintf("%s within %s", d.what, d.limit) }

// expiry returns the earliest moment at which the request is overdue, and the
// limit that passes then. ok is false while no limit applies.
func (s *stream) expiry(l *limits) (at time.Duration, limit deadline, ok bool) {
	consider := func(from, after time.Duration, phase Phase, what string) {
		if after > 0 && (!ok || from+after < at) {
			at, limit, ok = from+after, deadline{phase, what, after}, true
		}
	}
	t := &s.rec.T
	switch {
	case !s.req.Stream:
		consider(t.Send, l.request, PhaseTotal, "not finished")
	case t.FirstToken == 0:
		consider(t.Send, l.firstToken, PhaseFirstToken, "no token")
		consider(t.Send, l.request, PhaseFirstToken, "no token")
	default:
		consider(t.Send, l.request, PhaseTotal, "not finished")
		if s.rec.HasFinish {
			consider(s.progress, l.stall, PhaseTotal, "no end of the answer after its finish reason")
		} else {
			consider(s.progress, l.stall, PhaseBetweenTokens, "no further token")
		}
	}
	if s.decided > 0 {
		consider(s.decided, l.grace, PhaseTotal, "no end of the answer")
	}
	return at, limit, ok
}
