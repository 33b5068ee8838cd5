package loadgen

import "time"

// vigil keeps how long bytes may have lain unseen in the sockets of one loop.
// It is what tells events that a server packed into one segment from events
// that piled up because this client came late.
//
//	wait                wait returns       read
//	──┬──── asleep ──────┬──── working ─────┬──▶
//	  known empty        woken              bytes taken
//
// After a wait that did not sleep, the bytes came while the loop was working on
// what the wait before returned: they may have lain since then. After one that
// slept, they came at its end, unless the loop was woken late. A wait is never
// asked to last longer than [nap], so one that lasted longer overslept, by the
// difference at least; and no stamp read in this turn can be older than what
// woke the loop, so the largest lag of the turn is a second witness.
type vigil struct {
	scanned time.Duration // sockets that the last wait did not name were empty then
	known   time.Duration // bytes of this turn came after that
	slept   bool
	late    time.Duration // this turn began late by that much at least
	looked  time.Duration // the last wait returned then
	stall   time.Duration // the longest that no wait returned, beyond a nap
}

const (
	// nap is the longest wait of a loop. A shorter one would tell lateness more
	// exactly, and a wake-up for nothing costs 20 µs (docs/adr/0002).
	nap = 5 * time.Millisecond
	// quickWait and quickEvent bound a wait that did not sleep: the call itself,
	// and what it takes for each event it returns.
	quickWait  = 20 * time.Microsecond
	quickEvent = 200 * time.Nanosecond
)

// woke notes a wait that began at before, ended at after and named n sockets.
// all says that every socket with bytes was named.
func (v *vigil) woke(before, after time.Duration, n int, all bool) {
	if v.looked == 0 {
		v.looked = before
	}
	v.stall, v.looked = max(v.stall, after-v.looked-nap), after
	v.known, v.late = v.scanned, 0
	if lasted := after - before; lasted > quickWait+time.Duration(n)*quickEvent {
		v.known, v.slept = after, true
		v.late = max(0, lasted-nap)
	} else {
		v.slept = false
	}
	if all {
		v.scanned = after
	}
}

// blind is how long bytes read at now may have lain unread; lag is the age of
// the last of them.
func (v *vigil) blind(now, lag time.Duration) time.Duration {
	if !v.slept {
		return now - v.known
	}
	v.late = max(v.late, lag)
	return now - v.known + v.late
}
