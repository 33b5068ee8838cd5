package loadgen

import "lmxbench/sse"

// event takes one dispatched event: here its data becomes a line of the record.
func (s *stream) event(ev sse.Event, m moment) {
	s.events++
	if s.rec.T.FirstEvent == 0 {
		s.rec.T.FirstEvent = m.at
	}
	c := &s.with.chunk
	kind, err := s.with.dec.DecodeEvent(ev, c)
	switch kind {
	case sse.Completion:
		s.take(c, len(ev.Data), m)
		return
	case sse.Malformed:
		s.broken(err.Error(), m)
		return
	case sse.Done:
		s.rec.Done = true
		s.decide(m)
	case sse.Failure:
		s.failure(string(c.Error.Message), m)
	}
	s.rec.OtherEvents++
}

// take books one chunk of the answer. Behind [DONE] nothing counts.
func (s *stream) take(c *sse.Chunk, size int, m moment) {
	if s.rec.Done {
		s.rec.OtherEvents++
		return
	}
	s.account(c)
	if c.Channels != 0 {
		s.token(c, size, m)
	} else {
		s.rec.OtherEvents++
	}
	if c.HasChoices {
		s.progress = m.at
	}
	if len(c.FinishReason) > 0 && !s.rec.HasFinish {
		s.finishReason(string(c.FinishReason), m)
	}
}

// token books an event that carries text in any channel.
func (s *stream) token(c *sse.Chunk, size int, m moment) {
	t := &s.rec.T
	if t.FirstToken == 0 {
		t.FirstToken = m.at
	}
	if c.Channels&sse.Content != 0 && t.FirstContent == 0 {
		t.FirstContent = m.at
	}
	t.LastToken = m.at
	if len(c.Text) > 0 {
		if t.FirstLmx == 0 {
			t.FirstLmx = m.at
		}
		t.LastLmx = m.at
	}
	s.text(c)

	e := &s.rec.Events
	e.At = append(e.At, int64(m.at))
	lag := int64(m.lag)
	if !m.stamped {
		lag = NoStamp
	}
	e.Lag = append(e.Lag, lag)
	e.Bytes = append(e.Bytes, int32(size))
	s.count(c)
	if s.inRead++; s.inRead > 1 && s.late(m) {
		s.rec.LateMerged++
	}
}

// text adds the chunk's text to the hash, and to the record where it is kept.
func (s *stream) text(c *sse.Chunk) {
	s.spoke = true
	s.hash.Write(c.AllText)
	if s.req.KeepText || !s.req.Stream {
		s.rec.Text = append(s.rec.Text, c.Text...)
	}
}

// late reports whether a read that holds several events does so because this
// client came late. Events of several steps in one read have lain unread for
// half of the time since the stream's previous read, or more; a third is enough,
// since what is known of the lateness is its lower bound. What a server packs
// into one write is read promptly and is not counted.
func (s *stream) late(m moment) bool {
	return s.before > 0 && m.blind > 0 && m.blind >= (m.at-s.before)/3
}

// count keeps the tokens of each event while the server counts as it goes.
func (s *stream) count(c *sse.Chunk) {
	if !s.counted {
		return
	}
	e := &s.rec.Events
	n, known := c.Usage.Completion.Value, c.Usage.Completion.Known
	if !known || n < s.tokens || n-s.tokens > 1<<30 {
		s.counted = false
		return
	}
	e.Tokens = append(e.Tokens, int32(n-s.tokens))
	s.tokens = n
}

// account keeps the last usage and timings objects seen.
func (s *stream) account(c *sse.Chunk) {
	if len(c.Usage.Raw) > 0 {
		s.rec.Usage = append(s.rec.Usage[:0], c.Usage.Raw...)
		s.usage = c.Usage
		s.usage.Raw = nil // a view that does not last
	}
	if len(c.Timings) > 0 {
		s.rec.Timings = append(s.rec.Timings[:0], c.Timings...)
	}
}

func (s *stream) finishReason(reason string, m moment) {
	s.rec.HasFinish, s.rec.FinishReason, s.rec.T.Finish = true, reason, m.at
	if reason == "error" || reason == "abort" {
		s.failure("the server ended the answer with finish reason "+reason, m)
	}
}

// failure notes an error inside a 2xx answer.
func (s *stream) failure(message string, m moment) {
	if message == "" {
		message = "the server reported an error without a message"
	}
	s.fail(StreamError, message)
	s.decide(m)
}
