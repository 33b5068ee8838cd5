package loadgen

import "time"

// moment is when a read's last byte arrived, on the run's monotonic clock.
type moment struct {
	at      time.Duration // from the origin
	lag     time.Duration // between arrival and the read; 0 without a stamp
	stamped bool          // at is the kernel's
	blind   time.Duration // how long before the read the bytes may have lain unread
}

// clock turns wall-clock stamps of the kernel into durations from a monotonic
// origin and counts steps of the wall clock.
//
// The kernel stamps a segment with CLOCK_REALTIME. Each read asks both clocks
// at once, so that
//
//	at = monotonic now − (realtime now − kernel stamp)
//
// and the wall clock's slew cancels: only the few microseconds between stamp
// and read are measured with it.
type clock struct {
	origin time.Time      // carries a monotonic reading
	unix   int64          // the same instant in ns since the Unix epoch
	ask    func() reading // nil asks the system; tests answer themselves
	last   reading
	set    bool // there is a last reading
	steps  int
}

// reading is both clocks at one instant, as time since the origin.
type reading struct {
	mono, wall time.Duration
	stepped    bool // the wall clock has stepped since the reading before
}

func (r reading) offset() time.Duration { return r.wall - r.mono }

func newClock(origin time.Time) clock {
	return clock{origin: origin, unix: origin.UnixNano()}
}

// restart forgets steps and readings of an earlier batch.
func (c *clock) restart() { c.set, c.steps = false, 0 }

// Between two readings the offset of the clocks may move by NTP's slew, at most
// 500 ppm; twice that is tolerated. Moving by more than stepFloor beside that is
// a step. Moving by more than tearLimit means that the thread was stopped
// between the two clocks, or a step: a second look tells.
const (
	slewLimit = 1000 // elapsed / slewLimit is tolerated
	stepFloor = time.Millisecond
	tearLimit = 5 * time.Microsecond
	looks     = 4
)

// now reads both clocks. It counts a step of the wall clock and reads again
// where the two readings do not belong together.
func (c *clock) now() reading {
	r := c.look()
	if c.set && c.moved(r) > tearLimit {
		r = c.lookAgain(r)
	}
	c.last, c.set = r, true
	return r
}

// moved is how far the offset of the clocks is from that of the last reading,
// less what slewing explains.
func (c *clock) moved(r reading) time.Duration {
	return (r.offset() - c.last.offset()).Abs() - (r.mono-c.last.mono)/slewLimit
}

// lookAgain reads until the offset is the old one again, or two readings agree
// on a new one.
func (c *clock) lookAgain(r reading) reading {
	for range looks {
		again := c.look()
		if c.moved(again) <= tearLimit {
			return again
		}
		agree := (again.offset() - r.offset()).Abs() <= tearLimit
		r = again
		if agree {
			break
		}
	}
	if c.moved(r) > stepFloor {
		c.steps++
		r.stepped = true
	}
	return r
}

func (c *clock) look() reading {
	if c.ask != nil {
		return c.ask()
	}
	t := time.Now()
	return reading{mono: t.Sub(c.origin), wall: time.Duration(t.UnixNano() - c.unix)}
}

// futureLimit is how far in the future a kernel stamp may lie before it is
// taken for the trace of a clock step: both clocks are read on different cores.
const futureLimit = 100 * time.Microsecond

// moment places a read that ended at r. kernelUnix is the kernel's stamp in ns
// since the Unix epoch, 0 when the read carried none. A stamp from the other
// side of a step is not used.
func (c *clock) moment(r reading, kernelUnix int64) moment {
	if kernelUnix == 0 || r.stepped {
		return moment{at: r.mono}
	}
	lag := r.wall - time.Duration(kernelUnix-c.unix)
	if lag < -futureLimit {
		c.steps++
		return moment{at: r.mono}
	}
	lag = max(lag, 0)
	return moment{at: r.mono - lag, lag: lag, stamped: true}
}
