package simserver

import "sync"

// inbox hands requests to the goroutine of a loop.
type inbox struct {
	mu        sync.Mutex
	arrivals  []*stream
	cancelled []*stream
	closed    bool
	asleep    bool // the loop wants to be woken
	sleeper   *sleeper
}

// put queues a new stream; false once the loop is closing.
func (b *inbox) put(st *stream) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.arrivals = append(b.arrivals, st)
	b.wake()
	return true
}

// cancel tells the loop that a stream's client has left.
func (b *inbox) cancel(st *stream) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cancelled = append(b.cancelled, st)
	b.wake()
}

func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.wake()
}

func (b *inbox) wake() {
	if b.asleep {
		b.asleep = false
		b.sleeper.wake()
	}
}

// take moves what has arrived into the given slices and says whether the inbox
// is closed. With doze the loop is about to sleep and will be woken by the next
// arrival; a wake-up that finds it awake only shortens its next sleep.
func (b *inbox) take(arrivals, cancelled []*stream, doze bool) (a, c []*stream, closed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a = append(arrivals, b.arrivals...)
	c = append(cancelled, b.cancelled...)
	clear(b.arrivals)
	clear(b.cancelled)
	b.arrivals, b.cancelled = b.arrivals[:0], b.cancelled[:0]
	b.asleep = doze && !b.closed
	return a, c, b.closed
}
