package loadgen

import (
	"testing"
	"time"
)

func TestVigilBoundsHowLongBytesLayUnread(t *testing.T) {
	t.Parallel()
	type wait struct {
		before, after time.Duration
		n             int
		part          bool // sockets with bytes were left out
	}
	type read struct{ at, lag, want time.Duration }
	for _, c := range []struct {
		claim string
		waits []wait
		reads []read
	}{
		{
			"bytes that woke the loop lay for as long as it worked on others",
			[]wait{{ms, 2 * ms, 3, false}},
			[]read{{2*ms + 10*us, 10 * us, 20 * us}, {2*ms + 30*us, 20 * us, 50 * us}},
		},
		{
			"a loop that was woken late by its nap's end lay blind since",
			[]wait{{ms, 40 * ms, 3, false}},
			[]read{{40*ms + 10*us, 5 * us, 34*ms + 10*us}},
		},
		{
			"the oldest stamp of the turn is a witness for all",
			[]wait{{ms, 2 * ms, 3, false}},
			[]read{{2 * ms, 900 * us, 900 * us}, {2*ms + us, 10 * us, 901 * us}},
		},
		{
			"bytes of a wait that did not sleep came since the wait before",
			[]wait{{ms, 2 * ms, 3, false}, {7 * ms, 7*ms + 5*us, 3, false}},
			[]read{{7*ms + 15*us, us, 5*ms + 15*us}},
		},
		{
			"sockets that the wait before left out may hold bytes for longer",
			[]wait{{ms, 2 * ms, 1, false}, {3 * ms, 3*ms + 5*us, 512, true}, {4 * ms, 4*ms + 5*us, 3, false}},
			[]read{{5 * ms, us, 3 * ms}},
		},
		{
			"naming many sockets takes time and is no sleep",
			[]wait{{ms, 2 * ms, 1, false}, {7 * ms, 7*ms + 80*us, 500, false}},
			[]read{{8 * ms, us, 6 * ms}},
		},
	} {
		t.Run(c.claim, func(t *testing.T) {
			t.Parallel()
			var v vigil
			for _, w := range c.waits {
				v.woke(w.before, w.after, w.n, !w.part)
			}
			for i, r := range c.reads {
				if got := v.blind(r.at, r.lag); got != r.want {
					t.Errorf("read %d: got %s, want %s", i, got, r.want)
				}
			}
		})
	}
}

func TestWatchdogTellsLateness(t *testing.T) {
	t.Parallel()
	w := newWatchdog(time.Now())
	if got := w.lateness(time.Hour); got != 0 {
		t.Errorf("before it runs: %s", got)
	}
	w.due.Store(int64(10 * ms))
	for _, c := range []struct {
		claim     string
		now, want time.Duration
	}{
		{"not due yet", 9 * ms, 0},
		{"overdue", 40 * ms, 30 * ms},
	} {
		if got := w.lateness(c.now); got != c.want {
			t.Errorf("%s: got %s, want %s", c.claim, got, c.want)
		}
	}
	w.late.Store(int64(30 * ms))
	w.woke.Store(int64(40 * ms))
	w.due.Store(int64(45 * ms))
	for _, c := range []struct {
		claim     string
		now, want time.Duration
	}{
		{"it has just woken late", 41 * ms, 30 * ms},
		{"it woke late some time ago", 45 * ms, 0},
	} {
		if got := w.lateness(c.now); got != c.want {
			t.Errorf("%s: got %s, want %s", c.claim, got, c.want)
		}
	}
}

// noted books reads on a connection that nobody else uses, and returns how long
// the bytes of the last one may have lain unread.
func TestStampConnBoundsHowLongBytesLayUnread(t *testing.T) {
	t.Parallel()
	type read struct {
		at, lag time.Duration
		waited  bool
		full    bool
	}
	for _, c := range []struct {
		claim string
		reads []read
		want  time.Duration
	}{
		{"found empty first: as long as the stamp says", []read{{at: ms, waited: true}, {at: 20 * ms, lag: 30 * us, waited: true}}, 30 * us},
		{"found there: since the read before", []read{{at: ms, waited: true}, {at: 60 * ms, lag: 30 * us}}, 59 * ms},
		{"the rest of a full read: since that was due", []read{{at: ms, waited: true}, {at: 20 * ms, lag: 30 * us, waited: true, full: true}, {at: 20*ms + 10*us, lag: 40 * us}}, 40 * us},
		{"the first of all: not known", []read{{at: ms, lag: 5 * us}}, 0},
	} {
		t.Run(c.claim, func(t *testing.T) {
			t.Parallel()
			conn := stampConn{buf: make([]byte, 8)}
			for _, r := range c.reads {
				conn.wait, conn.n = r.waited, 4
				if r.full {
					conn.n = 8
				}
				conn.note(reading{mono: r.at}, moment{at: r.at - r.lag, lag: r.lag, stamped: true})
			}
			if conn.last.blind != c.want {
				t.Errorf("got %s, want %s", conn.last.blind, c.want)
			}
			if conn.tally.kernel != int64(len(c.reads)) {
				t.Errorf("%d reads counted", conn.tally.kernel)
			}
		})
	}
}
