package sse

import (
	"bytes"
	"unicode/utf8"
)

// maxMessage is the longest message of an error that is kept, in bytes.
const maxMessage = 512

// reportsError tells for a top-level "error" member whether it reports one: an
// object, a string, or any other value except null and false.
func reportsError(raw []byte) bool {
	return !isNull(raw) && raw[0] != 'f'
}

// report notes an error. source is the JSON value that may hold a message.
func (d *Decoder) report(c *Chunk, raw, source []byte) {
	c.Error = ErrorReport{Raw: raw, Message: d.findMessage(raw, source)}
}

// findMessage returns the message in source, which is either a string or an
// object with a member "message"; the start of raw if it is neither.
func (d *Decoder) findMessage(raw, source []byte) []byte {
	if len(source) > 0 && source[0] == '{' {
		s := scanner{data: source}
		source = s.pick("message")
	}
	if len(source) > 0 && source[0] == '"' {
		d.message = appendString(d.message[:0], source)
	} else {
		d.message = append(d.message[:0], raw[:min(len(raw), 2*maxMessage)]...)
	}
	return excerpt(d.message)
}

// excerpt cuts text to maxMessage bytes without cutting a character.
func excerpt(text []byte) []byte {
	if len(text) <= maxMessage {
		return text
	}
	end := maxMessage
	for end > maxMessage-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// BodyError looks at a whole body that is no stream. It reports whether the body
// is a JSON object that reports an error, as a chunk would, and its message, at
// most 512 bytes. A body that is anything else, also an error in another form or
// broken JSON, is not one. It is for failed requests and may allocate.
func BodyError(body []byte) (msg string, isError bool) {
	var d Decoder
	var c Chunk
	if err := d.Decode(bytes.TrimPrefix(body, []byte(bom)), &c); err != nil || c.Error.Raw == nil {
		return "", false
	}
	return string(c.Error.Message), true
}
