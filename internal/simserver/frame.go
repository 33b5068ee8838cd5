package simserver

import (
	"strconv"
	"time"
)

// stampDigits is the width of a Unix time in ns, from 2001 to 2286.
const stampDigits = 19

const (
	stampOpen  = `,"sim":{"sent_unix_ns":`
	stampBlank = `0000000000000000000`
	stampClose = `}}`
)

// eventKind names the events of a stream, in their order.
type eventKind int

const (
	roleEvent eventKind = iota
	contentEvent
	finishEvent // the finish reason, alone or on the last content
	usageEvent
	doneEvent
)

// event is one server-sent event before framing: the JSON of its data, and where
// in it the send time goes (stamp < 0 for none).
type event struct {
	kind   eventKind
	data   []byte
	stamp  int
	tokens int
}

// burst collects the events of one stream in one step. The buffers are reused:
// events are valid until the next reset.
type burst struct {
	events  []event
	payload []byte
	text    []byte
	now     time.Duration // the engine's time
}

func (b *burst) reset() {
	b.events = b.events[:0]
	b.payload = b.payload[:0]
}

// fill builds what a yield means for a stream: the role event before the first
// tokens, the content, and the closing events after the last.
func (b *burst) fill(st *stream, y yield) {
	b.reset()
	b.now = y.at
	d := &st.dialect
	if y.first && d.role != "" {
		b.choice(roleEvent, st, d.role)
	}
	bare := y.last && (!d.finishWithText || y.tokens == 0)
	if y.tokens > 0 {
		b.text = st.prose.appendTokens(b.text[:0], y.tokens)
		st.produced += y.tokens
		if y.last && !bare {
			b.content(finishEvent, y.tokens, st, d.closeA, st.finish, d.closeB)
		} else {
			b.content(contentEvent, y.tokens, st, d.end, "", "")
		}
	}
	if bare {
		b.choice(finishEvent, st, d.bareA, st.finish, d.bareB)
	}
	if y.last {
		b.closing(st)
	}
}

// closing adds usage, where asked for, and the end mark.
func (b *burst) closing(st *stream) {
	if st.usage != noUsage {
		start := len(b.payload)
		b.payload = append(b.payload, st.pre...)
		b.payload = append(b.payload, st.post...)
		b.payload = st.appendUsage(b.payload)
		b.payload = st.appendExtra(b.payload, b.now)
		b.seal(usageEvent, 0, start)
	}
	start := len(b.payload)
	b.payload = append(b.payload, "[DONE]"...)
	b.events = append(b.events, event{kind: doneEvent, data: b.payload[start:len(b.payload):len(b.payload)], stamp: -1})
}

// choice adds an event without text whose choice is the joined parts.
func (b *burst) choice(kind eventKind, st *stream, parts ...string) {
	start := len(b.payload)
	b.payload = append(b.payload, st.pre...)
	for _, p := range parts {
		b.payload = append(b.payload, p...)
	}
	b.payload = append(b.payload, st.post...)
	if kind == finishEvent && st.usage == noUsage && st.server.cfg.Profile.Flavor == LlamaCPP {
		b.payload = st.appendTimings(append(b.payload, ','), b.now)
	} else {
		b.perEvent(st)
	}
	b.seal(kind, 0, start)
}

// content adds an event with the text gathered in b.text.
func (b *burst) content(kind eventKind, tokens int, st *stream, a, reason, c string) {
	start := len(b.payload)
	p := append(b.payload, st.pre...)
	p = append(p, st.dialect.open...)
	p = append(p, b.text...)
	p = append(p, a...)
	p = append(p, reason...)
	p = append(p, c...)
	b.payload = append(p, st.post...)
	b.perEvent(st)
	b.seal(kind, tokens, start)
}

// perEvent adds the running usage and timings, where asked for.
func (b *burst) perEvent(st *stream) {
	if st.usage == continuousUsage {
		b.payload = st.appendUsage(b.payload)
	}
	if st.timings {
		b.payload = st.appendTimings(append(b.payload, ','), b.now)
	}
}

// seal ends an event's JSON with the blank send time.
func (b *burst) seal(kind eventKind, tokens, start int) {
	b.payload = append(b.payload, stampOpen...)
	at := len(b.payload) - start
	b.payload = append(b.payload, stampBlank...)
	b.payload = append(b.payload, stampClose...)
	// A later append may move the payload; the event then keeps the old array,
	// which stays valid.
	b.events = append(b.events, event{
		kind: kind, tokens: tokens, stamp: at,
		data: b.payload[start:len(b.payload):len(b.payload)],
	})
}

// putStamp writes a send time over its blank.
func putStamp(b []byte, unixNs int64) {
	for i := stampDigits - 1; i >= 0; i-- {
		b[i] = byte('0' + unixNs%10)
		unixNs /= 10
	}
}

// appendChunked appends the events as HTTP chunks, one each, and the offsets of their
// send times.
func appendChunked(out []byte, stamps []int, events []event) ([]byte, []int) {
	for i := range events {
		e := &events[i]
		out = strconv.AppendInt(out, int64(len(e.data)+len("data: \n\n")), 16)
		out = append(out, "\r\ndata: "...)
		if e.stamp >= 0 {
			stamps = append(stamps, len(out)+e.stamp)
		}
		out = append(out, e.data...)
		out = append(out, "\n\n\r\n"...)
	}
	return out, stamps
}

// lastChunk ends a chunked body.
const lastChunk = "0\r\n\r\n"
