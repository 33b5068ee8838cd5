package power

import (
	"sort"
	"time"
)

// tick is a step of the energy counter: energy was e at time t, give or take
// half.
type tick struct {
	t, half time.Duration
	e       Joules
}

// counterCurve is E(t), piecewise linear through the ticks.
//
//	reads   x  x  x  x  x  x  x        each with the clock before and after
//	value   10 10 10 24 24 24 39
//	ticks           ^        ^         between the last old and first new read
//
// The power between two ticks is taken as constant, with one refinement: when
// the power of the interval lies strictly between its neighbours', the load
// stepped inside it, and the three powers say where. A window that starts with
// the load would otherwise be off by up to a quarter of a tick's worth.
type counterCurve struct {
	// segments are runs of ticks; a counter that fell starts a new one, since
	// nothing joins the energy before to the energy after.
	segments [][]tick
	// backwards holds the times at which the counter fell for no known reason.
	backwards []time.Duration
	// stuck holds the spans in which reads kept finding the same value.
	stuck []span
}

// span is a stretch of time.
type span struct{ from, to time.Duration }

// meets reports whether the spans share more than an end.
func (s span) meets(from, to time.Duration) bool { return s.from < to && from < s.to }

// newCounterCurve finds the ticks in the reads of one device.
func newCounterCurve(reads []Sample, dev Device) counterCurve {
	var c counterCurve
	var ticks []tick
	var base Joules // added by wraps
	var prev Sample
	var raw float64
	var still time.Duration // since when the value has not moved
	var stillReads int
	seen := false
	for _, r := range reads {
		v, ok := r.Values.Get(EnergyCounter)
		if !ok {
			continue
		}
		if !seen {
			seen, prev, raw, still = true, r, v, r.Before
			continue
		}
		if v == raw {
			stillReads++
			if r.Before-still > stuckAfter(dev) && stillReads >= 3 {
				c.noteStuck(still, r.After)
			}
			prev = r
			continue
		}
		if v < raw {
			if dev.CounterWrap > 0 {
				base += dev.CounterWrap
			} else {
				c.backwards = append(c.backwards, r.Mid())
				c.segments = append(c.segments, ticks)
				ticks = nil
			}
		}
		ticks = append(ticks, newTick(prev, r, dev.CounterPeriod, base+Joules(v)))
		prev, raw, still, stillReads = r, v, r.Before, 0
	}
	c.segments = append(c.segments, ticks)
	return c
}

// newTick places the step between the last read of the old value and the first
// of the new. The new value is at most one update period old when it is read,
// which bounds the step when reads are far apart.
func newTick(old, first Sample, period time.Duration, e Joules) tick {
	lo, hi := old.Before, first.After
	if period <= 0 { // the counter is current whenever it is read
		lo = first.Before
	} else {
		lo = max(lo, first.Before-period)
	}
	return tick{t: lo + (hi-lo)/2, half: (hi - lo) / 2, e: e}
}

// stuckAfter is how long a counter may stand still before it counts as stuck.
func stuckAfter(dev Device) time.Duration {
	return max(time.Second, 5*dev.CounterPeriod)
}

func (c *counterCurve) noteStuck(from, to time.Duration) {
	if n := len(c.stuck); n > 0 && c.stuck[n-1].from == from {
		c.stuck[n-1].to = to
		return
	}
	c.stuck = append(c.stuck, span{from, to})
}

// reading is E at an instant, with what its timing leaves open.
type reading struct {
	e           Joules
	uncertainty Joules
	gap         time.Duration // width of the tick interval around the instant
}

// between returns E(to) − E(from). ok is false when no run of ticks reaches
// over both.
func (c counterCurve) between(from, to time.Duration) (a, b reading, ok bool) {
	for _, seg := range c.segments {
		a, okA := readAt(seg, from)
		b, okB := readAt(seg, to)
		if okA && okB {
			return a, b, true
		}
	}
	return a, b, false
}

// readAt returns E(t) from a run of ticks; ok is false when t has no tick on
// one of its sides.
func readAt(ticks []tick, t time.Duration) (r reading, ok bool) {
	k := sort.Search(len(ticks), func(i int) bool { return ticks[i].t > t })
	if k > 0 && k == len(ticks) && ticks[k-1].t == t {
		k-- // exactly on the last tick
	}
	if k == 0 || k == len(ticks) {
		return reading{}, false
	}
	a, b := ticks[k-1], ticks[k]
	width := (b.t - a.t).Seconds()
	x := (t - a.t).Seconds()
	mid := float64(b.e-a.e) / width
	left, right := neighbour(ticks, k-1, -1, mid), neighbour(ticks, k, +1, mid)

	r.e = a.e + Joules(stepped(x, width, left.power, mid, right.power))
	r.gap = b.t - a.t
	w := x / width
	timing := (1-w)*a.half.Seconds() + w*b.half.Seconds()
	shape := abs(right.power-left.power)/16 + (left.doubt+right.doubt)/4 // what the shape inside the interval may hide
	r.uncertainty = Joules(max(left.power, mid, right.power)*timing + shape*width)
	return r, true
}

// level is a mean power beside an interval, give or take doubt.
type level struct{ power, doubt float64 }

// The span beside an interval whose mean stands for the power there: the first
// that is timed well, else the one timed best, if that is good enough.
const (
	goodTiming   = 0.02
	usableTiming = 0.15
	maxLevelSpan = 2 * time.Second
)

// neighbour returns the mean power on one side of tick k: before it for dir
// −1, after it for +1. Without a usable span it returns other, which makes the
// interval straight, and as much doubt.
func neighbour(ticks []tick, k, dir int, other float64) level {
	best := level{power: other, doubt: other}
	bestTiming := usableTiming
	for i := k + dir; i >= 0 && i < len(ticks) && bestTiming > goodTiming; i += dir {
		near, far := ticks[k], ticks[i]
		span := (far.t - near.t).Abs()
		if span > maxLevelSpan {
			break
		}
		timing := (near.half + far.half).Seconds() / span.Seconds()
		if timing < bestTiming {
			p := abs(float64(far.e-near.e)) / span.Seconds()
			best, bestTiming = level{power: p, doubt: p * timing}, timing
		}
	}
	return best
}

// stepped returns the energy from the start of an interval of the given width
// to x, when its mean power is mid and its neighbours' left and right: a line,
// or two lines with the knee where the load stepped.
func stepped(x, width, left, mid, right float64) float64 {
	if !(left < mid && mid < right) && !(left > mid && mid > right) {
		return mid * x
	}
	knee := width * (right - mid) / (right - left)
	if x <= knee {
		return left * x
	}
	return left*knee + right*(x-knee)
}

func abs(x float64) float64 {
	if x < 0 {
		return -x
	}
	return x
}
