package loadgen

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"unicode/utf8"

	"lmxbench/sse"
)

// problem is the first thing that went wrong with an answer.
type problem struct {
	outcome Outcome
	text    string
}

// fail keeps the first problem.
func (s *stream) fail(outcome Outcome, text string) {
	if s.problem.outcome == "" {
		s.problem = problem{outcome, oneLine(text)}
	}
}

// broken ends an answer whose bytes are not the protocol.
func (s *stream) broken(text string, m moment) {
	s.fail(Malformed, text)
	s.end(m)
}

// decide notes that the class is certain; the rest of the body is only waited
// for so that the connection can be kept.
func (s *stream) decide(m moment) {
	if s.decided == 0 {
		s.decided = m.at
	}
}

// complete reports whether an answer that is cut now lacks nothing.
func (s *stream) complete() bool { return s.rec.Done || (s.rec.HasFinish && s.rec.Usage != nil) }

// cut judges an answer that ended before its body did.
func (s *stream) cut(how string) {
	if s.complete() {
		s.rec.AbruptEnd = true
		return
	}
	s.fail(Truncated, "the connection ended "+s.where()+": "+how)
}

// endCoded judges a coded body that ended before its coding did, or with one
// that is broken.
func (s *stream) endCoded(err error) {
	switch {
	case !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		s.fail(Malformed, err.Error())
	case s.complete():
		s.rec.AbruptEnd = true
	default:
		s.fail(Truncated, "the body ended "+s.where()+", inside its content coding")
	}
}

// where says in words how far the answer had come.
func (s *stream) where() string {
	switch {
	case s.rec.T.FirstByte == 0:
		return "before the first byte of the answer"
	case !s.inBody:
		return "inside the head of the answer"
	case s.rec.T.FirstToken == 0:
		return "before the first token"
	}
	return fmt.Sprintf("after %d token events", len(s.rec.Events.At))
}

func connectionError(err error) string {
	switch {
	case err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return "closed by the server"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "reset by the server"
	}
	return err.Error()
}

// stop ends a request that is given up by the client.
func (s *stream) stop(cause error, m moment) {
	if s.ended {
		return
	}
	s.closeAfter = true
	var late deadline
	switch {
	case !errors.As(cause, &late):
		s.fail(Cancelled, stopText(cause))
	case s.complete(): // only its end never came: what was last read is its end
		s.rec.AbruptEnd = true
		m.at = s.now
	case s.problem.outcome == "":
		s.rec.ErrorPhase = late.phase
		s.fail(Timeout, late.Error())
	}
	s.end(m)
}

// stopText says why the run was stopped.
func stopText(cause error) string {
	if cause == nil || errors.Is(cause, context.Canceled) {
		return "the run was stopped"
	}
	return cause.Error()
}

// finish puts the request into its class and completes the record. It is
// called once, after the end.
func (s *stream) finish(with *parser) *Record {
	r := s.rec
	s.with = with
	if s.answer.success() && s.form == formPage && s.problem.outcome == "" {
		s.judgePage()
	}
	if len(r.Events.Tokens) != len(r.Events.At) || len(r.Events.At) == 0 {
		r.Events.Tokens = nil
	}
	r.PromptTokens, r.OutputTokens, r.CachedTokens = pointer(s.usage.Prompt), pointer(s.usage.Completion), pointer(s.usage.Cached)
	r.UsageInvalid = s.usage.Invalid
	copy(r.OutputSHA256[:], s.hash.Sum(nil))
	r.Outcome, r.Error = s.class()
	if r.Outcome != OK && len(s.page) > 0 {
		r.BodyExcerpt = excerpt(s.page, maxExcerpt)
	}
	return r
}

func pointer(n sse.Optional[int64]) *int64 {
	if !n.Known {
		return nil
	}
	return &n.Value
}

// class applies the rules of docs/outcomes.md; a status that is an error comes
// first, whatever became of its body, and then the first problem.
func (s *stream) class() (Outcome, string) {
	r := s.rec
	switch {
	case r.Status != 0 && !s.answer.success():
		r.ErrorPhase = ""
		return HTTPError, oneLine(httpErrorText(r, s.page))
	case s.problem.outcome != "":
		return s.problem.outcome, s.problem.text
	case s.form == formStream && !s.isStream() && !startsStream(s.page):
		return Malformed, oneLine("the body is no event stream: " + firstLine(s.page))
	case !r.HasFinish && !r.Done && !s.whole:
		return Truncated, "the answer ended " + s.where() + " without a finish reason or [DONE]"
	case !s.spoke:
		return Empty, "the answer has no token"
	case s.req.Demand > 0 && r.OutputTokens != nil && *r.OutputTokens < int64(s.req.Demand):
		return Short, fmt.Sprintf("%d of %d demanded tokens", *r.OutputTokens, s.req.Demand)
	}
	return OK, ""
}

// startsStream tells the start of an event that never ended from other text.
func startsStream(p []byte) bool {
	p = bytes.TrimLeft(p, "\ufeff \t\r\n")
	field, _, _ := bytes.Cut(p, []byte(":"))
	switch string(field) {
	case "data", "event", "id", "retry":
		return true
	}
	return false
}

// judgePage reads a 2xx body that is no event stream: the answer itself where
// one piece was asked for, else an error.
func (s *stream) judgePage() {
	if msg, isError := sse.BodyError(s.page); isError {
		s.failure(msg, moment{at: s.rec.T.End})
		return
	}
	if s.req.Stream {
		s.fail(Malformed, "the body is no event stream: "+firstLine(s.page))
		return
	}
	c := &s.with.chunk
	if err := s.with.dec.Decode(s.page, c); err != nil {
		s.fail(Malformed, err.Error())
		return
	}
	if !c.HasChoices {
		s.fail(Malformed, "the body is no completion: "+firstLine(s.page))
		return
	}
	s.whole = true
	s.account(c)
	if c.Channels != 0 {
		s.text(c)
	}
	if len(c.FinishReason) > 0 {
		s.finishReason(string(c.FinishReason), moment{at: s.rec.T.End})
	}
}

func httpErrorText(r *Record, page []byte) string {
	text := fmt.Sprintf("HTTP status %d", r.Status)
	if r.Redirect != "" {
		return text + ": redirect to " + r.Redirect + ", not followed; give that address as the base URL"
	}
	if msg, isError := sse.BodyError(page); isError && msg != "" {
		return text + ": " + msg
	}
	return text
}

// oneLine makes text from outside fit for a message: one line of at most 512
// bytes of valid UTF-8.
func oneLine(text string) string {
	line := strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\ufffd"), func(r rune) bool { return r < ' ' || r == 0x7f }), " ")
	return excerpt([]byte(line), 512)
}

// excerpt is the start of p as valid UTF-8 of at most n bytes.
func excerpt(p []byte, n int) string {
	text := strings.ToValidUTF8(string(p[:min(len(p), n)]), "\ufffd")
	for len(text) > n {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text
}
