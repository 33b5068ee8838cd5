package simserver

import (
	"bytes"
	"compress/gzip"
	"strconv"
)

// packing says when the events of a faulty stream are written.
type packing int

const (
	packEach   packing = iota // one write per event
	packMerged                // several events per write
	packBurst                 // 16 KiB per write, as a proxy buffer does
	packAll                   // everything in one write at the end
	packBytes                 // every byte in a write of its own
)

const (
	mergedEvents = 4
	proxyBuffer  = 16 << 10
)

// wire carries the events of one faulty stream to its connection. The writer
// that owns the stream calls events; nothing here waits.
//
//	events ─► edit ─► frame ─► pending ─► flush: stamps, coding, chunks ─► conn
type wire struct {
	armed
	st *stream

	seen  int  // token events so far
	fired bool // the fault has struck
	// over: nothing more is sent. hungUp: the connection is closed then;
	// stalled: it stays open and silent; reset: closed by RST.
	over, hungUp, stalled, reset bool
	// plain bodies are delimited by their end or their length, not by chunks.
	plain  bool
	length int // of a body with a declared length, still to come

	pending []byte
	blanks  []int // offsets of unset send times in pending
	tokens  []int // of the token events in pending
	count   int   // events put

	gz     *gzip.Writer
	coded  bytes.Buffer
	framed []byte
}

func newWire(st *stream, a armed) *wire {
	w := &wire{armed: a, st: st}
	st.conn.out.trickle = a.plan.pack == packBytes
	return w
}

// events sends what a step brought.
func (w *wire) events(list []event) {
	for _, e := range list {
		if w.over {
			return
		}
		if w.plan.edit != nil {
			w.plan.edit(w, e)
		} else {
			w.put(e)
		}
		if e.tokens > 0 {
			w.seen++
		}
		if e.kind == doneEvent && !w.over {
			w.endBody()
		}
	}
}

// strike reports, once, that the moment of the fault has come: before the token
// event with the chosen index, or before the last one of a shorter stream.
func (w *wire) strike(e event) bool {
	last := w.st.produced >= w.st.job.limit
	if w.fired || e.tokens == 0 || w.seen < w.after && !last {
		return false
	}
	w.fired = true
	return true
}

// put frames an event and sends it when the packing says so.
func (w *wire) put(e event) {
	if w.plan.frame != nil {
		w.plan.frame(w, e)
	} else {
		w.line("data: ", e, "\n\n")
	}
	if e.tokens > 0 {
		w.tokens = append(w.tokens, e.tokens)
	}
	w.count++
	switch w.plan.pack {
	case packMerged:
		if w.count%mergedEvents == 0 {
			w.flush()
		}
	case packBurst:
		if len(w.pending) >= proxyBuffer {
			w.flush()
		}
	case packAll:
	default:
		w.flush()
	}
}

// putText sends an event of the server's own making.
func (w *wire) putText(data string) { w.put(event{data: []byte(data), stamp: -1}) }

// line appends prefix, the event's data and suffix.
func (w *wire) line(prefix string, e event, suffix string) {
	w.pending = append(w.pending, prefix...)
	if e.stamp >= 0 {
		w.blanks = append(w.blanks, len(w.pending)+e.stamp)
	}
	w.pending = append(w.pending, e.data...)
	w.pending = append(w.pending, suffix...)
}

// raw appends bytes as they are.
func (w *wire) raw(s string) { w.pending = append(w.pending, s...) }

// flush stamps and sends what is pending, as one chunk and one write.
func (w *wire) flush() {
	if len(w.pending) == 0 {
		return
	}
	w.stamp()
	w.send(w.chunk(w.code(w.pending)))
	w.pending = w.pending[:0]
}

// stamp sets the send times and enters them into the record.
func (w *wire) stamp() int64 {
	now := unixNano()
	for _, i := range w.blanks {
		putStamp(w.pending[i:], now)
	}
	for _, n := range w.tokens {
		w.st.record.add(now, n)
	}
	w.blanks, w.tokens = w.blanks[:0], w.tokens[:0]
	return now
}

// stampNow sets the send time of one event that is about to be cut in pieces.
func (w *wire) stampNow(e *event) {
	if e.stamp >= 0 {
		putStamp(e.data[e.stamp:], unixNano())
		e.stamp = -1
	}
}

// code compresses, if the fault says so.
func (w *wire) code(b []byte) []byte {
	if w.gz == nil {
		return b
	}
	w.coded.Reset()
	_, _ = w.gz.Write(b) // into memory: cannot fail
	_ = w.gz.Flush()
	return w.coded.Bytes()
}

// chunk wraps bytes in a chunk, unless the body is plain.
func (w *wire) chunk(b []byte) []byte {
	if w.plain {
		w.length -= len(b)
		return b
	}
	w.framed = strconv.AppendInt(w.framed[:0], int64(len(b)), 16)
	w.framed = append(append(append(w.framed, "\r\n"...), b...), "\r\n"...)
	return w.framed
}

func (w *wire) send(b []byte) {
	if len(b) == 0 {
		return
	}
	if err := w.st.conn.send(b); err != nil {
		w.st.abandon()
	}
}

// endBody ends the body as its framing demands. The record is filed before the
// last bytes leave.
func (w *wire) endBody() {
	if w.length > 0 {
		w.pad()
	}
	now := w.stamp()
	b := w.code(w.pending)
	if w.gz != nil {
		_ = w.gz.Close()
		b = w.coded.Bytes()
	}
	if len(b) > 0 {
		b = w.chunk(b)
	}
	if !w.plain {
		b = append(bytes.Clone(b), lastChunk...)
	}
	w.pending = w.pending[:0]
	w.finish(now)
	w.send(b)
}

// pad fills a body of declared length with comments.
func (w *wire) pad() {
	for left := w.length - len(w.pending); left > 0; {
		n := min(left, 1024)
		w.pending = append(append(w.pending, bytes.Repeat([]byte{':'}, n-1)...), '\n')
		left -= n
	}
}

// cut sends what is pending and closes the connection in the middle of things.
func (w *wire) cut() {
	w.flush()
	w.hungUp = true
	w.finish(unixNano())
}

// stall sends what is pending and then nothing, with the connection open.
func (w *wire) stall() {
	w.flush()
	w.over, w.stalled = true, true
}

func (w *wire) finish(now int64) {
	w.over = true
	w.st.publish("done", now)
}

// edited is an event with other data; its send time is found again.
func edited(e event, data []byte) event {
	e.data, e.stamp = data, -1
	if i := bytes.LastIndex(data, []byte(stampOpen)); i >= 0 {
		e.stamp = i + len(stampOpen)
	}
	return e
}

// replaced is an event with one piece of its data changed, everywhere.
func replaced(e event, from, to string) event {
	return edited(e, bytes.ReplaceAll(e.data, []byte(from), []byte(to)))
}

// inserted is an event with something put before the marker.
func inserted(e event, marker, text string) event {
	return replaced(e, marker, text+marker)
}
