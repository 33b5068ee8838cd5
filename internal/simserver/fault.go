package simserver

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Fault is one way in which the server can misbehave.
//
// A request names one by the header X-Sim-Fault, the query parameter fault or
// the body field sim_fault, the server by [Config]. After a colon may follow an
// argument: a number says after how many token events it strikes (3 by
// default), a duration how long it takes ("slow_headers:2s"; 300 ms by
// default). The name "none" spares a request from the server's fault. Faults of
// a stream leave an answer without streaming alone.
type Fault struct {
	Name  string `json:"name"`
	About string `json:"about"`

	plan plan
}

// plan is a fault as the server carries it out; every field is optional.
type plan struct {
	// answer replaces the stream by a whole response.
	answer func(s *Server, a armed) answer
	// refuses is the body field that draws a 400.
	refuses string
	// mute never answers; late delays the response head.
	mute, late bool
	// prepare changes the stream before it is queued.
	prepare func(st *stream)
	// head replaces the header lines that say how the body is delimited.
	head func(w *wire) string
	// edit passes one event on, changed, or does something else instead.
	edit func(w *wire, e event)
	// frame writes one event's lines; nil means "data: …" and LF.
	frame func(w *wire, e event)
	// usage writes the usage object.
	usage func(b []byte, prompt, output int) []byte
	// pack says when events become bytes on the wire.
	pack packing
	// foreign makes the counters run ahead of what was served.
	foreign bool
}

// armed is a fault with its argument.
type armed struct {
	*Fault
	after int
	delay time.Duration
}

// Defaults of the argument.
const (
	defaultFaultAfter = 3
	defaultFaultDelay = 300 * time.Millisecond
)

// Faults returns all faults in the order of a request's life: answers instead
// of a stream, errors inside it, cuts and silences, framing, channels, counts,
// connections.
func Faults() []Fault {
	return slices.Concat(answerFaults(), errorFaults(), endingFaults(), framingFaults(),
		packingFaults(), contentFaults(), usageFaults(), connectionFaults())
}

// CheckFault reports what is wrong with a fault as [Config] takes it. Empty is
// none.
func CheckFault(text string) error {
	if text == "" {
		return nil
	}
	_, err := parseFault(text)
	return err
}

// parseFault reads "name" or "name:argument".
func parseFault(text string) (armed, error) {
	name, arg, hasArg := strings.Cut(text, ":")
	all := Faults()
	i := slices.IndexFunc(all, func(f Fault) bool { return f.Name == name })
	if i < 0 {
		return armed{}, fmt.Errorf("unknown fault %q", name)
	}
	a := armed{Fault: &all[i], after: defaultFaultAfter, delay: defaultFaultDelay}
	if !hasArg {
		return a, nil
	}
	if n, err := strconv.Atoi(arg); err == nil && n >= 0 {
		a.after = n
		return a, nil
	}
	d, err := time.ParseDuration(arg)
	if err != nil || d < 0 {
		return armed{}, fmt.Errorf("fault %s: argument %q is neither a count nor a duration", name, arg)
	}
	a.delay = d
	return a, nil
}

// faultFor finds the fault of a request: its own, else the server's share.
func (s *Server) faultFor(x *exchange, ordinal int, inBody string) (armed, *refusal) {
	text := inBody
	if v := x.req.URI().QueryArgs().Peek("fault"); len(v) > 0 {
		text = string(v)
	}
	if v := x.req.Header.Peek("X-Sim-Fault"); len(v) > 0 {
		text = string(v)
	}
	if text == "" && s.strikes(ordinal) {
		text = s.cfg.Fault
	}
	if text == "" || text == "none" {
		return armed{}, nil
	}
	a, err := parseFault(text)
	if err != nil {
		return armed{}, badRequest("sim_fault", "%v", err)
	}
	return a, nil
}

// strikes says whether the server-wide fault hits the n-th request.
func (s *Server) strikes(n int) bool {
	switch {
	case s.cfg.Fault == "":
		return false
	case s.cfg.FaultShare > 0:
		h := fnv.New64a()
		fmt.Fprintf(h, "%d %d", s.cfg.Seed, n)
		return float64(h.Sum64()>>11)/(1<<53) < s.cfg.FaultShare
	default:
		return n%max(s.cfg.FaultEvery, 1) == 0
	}
}
