package sse

import "bytes"

// Decoder reads the data of events as chunks of a chat or text completion. The
// zero value is ready. A decoder keeps nothing from one event to the next except
// memory, so all streams of one goroutine can share one.
type Decoder struct {
	s       scanner
	text    []byte // decoded text of the chunk, choice by choice
	reason  []byte // decoded finish reason, if it had escapes
	message []byte // message of an error
}

// Decode reads data into c, whose old contents are dropped. It accepts "[DONE]"
// with white space around, and any JSON text; a value that is not an object
// leaves c empty, with Object false. Everything is checked: RFC 8259 to the end
// of the data, valid UTF-8, at most 512 levels of nesting. Of equal keys in one
// object the last counts. The error is nil or a [*SyntaxError]; c is then empty.
//
// Both forms of a choice are read: a delta of a stream, or, where delta is no
// object, a message of a complete answer. Text of a text completion stands for
// content where there is none. Content may be an array of parts; their text is
// joined.
func (d *Decoder) Decode(data []byte, c *Chunk) error {
	*c = Chunk{}
	d.text = d.text[:0]
	if isDone(data) {
		c.Done = true
		return nil
	}
	d.s.reset(data)
	if d.s.peek() == '{' {
		d.chunk(c)
	} else {
		d.s.value()
	}
	d.s.end()
	d.s.data = nil
	if fault := d.s.fault; fault != nil {
		*c = Chunk{}
		return fault
	}
	return nil
}

// isDone looks at the first byte first, since nearly all data starts with '{'.
func isDone(data []byte) bool {
	if len(data) == 0 || data[0] == '{' {
		return false
	}
	return string(bytes.Trim(data, jsonSpace)) == "[DONE]"
}

// chunk reads the outermost object.
func (d *Decoder) chunk(c *Chunk) {
	c.Object = true
	s := &d.s
	var kind, message, failure []byte
	start := s.pos
	for s.object(); s.member(); {
		switch string(s.key) {
		case "choices":
			d.choices(c)
		case "usage":
			s.usage(&c.Usage)
		case "timings":
			c.Timings = nil
			if raw := s.value(); len(raw) > 0 && raw[0] == '{' {
				c.Timings = raw
			}
		case "error":
			failure = s.value()
		case "object":
			kind = s.value()
		case "message":
			message = s.value()
		default:
			s.value()
		}
	}
	if s.fault != nil {
		return
	}
	if reportsError(failure) {
		d.report(c, failure, failure)
	} else if string(kind) == `"error"` {
		d.report(c, s.data[start:s.pos], message)
	}
}

// choices reads the value of "choices". What an equal key before it said is
// forgotten.
func (d *Decoder) choices(c *Chunk) {
	d.text = d.text[:0]
	c.HasChoices, c.Channels, c.FinishReason, c.Text, c.AllText = false, 0, nil, nil, nil
	s := &d.s
	if s.peek() != '[' {
		s.value()
		return
	}
	lmx := 0 // how much of text is Text
	for s.array(); s.element(); {
		n := d.choice(c)
		if !c.HasChoices {
			c.HasChoices = true
			lmx = n
		}
	}
	if len(d.text) > 0 {
		c.Text, c.AllText = d.text[:lmx:lmx], d.text
	}
}

// choice reads one element of choices, adds what it holds to c and to d.text,
// and returns how far reasoning and content reach in d.text.
func (d *Decoder) choice(c *Chunk) int {
	s := &d.s
	if s.peek() != '{' {
		s.value()
		return len(d.text)
	}
	var part, whole delta
	var text, reason []byte
	for s.object(); s.member(); {
		switch string(s.key) {
		case "delta":
			s.delta(&part)
		case "message":
			s.delta(&whole)
		case "text":
			text = s.value()
		case "finish_reason":
			reason = s.value()
		default:
			s.value()
		}
	}
	if s.fault != nil {
		return len(d.text)
	}
	if !part.object {
		part = whole
	}
	if c.FinishReason == nil && isText(reason) {
		c.FinishReason = d.finishReason(reason)
	}
	return d.addDelta(c, &part, text)
}

// finishReason decodes a finish reason, in the usual case without a copy.
func (d *Decoder) finishReason(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	d.reason = appendString(d.reason[:0], raw)
	return d.reason
}
