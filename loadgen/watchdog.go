package loadgen

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// watchdog measures how late the scheduler wakes a goroutine that sleeps: the
// same lateness a reader suffers.
type watchdog struct {
	origin time.Time
	due    atomic.Int64 // when it should wake next, ns from the origin
	woke   atomic.Int64 // when it last woke
	late   atomic.Int64 // how late it was then
	worst  time.Duration
	quit   chan struct{}
	done   sync.WaitGroup
}

const watchEvery = 5 * time.Millisecond

func newWatchdog(origin time.Time) *watchdog {
	w := &watchdog{origin: origin, quit: make(chan struct{})}
	w.due.Store(math.MaxInt64)
	return w
}

// start watches until stop is called.
func (w *watchdog) start() { w.done.Go(w.run) }

func (w *watchdog) run() {
	timer := time.NewTimer(watchEvery)
	defer timer.Stop()
	for {
		due := time.Since(w.origin) + watchEvery
		w.due.Store(int64(due))
		quit := false
		select {
		case <-w.quit:
			quit = true // perhaps before the timer of a late waking was looked at
		case <-timer.C:
		}
		now := time.Since(w.origin)
		late := max(0, now-due)
		w.worst = max(w.worst, late)
		if quit {
			return
		}
		w.late.Store(int64(late))
		w.woke.Store(int64(now))
		timer.Reset(watchEvery)
	}
}

// stop ends the watchdog, if it was started, and returns the longest lateness.
func (w *watchdog) stop() time.Duration {
	close(w.quit)
	w.done.Wait()
	return w.worst
}

// lateness is how late, at least, a goroutine that wakes now is woken: the
// watchdog is overdue itself, or has just woken late.
func (w *watchdog) lateness(now time.Duration) time.Duration {
	if over := now - time.Duration(w.due.Load()); over > 0 {
		return over
	}
	if now-time.Duration(w.woke.Load()) < watchEvery {
		return time.Duration(w.late.Load())
	}
	return 0
}
