package engine

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"time"

	"lmxbench/sse"
)

// reading is what one answer to a completion request held.
type reading struct {
	streamed    bool // it came as events
	tokenEvents int
	usageEvents int
	channels    sse.Channels
	finish      string
	done        bool // [DONE] came
	timings     bool // llama.cpp's timings came
	overrun     bool // reading was given up: far more events than tokens allowed

	prompt, completion, cached sse.Optional[int64]

	failed  bool
	failure string // what the server said of an error inside the answer
}

// overrunAt is the number of token events after which an answer is not read on:
// no packing of tokens into events gives so many.
func overrunAt(limit int) int { return 4*limit + 64 }

// readCompletion reads the answer to a completion request that was capped at
// limit tokens.
func (x *exchange) readCompletion(limit int) (reading, error) {
	if x.coded() {
		whole, err := x.readWhole()
		if err != nil {
			return reading{}, err
		}
		return x.readFrom(bytes.NewReader(whole.body), limit)
	}
	return x.readFrom(x, limit)
}

func (x *exchange) readFrom(source io.Reader, limit int) (reading, error) {
	var (
		r       reading
		framer  sse.Framer
		decoder sse.Decoder
		first   = true
		size    int
		buffer  = make([]byte, 32<<10)
	)
	for {
		if r.tokenEvents > 0 {
			x.bound()
		}
		n, err := source.Read(buffer)
		if n > 0 && first {
			first = false
			if !isEventStream(x.contentType, buffer[:n]) {
				return x.readOneAnswer(io.MultiReader(bytes.NewReader(buffer[:n]), pending(err, source)), &decoder)
			}
			r.streamed = true
		}
		if size += n; size > maxBody {
			return r, x.tooLarge()
		}
		framer.Push(buffer[:n])
		for framer.Next() {
			if fault := r.take(&decoder, framer.Event()); fault != nil {
				return r, x.broken(fault.Error())
			}
			if r.tokenEvents > overrunAt(limit) {
				r.overrun = true
				return r, nil
			}
		}
		switch {
		case framer.Err() != nil:
			return r, x.broken(framer.Err().Error())
		case errors.Is(err, io.EOF):
			return r, r.unfinished(x, &framer)
		case err != nil && (r.done || r.finish != "" && r.usageEvents > 0):
			return r, nil // cut after everything had come
		case err != nil && r.tokenEvents > 0 && isTimeout(err) && !x.ended():
			return r, x.silent()
		case err != nil:
			return r, x.fault(err)
		}
	}
}

// bound limits the wait for the next bytes.
func (x *exchange) bound() {
	if x.target.Silence > 0 && x.conn != nil {
		x.conn.SetReadDeadline(time.Now().Add(x.target.Silence))
	}
}

// silent explains a stream that did not go on.
func (x *exchange) silent() *Error {
	return &Error{
		Class: Stalled, Asked: x.target.asked(x.q), Status: x.status,
		Problem: "the stream fell silent for " + x.target.Silence.String() + " after a token",
		Advice:  "look at the server's log; --stall-timeout-seconds waits longer",
	}
}

// pending is the rest of a source whose last read gave err.
func pending(err error, source io.Reader) io.Reader {
	if err != nil {
		return failing{err}
	}
	return source
}

// failing is a reader that has come to its end or to its fault.
type failing struct{ err error }

// Read gives the fault.
func (f failing) Read([]byte) (int, error) { return 0, f.err }

// isEventStream judges an answer by what it says it is, and by its first bytes
// where that is wrong or missing.
func isEventStream(contentType string, first []byte) bool {
	if strings.Contains(strings.ToLower(contentType), "event-stream") {
		return true
	}
	first = bytes.TrimLeft(first, " \t\r\n\ufeff")
	for _, begin := range []string{"data:", "event:", "id:", "retry:", ":"} {
		if bytes.HasPrefix(first, []byte(begin)) {
			return true
		}
	}
	return false
}

// take adds one event.
func (r *reading) take(decoder *sse.Decoder, event sse.Event) error {
	var chunk sse.Chunk
	kind, err := decoder.DecodeEvent(event, &chunk)
	if err != nil {
		return err
	}
	switch kind {
	case sse.Done:
		r.done = true
	case sse.Failure:
		r.failed, r.failure = true, string(chunk.Error.Message)
		r.add(&chunk)
	case sse.Completion:
		r.add(&chunk)
	}
	return nil
}

func (r *reading) add(chunk *sse.Chunk) {
	if chunk.Channels != 0 {
		r.tokenEvents++
		r.channels |= chunk.Channels
	}
	if chunk.FinishReason != nil {
		r.finish = string(chunk.FinishReason)
	}
	if chunk.Usage.Raw != nil {
		r.usageEvents++
		r.prompt, r.completion, r.cached = chunk.Usage.Prompt, chunk.Usage.Completion, chunk.Usage.Cached
	}
	r.timings = r.timings || chunk.Timings != nil
}

// unfinished judges the end of a stream: what ended before a finish reason and
// before [DONE] was cut off.
func (r *reading) unfinished(x *exchange, framer *sse.Framer) error {
	framer.Close()
	if r.failed || r.done || r.finish != "" {
		return nil
	}
	if r.tokenEvents == 0 && !framer.Pending() {
		return x.broken("it ended without a single token")
	}
	return x.broken("it ended before a finish reason")
}

// readOneAnswer reads an answer that is one JSON document.
func (x *exchange) readOneAnswer(source io.Reader, decoder *sse.Decoder) (reading, error) {
	body, err := io.ReadAll(io.LimitReader(source, maxBody+1))
	x.body = body
	switch {
	case err != nil:
		return reading{}, x.fault(err)
	case len(body) > maxBody:
		return reading{}, x.tooLarge()
	}
	var r reading
	var chunk sse.Chunk
	if decoder.Decode(body, &chunk) != nil || !chunk.Object {
		return r, x.target.notOpenAI(x.q, x.answer, "a completion")
	}
	if chunk.Error.Raw != nil {
		r.failed, r.failure = true, string(chunk.Error.Message)
		return r, nil
	}
	if !chunk.HasChoices {
		return r, x.target.notOpenAI(x.q, x.answer, "a completion")
	}
	r.add(&chunk)
	return r, nil
}

// broken explains a stream that cannot be believed.
func (x *exchange) broken(problem string) *Error {
	return &Error{
		Class: StreamFailed, Asked: x.target.asked(x.q), Status: x.status,
		Problem: "the stream is broken: " + oneLine(problem, maxQuoted),
		Advice:  "look at the server's log, and at any proxy in between",
	}
}
