package sse

import (
	"bytes"
	"fmt"
)

// MaxEvent is the longest line, and the longest data of one event, in bytes,
// that a [Framer] takes: 8 MiB. No sound chunk comes near it; without a limit a
// broken server could fill the memory.
const MaxEvent = 8 << 20

// idleBuffer is how much memory, in bytes, a framer keeps while it has no
// unfinished event. It bounds what thousands of idle streams hold.
const idleBuffer = 16 << 10

// bom is the UTF-8 byte order mark, allowed once, at the very start.
const bom = "\xef\xbb\xbf"

// Event is one dispatched event. Both slices belong to the [Framer], or to the
// bytes given to its Push, and hold until the next call of Next or Push.
type Event struct {
	// Name is the value of the last "event" field; empty when there was none.
	Name []byte
	// Data is the values of the "data" fields, joined by LF.
	Data []byte
}

// TooLongError says that a line or the data of an event passed the limit. The
// rest of the stream cannot be read.
type TooLongError struct {
	// What is "line" or "event".
	What string
	// Limit is the limit in bytes.
	Limit int
}

// Error names what was too long, and the limit.
func (e *TooLongError) Error() string {
	return fmt.Sprintf("sse: %s longer than %d bytes", e.What, e.Limit)
}

// Framer cuts a byte stream into server-sent events, read by read:
//
//	f.Push(p)
//	for f.Next() {
//		use(f.Event())
//	}
//	// f.Err() tells whether the stream is broken
//
// Lines end with LF, CRLF or CR. A CR ends its line at once, even as the last
// byte of a read; an LF that follows in the next read is swallowed. Comments are
// counted, the fields id and retry and all unknown ones are skipped, and an
// event without data is not dispatched. The one exception is an event named
// "error", which is dispatched without data too, so that a failure is not lost.
// (The standard dispatches an empty "data:" line; servers send that as a sign of
// life, so it is not an event here.)
//
// An event that lies whole in one read, with one data line, is handed out
// without a copy. Buffers grow only for an event that is cut by the end of a
// read, or has several data lines.
//
// The zero value is ready. A framer is for one stream and one goroutine and must
// not be copied after first use. It looks at each byte a bounded number of times
// whatever the cuts.
type Framer struct {
	read   []byte // the current read
	pos    int    // first byte of read that is not yet part of a taken line
	lf, cr int    // next LF and CR at or after pos, len(read) if none; stale when below pos

	line []byte // start of a line that an earlier read cut

	// The unfinished event. name and data are views of read or line while the
	// read is being iterated ("borrowed"), and of the buffers otherwise ("own").
	name, data       []byte
	nameBuf, dataBuf []byte

	event    Event
	err      error
	comments int
	limit    int // MaxEvent if 0; tests lower it

	nameOwn, dataOwn bool
	hasData          bool // the event has a data field, perhaps an empty one
	started          bool // the first line is over, and with it the BOM
	skipLF           bool // the last line ended with CR: an LF belongs to it
	closed           bool
	unfinished       bool // what Pending says once the framer is closed
}

// Push hands over the bytes of one read. The framer does not copy p unless it
// has to, so p must stay as it is until Next has returned false; after that it
// is the caller's again. Push panics when the read before has not been iterated
// to its end, and does nothing after an error or Close.
func (f *Framer) Push(p []byte) {
	if f.err != nil || f.closed {
		return
	}
	if f.pos < len(f.read) {
		panic("sse: Push before Next returned false")
	}
	f.read, f.pos, f.lf, f.cr = p, 0, -1, -1
}

// Next advances to the next event that the bytes so far complete. False means
// that more bytes are needed, or that Err is not nil, or that the framer is
// closed.
func (f *Framer) Next() bool {
	f.event = Event{}
	for f.err == nil && !f.closed {
		line, ok := f.nextLine()
		if !ok {
			return false
		}
		if f.take(line) {
			return true
		}
	}
	return false
}

// Event returns the event that the last Next found; an empty one if it found none.
func (f *Framer) Event() Event { return f.event }

// Err returns nil or a [*TooLongError], after which Next is false for ever.
func (f *Framer) Err() error { return f.err }

// Comments returns the number of comment lines so far. Servers send them as a
// sign of life during long prefills.
func (f *Framer) Comments() int { return f.comments }

// Pending reports whether there are bytes of an event that no blank line has
// ended: a line without its end, or a data or event field. It is meant for the
// time when Next has returned false, and keeps its answer after Close. After an
// error it is false.
func (f *Framer) Pending() bool {
	if f.closed || f.err != nil {
		return f.unfinished
	}
	onlyBOM := !f.started && string(f.line) == bom
	return len(f.line) > 0 && !onlyBOM || f.hasData || len(f.name) > 0
}

// Close says that the body has ended. The grammar discards an event that no
// blank line has ended; Pending tells that there was one. Buffers are released.
func (f *Framer) Close() {
	unfinished := f.Pending()
	*f = Framer{err: f.err, comments: f.comments, limit: f.limit, closed: true, unfinished: unfinished}
}

// Reset makes the framer ready for a new stream and keeps its buffers, unless
// they are large.
func (f *Framer) Reset() {
	f.shrink()
	*f = Framer{line: f.line[:0], nameBuf: f.nameBuf, dataBuf: f.dataBuf, limit: f.limit}
}

// nextLine takes the next whole line, without its end, off the read. When there
// is none, the rest of the read is put aside and the read is let go.
func (f *Framer) nextLine() ([]byte, bool) {
	if f.skipLF && f.pos < len(f.read) {
		f.skipLF = false
		if f.read[f.pos] == '\n' {
			f.pos++
		}
	}
	if f.pos == len(f.read) { // the usual end of a read, made short
		f.putAside(nil)
		return nil, false
	}
	end := f.lineEnd()
	rest := f.read[f.pos:end]
	if len(f.line)+len(rest) > f.max() {
		f.fail("line")
		return nil, false
	}
	if end == len(f.read) {
		f.putAside(rest)
		return nil, false
	}
	f.pos = end + 1
	f.skipLF = f.read[end] == '\r'
	if len(f.line) == 0 {
		return rest, true
	}
	// The line is finished but its bytes stay in place until putAside, which is
	// the only one to write there, after it has taken the event's views home.
	whole := append(f.line, rest...)
	f.line = whole[:0]
	return whole, true
}

// lineEnd returns the index of the next LF or CR in the read, or its length.
// Both positions are kept, so that a read full of one kind of line end is not
// searched again and again for the other.
func (f *Framer) lineEnd() int {
	if f.lf < f.pos {
		f.lf = indexFrom(f.read, f.pos, '\n')
	}
	if f.cr < f.pos {
		f.cr = indexFrom(f.read, f.pos, '\r')
	}
	return min(f.lf, f.cr)
}

func indexFrom(p []byte, from int, c byte) int {
	if i := bytes.IndexByte(p[from:], c); i >= 0 {
		return from + i
	}
	return len(p)
}

// take interprets one line and reports whether it completed an event.
func (f *Framer) take(line []byte) bool {
	if !f.started {
		f.started = true
		line = bytes.TrimPrefix(line, []byte(bom))
	}
	if len(line) == 0 {
		return f.dispatch()
	}
	field, value, colon := bytes.Cut(line, []byte{':'})
	if colon && len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(field) {
	case "data":
		f.addData(value)
	case "event":
		f.name, f.nameOwn = value, false
	case "":
		f.comments++
	}
	return false
}

// addData adds one data line to the unfinished event.
func (f *Framer) addData(value []byte) {
	if !f.hasData {
		f.data, f.dataOwn, f.hasData = value, false, true
		return
	}
	if len(f.data)+1+len(value) > f.max() {
		f.fail("event")
		return
	}
	f.ownData()
	f.dataBuf = append(f.dataBuf, '\n')
	f.dataBuf = append(f.dataBuf, value...)
	f.data = f.dataBuf
}

// dispatch ends the unfinished event and reports whether it is one.
func (f *Framer) dispatch() bool {
	found := len(f.data) > 0 || string(f.name) == errorName
	if found {
		f.event = Event{Name: f.name, Data: f.data}
	}
	f.name, f.data, f.hasData = nil, nil, false
	return found
}

// putAside ends the iteration of a read: what is needed later moves into the
// framer's own buffers. The order matters, see nextLine.
func (f *Framer) putAside(rest []byte) {
	f.ownData()
	f.ownName()
	f.line = append(f.line, rest...)
	if len(f.line) == 0 && !f.hasData && len(f.name) == 0 {
		f.shrink()
	}
	f.read, f.pos, f.lf, f.cr = nil, 0, -1, -1
}

func (f *Framer) ownData() {
	if f.hasData && !f.dataOwn {
		f.dataBuf = append(f.dataBuf[:0], f.data...)
		f.data, f.dataOwn = f.dataBuf, true
	}
}

func (f *Framer) ownName() {
	if len(f.name) > 0 && !f.nameOwn {
		f.nameBuf = append(f.nameBuf[:0], f.name...)
		f.name, f.nameOwn = f.nameBuf, true
	}
}

func (f *Framer) max() int {
	if f.limit > 0 {
		return f.limit
	}
	return MaxEvent
}

// fail ends the stream and lets all bytes go.
func (f *Framer) fail(what string) {
	*f = Framer{err: &TooLongError{What: what, Limit: f.max()}, comments: f.comments, limit: f.limit}
}

// shrink lets the buffers go if they are too large to keep for nothing.
func (f *Framer) shrink() {
	if cap(f.line)+cap(f.nameBuf)+cap(f.dataBuf) > idleBuffer {
		f.line, f.nameBuf, f.dataBuf = nil, nil, nil
	}
}
