package simserver

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"time"
)

// handle answers one request and says whether the connection lives on.
func (s *Server) handle(x *exchange) bool {
	path := string(x.req.URI().Path())
	method := string(x.req.Header.Method())
	if !s.authorized(path, x.req.Header.Peek("Authorization")) {
		return x.conn.answer(s.unauthorized())
	}
	chat := path == "/v1/chat/completions"
	if chat || path == "/v1/completions" {
		if method != "POST" {
			return x.conn.answer(s.wrongMethod())
		}
		return s.complete(x, chat)
	}
	a, ok := s.side(method, path)
	switch {
	case !ok:
		a = s.notFound()
	case method != "GET" && path != "/sim/reset":
		a = s.wrongMethod()
	}
	return x.conn.answer(a)
}

// complete serves one completion from its body to its last byte.
func (s *Server) complete(x *exchange, chat bool) bool {
	ordinal := s.stats.open()
	defer s.stats.inFlight.Add(-1)
	rec := &Record{Request: ordinal, Conn: x.conn.id, Recv: x.recv, RecvSource: "user", Read: x.read}
	rec.Nonce, _ = splitNonce(x.req.Body())
	if x.kernel {
		rec.RecvSource = "kernel"
	}
	req, refused := parseRequest(x.req.Body())
	if refused != nil {
		return s.turnAway(x, rec, s.refuse(refused))
	}
	fault, refused := s.faultFor(x, ordinal, req.SimFault)
	if refused == nil && fault.Fault != nil {
		rec.Fault = fault.Name
		switch p := &fault.plan; {
		case p.mute:
			x.conn.hold()
			rec.Outcome, rec.Finish = "aborted", unixNano()
			s.records.add(rec)
			return false
		case p.answer != nil:
			return s.turnAway(x, rec, p.answer(s, fault))
		case p.refuses != "":
			refused = rejection(p.refuses, x.req.Body())
		}
	}
	if refused != nil {
		return s.turnAway(x, rec, s.refuse(refused))
	}
	st, refused := s.newStream(x, req, chat, rec)
	if refused != nil {
		return s.turnAway(x, rec, s.refuse(refused))
	}
	if fault.Fault != nil {
		st.arm(fault)
	}
	x.conn.release()
	return s.serveStream(st)
}

// turnAway answers a request that gets no stream.
func (s *Server) turnAway(x *exchange, rec *Record, a answer) bool {
	rec.Outcome, rec.Status, rec.Finish = "refused", a.status, unixNano()
	s.records.add(rec)
	return x.conn.answer(a)
}

// serveStream queues a stream, waits for its end and says whether the
// connection lives on.
func (s *Server) serveStream(st *stream) bool {
	c, w := st.conn, st.fault
	st.record.Status = 200
	if !s.begin(st) {
		st.publish("aborted", unixNano())
		return false
	}
	if !c.await(st) {
		return false
	}
	if !st.streaming {
		return c.answer(s.whole(st))
	}
	if w == nil {
		return true
	}
	c.out.trickle = false
	if w.reset {
		c.reset()
	}
	return !w.hungUp
}

// begin sends a stream's head and queues it.
func (s *Server) begin(st *stream) bool {
	w := st.fault
	if w != nil && w.plan.late && !st.conn.pause(w.delay) {
		return false
	}
	if st.streaming {
		if _, err := st.conn.nc.Write(s.streamHead(w)); err != nil {
			return false
		}
	}
	return s.submit(st)
}

// arm gives a stream its fault.
func (st *stream) arm(a armed) {
	if a.plan.prepare != nil {
		a.plan.prepare(st)
	}
	if st.streaming {
		st.fault = newWire(st, a)
	}
}

// newStream validates a request and prepares everything its writer needs.
func (s *Server) newStream(x *exchange, req *request, chat bool, rec *Record) (*stream, *refusal) {
	p := &s.cfg.Profile
	d, refused := req.validate(p, chat)
	if refused != nil {
		return nil, refused
	}
	st := &stream{
		server: s, conn: x.conn, chat: chat, dialect: dialectFor(p.Flavor, chat),
		streaming: req.Stream, usage: d.usage, timings: req.TimingsPerToken, finish: "length", created: x.read / int64(time.Second),
		record: rec, done: make(chan struct{}), arrived: s.since(x.recv),
		job: job{prompt: d.prompt, limit: d.limit, perEvent: 1},
	}
	if d.stop {
		st.finish = "stop"
	}
	st.job.stream = st
	_, text := splitNonce(d.text)
	st.prose = newProse(s.textSeed(text, req, rec.Request))
	st.id = streamID(chat, s.created, rec.Request)
	st.encodeHead()
	rec.Stream, rec.PromptTokens = req.Stream, d.prompt
	s.records.reserve(rec, d.limit)
	return st, nil
}

// textSeed makes the answer a function of the prompt at temperature 0, and of
// the request too otherwise.
func (s *Server) textSeed(text []byte, req *request, ordinal int) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(text)
	seed := h.Sum64() ^ s.cfg.Seed
	if req.Temperature == nil || *req.Temperature > 0 {
		seed ^= uint64(ordinal) * 0x9e3779b97f4a7c15
	}
	return seed
}

func streamID(chat bool, created int64, ordinal int) string {
	kind := "cmpl"
	if chat {
		kind = "chatcmpl"
	}
	return fmt.Sprintf("%s-%08x%08x", kind, uint32(created), uint32(ordinal))
}

// since converts a Unix time in ns to the server's clock.
func (s *Server) since(unixNs int64) time.Duration {
	now := time.Now()
	return now.Sub(s.origin) - time.Duration(now.UnixNano()-unixNs)
}

// streamHead is the response head of a stream.
func (s *Server) streamHead(w *wire) []byte {
	b := s.appendHead(nil, 200)
	b = append(b, "content-type: text/event-stream; charset=utf-8\r\n"...)
	if w != nil && w.plan.head != nil {
		b = append(b, w.plan.head(w)...)
	} else {
		b = append(b, "Transfer-Encoding: chunked\r\n"...)
	}
	return append(b, "\r\n"...)
}

// whole is the answer to a request without streaming.
func (s *Server) whole(st *stream) answer {
	object, choice := "text_completion", map[string]any{
		"index": 0, "text": string(st.text), "logprobs": nil, "finish_reason": st.finish,
	}
	if st.chat {
		object = "chat.completion"
		choice = map[string]any{
			"index": 0, "logprobs": nil, "finish_reason": st.finish,
			"message": map[string]any{"role": "assistant", "content": string(st.text), "refusal": nil, "reasoning": nil},
		}
	}
	body := map[string]any{
		"id": st.id, "object": object, "created": st.created, "model": s.cfg.Profile.Model,
		"choices": []any{choice},
		"usage":   json.RawMessage(append(st.appendUsageFields([]byte("{")), '}')),
		"sim":     map[string]int64{"sent_unix_ns": unixNano()},
	}
	if s.cfg.Profile.Flavor == LlamaCPP {
		timings := st.appendTimings(nil, st.lastAt)
		body["timings"] = json.RawMessage(timings[len(`"timings":`):])
	}
	return jsonAnswer(200, body)
}
