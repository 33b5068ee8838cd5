package simserver

import (
	"errors"
	"sync"
	"sync/atomic"
)

// errOverrun means that a reader left more unread than Config.Backlog allows.
var errOverrun = errors.New("reader too slow: backlog full")

// outbox holds what a connection could not take at once. A goroutine empties it
// and ends when it is empty.
type outbox struct {
	mu      sync.Mutex
	empty   *sync.Cond
	pending []byte
	active  bool
	err     error
	// trickle writes every byte by itself. Set before a stream starts.
	trickle bool
	// busy mirrors active for the writer's quick look.
	busy atomic.Bool
}

func (o *outbox) waiting() bool { return o.busy.Load() }

// put copies b to the end of the queue.
func (o *outbox) put(c *conn, b []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return o.err
	}
	if len(o.pending)+len(b) > c.server.cfg.Backlog {
		c.server.stats.overruns.Add(1)
		return errOverrun
	}
	o.pending = append(o.pending, b...)
	if !o.active {
		o.active = true
		o.busy.Store(true)
		c.server.conns.Go(func() { o.drain(c) })
	}
	return nil
}

func (o *outbox) drain(c *conn) {
	var batch []byte
	for {
		o.mu.Lock()
		if len(o.pending) == 0 || o.err != nil {
			o.active = false
			o.busy.Store(false)
			o.cond().Broadcast()
			o.mu.Unlock()
			return
		}
		batch, o.pending = o.pending, batch[:0]
		o.mu.Unlock()
		if err := o.write(c, batch); err != nil {
			o.mu.Lock()
			o.err, o.pending = err, nil
			o.mu.Unlock()
		}
	}
}

func (o *outbox) write(c *conn, b []byte) error {
	if !o.trickle {
		_, err := c.nc.Write(b)
		return err
	}
	for i := range b {
		if _, err := c.nc.Write(b[i : i+1]); err != nil {
			return err
		}
	}
	return nil
}

func (o *outbox) cond() *sync.Cond {
	if o.empty == nil {
		o.empty = sync.NewCond(&o.mu)
	}
	return o.empty
}

// drained waits until the queue is empty and says whether all went out.
func (o *outbox) drained() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.active {
		o.cond().Wait()
	}
	return o.err == nil
}
