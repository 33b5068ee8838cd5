package sse

import "bytes"

// errorName is the name of an event that is an error whatever its data.
const errorName = "error"

// Kind is what an event is to a load generator.
type Kind int

// The kinds of events.
const (
	// Malformed comes with an error: the data should have been JSON and is not.
	Malformed Kind = iota
	// Completion is a chunk of the answer. It may hold text, usage, a finish
	// reason, timings, or nothing of interest: see the [Chunk].
	Completion
	// Done is the end mark "[DONE]".
	Done
	// Failure is an error sent by the server: Chunk.Error says which. The chunk
	// may hold text and usage as well.
	Failure
	// Skipped is an event that is no part of the answer, such as a ping. It
	// should be counted, since it shows that the server is alive.
	Skipped
)

// String returns the kind in lower case.
func (k Kind) String() string {
	switch k {
	case Malformed:
		return "malformed"
	case Completion:
		return "completion"
	case Done:
		return "done"
	case Failure:
		return "failure"
	case Skipped:
		return "skipped"
	}
	return "unknown"
}

// DecodeEvent decodes the data of an event into c, like Decode, and judges the
// event:
//
//   - An event named "error" is a Failure whatever its data, also "[DONE]", broken
//     JSON, or none.
//   - Data that is no JSON is Skipped if the event has a name other than
//     "message", the standard's default, and the data does not start like an
//     object. Servers that name all their events still may not send broken
//     chunks.
//   - Data of white space only, and JSON that is no object, is Skipped.
//   - A chunk that reports an error is a Failure. See [Chunk.Error].
//
// The error is nil or a [*SyntaxError], then with the kind Malformed.
func (d *Decoder) DecodeEvent(ev Event, c *Chunk) (Kind, error) {
	err := d.Decode(ev.Data, c)
	if string(ev.Name) == errorName {
		d.reportEvent(c, ev.Data)
		return Failure, nil
	}
	switch {
	case err != nil && isForeign(ev):
		return Skipped, nil
	case err != nil:
		return Malformed, err
	case c.Done:
		return Done, nil
	case c.Error.Raw != nil:
		return Failure, nil
	case !c.Object:
		return Skipped, nil
	}
	return Completion, nil
}

// isForeign tells of data that is no JSON whether it did not mean to be.
func isForeign(ev Event) bool {
	data := bytes.TrimLeft(ev.Data, jsonSpace)
	if len(data) == 0 {
		return true
	}
	named := len(ev.Name) > 0 && string(ev.Name) != "message"
	return named && data[0] != '{'
}

// reportEvent makes the data of an event named "error" the error, unless the
// decoded chunk reports one of its own.
func (d *Decoder) reportEvent(c *Chunk, data []byte) {
	c.Done = false
	if c.Error.Raw != nil {
		return
	}
	if c.Error.Raw = data; data == nil {
		c.Error.Raw = []byte{} // an error without data is one all the same
	}
	if c.Object {
		c.Error.Message = d.findMessage(data, bytes.TrimLeft(data, jsonSpace))
		return
	}
	c.Error.Message = excerpt(bytes.ToValidUTF8(data[:min(len(data), 2*maxMessage)], []byte("\ufffd")))
}
