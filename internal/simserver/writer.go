package simserver

import "time"

// writer turns yields into bytes for the streams it owns. One goroutine calls
// send; the timing lock is held meanwhile.
type writer struct {
	server  *Server
	sleeper *sleeper
	timing  *timing

	burst  burst
	out    []byte
	stamps []int
	ended  []*stream
}

func newWriter(s *Server) (*writer, error) {
	sl, err := newSleeper(s.origin)
	if err != nil {
		return nil, err
	}
	return &writer{server: s, sleeper: sl, timing: newTiming()}, nil
}

// send writes everything that is due, the frames of one stream in one write,
// and then lets go of the streams that ended.
func (w *writer) send(yields []yield) {
	t := w.timing
	t.mu.Lock()
	defer t.mu.Unlock()
	began := w.sleeper.now()
	sent := false
	for _, y := range yields {
		if w.sendOne(y) {
			sent = true
		}
	}
	if sent {
		at := yields[0].at
		late(t.start, began-at)
		late(t.end, w.sleeper.now()-at)
	}
	for i, st := range w.ended {
		st.end()
		w.ended[i] = nil
	}
	w.ended = w.ended[:0]
	t.sampleCPU(len(yields))
}

// sendOne reports whether anything was due on the wire.
func (w *writer) sendOne(y yield) bool {
	st := y.job.stream
	if st.over || st.gone.Load() {
		return false
	}
	w.server.metrics.count(st, y)
	if !st.streaming {
		w.collect(st, y)
		return false
	}
	w.burst.fill(st, y)
	w.timing.events += int64(len(w.burst.events))
	w.timing.tokens += int64(y.tokens)
	if st.fault != nil {
		w.misbehave(st, y)
		return true
	}
	if y.last {
		w.ended = append(w.ended, st)
	}
	w.out, w.stamps = appendChunked(w.out[:0], w.stamps[:0], w.burst.events)
	if y.last {
		w.out = append(w.out, lastChunk...)
	}
	now := time.Now()
	sent := now.UnixNano()
	for _, i := range w.stamps {
		putStamp(w.out[i:], sent)
	}
	late(w.timing.event, now.Sub(w.server.origin)-y.at)
	w.book(st, y, sent)
	if err := st.conn.send(w.out); err != nil {
		st.abandon()
	}
	return true
}

// misbehave sends the events of a faulty stream. One that is over early leaves
// the batch at the next step; one that fell silent keeps its slot and its
// connection.
func (w *writer) misbehave(st *stream, y yield) {
	f := st.fault
	if f.plan.foreign && y.last {
		w.server.metrics.addForeign(st)
	}
	f.events(w.burst.events)
	st.over = f.over
	if f.over && !f.stalled {
		w.ended = append(w.ended, st)
		if !y.last {
			w.server.cancel(st)
		}
	}
}

// book enters one write into the books before it is made, so that a client that
// has seen the bytes finds them accounted for.
func (w *writer) book(st *stream, y yield, sent int64) {
	w.timing.writes++
	if y.tokens > 0 {
		st.record.add(sent, y.tokens)
	}
	if y.last {
		st.publish("done", sent)
	}
}

// collect keeps the text of a request that wants one JSON answer.
func (w *writer) collect(st *stream, y yield) {
	st.text = st.prose.appendTokens(st.text, y.tokens)
	st.produced += y.tokens
	w.timing.tokens += int64(y.tokens)
	now := unixNano()
	if y.tokens > 0 {
		st.record.add(now, y.tokens)
	}
	if y.last {
		st.publish("done", now)
		w.ended = append(w.ended, st)
	}
}
