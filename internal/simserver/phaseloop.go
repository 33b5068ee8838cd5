package simserver

import "runtime"

// phaseLoop drives the streams of one writer, each at its own phase.
type phaseLoop struct {
	inbox
	server *Server
	writer *writer
	phaser *phaser

	buf   []yield
	came  []*stream
	left  []*stream
	shown int64 // streams this loop has added to the running gauge
}

func newPhaseLoop(s *Server, w *writer, seed uint64) *phaseLoop {
	l := &phaseLoop{server: s, writer: w, phaser: newPhaser(s.cfg.Profile, seed)}
	l.sleeper = w.sleeper
	// A thousand phases leave 20 µs between events: on one or two cores the
	// spinning would be at the client's cost.
	l.sleeper.frugal = runtime.NumCPU() <= 2
	return l
}

// run serves until the inbox is closed, then gives up the streams still open.
func (l *phaseLoop) run() {
	l.sleeper.pin()
	for l.receive() {
		goal, ok := l.phaser.next()
		if !ok {
			l.sleeper.idle()
			continue
		}
		if !l.sleeper.until(goal, false) {
			continue
		}
		l.buf = l.phaser.pop(l.sleeper.now(), l.buf)
		l.gauge()
		l.server.stats.steps.Add(1)
		l.writer.send(l.buf)
	}
	for _, p := range l.phaser.queue {
		l.server.drop(p.job.stream)
	}
}

func (l *phaseLoop) receive() bool {
	var closed bool
	l.came, l.left, closed = l.take(l.came[:0], l.left[:0], true)
	for _, st := range l.came {
		l.phaser.arrive(&st.job, st.arrived)
	}
	for _, st := range l.left {
		l.phaser.cancel(&st.job)
		l.server.drop(st)
	}
	clear(l.came)
	clear(l.left)
	l.gauge()
	return !closed
}

// gauge brings the shared gauge up to this loop's count.
func (l *phaseLoop) gauge() {
	n := int64(l.phaser.running())
	raise(&l.server.stats.maxRunning, l.server.metrics.running.Add(n-l.shown))
	l.shown = n
}
