package power

import "time"

// Clock counts from the origin of a recording on the monotonic clock. The
// recorder, the meter and whoever names a window must share one Clock. The
// zero Clock is not usable; call [NewClock].
type Clock struct{ origin time.Time }

// NewClock returns a clock that counts from origin. origin must carry a
// monotonic reading, as [time.Now] gives it.
func NewClock(origin time.Time) Clock { return Clock{origin: origin} }

// Now returns the time since the origin.
func (c Clock) Now() time.Duration { return time.Since(c.origin) }

// Origin returns the wall time of the origin, in UTC.
func (c Clock) Origin() time.Time { return c.origin.Round(0).UTC() }

// Pair reads both clocks at once, as a KindClock sample: Before counts from
// the origin, Stamp is the wall clock.
func (c Clock) Pair() Sample {
	now := time.Now()
	at := now.Sub(c.origin)
	return Sample{Kind: KindClock, Before: at, After: at, Stamp: now.UnixNano()}
}

// place converts a wall-clock stamp to the monotonic axis by a fresh pair of
// clock readings: a step of the wall clock moves the stamps taken before it
// and drained after it, and shows in the KindClock samples.
func (c Clock) place(stamp int64) time.Duration {
	p := c.Pair()
	return p.Before - time.Duration(p.Stamp-stamp)
}
