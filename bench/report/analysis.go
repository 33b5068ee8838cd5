package report

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"time"

	"lmxbench/stats"
)

// analysis is the evidence in order, with what several parts of the document
// and several rules of the verdict need.
type analysis struct {
	*Evidence
	timed   []*iteration // ascending
	warmups []*iteration
	batches []*Batch     // timed ones
	counted []*iteration // that enter the statistics
	okBasis bool         // counted iterations count with their ok requests only
	partial bool         // interrupted or cut off
	unknown int          // counted requests without a token count
	clean   []*iteration // without a failure, every request's tokens known
	usage   int64        // output tokens of clean
	gaps    stats.Gaps   // of the counted requests
	spread  bool         // some gaps per token rest on an even spread of the count

	// Of all timed requests, ok or not.
	events    int64         // token events
	coalesced int64         // of them, those that share a read with an earlier one
	lateMerge int64         // of those, because the client was late
	lag       readLag       // kernel's stamp to read
	readGap   time.Duration // median gap between reads that brought tokens; 0: none
}

// readLag is the distribution of the read lag over the token events. There are
// as many values as events, so they are counted in buckets of 0.1 % and not
// kept; max is exact.
type readLag struct {
	count         int64 // 0: no read was stamped
	p50, p99, max time.Duration
}

// iteration is one batch of requests.
type iteration struct {
	number   int
	batch    *Batch // nil when observations.jsonl has no line for it
	requests []*Request
	ok       []*Request
	lmx      []stats.Stream // of ok, without events
	own      []stats.Stream // of ok, without events
	plateau  *stats.PlateauRate
	good     bool // complete, and every request ok
}

// analyse orders the evidence. The error names evidence that contradicts
// itself; failed requests are no error.
func analyse(e *Evidence) (*analysis, error) {
	a := &analysis{Evidence: e, partial: e.Unfinished}
	if e.Plan.Concurrency < 1 || e.Plan.Iterations < 1 {
		return nil, fmt.Errorf("plan: concurrency %d, iterations %d: both must be at least 1", e.Plan.Concurrency, e.Plan.Iterations)
	}
	var err error
	if a.warmups, err = group(e, PhaseWarmup); err != nil {
		return nil, err
	}
	if a.timed, err = group(e, PhaseTimed); err != nil {
		return nil, err
	}
	for _, it := range a.timed {
		it.good = len(it.requests) == e.Plan.Concurrency && len(it.ok) == len(it.requests)
		if it.batch != nil {
			a.batches = append(a.batches, it.batch)
		}
		if n := sumTokens(it.own, func(s stats.Stream) int { return s.OutputTokens }); n != nil && it.good {
			a.clean = append(a.clean, it)
			a.usage += *n
		}
	}
	a.partial = a.partial || a.stopped()
	a.count()
	return a, a.measure()
}

// group collects the requests of a phase by iteration.
func group(e *Evidence, phase string) ([]*iteration, error) {
	byNumber := make(map[int]*iteration)
	var all []*iteration
	at := func(number int) *iteration {
		it := byNumber[number]
		if it == nil {
			it = &iteration{number: number}
			byNumber[number] = it
			all = append(all, it)
		}
		return it
	}
	for i := range e.Batches {
		b := &e.Batches[i]
		if b.Phase != phase {
			continue
		}
		it := at(b.Iteration)
		if it.batch != nil {
			return nil, fmt.Errorf("%s batch %d is observed twice", phase, b.Iteration)
		}
		it.batch = b
	}
	for i := range e.Requests {
		r := &e.Requests[i]
		if r.Phase != phase {
			continue
		}
		it := at(r.Iteration)
		it.requests = append(it.requests, r)
		if r.Outcome == OutcomeOK {
			it.ok = append(it.ok, r)
			it.lmx = append(it.lmx, lmxStream(r, &e.Plan))
			it.own = append(it.own, ownStream(r))
		}
	}
	slices.SortFunc(all, func(x, y *iteration) int { return cmp.Compare(x.number, y.number) })
	return all, nil
}

// stopped reports whether the user ended the run: a batch says so, the probe
// was cancelled, or batches are missing although the run had no reason to give
// up, which is two iterations in a row without an ok request.
func (a *analysis) stopped() bool {
	for i := range a.Batches {
		if a.Batches[i].Interrupted {
			return true
		}
	}
	for i := range a.Requests {
		if r := &a.Requests[i]; r.Phase == PhaseProbe && r.Outcome == OutcomeCancelled {
			return true
		}
	}
	n := len(a.timed)
	gaveUp := n >= 2 && len(a.timed[n-1].ok) == 0 && len(a.timed[n-2].ok) == 0
	return len(a.Batches) > 0 && n < a.Plan.Iterations && !gaveUp
}

// count chooses the iterations that enter the statistics.
func (a *analysis) count() {
	for _, it := range a.timed {
		if it.good {
			a.counted = append(a.counted, it)
		}
	}
	if len(a.counted) == 0 && a.Plan.AllowFailures {
		for _, it := range a.timed {
			if len(it.ok) > 0 {
				a.counted = append(a.counted, it)
				a.okBasis = true
			}
		}
	}
	for _, it := range a.counted {
		for _, s := range it.lmx {
			if s.OutputTokens <= 0 {
				a.unknown++
			}
		}
	}
}

// good is the number of iterations without a failure.
func (a *analysis) good() int {
	n := 0
	for _, it := range a.timed {
		if it.good {
			n++
		}
	}
	return n
}

// published reports whether lmx's result fields are written at all, and
// whether those that need token counts are.
func (a *analysis) published() (result, counts bool) {
	result = !a.partial && len(a.counted) > 0 && (a.good() >= a.Plan.Iterations || a.Plan.AllowFailures)
	return result, result && a.unknown == 0
}

// countedRequests yields each ok request of the counted iterations.
func (a *analysis) countedRequests() iter.Seq[*Request] {
	return func(yield func(*Request) bool) {
		for _, it := range a.counted {
			for _, r := range it.ok {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// timedRequests yields each timed request, whatever became of it.
func (a *analysis) timedRequests() iter.Seq[*Request] {
	return func(yield func(*Request) bool) {
		for _, it := range a.timed {
			for _, r := range it.requests {
				if !yield(r) {
					return
				}
			}
		}
	}
}
