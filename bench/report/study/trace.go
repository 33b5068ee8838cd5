package study

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"lmxbench/bench/report"
	"lmxbench/stats"
)

// Sizes of a trace: enough for a picture and no more, whatever the run.
const (
	maxLanes  = 160
	traceBins = 120
)

// Trace is what a run's evidence shows beyond its result, made small enough to
// draw: one iteration over time, and distributions over all of them. Times are
// seconds; those of the iteration count from its first send.
type Trace struct {
	// Iteration is the one that is drawn, usually the median one.
	Iteration int
	// Streams ran side by side, Failed of them did not end ok.
	Streams, Failed int
	// Seconds is the length of the iteration.
	Seconds float64
	// Lanes are the streams, ordered by their first token.
	Lanes []Lane
	// Rates are tokens per second in equal bins over Seconds, Active the mean
	// number of streams between first and last token.
	Rates, Active []float64
	// Plateau is where all streams decode; nil without overlap.
	Plateau *Span
	// TTFT and ITL are quantiles in milliseconds over the counted requests,
	// Lag those of the client's read lag in milliseconds.
	TTFT, ITL, Lag []Quantile
	// Batches are all batches of the run, seconds from the run's origin.
	Batches []BatchSpan
	// Power is the recording, nil without one.
	Power *PowerTrace

	start int64 // ns from the run's origin
}

// Lane is one stream, or several neighbours whose medians it shows.
type Lane struct {
	Streams                          int
	Send, FirstToken, LastToken, End float64
	// Outcome is ok, or that of the first that was not.
	Outcome string
}

// Span is a time in seconds.
type Span struct{ From, To float64 }

// BatchSpan is one batch of the run.
type BatchSpan struct {
	Phase     string
	Iteration int
	Span
}

// Quantile is a point of a distribution: a share Q of the values is at most
// Value.
type Quantile struct{ Q, Value float64 }

// HasEvidence reports whether there is a trace to make.
func (s *Subject) HasEvidence() bool { return s.dir != "" }

// Trace reads the evidence of a run directory.
func (s *Subject) Trace() (*Trace, error) {
	e, err := s.Evidence()
	if err != nil {
		return nil, err
	}
	t := &Trace{Iteration: s.drawn(e)}
	for _, b := range e.Batches {
		t.Batches = append(t.Batches, BatchSpan{b.Phase, b.Iteration, Span{float64(b.StartNs) / 1e9, float64(b.EndNs) / 1e9}})
	}
	t.drawIteration(e.Requests)
	t.distributions(s.countedIterations(), e.Requests)
	t.Power, err = readPower(s.dir, e.Session.OriginUnixNs)
	return t, err
}

// Evidence reads what a run directory holds behind its result.
func (s *Subject) Evidence() (*report.Evidence, error) {
	if !s.HasEvidence() {
		return nil, fmt.Errorf("%s holds no evidence", s.Path)
	}
	if s.run != nil {
		return &s.run.Evidence, nil
	}
	run, err := report.Load(s.dir)
	if err != nil {
		return nil, err
	}
	return &run.Evidence, nil
}

// drawn is the iteration that stands for the run: the median one, else the
// first that has requests.
func (s *Subject) drawn(e *report.Evidence) int {
	if m := s.Document.Bench.MedianIteration; m != nil {
		return m.Iteration
	}
	for i := range e.Requests {
		if r := &e.Requests[i]; r.Phase == report.PhaseTimed {
			return r.Iteration
		}
	}
	return 0
}

func (s *Subject) countedIterations() map[int]bool {
	counted := map[int]bool{}
	for _, it := range s.Document.Bench.Iterations {
		counted[it.Iteration] = it.Counted
	}
	return counted
}

// drawIteration fills in what is drawn over the time of one iteration.
func (t *Trace) drawIteration(requests []report.Request) {
	var lines, ok []report.Request
	for i := range requests {
		r := &requests[i]
		if r.Phase != report.PhaseTimed || r.Iteration != t.Iteration || r.T.Send == 0 {
			continue
		}
		lines = append(lines, *r)
		if r.Outcome == report.OutcomeOK {
			ok = append(ok, *r)
		}
	}
	if len(lines) == 0 {
		return
	}
	t.Streams, t.Failed = len(lines), len(lines)-len(ok)
	end := int64(0)
	t.start = lines[0].T.Send
	for i := range lines {
		t.start, end = min(t.start, lines[i].T.Send), max(end, lastStamp(&lines[i]))
	}
	t.Seconds = float64(end-t.start) / 1e9
	t.lanes(lines)
	if t.Seconds <= 0 {
		return
	}
	t.Rates, t.Active = make([]float64, traceBins), make([]float64, traceBins)
	for i := range ok {
		t.addStream(&ok[i])
	}
	streams, all := report.Streams(ok)
	if w, has := stats.PlateauWindow(streams); all && has && t.Failed == 0 {
		t.Plateau = &Span{t.seconds(int64(w.From)), t.seconds(int64(w.To))}
	}
}

func (t *Trace) seconds(ns int64) float64 { return float64(ns-t.start) / 1e9 }

// lanes orders the streams by their first token, those without one last, and
// merges neighbours where there are too many.
func (t *Trace) lanes(lines []report.Request) {
	slices.SortStableFunc(lines, func(a, b report.Request) int {
		return cmp.Or(cmp.Compare(firstOrNever(&a), firstOrNever(&b)), cmp.Compare(a.Request, b.Request))
	})
	per := (len(lines) + maxLanes - 1) / maxLanes
	for part := range slices.Chunk(lines, per) {
		lane := Lane{Streams: len(part), Outcome: report.OutcomeOK}
		var send, begin, last, end []float64
		for i := range part {
			r := &part[i]
			send, end = append(send, t.seconds(r.T.Send)), append(end, t.seconds(lastStamp(r)))
			if r.T.FirstToken > 0 {
				begin, last = append(begin, t.seconds(r.T.FirstToken)), append(last, t.seconds(max(r.T.FirstToken, r.T.LastToken)))
			}
			if r.Outcome != report.OutcomeOK && lane.Outcome == report.OutcomeOK {
				lane.Outcome = r.Outcome
			}
		}
		lane.Send, _ = stats.Median(send)
		lane.End, _ = stats.Median(end)
		lane.FirstToken, lane.LastToken = lane.End, lane.End
		if m, ok := stats.Median(begin); ok {
			lane.FirstToken = m
			lane.LastToken, _ = stats.Median(last)
		}
		t.Lanes = append(t.Lanes, lane)
	}
}

func firstOrNever(r *report.Request) int64 {
	if r.T.FirstToken == 0 {
		return 1<<63 - 1
	}
	return r.T.FirstToken
}

// lastStamp is the last moment that is known of a request.
func lastStamp(r *report.Request) int64 {
	return max(r.T.Send, r.T.FirstByte, r.T.FirstEvent, r.T.FirstToken, r.T.LastToken, r.T.Finish, r.T.End)
}

// addStream spreads the tokens of each event evenly over the gap that ends with
// it, as package stats does: streams of one batch share the engine's steps, and
// whole events would make the curve jump by a step's worth.
func (t *Trace) addStream(r *report.Request) {
	if r.T.FirstToken == 0 || r.OutputTokens == nil || r.Events.Len() == 0 {
		return
	}
	width := t.Seconds / traceBins
	spread(t.Active, width, t.seconds(r.T.FirstToken), t.seconds(max(r.T.FirstToken, r.T.LastToken)), 0, 1)
	each := float64(*r.OutputTokens) / float64(r.Events.Len())
	before := int64(0)
	for i := 0; i < r.Events.Len(); {
		at, tokens := r.Events.T[i], 0.0
		for ; i < r.Events.Len() && r.Events.T[i] <= at; i++ {
			if len(r.Events.Tokens) > 0 {
				tokens += float64(r.Events.Tokens[i])
			} else {
				tokens += each
			}
		}
		if before == 0 {
			before = at // the first event has no gap
		}
		spread(t.Rates, width, t.seconds(before), t.seconds(at), tokens/width, 0)
		before = at
	}
}

// spread adds to the bins that [from, to] touches: amount in all, by the share
// of the span in each bin, and level × the share of the bin that is touched.
func spread(bins []float64, width, from, to, amount, level float64) {
	last := len(bins) - 1
	bin := func(x float64) int { return min(max(int(x/width), 0), last) }
	a, b := bin(from), bin(to)
	if a == b || to <= from {
		bins[a] += amount + level*(to-from)/width
		return
	}
	for i := a; i <= b; i++ {
		inside := min(to, float64(i+1)*width) - max(from, float64(i)*width)
		bins[i] += amount*inside/(to-from) + level*inside/width
	}
}

// quantiles are the points of a distribution's curve: fine where tails are.
var quantiles = [...]float64{0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.925, 0.95, 0.97, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995, 0.9999} //nolint:gochecknoglobals // a constant table

// distributions pools the counted requests.
func (t *Trace) distributions(counted map[int]bool, requests []report.Request) {
	var ttft []float64
	itl := stats.Histogram{Lowest: time.Nanosecond, Highest: time.Hour}
	lag := stats.Histogram{Lowest: time.Nanosecond, Highest: time.Hour}
	for i := range requests {
		r := &requests[i]
		if r.Phase != report.PhaseTimed || !counted[r.Iteration] || r.Outcome != report.OutcomeOK {
			continue
		}
		if r.T.FirstToken > 0 {
			ttft = append(ttft, float64(r.T.FirstToken-r.T.Send)/1e6)
		}
		addGaps(&itl, r)
		if r.Events == nil {
			continue
		}
		for _, ns := range r.Events.Lag {
			if ns >= 0 {
				lag.Record(time.Duration(ns))
			}
		}
	}
	slices.Sort(ttft)
	t.TTFT = curveOf(int64(len(ttft)), func(q float64) (float64, bool) { return stats.Quantile(ttft, q) })
	millis := func(h *stats.Histogram) []Quantile {
		return curveOf(h.Count(), func(q float64) (float64, bool) {
			d, ok := h.Quantile(q)
			return float64(d) / 1e6, ok
		})
	}
	t.ITL, t.Lag = millis(&itl), millis(&lag)
}

// addGaps records the gap before each event, per token of the event.
func addGaps(h *stats.Histogram, r *report.Request) {
	e := r.Events
	if e.Len() < 2 || r.OutputTokens == nil {
		return
	}
	each := float64(*r.OutputTokens) / float64(e.Len())
	last := e.T[0]
	for i := 1; i < e.Len(); i++ {
		gap := float64(max(0, e.T[i]-last))
		if len(e.Tokens) == 0 {
			h.Record(time.Duration(gap / max(each, 1e-9)))
		} else if n := e.Tokens[i]; n > 0 {
			h.RecordN(time.Duration(gap/float64(n)), int64(n))
		} else {
			continue // an event without a token passes its gap on
		}
		last = max(last, e.T[i])
	}
}

// curveOf samples a distribution at the quantiles that n values can show: at
// least one value beyond each, and the greatest last.
func curveOf(n int64, at func(q float64) (float64, bool)) (points []Quantile) {
	if n == 0 {
		return nil
	}
	for _, q := range quantiles {
		if q > 0.5 && (1-q)*float64(n) < 1 {
			break
		}
		if v, ok := at(q); ok {
			points = append(points, Quantile{q, v})
		}
	}
	if v, ok := at(1); ok {
		points = append(points, Quantile{1, v})
	}
	return points
}
