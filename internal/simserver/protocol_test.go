package simserver_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"lmxbench/internal/simserver"
)

// TestWhole: without streaming one JSON answer comes, with the same text that a
// stream of the same prompt has at temperature 0.
func TestWhole(t *testing.T) {
	t.Parallel()
	c := dial(t, start(t, simserver.Config{Profile: quick(t)}))
	const body = `{"model":"sim-small","messages":[{"role":"user","content":[{"type":"text","text":"hello"}]}],"max_tokens":20,"temperature":0%s}`
	c.ask(t, "POST", "/v1/chat/completions", "", fmt.Sprintf(body, ""))
	var whole struct {
		Object  string
		Choices []struct {
			FinishReason string `json:"finish_reason"`
			Message      struct{ Content string }
		}
		Usage struct {
			Prompt     int `json:"prompt_tokens"`
			Completion int `json:"completion_tokens"`
		}
	}
	if err := json.Unmarshal([]byte(c.get().body), &whole); err != nil {
		t.Fatal(err)
	}
	c.ask(t, "POST", "/v1/chat/completions", "", fmt.Sprintf(body, `,"stream":true`))
	text := ""
	for _, m := range regexp.MustCompile(`"content":"([^"]*)"`).FindAllStringSubmatch(c.get().body, -1) {
		text += m[1]
	}
	if len(whole.Choices) != 1 || whole.Choices[0].Message.Content != text || text == "" {
		t.Errorf("whole %+v, streamed %q", whole, text)
	}
	if whole.Object != "chat.completion" || whole.Choices[0].FinishReason != "length" || whole.Usage.Prompt != 21 || whole.Usage.Completion != 20 {
		t.Errorf("got %+v", whole)
	}
}

// TestRefusals: bad requests get the status and the error object of the engine.
func TestRefusals(t *testing.T) {
	t.Parallel()
	const messages = `"messages":[{"role":"user","content":"hi"}]`
	tests := map[string]struct {
		method, path, body string
		status             int
		want               string
	}{
		"broken JSON":                   {"POST", "/v1/chat/completions", `{"model":`, 400, `"BadRequestError"`},
		"another model":                 {"POST", "/v1/chat/completions", `{"model":"gpt",` + messages + `}`, 404, "The model `gpt` does not exist."},
		"no messages":                   {"POST", "/v1/chat/completions", `{"model":"sim-small"}`, 400, "messages"},
		"a message without a role":      {"POST", "/v1/chat/completions", `{"model":"sim-small","messages":[{"content":"hi"}]}`, 400, "no role"},
		"content that is a number":      {"POST", "/v1/chat/completions", `{"model":"sim-small","messages":[{"role":"user","content":7}]}`, 400, "neither a string nor"},
		"a cap beyond the context":      {"POST", "/v1/chat/completions", `{"model":"sim-small","max_tokens":10000000,` + messages + `}`, 400, "is too large: 10000000"},
		"a cap of zero":                 {"POST", "/v1/chat/completions", `{"model":"sim-small","max_tokens":0,` + messages + `}`, 400, "at least 1"},
		"a cap with a fraction":         {"POST", "/v1/chat/completions", `{"model":"sim-small","max_tokens":1.5,` + messages + `}`, 400, "integer"},
		"a floor above the cap":         {"POST", "/v1/chat/completions", `{"model":"sim-small","max_tokens":4,"min_tokens":5,` + messages + `}`, 400, "min_tokens"},
		"a negative temperature":        {"POST", "/v1/chat/completions", `{"model":"sim-small","temperature":-1,` + messages + `}`, 400, "temperature"},
		"top_p of zero":                 {"POST", "/v1/chat/completions", `{"model":"sim-small","top_p":0,` + messages + `}`, 400, "top_p"},
		"two answers at once":           {"POST", "/v1/chat/completions", `{"model":"sim-small","n":2,` + messages + `}`, 400, "n=1"},
		"stream options without stream": {"POST", "/v1/chat/completions", `{"model":"sim-small","stream_options":{},` + messages + `}`, 400, "stream=True"},
		"no prompt":                     {"POST", "/v1/completions", `{"model":"sim-small"}`, 400, "prompt"},
		"a prompt beyond the context":   {"POST", "/v1/completions", `{"model":"sim-small","prompt":"` + strings.Repeat("x", 200_000) + `"}`, 400, "maximum context length"},
		"an unknown path":               {"POST", "/v1/no/such/path", `{}`, 404, `{"detail":"Not Found"}`},
		"the wrong method":              {"GET", "/v1/chat/completions", "", 405, "Method Not Allowed"},
		"the wrong method elsewhere":    {"POST", "/v1/models", "", 405, "Method Not Allowed"},
		"llama.cpp's path at vLLM":      {"GET", "/props", "", 404, "Not Found"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, start(t, simserver.Config{Profile: quick(t)}))
			c.ask(t, tt.method, tt.path, "", tt.body)
			r := c.get()
			if !strings.HasPrefix(r.head, fmt.Sprintf("HTTP/1.1 %d ", tt.status)) || !strings.Contains(r.body, tt.want) {
				t.Errorf("got %q %s, want status %d and %q", r.head, r.body, tt.status, tt.want)
			}
			c.ask(t, "GET", "/health", "", "")
			if next := c.get(); !strings.HasPrefix(next.head, "HTTP/1.1 200") {
				t.Errorf("the connection is not usable afterwards: %q, %v", next.head, next.err)
			}
		})
	}
}

// TestSideEndpoints: what a probe reads.
func TestSideEndpoints(t *testing.T) {
	t.Parallel()
	vllm := quick(t)
	llama := quick(t)
	llama.Flavor, llama.Slots = simserver.LlamaCPP, 4
	tests := map[string]struct {
		profile    simserver.Profile
		path, want string
	}{
		"vLLM's health is empty":     {vllm, "/health", `^$`},
		"vLLM's models":              {vllm, "/v1/models", `"id":"sim-small","max_model_len":32768,"object":"model","owned_by":"vllm"`},
		"vLLM's version":             {vllm, "/version", `"version":"0.28.0"`},
		"llama.cpp's health":         {llama, "/health", `\{"status":"ok"\}`},
		"llama.cpp's models":         {llama, "/v1/models", `"owned_by":"llamacpp"`},
		"llama.cpp's props":          {llama, "/props", `"n_ctx":32768.*"total_slots":4`},
		"llama.cpp's slots":          {llama, "/slots", `"id":3,"is_processing":false`},
		"llama.cpp's metrics":        {llama, "/metrics", `llamacpp:tokens_predicted_total 0.0`},
		"the server's own account":   {vllm, "/sim/stats", `"step_start_lateness"`},
		"the server's own records":   {vllm, "/sim/records", `^$`},
		"the list of faults":         {vllm, "/sim/faults", `"name":"error_mid","about":"`},
		"start time among metrics":   {vllm, "/metrics", `process_start_time_seconds 1\.\d+e\+09`},
		"vLLM's edges in the metric": {vllm, "/metrics", `vllm:inter_token_latency_seconds_bucket\{engine="0",le="0.025",model_name="sim-small"\} 0.0`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, start(t, simserver.Config{Profile: tt.profile}))
			c.ask(t, "GET", tt.path, "", "")
			if r := c.get(); r.err != nil || !strings.HasPrefix(r.head, "HTTP/1.1 200") || !regexp.MustCompile(tt.want).MatchString(r.body) {
				t.Errorf("got %q %s (%v), want %s", r.head, clip([]byte(r.body)), r.err, tt.want)
			}
		})
	}
}

// TestKey: with a key set, /v1 wants it and /health does not.
func TestKey(t *testing.T) {
	t.Parallel()
	c := dial(t, start(t, simserver.Config{Profile: quick(t), APIKey: "sesame"}))
	for _, tt := range []struct {
		path, header string
		want         int
	}{
		{"/health", "", 200},
		{"/v1/models", "", 401},
		{"/v1/models", "Authorization: Bearer wrong\r\n", 401},
		{"/v1/models", "Authorization: sesame\r\n", 401},
		{"/v1/models", "Authorization: Bearer sesame\r\n", 200},
	} {
		c.ask(t, "GET", tt.path, tt.header, "")
		if r := c.get(); !strings.HasPrefix(r.head, fmt.Sprintf("HTTP/1.1 %d ", tt.want)) {
			t.Errorf("%s with %q: got %q, want %d", tt.path, tt.header, r.head, tt.want)
		}
	}
}

// TestUncapped: a request without a cap ends by itself, with "stop".
func TestUncapped(t *testing.T) {
	t.Parallel()
	c := dial(t, start(t, simserver.Config{Profile: quick(t)}))
	c.ask(t, "POST", "/v1/completions", "", `{"model":"sim-small","prompt":[1,2,3]}`)
	if r := c.get(); !strings.Contains(r.body, `"finish_reason":"stop"`) || !strings.Contains(r.body, `"prompt_tokens":3,`) {
		t.Errorf("got %s", r.body)
	}
}

// TestRequestForms: bodies in chunks, bodies after 100-continue, several
// requests in one write, and bytes that are no request.
func TestRequestForms(t *testing.T) {
	t.Parallel()
	s := start(t, simserver.Config{Profile: quick(t), MaxBody: 1000})
	body := chat(3, "")
	t.Run("a body in chunks", func(t *testing.T) {
		c := dial(t, s)
		fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n", body[:5], len(body)-5, body[5:])
		if r := c.get(); !strings.Contains(r.body, `"completion_tokens":3`) {
			t.Errorf("got %s", clip(r.raw))
		}
	})
	t.Run("a body that waits for 100 Continue", func(t *testing.T) {
		c := dial(t, s)
		fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", len(body))
		if line, _ := c.in.ReadString('\n'); line != "HTTP/1.1 100 Continue\r\n" {
			t.Fatalf("got %q", line)
		}
		_, _ = c.in.ReadString('\n')
		fmt.Fprint(c, body)
		if r := c.get(); !strings.Contains(r.body, `"completion_tokens":3`) {
			t.Errorf("got %s", clip(r.raw))
		}
	})
	t.Run("three requests in one write", func(t *testing.T) {
		c := dial(t, s)
		one := fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		fmt.Fprint(c, one+one+"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
		for i := range 2 {
			if r := c.get(); !r.ended {
				t.Errorf("response %d: %v", i+1, r.err)
			}
		}
		if r := c.get(); r.err != nil {
			t.Errorf("response 3: %v", r.err)
		}
	})
	t.Run("the client asks to close", func(t *testing.T) {
		c := dial(t, s)
		c.ask(t, "GET", "/health", "Connection: close\r\n", "")
		if _, err := io.ReadAll(c.in); err != nil {
			t.Errorf("read to the end: %v", err)
		}
	})
	t.Run("a body above the limit", func(t *testing.T) {
		c := dial(t, s)
		c.ask(t, "POST", "/v1/chat/completions", "", strings.Repeat("x", 1001))
		if r := c.get(); !strings.HasPrefix(r.head, "HTTP/1.1 413") {
			t.Errorf("got %q, %v", r.head, r.err)
		}
	})
	t.Run("no HTTP at all", func(t *testing.T) {
		c := dial(t, s)
		fmt.Fprint(c, "\x16\x03\x01 hello\r\n\r\n")
		if r := c.get(); !strings.HasPrefix(r.head, "HTTP/1.1 400") {
			t.Errorf("got %q, %v", r.head, r.err)
		}
	})
}

// TestTLS: the same over TLS, verified by the server's own certificate.
func TestTLS(t *testing.T) {
	t.Parallel()
	s := start(t, simserver.Config{Profile: quick(t), TLS: true})
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(s.CertPEM()) {
		t.Fatal("no certificate")
	}
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	defer tr.CloseIdleConnections()
	client := &http.Client{Transport: tr}
	for i := range 3 {
		resp, err := client.Post(s.URL()+"/v1/chat/completions", "application/json", strings.NewReader(chat(50, "")))
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || !strings.Contains(string(b), `"completion_tokens":50}`) || !strings.HasSuffix(string(b), "data: [DONE]\n\n") {
			t.Errorf("request %d: %v, %s", i+1, err, clip(b))
		}
	}
	if st := s.Stats(); st.Connections != 1 {
		t.Errorf("%d connections for three requests, want keep-alive on one", st.Connections)
	}
}
