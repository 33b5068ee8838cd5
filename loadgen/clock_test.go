package loadgen

import (
	"testing"
	"time"
)

const (
	us = time.Microsecond
	ms = time.Millisecond
)

// scripted is a clock that gives the readings one by one, as monotonic time
// and the offset of the wall clock.
func scripted(readings ...[2]time.Duration) *clock {
	c := newClock(time.Unix(1000, 0))
	c.ask = func() reading {
		r := readings[0]
		if len(readings) > 1 {
			readings = readings[1:]
		}
		return reading{mono: r[0], wall: r[0] + r[1]}
	}
	return &c
}

func TestClockCountsSteps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		claim    string
		readings [][2]time.Duration // what the system answers
		asks     int                // calls of now
		steps    int
		offset   time.Duration // of the last reading that now returned
		stepped  bool          // that reading saw a step
	}{
		{"a steady clock has none", [][2]time.Duration{{0, 0}, {ms, 0}, {2 * ms, 0}}, 3, 0, 0, false},
		{"the first reading has nothing to be compared with", [][2]time.Duration{{0, time.Hour}}, 1, 0, time.Hour, false},
		{"slew of 500 ppm is none", [][2]time.Duration{{0, 0}, {time.Second, 500 * us}, {2 * time.Second, 1000 * us}}, 3, 0, 1000 * us, false},
		{"slew the other way is none", [][2]time.Duration{{0, 0}, {10 * time.Second, -5 * ms}}, 2, 0, -5 * ms, false},
		{"a step forward is one", [][2]time.Duration{{0, 0}, {ms, 3 * ms}, {ms, 3 * ms}}, 2, 1, 3 * ms, true},
		{"a step back is one", [][2]time.Duration{{0, 0}, {ms, -3 * ms}, {ms, -3 * ms}}, 2, 1, -3 * ms, true},
		{"a step is counted once", [][2]time.Duration{{0, 0}, {ms, time.Hour}, {ms, time.Hour}, {2 * ms, time.Hour}, {3 * ms, time.Hour}}, 4, 1, time.Hour, false},
		{"two steps are two", [][2]time.Duration{{0, 0}, {ms, time.Hour}, {ms, time.Hour}, {2 * ms, 0}, {2 * ms, 0}}, 3, 2, 0, true},
		{"a move below the floor is none", [][2]time.Duration{{0, 0}, {ms, 900 * us}, {ms, 900 * us}}, 2, 0, 900 * us, false},
		{"a thread stopped between the clocks is none, and asks again", [][2]time.Duration{{0, 0}, {5 * ms, -4 * ms}, {5 * ms, 0}}, 2, 0, 0, false},
		{"a thread stopped twice is none", [][2]time.Duration{{0, 0}, {5 * ms, -4 * ms}, {15 * ms, -9 * ms}, {15 * ms, 0}}, 2, 0, 0, false},
		{"a thread stopped by a step is one", [][2]time.Duration{{0, 0}, {5 * ms, time.Second - 4*ms}, {5 * ms, time.Second}, {5 * ms, time.Second}}, 2, 1, time.Second, true},
	} {
		t.Run(c.claim, func(t *testing.T) {
			t.Parallel()
			clock := scripted(c.readings...)
			var r reading
			for range c.asks {
				r = clock.now()
			}
			if clock.steps != c.steps || r.offset() != c.offset || r.stepped != c.stepped {
				t.Errorf("got %d steps, offset %s, stepped %v; want %d, %s, %v", clock.steps, r.offset(), r.stepped, c.steps, c.offset, c.stepped)
			}
		})
	}
}

func TestClockForgetsBetweenBatches(t *testing.T) {
	t.Parallel()
	clock := scripted([2]time.Duration{0, 0}, [2]time.Duration{ms, time.Hour}, [2]time.Duration{2 * ms, time.Hour})
	clock.now()
	clock.restart()
	clock.now()
	if clock.now(); clock.steps != 0 {
		t.Errorf("%d steps: the one between the batches was counted", clock.steps)
	}
}

func TestMomentOfARead(t *testing.T) {
	t.Parallel()
	const origin = int64(1000 * time.Second)
	for _, c := range []struct {
		claim string
		read  reading
		stamp int64 // since the origin's wall time; -1 for none
		want  moment
		steps int
	}{
		{"the lag is taken off the monotonic time", reading{mono: 10 * ms, wall: 10 * ms}, int64(9 * ms), moment{at: 9 * ms, lag: ms, stamped: true}, 0},
		{"the wall clock's offset cancels", reading{mono: 10 * ms, wall: time.Hour}, int64(time.Hour - ms), moment{at: 9 * ms, lag: ms, stamped: true}, 0},
		{"without a stamp the time of the read is taken", reading{mono: 10 * ms, wall: 10 * ms}, -1, moment{at: 10 * ms}, 0},
		{"a stamp a little ahead is now", reading{mono: 10 * ms, wall: 10 * ms}, int64(10*ms + 50*us), moment{at: 10 * ms, stamped: true}, 0},
		{"a stamp far ahead tells of a step and is not used", reading{mono: 10 * ms, wall: 10 * ms}, int64(11 * ms), moment{at: 10 * ms}, 1},
		{"a stamp from before a step is not used", reading{mono: 10 * ms, wall: time.Hour, stepped: true}, int64(9 * ms), moment{at: 10 * ms}, 0},
	} {
		t.Run(c.claim, func(t *testing.T) {
			t.Parallel()
			clock := newClock(time.Unix(0, origin))
			var unix int64
			if c.stamp >= 0 {
				unix = origin + c.stamp
			}
			if got := clock.moment(c.read, unix); got != c.want || clock.steps != c.steps {
				t.Errorf("got %+v and %d steps, want %+v and %d", got, clock.steps, c.want, c.steps)
			}
		})
	}
}

// The system's own clock must not look torn or stepped to itself.
func TestClockOfTheSystemIsSteady(t *testing.T) {
	t.Parallel()
	clock := newClock(time.Now())
	last := clock.now()
	for range 100_000 {
		r := clock.now()
		if r.mono < last.mono {
			t.Fatalf("monotonic time went back from %s to %s", last.mono, r.mono)
		}
		last = r
	}
	if clock.steps != 0 {
		t.Errorf("%d steps", clock.steps)
	}
}
