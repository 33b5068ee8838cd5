package simserver

import (
	"sync"
	"time"
)

// stepLoop drives one scheduler for all streams. It writes the first share
// itself and hands the other writers theirs when a step begins, so that each
// sleeps until the same moment on a thread of its own.
type stepLoop struct {
	inbox
	server  *Server
	sched   *scheduler
	workers []*worker
	parts   [][]yield // by writer

	buf  []yield
	came []*stream
	left []*stream
	// dozing says that the last receive arranged for a wake-up.
	dozing bool
}

// worker is a writing thread besides the loop's own.
type worker struct {
	writer *writer
	in     chan []yield
	done   chan struct{}
}

func newStepLoop(s *Server) *stepLoop {
	l := &stepLoop{server: s, sched: newScheduler(s.cfg.Profile, s.cfg.Seed)}
	l.sleeper = s.writers[0].sleeper
	l.parts = make([][]yield, len(s.writers))
	for _, w := range s.writers[1:] {
		l.workers = append(l.workers, &worker{writer: w, in: make(chan []yield), done: make(chan struct{})})
	}
	return l
}

func (k *worker) run() {
	k.writer.sleeper.pin()
	for yields := range k.in {
		k.writer.sleeper.until(yields[0].at, true)
		k.writer.send(yields)
		k.done <- struct{}{}
	}
}

// run serves until the inbox is closed, then gives up the streams still open.
func (l *stepLoop) run() {
	l.sleeper.pin()
	var group sync.WaitGroup
	for _, k := range l.workers {
		group.Go(k.run)
	}
	end, idle := time.Duration(0), true
	for l.receive() {
		if !l.sched.busy() {
			if l.dozing {
				l.sleeper.idle()
			}
			idle = true
			continue
		}
		start := end
		if idle {
			start = l.gather()
			idle = false
		}
		end = l.turn(start)
	}
	for _, k := range l.workers {
		close(k.in)
	}
	group.Wait()
	for _, j := range append(l.sched.running, l.sched.waiting...) {
		l.server.drop(j.stream)
	}
}

// receive takes what has come and gone; false when the server closes.
func (l *stepLoop) receive() bool {
	var closed bool
	l.dozing = !l.sched.busy()
	l.came, l.left, closed = l.take(l.came[:0], l.left[:0], l.dozing)
	for _, st := range l.came {
		l.sched.arrive(&st.job, st.arrived)
	}
	for _, st := range l.left {
		l.sched.cancel(&st.job)
		l.server.drop(st)
	}
	clear(l.came)
	clear(l.left)
	if len(l.came)+len(l.left) > 0 {
		l.sched.drop()
		l.gauges()
	}
	return !closed
}

// gather waits for the rest of a burst of requests and returns the start of the
// first step.
func (l *stepLoop) gather() time.Duration {
	start := l.sleeper.now() + l.server.cfg.Profile.Gather
	l.sleeper.until(start, true)
	l.receive()
	return start
}

// turn makes the step that begins at start and returns its planned end, which
// is where the next one begins: so the schedule does not drift with the time
// that writing takes.
func (l *stepLoop) turn(start time.Duration) time.Duration {
	// On a grid a step may begin late by almost a tick and still end in time.
	if now := l.sleeper.now(); now-start > reanchor+l.server.cfg.Profile.Tick {
		start = now
		l.server.stats.reanchored.Add(1)
	}
	st := l.sched.begin(start, l.buf)
	l.buf = st.yields
	l.gauges()
	l.deal(st)
	l.sleeper.until(st.end, true)
	l.sched.finish()
	l.gauges()
	l.server.stats.steps.Add(1)
	l.server.writers[0].send(l.parts[0])
	for i, k := range l.workers {
		if len(l.parts[i+1]) > 0 {
			<-k.done
		}
	}
	return st.end
}

// deal splits a step among the writers and starts those on other threads.
func (l *stepLoop) deal(st step) {
	tokens := st.prefill
	for i := range l.parts {
		clear(l.parts[i])
		l.parts[i] = l.parts[i][:0]
	}
	for _, y := range st.yields {
		n := y.job.stream.shard
		l.parts[n] = append(l.parts[n], y)
		tokens += y.tokens
	}
	l.server.metrics.iteration.add(float64(tokens))
	for i, k := range l.workers {
		if len(l.parts[i+1]) > 0 {
			k.in <- l.parts[i+1]
		}
	}
}

func (l *stepLoop) gauges() {
	l.server.metrics.running.Store(int64(len(l.sched.running)))
	l.server.metrics.waiting.Store(int64(len(l.sched.waiting)))
	raise(&l.server.stats.maxRunning, int64(len(l.sched.running)))
}
