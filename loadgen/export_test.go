package loadgen

import "time"

// SetGrace changes how long a body may go on once the class of its request is
// certain.
func (p *Pool) SetGrace(d time.Duration) { p.grace = d }

// SetFiles replaces what makes sure that n connections may be open.
func (p *Pool) SetFiles(f func(n int) error) { p.files = f }

// ShiftWall moves the wall clock, as the pool's readers see it, by what shift
// says at each reading; the monotonic clock stays.
func (p *Pool) ShiftWall(shift func() time.Duration) {
	system := newClock(p.cfg.Origin)
	p.ask = func() reading {
		r := system.look()
		r.wall += shift()
		return r
	}
}

// KeepCollector leaves the garbage collector on during a batch.
func (p *Pool) KeepCollector() { p.collector = true }
