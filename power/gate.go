package power

import (
	"sync"
	"time"
)

// gate counts calls in flight so that a library is not unloaded under them.
// The zero gate is open.
type gate struct {
	mu     sync.Mutex
	inside int
	shut   bool
	empty  chan struct{} // made by close, closed by the last leave
}

// enter reports whether a call may begin; each true needs one leave.
func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut {
		return false
	}
	g.inside++
	return true
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	if g.shut && g.inside == 0 {
		close(g.empty)
	}
}

// close lets nobody in any more and waits for those inside. first is false
// when the gate was closed before; drained is false when calls are still in
// flight after the wait.
func (g *gate) close(wait time.Duration) (first, drained bool) {
	g.mu.Lock()
	if g.shut {
		g.mu.Unlock()
		return false, true
	}
	g.shut = true
	g.empty = make(chan struct{})
	if g.inside == 0 {
		close(g.empty)
	}
	g.mu.Unlock()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-g.empty:
		return true, true
	case <-timer.C:
		return true, false
	}
}
