package simserver_test

import (
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"syscall"
	"unicode/utf8"
)

const (
	doneLine    = `data: \[DONE\]`
	usageChunk  = `"choices":\[\],"usage":\{"prompt_tokens":\d+,"total_tokens":\d+,"completion_tokens":8\}`
	lengthAtEnd = `"finish_reason":"length"`
)

// faultCases: each row names a fault and what its raw bytes must show. All ask
// for 8 tokens; faults in mid-stream strike after 3.
var faultCases = map[string]func(sight){
	"http_401": func(s sight) { s.has(`^HTTP/1.1 401 Unauthorized\r\n.*\{"error":"Unauthorized"\}$`) },
	"http_404": func(s sight) { s.has(`^HTTP/1.1 404 Not Found\r\n.*"type":"NotFoundError"`) },
	"http_429": func(s sight) { s.has(`^HTTP/1.1 429 Too Many Requests\r\n.*retry-after: 2\r\n.*"error"`) },
	"http_500": func(s sight) { s.has(`^HTTP/1.1 500 .*"InternalServerError"`) },
	"http_503": func(s sight) { s.has(`^HTTP/1.1 503 .*"Loading model"`) },
	"redirect": func(s sight) { s.has(`^HTTP/1.1 307 .*location: http://127.0.0.1:\d+/moved/`) },
	"html_200": func(s sight) { s.has(`^HTTP/1.1 200 OK\r\n.*content-type: text/html.*<html>`) },
	"json_error_200": func(s sight) {
		s.has(`^HTTP/1.1 200 OK\r\n.*content-type: application/json\r\n\r\n\{"error":\{.*EngineCore`)
	},
	"json_body_200": func(s sight) {
		s.has(`^HTTP/1.1 200 OK\r\n.*content-type: application/json.*"object":"chat.completion",`)
		s.hasNot(`data: `)
	},
	"empty_200": func(s sight) {
		s.has(`^HTTP/1.1 200 OK\r\n.*content-length: 0\r\ncontent-type: text/event-stream`)
		if s.body != "" {
			s.t.Errorf("got body %q, want none", s.body)
		}
	},
	"slow_headers": func(s sight) { s.wantTokens(8); s.clean() },
	"hang_accept": func(s sight) {
		s.silent()
		if len(s.raw) > 0 {
			s.t.Errorf("got %q, want nothing", s.raw)
		}
	},
	"reject_stream_options": func(s sight) {
		s.has(`^HTTP/1.1 400 .*"Unsupported parameter: 'stream_options'.*"param":"stream_options"`)
	},
	"reject_max_tokens": func(s sight) {
		s.has(`^HTTP/1.1 400 .*'max_tokens'.*Use 'max_completion_tokens' instead`)
		s.conn.ask(s.t, "POST", "/v1/chat/completions", "X-Sim-Fault: reject_max_tokens\r\n",
			strings.Replace(chat(8, ""), "max_tokens", "max_completion_tokens", 1))
		if again := s.conn.get(); !strings.Contains(again.body, `"completion_tokens":8`) {
			s.t.Errorf("with the other field: %s", clip(again.raw))
		}
	},
	"reject_max_completion_tokens": func(s sight) { s.wantTokens(8); s.clean() }, // the field was not sent

	"error_first": func(s sight) {
		s.has(`\r\n\r\n[0-9a-f]+\r\ndata: \{"error":\{.*` + doneLine)
		s.wantTokens(0)
		s.clean()
	},
	"error_mid": func(s sight) {
		s.wantTokens(3)
		s.has(`data: \{"error":\{"code":500.*` + doneLine)
		s.hasNot(`"usage"`)
		s.clean()
	},
	"error_event":  func(s sight) { s.wantTokens(3); s.has(`\nevent: error\ndata: \{"error":`); s.hasNot(`DONE`); s.clean() },
	"error_string": func(s sight) { s.wantTokens(3); s.has(`data: \{"error":"CUDA out of memory"\}`); s.clean() },
	"error_null":   func(s sight) { s.wantTokens(8); s.has(`,"error":null,"sim"`); s.clean() },
	"finish_error": func(s sight) { s.has(`"finish_reason":"error"`); s.clean() },
	"finish_abort": func(s sight) { s.has(`"finish_reason":"abort"`); s.clean() },
	"malformed_json": func(s sight) {
		s.has(`\ndata: \{"id":"[^}]*\n\n`)
		s.has(doneLine)
		s.clean()
	},

	"cut_mid_event":   func(s sight) { s.wantTokens(3); s.has(`data: \{"id":"[^}\n]*\r\n$`); s.closed() },
	"cut_mid_chunk":   func(s sight) { s.wantTokens(3); s.has(`\r\n10[0-9a-f]\r\ndata: \{"id":"[^}\n]*$`); s.closed() },
	"cut_clean_chunk": func(s sight) { s.wantTokens(3); s.has(`\n\n\r\n$`); s.closed() },
	"reset": func(s sight) {
		if !errors.Is(s.err, syscall.ECONNRESET) {
			s.t.Errorf("got end %v, want a reset", s.err)
		}
	},
	"bad_chunk_size": func(s sight) { s.wantTokens(4); s.has(`\r\nzz\r\ndata: `) },
	"no_finish": func(s sight) {
		s.wantTokens(8)
		s.hasNot(lengthAtEnd)
		s.hasNot(`"usage"`)
		s.hasNot(`DONE`)
		s.clean()
	},
	"no_finish_done":      func(s sight) { s.wantTokens(8); s.hasNot(lengthAtEnd); s.has(usageChunk + `.*` + doneLine); s.clean() },
	"abrupt_after_done":   func(s sight) { s.has(usageChunk + `.*` + doneLine + `\n\n\r\n$`); s.closed() },
	"abrupt_after_finish": func(s sight) { s.has(lengthAtEnd + `.*` + usageChunk); s.hasNot(`DONE`); s.closed() },
	"stall_first":         func(s sight) { s.has(`^HTTP/1.1 200 OK\r\n`); s.wantTokens(0); s.hasNot(`data:`); s.silent() },
	"stall_mid":           func(s sight) { s.wantTokens(3); s.hasNot(`DONE`); s.silent() },

	"crlf":    func(s sight) { s.has(`\}\r\n\r\n\r\n`); s.hasNot(`\}\n`); s.clean() },
	"cr_only": func(s sight) { s.has(`\}\r\r\r\n`); s.hasNot(`\}\n`); s.clean() },
	"mixed_line_ends": func(s sight) {
		for _, end := range []string{`\}\n\n\r\n`, `\}\r\n\r\n\r\n`, `\}\r\r\r\n`, `\}\n\r\n\r\n`, `\}\r\n\r\r\n`} {
			s.has(end)
		}
		s.clean()
	},
	"no_space":     func(s sight) { s.has(`\r\ndata:\{`); s.hasNot(`data: `); s.wantTokens(8); s.clean() },
	"comments":     func(s sight) { s.has(`\r\n: ping\n\ndata: `); s.wantTokens(8); s.clean() },
	"named_events": func(s sight) { s.has(`\r\nevent: completion\nid: 7\nretry: 1000\ndata: `); s.wantTokens(8); s.clean() },
	"ping_event_nonjson": func(s sight) {
		s.has(`event: ping\ndata: still here\n\ndata: \{`)
		s.wantTokens(8)
		s.clean()
	},
	"empty_data": func(s sight) { s.has(`\r\ndata:\n\ndata: \{`); s.wantTokens(8); s.clean() },
	"bom": func(s sight) {
		if len(s.chunks) == 0 || !strings.HasPrefix(s.chunks[0], "\ufeffdata: ") || strings.Count(s.body, "\ufeff") != 1 {
			s.t.Errorf("want one byte-order mark at the start:\n%s", clip(s.raw))
		}
	},
	"multi_line_data": func(s sight) { s.has(`data: \{"id":"[^\n]*\ndata: ,"object":[^\n]*\ndata: ,`); s.clean() },
	"long_line": func(s sight) {
		longest := 0
		for line := range strings.SplitSeq(s.body, "\n") {
			longest = max(longest, len(line))
		}
		if longest < 9<<20 {
			s.t.Errorf("longest line has %d bytes, want at least 9 MiB", longest)
		}
		s.clean()
	},

	"buffered": func(s sight) {
		if len(s.chunks) != 1 {
			s.t.Errorf("got %d chunks, want all events in 1", len(s.chunks))
		}
		s.wantTokens(8)
		s.clean()
	},
	"burst16k": func(s sight) {
		s.conn.ask(s.t, "POST", "/v1/chat/completions", "X-Sim-Fault: burst16k\r\n", chat(200, ""))
		r := s.conn.get()
		for i, c := range r.chunks[:len(r.chunks)-1] {
			if len(c) < 16<<10 || len(c) > 17<<10 {
				s.t.Errorf("chunk %d has %d bytes, want about 16 KiB", i, len(c))
			}
		}
	},
	"merged": func(s sight) {
		if n := strings.Count(s.chunks[0], "data: "); n != 4 {
			s.t.Errorf("first chunk has %d events, want 4", n)
		}
		s.wantTokens(8)
		s.clean()
	},
	"byte_by_byte": func(s sight) { s.wantTokens(8); s.clean() },
	"gzip": func(s sight) {
		s.has(`content-encoding: gzip`)
		z, err := gzip.NewReader(strings.NewReader(s.body))
		if err != nil {
			s.t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil || strings.Count(string(text), "data: ") != 11 {
			s.t.Errorf("decoded to %d events, %v", strings.Count(string(text), "data: "), err)
		}
		s.clean()
	},

	"empty_output": func(s sight) {
		s.wantTokens(0)
		s.has(`"finish_reason":"stop".*"completion_tokens":0\}.*` + doneLine)
		s.clean()
	},
	"short_output": func(s sight) { s.wantTokens(4); s.has(`"finish_reason":"stop".*"completion_tokens":4\}`); s.clean() },
	"ignore_cap":   func(s sight) { s.wantTokens(12); s.has(`"completion_tokens":12\}`); s.clean() },
	"two_tokens":   func(s sight) { s.wantTokens(4); s.has(usageChunk); s.clean() },
	"empty_deltas": func(s sight) { s.has(`"delta":\{"content":""\},"finish_reason":null`); s.wantTokens(8); s.clean() },
	"reasoning":    func(s sight) { s.has(`"delta":\{"reasoning":" \w+"\},"logprobs"`); s.wantTokens(4); s.clean() },
	"reasoning_content": func(s sight) {
		s.has(`"delta":\{"reasoning_content":" \w+"\},"logprobs"`)
		s.wantTokens(4)
		s.clean()
	},
	"tool_calls": func(s sight) {
		s.has(`"delta":\{"tool_calls":\[\{"index":0,.*"arguments":" \w+"\}\}\]\},"logprobs"`)
		s.wantTokens(0)
		s.clean()
	},
	"refusal": func(s sight) { s.has(`"delta":\{"refusal":" \w+"\},"logprobs"`); s.wantTokens(0); s.clean() },
	"invalid_utf8": func(s sight) {
		if utf8.ValidString(s.body) {
			s.t.Error("the body is valid UTF-8")
		}
		s.clean()
	},
	"split_utf8": func(s sight) {
		cut := 0
		for _, c := range s.chunks {
			if !utf8.ValidString(c) {
				cut++
			}
		}
		if cut != 16 || !utf8.ValidString(s.body) {
			s.t.Errorf("got %d chunks that cut a character (body valid: %v), want 16", cut, utf8.ValidString(s.body))
		}
		s.clean()
	},

	"nan_usage":        func(s sight) { s.has(`"completion_tokens":NaN\}`); s.clean() },
	"negative_usage":   func(s sight) { s.has(`"completion_tokens":-8\}`); s.clean() },
	"string_usage":     func(s sight) { s.has(`"completion_tokens":"8"\}`); s.clean() },
	"fractional_usage": func(s sight) { s.has(`"completion_tokens":8.5\}`); s.clean() },
	"huge_usage":       func(s sight) { s.has(`"completion_tokens":1000000000000\}`); s.clean() },
	"wrong_usage":      func(s sight) { s.wantTokens(8); s.has(`"completion_tokens":16\}`); s.clean() },
	"null_usage":       func(s sight) { s.has(`"completion_tokens":null\}`); s.clean() },
	"no_usage":         func(s sight) { s.hasNot(`"usage"`); s.has(lengthAtEnd + `.*` + doneLine); s.clean() },
	"usage_everywhere": func(s sight) {
		s.has(`"completion_tokens":0\}.*"completion_tokens":1\}.*"completion_tokens":8\}`)
		s.clean()
	},
	"usage_no_choices": func(s sight) { s.has(`"model":"sim-small","usage":\{`); s.hasNot(`"choices":\[\]`); s.clean() },
	"usage_with_text": func(s sight) {
		s.has(`"content":"[^"]+"\},"logprobs":null,"finish_reason":"length"[^\n]*"usage":\{[^\n]*"completion_tokens":8\}`)
		s.hasNot(`"choices":\[\]`)
		s.clean()
	},
	"cached_tokens": func(s sight) {
		s.has(`"usage":\{"prompt_tokens":21,.*"prompt_tokens_details":\{"cached_tokens":20\}`)
		s.clean()
	},

	"close_delimited": func(s sight) {
		s.hasNot(`(?i)transfer-encoding|content-length`)
		s.has(`connection: close\r\n.*` + doneLine + `\n\n$`)
	},
	"content_length": func(s sight) {
		s.hasNot(`(?i)transfer-encoding`)
		s.has(`content-length: \d+\r\n.*` + doneLine + `\n\n:+\n`)
		if s.err != nil {
			s.t.Errorf("body shorter than declared: %v", s.err)
		}
	},
	"keepalive_close": func(s sight) {
		s.hasNot(`(?i)connection: close`)
		if !s.ended {
			s.t.Errorf("got end %v, want a complete body", s.err)
		}
		if b, err := s.conn.in.ReadByte(); err != io.EOF {
			s.t.Errorf("after the response: byte %q, %v; want a closed connection", b, err)
		}
	},
	"keepalive_drop": func(s sight) {
		if !s.ended {
			s.t.Errorf("got end %v, want a complete body", s.err)
		}
		s.conn.ask(s.t, "GET", "/health", "", "")
		if next := s.conn.get(); len(next.raw) != 0 || next.err == nil {
			s.t.Errorf("got %q, %v; want a connection closed without a byte", next.raw, next.err)
		}
	},
	"conn_close": func(s sight) {
		s.has(`connection: close\r\n`)
		if b, err := s.conn.in.ReadByte(); !s.ended || err != io.EOF {
			s.t.Errorf("after the response: byte %q, %v; want a closed connection", b, err)
		}
	},
	"foreign_traffic": func(s sight) {
		s.wantTokens(8)
		s.conn.ask(s.t, "GET", "/metrics", "", "")
		if m := s.conn.get(); !strings.Contains(m.body, `vllm:generation_tokens_total{engine="0",model_name="sim-small"} 12.0`) {
			s.t.Errorf("want 12 counted tokens for 8 served:\n%s", m.body)
		}
	},
}
