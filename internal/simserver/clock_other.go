//go:build !linux

package simserver

import "time"

// sleeper waits for a moment or for a wake-up, whichever comes first, with Go's
// timers. One goroutine sleeps; wake is for any.
type sleeper struct {
	origin time.Time
	signal chan struct{}
	timer  *time.Timer
	frugal bool // without meaning here
}

func newSleeper(origin time.Time) (*sleeper, error) {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &sleeper{origin: origin, signal: make(chan struct{}, 1), timer: t}, nil
}

func (s *sleeper) pin() {}

func (s *sleeper) now() time.Duration { return time.Since(s.origin) }

func (s *sleeper) until(goal time.Duration, deaf bool) bool {
	left := goal - s.now()
	if left <= 0 {
		return true
	}
	if deaf {
		time.Sleep(left)
		return true
	}
	s.timer.Reset(left)
	defer s.timer.Stop()
	select {
	case <-s.timer.C:
		return true
	case <-s.signal:
		return false
	}
}

func (s *sleeper) idle() { <-s.signal }

func (s *sleeper) wake() {
	select {
	case s.signal <- struct{}{}:
	default:
	}
}

func (s *sleeper) close() {}

// threadCPU is not known here.
func threadCPU() time.Duration { return 0 }

// processCPU is not known here.
func processCPU() time.Duration { return 0 }
