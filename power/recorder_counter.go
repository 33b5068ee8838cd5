package power

import (
	"context"
	"slices"
	"sync"
	"time"
)

// maxMarks bounds the marks that are still to come.
const maxMarks = 1024

// edges knows when the energy counter is to be read back to back.
type edges struct {
	half time.Duration
	wake chan struct{} // a mark or a change came; capacity 1

	mu    sync.Mutex
	dense bool
	marks []time.Duration // sorted
}

func newEdges(half time.Duration) *edges {
	return &edges{half: half, wake: make(chan struct{}, 1)}
}

func (e *edges) poke() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

func (e *edges) mark(at time.Duration) {
	e.mu.Lock()
	if len(e.marks) < maxMarks {
		i, _ := slices.BinarySearch(e.marks, at)
		e.marks = slices.Insert(e.marks, i, at)
	}
	e.mu.Unlock()
	e.poke()
}

func (e *edges) setDense(on bool) {
	e.mu.Lock()
	e.dense = on
	e.mu.Unlock()
	e.poke()
}

// near reports whether now is at an edge, and when the next edge begins
// otherwise; ok is false when no mark is to come.
func (e *edges) near(now time.Duration) (at bool, next time.Duration, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.marks) > 0 && now > e.marks[0]+e.half {
		e.marks = e.marks[1:]
	}
	if e.dense {
		return true, 0, false
	}
	if len(e.marks) == 0 {
		return false, 0, false
	}
	begin := e.marks[0] - e.half
	return now >= begin, begin, true
}

// Mark has the energy counters read back to back around t, from
// [RecorderConfig.EdgeHalfWidth] before to as long after. A mark in the past
// gets what is left of it. Safe for concurrent use; it does not block.
func (r *Recorder) Mark(t time.Duration) {
	for _, e := range r.edges {
		e.mark(t)
	}
}

// Dense switches back-to-back reading of the energy counters on or off, for
// edges whose time is not known beforehand: switch it on when the first stream
// ends, say, and off a tenth of a second after the last. Safe for concurrent
// use; it does not block.
func (r *Recorder) Dense(on bool) {
	for _, e := range r.edges {
		e.setDense(on)
	}
}

// count reads one energy counter: at its cadence, and back to back near edges.
// least is the meter's own limit.
func (r *Recorder) count(ctx context.Context, device int, e *edges, least time.Duration) {
	period, pause := max(r.cfg.CounterPeriod, least), max(r.cfg.EdgePause, least)
	last := context.WithoutCancel(ctx)
	next := r.cfg.Clock.Now()
	var thin thinner
	for {
		list := r.meter.Read(last, ClassCounter, device)
		for _, s := range list {
			r.write(thin.pass(s))
		}
		if ctx.Err() != nil {
			r.write(thin.rest())
			return
		}
		now := r.cfg.Clock.Now()
		dense, begin, coming := e.near(now)
		if dense {
			r.wait(ctx, pause, nil)
			continue
		}
		r.write(thin.rest())
		if next <= now {
			next = r.schedule(next, period)
		}
		until := next
		if coming {
			until = min(until, begin)
		}
		r.wait(ctx, until-now, e.wake)
	}
}

// thinner drops the readings between the first and the last of an unchanged
// counter: only those two place a tick. A counter that stands still is still
// written twice a second, so that it can be told from one that is not read.
type thinner struct {
	held    *Sample
	value   float64
	valued  bool
	written time.Duration
}

const thinPeriod = 500 * time.Millisecond

// pass takes a reading and returns what is to be written.
func (t *thinner) pass(s Sample) []Sample {
	v, ok := s.Values.Get(EnergyCounter)
	if ok && t.valued && v == t.value && s.Before-t.written < thinPeriod {
		t.held = &s
		return nil
	}
	out := append(t.rest(), s)
	t.value, t.valued, t.written = v, ok, s.Before
	return out
}

// rest returns the reading held back, if any.
func (t *thinner) rest() []Sample {
	if t.held == nil {
		return nil
	}
	out := []Sample{*t.held}
	t.held = nil
	return out
}
