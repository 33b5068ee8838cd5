package loadgen_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lmxbench/loadgen"
)

// seen is what a row of the table states of a record. Counts that a row does
// not name are zero: nothing of the sort was seen.
type seen struct {
	Outcome    loadgen.Outcome
	Phase      loadgen.Phase
	Status     int
	Tokens     int // token events
	Other      int
	Finish     string
	Done       bool
	Abrupt     bool
	Output     int // output tokens the server reported
	Text       string
	Coding     string
	Redirect   string
	RetryAfter string
}

func project(r *loadgen.Record) seen {
	s := seen{
		Outcome: r.Outcome, Phase: r.ErrorPhase, Status: r.Status, Tokens: len(r.Events.At), Other: r.OtherEvents,
		Finish: r.FinishReason, Done: r.Done, Abrupt: r.AbruptEnd, Text: string(r.Text), Coding: r.Coding,
		Redirect: r.Redirect, RetryAfter: r.RetryAfter,
	}
	if r.OutputTokens != nil {
		s.Output = int(*r.OutputTokens)
	}
	return s
}

type row struct {
	claim  string
	answer answer
	plain  bool // the request asks for one JSON body, not a stream
	want   seen
	text   string // a part of Record.Error
	fresh  bool   // the next request needs a new connection although the server kept this one
	config func(*loadgen.Config)
}

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.String()
}

// ok is what a complete stream of two tokens gives.
var ok = seen{Outcome: loadgen.OK, Status: 200, Tokens: 2, Other: 4, Finish: "length", Done: true, Output: 2, Text: "ab"}

// with returns s changed by f.
func with(s seen, f func(*seen)) seen { f(&s); return s }

// limit is short enough to wait for and long enough for a busy machine to answer.
const limit = 500 * time.Millisecond

func firstTokenLimit(c *loadgen.Config) { c.FirstTokenTimeout = limit }
func stallLimit(c *loadgen.Config)      { c.StallTimeout = limit }
func totalLimit(c *loadgen.Config)      { c.RequestTimeout = limit }

const (
	body200  = "HTTP/1.1 200 OK\r\n"
	whole200 = `{"choices":[{"index":0,"message":{"role":"assistant","reasoning":"r","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`
)

func rows() []row {
	all := strings.Join(whole(), "")
	unfinished := []string{roleEvent, token("a"), token("b")}
	cutOff := seen{Outcome: loadgen.Truncated, Status: 200, Tokens: 2, Other: 1, Text: "ab"}
	return []row{
		// Clean ends.
		{claim: "a chunked stream to its end is ok", answer: chunked(keep, whole()...), want: ok},
		{claim: "a stream with a content length is ok", answer: sized(keep, "200 OK", "", all), want: ok},
		{claim: "a stream that ends with the connection is ok", answer: raw(shut, body200+"\r\n"+all), want: ok},
		{claim: "an HTTP/1.0 stream is ok", answer: raw(shut, "HTTP/1.0 200 OK\r\n\r\n"+all), want: ok},
		{claim: "an HTTP/1.0 answer without keep-alive ends the connection", answer: raw(keep, "HTTP/1.0 200 OK\r\nContent-Length: "+fmt.Sprint(len(all))+"\r\n\r\n"+all), want: ok, fresh: true},
		{claim: "Connection: close is obeyed", answer: sized(keep, "200 OK", "Connection: close\r\n", all), want: ok, fresh: true},
		{claim: "interim answers before the real one are skipped", answer: raw(keep, "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"+body200+"Content-Length: "+fmt.Sprint(len(all))+"\r\n\r\n"+all), want: ok},
		{claim: "trailers are skipped", answer: raw(keep, strings.Join(cut(keep, whole()...).pieces, "")+"0\r\nX-Sum: 1\r\n\r\n"), want: ok},
		{claim: "chunk extensions and bare line feeds are taken", answer: raw(keep, chunkedHead+fmt.Sprintf("%X;a=b\n%s\n0\n\n", len(all), all)), want: ok},
		{claim: "a gzip body is decoded and named", answer: sized(keep, "200 OK", "Content-Encoding: gzip\r\n", gzipped(all)), want: with(ok, func(s *seen) { s.Coding = "gzip" })},
		{claim: "[DONE] without a finish reason is ok", answer: chunked(keep, token("a"), doneEvent), want: seen{Outcome: loadgen.OK, Status: 200, Tokens: 1, Other: 1, Done: true, Text: "a"}},
		{claim: "a finish reason without [DONE] is ok", answer: chunked(keep, token("a"), finish("stop")), want: seen{Outcome: loadgen.OK, Status: 200, Tokens: 1, Other: 1, Finish: "stop", Text: "a"}},
		{claim: "bytes behind the body in the same read end the connection", answer: raw(keep, sized(keep, "200 OK", "", all).pieces[0]+"extra"), want: ok, fresh: true},
		{claim: "a stream in answer to a request for one body is a stream", answer: chunked(keep, whole()...), plain: true, want: ok},

		// Ends that are not clean.
		{claim: "a cut behind [DONE] is ok and abrupt", answer: cut(shut, whole()...), want: with(ok, func(s *seen) { s.Abrupt = true })},
		{claim: "a cut behind finish reason and usage is ok and abrupt", answer: cut(shut, token("a"), finish("stop"), usage(1, 1)), want: seen{Outcome: loadgen.OK, Status: 200, Tokens: 1, Other: 2, Finish: "stop", Output: 1, Abrupt: true, Text: "a"}},
		{claim: "a cut behind the finish reason alone is truncated", answer: cut(shut, token("a"), finish("stop")), want: seen{Outcome: loadgen.Truncated, Status: 200, Tokens: 1, Other: 1, Finish: "stop", Text: "a"}, text: "closed by the server"},
		{claim: "a connection closed between tokens is truncated", answer: cut(shut, unfinished...), want: cutOff, text: "after 2 token events: closed by the server"},
		{claim: "a connection reset between tokens is truncated", answer: cut(reset, unfinished...), want: cutOff, text: "the connection ended"},
		{claim: "a cut inside a chunk is truncated", answer: raw(shut, strings.Join(cut(keep, unfinished...).pieces, "")+"ff\r\ndata: {\"cho"), want: cutOff},
		{claim: "an orderly end without finish reason or [DONE] is truncated", answer: chunked(keep, unfinished...), want: cutOff, text: "without a finish reason"},
		{claim: "a body shorter than its length is truncated", answer: raw(shut, body200+"Content-Length: 100000\r\n\r\n"+strings.Join(unfinished, "")), want: cutOff, text: "closed by the server"},
		{claim: "a length shorter than the body cuts the stream", answer: raw(keep, body200+fmt.Sprintf("Content-Length: %d\r\n\r\n", len(strings.Join(unfinished, "")))+all), want: cutOff, fresh: true},
		{claim: "a first connection that closes without a byte is truncated", answer: raw(shut), want: seen{Outcome: loadgen.Truncated}, text: "before the first byte"},
		{claim: "a first connection that is reset without a byte is truncated", answer: raw(reset), want: seen{Outcome: loadgen.Truncated}, text: "before the first byte"},
		{claim: "half a head is truncated", answer: raw(shut, "HTTP/1.1 200 OK\r\nContent-"), want: seen{Outcome: loadgen.Truncated}, text: "inside the head"},
		{claim: "a head and the end of the connection is an empty body", answer: raw(shut, body200+"\r\n"), want: seen{Outcome: loadgen.Truncated, Status: 200}},
		{claim: "an empty body is truncated", answer: sized(keep, "200 OK", "", ""), want: seen{Outcome: loadgen.Truncated, Status: 200}},
		{claim: "a body of white space is truncated", answer: sized(keep, "200 OK", "", " \r\n\n "), want: seen{Outcome: loadgen.Truncated, Status: 200}},
		{claim: "status 204 is an empty body", answer: raw(keep, "HTTP/1.1 204 No Content\r\n\r\n"), want: seen{Outcome: loadgen.Truncated, Status: 204}},
		{claim: "a body of comments only is truncated", answer: chunked(keep, ": ping\n\n", ": ping\n\n"), want: seen{Outcome: loadgen.Truncated, Status: 200}},
		{claim: "a first event without its end is truncated", answer: chunked(keep, "data: {\"choices\":"), want: seen{Outcome: loadgen.Truncated, Status: 200}},
		{claim: "an empty gzip body is truncated", answer: sized(keep, "200 OK", "Content-Encoding: gzip\r\n", ""), want: seen{Outcome: loadgen.Truncated, Status: 200, Coding: "gzip"}},
		{claim: "a gzip stream without its end is truncated", answer: sized(keep, "200 OK", "Content-Encoding: gzip\r\n", gzipped(strings.Join(unfinished, ""))[:60]), want: seen{Outcome: loadgen.Truncated, Status: 200, Coding: "gzip"}},
		{claim: "a stream without tokens is empty", answer: chunked(keep, roleEvent, finish("stop"), usage(3, 0), doneEvent), want: seen{Outcome: loadgen.Empty, Status: 200, Other: 4, Finish: "stop", Done: true}},

		// Errors of the server.
		{claim: "an error object in a stream is a stream error", answer: chunked(keep, token("a"), "data: {\"error\":{\"message\":\"engine\\ndied\"}}\n\n", doneEvent), want: seen{Outcome: loadgen.StreamError, Status: 200, Tokens: 1, Other: 2, Done: true, Text: "a"}, text: "engine died"},
		{claim: "an error event is a stream error", answer: chunked(keep, "event: error\ndata: oh\n\n"), want: seen{Outcome: loadgen.StreamError, Status: 200, Other: 1}, text: "oh"},
		{claim: "an error without a message has words all the same", answer: chunked(keep, "event: error\ndata: {\"error\":{\"message\":\"\"}}\n\n"), want: seen{Outcome: loadgen.StreamError, Status: 200, Other: 1}, text: "without a message"},
		{claim: "an error object as the whole body is a stream error", answer: sized(keep, "200 OK", "", `{"error":"no"}`), want: seen{Outcome: loadgen.StreamError, Status: 200}, text: "no"},
		{claim: "finish reason abort is a stream error", answer: chunked(keep, token("a"), finish("abort"), doneEvent), want: seen{Outcome: loadgen.StreamError, Status: 200, Tokens: 1, Other: 2, Finish: "abort", Done: true, Text: "a"}, text: "abort"},
		{claim: "a stream error decides although the server goes silent", answer: cut(hold, token("a"), "data: {\"error\":\"x\"}\n\n"), want: seen{Outcome: loadgen.StreamError, Status: 200, Tokens: 1, Other: 1, Text: "a"}, text: "x"},
		{claim: "a status that is an error keeps its message", answer: sized(keep, "503 Service Unavailable", "Retry-After: 7\r\n", `{"error":{"message":"busy"}}`), want: seen{Outcome: loadgen.HTTPError, Status: 503, RetryAfter: "7"}, text: "HTTP status 503: busy"},
		{claim: "a cut error body is an HTTP error", answer: raw(shut, "HTTP/1.1 500 Oops\r\nContent-Length: 100\r\n\r\nhalf"), want: seen{Outcome: loadgen.HTTPError, Status: 500}},
		{claim: "an error body with broken chunks is an HTTP error", answer: raw(keep, "HTTP/1.1 500 Oops\r\nTransfer-Encoding: chunked\r\n\r\nzz"), want: seen{Outcome: loadgen.HTTPError, Status: 500}, fresh: true},
		{claim: "an error body that never comes is an HTTP error", answer: raw(hold, "HTTP/1.1 429 Slow\r\nContent-Length: 100\r\n\r\n"), want: seen{Outcome: loadgen.HTTPError, Status: 429}},
		{claim: "an error body in an unknown coding is an HTTP error", answer: sized(keep, "500 Oops", "Content-Encoding: rot13\r\n", "x"), want: seen{Outcome: loadgen.HTTPError, Status: 500, Coding: "rot13"}, fresh: true},
		{claim: "an endless error body is an HTTP error", answer: raw(hold, "HTTP/1.1 500 Oops\r\n\r\n"+strings.Repeat("x", 3<<20)), want: seen{Outcome: loadgen.HTTPError, Status: 500}},
		{claim: "a redirect is not followed", answer: sized(keep, "307 Moved", "Location: http://example.com/v2\r\n", ""), want: seen{Outcome: loadgen.HTTPError, Status: 307, Redirect: "http://example.com/v2"}, text: "not followed"},
		{claim: "switching protocols is an HTTP error and ends the connection", answer: raw(keep, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"), want: seen{Outcome: loadgen.HTTPError, Status: 101}, fresh: true},
		{claim: "status 304 has no body", answer: raw(keep, "HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n"), want: seen{Outcome: loadgen.HTTPError, Status: 304}},

		// Bytes that are not the protocol.
		{claim: "JSON that is no JSON is malformed", answer: chunked(keep, token("a"), "data: {\"choices\":\n\n"), want: seen{Outcome: loadgen.Malformed, Status: 200, Tokens: 1, Text: "a"}, fresh: true},
		{claim: "invalid UTF-8 is malformed", answer: chunked(keep, "data: {\"choices\":[{\"delta\":{\"content\":\"\xff\"}}]}\n\n"), want: seen{Outcome: loadgen.Malformed, Status: 200}, fresh: true},
		{claim: "a broken chunk size is malformed", answer: raw(keep, chunkedHead+"zz\r\n"), want: seen{Outcome: loadgen.Malformed, Status: 200}, text: "chunked coding", fresh: true},
		{claim: "a page is malformed", answer: sized(keep, "200 OK", "", "<html>hello</html>"), want: seen{Outcome: loadgen.Malformed, Status: 200}, text: "<html>hello"},
		{claim: "plain text is malformed", answer: sized(keep, "200 OK", "", "OK"), want: seen{Outcome: loadgen.Malformed, Status: 200}, text: "no event stream"},
		{claim: "one JSON body in answer to a request for a stream is malformed", answer: sized(keep, "200 OK", "", whole200), want: seen{Outcome: loadgen.Malformed, Status: 200}},
		{claim: "an endless page is malformed", answer: raw(hold, body200+"\r\n<html>"+strings.Repeat("x", 3<<20)), want: seen{Outcome: loadgen.Malformed, Status: 200}},
		{claim: "a coding nobody knows is malformed", answer: sized(keep, "200 OK", "Content-Encoding: rot13\r\n", "x"), want: seen{Outcome: loadgen.Malformed, Status: 200, Coding: "rot13"}, text: "rot13", fresh: true},
		{claim: "gzip that is no gzip is malformed", answer: sized(keep, "200 OK", "Content-Encoding: gzip\r\n", "data: this is plain text"), want: seen{Outcome: loadgen.Malformed, Status: 200, Coding: "gzip"}},
		{claim: "a banner of another protocol is malformed at once", answer: raw(hold, "SSH-2.0-OpenSSH_9.6\r\n"), want: seen{Outcome: loadgen.Malformed}, text: "not HTTP/1.1"},
		{claim: "a TLS alert says what to do", answer: raw(hold, "\x15\x03\x01\x00\x02\x02\x16"), want: seen{Outcome: loadgen.Malformed}, text: "https://"},
		{claim: "a status line that is none is malformed", answer: raw(hold, "HTTP/1.1 abc OK\r\n\r\n"), want: seen{Outcome: loadgen.Malformed}},
		{claim: "a head without end is malformed", answer: raw(hold, body200+"X: "+strings.Repeat("y", 80<<10)), want: seen{Outcome: loadgen.Malformed}, text: "64 KiB"},

		// One body.
		{claim: "one body with text and finish reason is ok", plain: true, answer: sized(keep, "200 OK", "", whole200), want: seen{Outcome: loadgen.OK, Status: 200, Finish: "stop", Output: 2, Text: "rhi"}},
		{claim: "one body without a finish reason is ok, as [DONE] without one", plain: true, answer: sized(keep, "200 OK", "", `{"choices":[{"message":{"content":"hi"}}]}`), want: seen{Outcome: loadgen.OK, Status: 200, Text: "hi"}},
		{claim: "one body with a tool call only is ok", plain: true, answer: sized(keep, "200 OK", "", `{"choices":[{"message":{"content":null,"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`), want: seen{Outcome: loadgen.OK, Status: 200, Finish: "tool_calls"}},
		{claim: "one body without text is empty", plain: true, answer: sized(keep, "200 OK", "", `{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}`), want: seen{Outcome: loadgen.Empty, Status: 200, Finish: "stop"}},
		{claim: "one body with finish reason error is a stream error", plain: true, answer: sized(keep, "200 OK", "", `{"choices":[{"message":{"content":"x"},"finish_reason":"error"}]}`), want: seen{Outcome: loadgen.StreamError, Status: 200, Finish: "error", Text: "x"}},
		{claim: "one body without choices is malformed", plain: true, answer: sized(keep, "200 OK", "", `{"detail":"hm"}`), want: seen{Outcome: loadgen.Malformed, Status: 200}, text: "no completion"},
		{claim: "one body cut short is truncated", plain: true, answer: raw(shut, body200+"Content-Length: 500\r\n\r\n"+whole200), want: seen{Outcome: loadgen.Truncated, Status: 200}},
		{claim: "one empty body is truncated", plain: true, answer: sized(keep, "200 OK", "", ""), want: seen{Outcome: loadgen.Truncated, Status: 200}},
		{claim: "one body may take longer than the first token", plain: true, config: func(c *loadgen.Config) { firstTokenLimit(c); c.RequestTimeout = 2 * limit }, answer: raw(hold, body200+"Content-Length: 10\r\n\r\n"), want: seen{Outcome: loadgen.Timeout, Phase: loadgen.PhaseTotal, Status: 200}, text: "not finished"},

		// Limits.
		{claim: "silence before the head is a timeout before the first token", config: firstTokenLimit, answer: raw(hold), want: seen{Outcome: loadgen.Timeout, Phase: loadgen.PhaseFirstToken}, text: "no token within 500ms"},
		{claim: "a head and nothing more is a timeout before the first token", config: firstTokenLimit, answer: raw(hold, chunkedHead), want: seen{Outcome: loadgen.Timeout, Phase: loadgen.PhaseFirstToken, Status: 200}},
		{claim: "the limit of the request counts before the first token too", config: totalLimit, answer: cut(hold, roleEvent), want: seen{Outcome: loadgen.Timeout, Phase: loadgen.PhaseFirstToken, Status: 200, Other: 1}},
		{claim: "silence between tokens is a timeout between tokens", config: stallLimit, answer: cut(hold, token("a")), want: seen{Outcome: loadgen.Timeout, Phase: loadgen.PhaseBetweenTokens, Status: 200, Tokens: 1, Text: "a"}, text: "no further token within 500ms"},
		{claim: "the limit of the request passes between tokens", config: totalLimit, answer: cut(hold, token("a")), want: seen{Outcome: loadgen.Timeout, Phase: loadgen.PhaseTotal, Status: 200, Tokens: 1, Text: "a"}, text: "not finished within 500ms"},
		{claim: "silence behind the finish reason is a timeout at the end", config: stallLimit, answer: cut(hold, token("a"), finish("stop")), want: seen{Outcome: loadgen.Timeout, Phase: loadgen.PhaseTotal, Status: 200, Tokens: 1, Other: 1, Finish: "stop", Text: "a"}},
		{claim: "silence behind finish reason and usage is ok and abrupt", config: stallLimit, answer: cut(hold, token("a"), finish("stop"), usage(1, 1)), want: seen{Outcome: loadgen.OK, Status: 200, Tokens: 1, Other: 2, Finish: "stop", Output: 1, Abrupt: true, Text: "a"}},
		{claim: "silence behind [DONE] is ok and abrupt", answer: cut(hold, whole()...), want: with(ok, func(s *seen) { s.Abrupt = true })},
	}
}

// TestAnswers plays each answer to every kind of reader, twice over one pool.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, r := range rows() {
		t.Run(r.claim, func(t *testing.T) {
			t.Parallel()
			eachReader(t, func(t *testing.T, secure bool, config func(string) loadgen.Config) {
				srv := serve(t, secure, repeat(r.answer))
				cfg := config(srv.Addr().String())
				ctx := t.Context()
				if r.answer.end == hold { // no other limit may end it
					cfg.RequestTimeout = 0
					limited, cancel := context.WithTimeout(ctx, 15*time.Second)
					defer cancel()
					ctx = limited
				}
				if r.config != nil {
					r.config(&cfg)
				}
				pool := open(t, cfg)
				times := 2
				if r.answer.end == hold {
					times = 1
					pool.SetGrace(limit)
				}
				for i := range times {
					batch := pool.Do(ctx, []*loadgen.Request{{
						Message: message("{}"), Stream: !r.plain, ExpectEvents: 4, KeepText: true,
					}})
					got := batch.Records[0]
					if diff := cmp.Diff(r.want, project(got)); diff != "" {
						t.Errorf("request %d (-want +got):\n%s%s", i, diff, got.Error)
					}
					if !contains(got.Error, r.text) {
						t.Errorf("error: got %q, want a part %q", got.Error, r.text)
					}
					checkRecord(t, got)
					redialled := r.fresh || r.answer.end != keep
					if want := i == 0 || redialled; batch.Dialled == 1 != want {
						t.Errorf("batch %d: dialled %d, want a new connection: %v", i, batch.Dialled, want)
					}
				}
			})
		})
	}
}

// checkRecord checks what holds for every record.
func checkRecord(t *testing.T, r *loadgen.Record) {
	t.Helper()
	if (r.Outcome == loadgen.OK) != (r.Error == "") {
		t.Errorf("outcome %s with error %q", r.Outcome, r.Error)
	}
	if strings.ContainsAny(r.Error, "\r\n") || len(r.Error) > 1024 {
		t.Errorf("error is not one short line: %q", r.Error)
	}
	if len(r.BodyExcerpt) > 2<<10 {
		t.Errorf("excerpt of %d bytes", len(r.BodyExcerpt))
	}
	at := []time.Duration{r.T.Connect, r.T.Send, r.T.FirstByte, r.T.FirstEvent, r.T.FirstToken, r.T.LastToken, r.T.End}
	var last time.Duration
	for i, moment := range at {
		if moment == 0 {
			continue
		}
		if moment < last {
			t.Errorf("stamp %d lies %s before the one before it: %+v", i, last-moment, r.T)
		}
		last = moment
	}
	if r.T.End == 0 {
		t.Error("no end")
	}
	e := r.Events
	if len(e.At) != len(e.Lag) || len(e.At) != len(e.Bytes) || (e.Tokens != nil && len(e.Tokens) != len(e.At)) {
		t.Errorf("columns of %d, %d, %d, %d", len(e.At), len(e.Lag), len(e.Bytes), len(e.Tokens))
	}
	for i := range e.At {
		if i > 0 && e.At[i] < e.At[i-1] {
			t.Errorf("event %d is earlier than the one before it", i)
		}
		if e.Lag[i] < 0 && e.Lag[i] != loadgen.NoStamp {
			t.Errorf("lag of event %d is %d", i, e.Lag[i])
		}
	}
	if len(e.At) > 0 && (int64(r.T.FirstToken) != e.At[0] || int64(r.T.LastToken) != e.At[len(e.At)-1]) {
		t.Errorf("first or last token is not that of the columns")
	}
}
