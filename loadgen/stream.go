package loadgen

import (
	"crypto/sha256"
	"hash"
	"time"

	"lmxbench/sse"
)

// stream is the state of one request: it is fed the bytes of each read with
// the moment they arrived, and fills the record. It is used by one reader at a
// time, allocates per request and not per event, and knows no socket.
//
// The bytes go down one way, each step in a method of its own:
//
//	read ─▶ readHead, body.next ─▶ content ─▶ plain ─▶ event ─▶ take ─▶ token
//	        HTTP head and coding   Content-   stream,  sse      usage,  the
//	                               Encoding   or not   decoder  finish  columns
type stream struct {
	rec    *Record
	req    *Request
	head   []byte // bytes of the head so far
	inBody bool
	answer head
	body   body
	coded  *coded
	form   bodyForm
	framer sse.Framer
	with   *parser // of the reader at work
	hash   hash.Hash
	page   []byte // a body that is no stream, bounded

	events     int           // dispatched events
	tokens     int64         // output tokens the server has counted so far
	counted    bool          // every token event so far carried the count
	spoke      bool          // there was text in some channel
	whole      bool          // one JSON body came to its end
	usage      sse.Usage     // the last one seen; its bytes are in the record
	progress   time.Duration // last sign of life that stops the stall clock
	decided    time.Duration // the class was certain then, whatever follows
	now        time.Duration // moment of the current read
	before     time.Duration // moment of the read before; of the request at first
	inRead     int           // token events in the current read
	problem    problem
	closeAfter bool // the connection cannot serve another request
	ended      bool
}

// parser decodes events; the streams of one reader share it.
type parser struct {
	dec   sse.Decoder
	chunk sse.Chunk
}

// bodyForm is what the first bytes of a body look like.
type bodyForm uint8

const (
	formUnknown bodyForm = iota
	formStream
	formPage // JSON, HTML or anything else that is no event stream
)

// Bounds of what is kept of a body that is no stream: an answer asked for in
// one piece may be long, an error page need not be.
const (
	maxWhole   = 64 << 20
	maxPage    = 64 << 10
	maxExcerpt = 2 << 10
)

// newStream prepares the record and the columns for one request.
func newStream(req *Request) *stream {
	s := &stream{rec: &Record{}, req: req, hash: sha256.New(), counted: true}
	n := req.ExpectEvents
	s.rec.Events = Events{
		At: make([]int64, 0, n), Lag: make([]int64, 0, n),
		Bytes: make([]int32, 0, n), Tokens: make([]int32, 0, n),
	}
	if req.KeepText {
		s.rec.Text = make([]byte, 0, 8*n)
	}
	return s
}

// read takes the bytes of one read and reports whether the answer is complete
// or beyond saving. Two calls with the same moment are one read: a TLS
// connection hands over the records of one segment one by one.
func (s *stream) read(p []byte, m moment, with *parser) (ended bool) {
	s.with = with
	// Two reads of one segment may differ by what asking two clocks takes, a few
	// ns either way: time does not run backwards within a stream.
	m.at = max(m.at, s.now)
	if m.at != s.now {
		s.before, s.now, s.inRead = s.now, m.at, 0
	}
	if s.rec.T.FirstByte == 0 {
		s.rec.T.FirstByte, s.before = m.at, s.rec.T.Send
	}
	if !s.inBody {
		p = s.readHead(p, m)
	}
	for s.inBody && !s.ended {
		if s.body.done {
			s.closeAfter = s.closeAfter || len(p) > 0
			s.endBody(m)
			break
		}
		if len(p) == 0 {
			break
		}
		piece, rest, err := s.body.next(p)
		if err != nil {
			s.broken(err.Error(), m)
			break
		}
		if p = rest; len(piece) > 0 {
			s.content(piece, m)
		}
	}
	return s.ended
}

// readHead collects the head and returns the bytes after it. Interim answers
// are passed over.
func (s *stream) readHead(p []byte, m moment) []byte {
	s.head = append(s.head, p...)
	for len(s.head) > 0 {
		h, rest, err := cutHead(s.head)
		s.head = rest
		if err != nil {
			s.broken(err.Error(), m)
			return nil
		}
		if h == nil {
			return nil
		}
		if !h.interim() {
			s.head = nil
			s.startBody(h, m)
			return rest
		}
	}
	return nil
}

func (s *stream) startBody(h *head, m moment) {
	s.inBody, s.answer = true, *h
	s.rec.Status, s.rec.RetryAfter, s.rec.Redirect, s.rec.Coding = h.status, h.retryAfter, h.location, h.coding
	s.body = newBody(h.kind, h.length)
	s.closeAfter = h.close
	if !h.success() {
		s.form = formPage
		s.decide(m)
	}
	if h.coding != "" {
		c, err := newCoded(h.coding)
		if err != nil {
			s.broken(err.Error(), m)
			return
		}
		s.coded = c
	}
}

// content takes a piece of the body, still in its content coding if any.
func (s *stream) content(piece []byte, m moment) {
	if s.coded == nil {
		s.plain(piece, m)
		return
	}
	if err := s.coded.push(piece, func(p []byte) { s.plain(p, m) }); err != nil && !s.ended {
		s.broken(err.Error(), m)
	}
}

// plain takes a piece of the body's own bytes.
func (s *stream) plain(p []byte, m moment) {
	if s.ended {
		return
	}
	if s.form == formUnknown {
		s.form = sniff(p)
	}
	if s.form == formPage {
		s.keep(p, m)
		return
	}
	s.framer.Push(p)
	for !s.ended && s.framer.Next() {
		s.event(s.framer.Event(), m)
	}
	if err := s.framer.Err(); err != nil && !s.ended {
		s.broken(err.Error(), m)
	}
	if s.isStream() {
		s.page = nil
	} else { // it may turn out to be none
		s.page = append(s.page, p[:min(len(p), maxExcerpt-len(s.page))]...)
	}
}

// isStream reports whether the body has shown itself to be an event stream.
func (s *stream) isStream() bool { return s.events > 0 || s.framer.Comments() > 0 }

// sniff tells an event stream from other bodies by its first byte: no field
// name of an event stream begins with a brace, a bracket or a tag. The content
// type is not asked, since servers send streams under several. White space and
// a byte order mark may come before either.
func sniff(p []byte) bodyForm {
	for _, c := range p {
		switch c {
		case ' ', '\t', '\r', '\n', 0xEF, 0xBB, 0xBF:
			continue
		case '{', '[', '<':
			return formPage
		}
		return formStream
	}
	return formUnknown
}

// keep collects a body that is no stream up to its bound, where it ends it:
// what follows could change nothing.
func (s *stream) keep(p []byte, m moment) {
	bound := maxPage
	if s.answer.success() && !s.req.Stream {
		bound = maxWhole
	}
	room := bound - len(s.page)
	s.page = append(s.page, p[:min(room, len(p))]...)
	if len(p) <= room {
		return
	}
	if bound == maxWhole {
		s.fail(Malformed, "the body is longer than 64 MiB")
	}
	s.end(m)
}

// endBody ends an answer whose body is complete.
func (s *stream) endBody(m moment) {
	if s.coded != nil {
		if err := s.coded.finish(func(p []byte) { s.plain(p, m) }); err != nil {
			s.endCoded(err)
		}
	}
	if s.framer.Pending() && (s.rec.HasFinish || s.rec.Done) {
		s.rec.AbruptEnd = true // it ended inside an event
	}
	s.end(m)
}

// eof takes the end of the connection; err is nil for an orderly one.
func (s *stream) eof(err error, m moment) {
	if s.ended {
		return
	}
	s.closeAfter = true
	if s.inBody && s.body.kind == bodyUntilClose && err == nil {
		s.body.done = true
		s.endBody(m)
		return
	}
	s.cut(connectionError(err))
	s.end(m)
}

// end closes the record; nothing is taken after it.
func (s *stream) end(m moment) {
	if s.ended {
		return
	}
	s.ended = true
	s.rec.T.End = max(m.at, s.now)
	if !s.body.done {
		s.closeAfter = true
	}
	if s.coded != nil {
		s.coded.stop()
	}
}

// stale reports whether the connection, now closed, was a kept one that had
// gone out of use: it had served before and gave no byte of this answer.
func (s *stream) stale() bool { return s.rec.KeptAlive && s.rec.T.FirstByte == 0 }
