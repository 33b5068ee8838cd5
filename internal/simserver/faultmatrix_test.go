package simserver_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"lmxbench/internal/simserver"
)

// TestFaultMatrix: each fault ends as its kind does for both flavours, both
// endpoints, short streams, speculation and requests without streaming, and the
// server serves the next request as if nothing had been.
func TestFaultMatrix(t *testing.T) {
	t.Parallel()
	bodies := map[string]string{
		"chat":         chat(5, ""),
		"one token":    chat(1, ""),
		"two tokens":   chat(2, ""),
		"text":         `{"model":"sim-small","prompt":"hello","max_tokens":5,"stream":true}`,
		"no usage":     `{"model":"sim-small","messages":[{"role":"user","content":"hello"}],"max_tokens":5,"stream":true}`,
		"not a stream": `{"model":"sim-small","messages":[{"role":"user","content":"hello"}],"max_tokens":5}`,
	}
	for _, flavor := range []simserver.Flavor{simserver.VLLM, simserver.LlamaCPP} {
		for name, body := range bodies {
			t.Run(string(flavor)+" "+name, func(t *testing.T) {
				t.Parallel()
				p := quick(t)
				p.Flavor, p.Draft, p.Acceptance = flavor, 2, 0.5
				s := start(t, simserver.Config{Profile: p})
				path := "/v1/chat/completions"
				if strings.Contains(body, `"prompt"`) {
					path = "/v1/completions"
				}
				for _, f := range simserver.Faults() {
					oneFault(t, s, f.Name, path, body)
				}
			})
		}
	}
}

func oneFault(t *testing.T, s *simserver.Server, fault, path, body string) {
	t.Helper()
	c := dial(t, s)
	quiet := fault == "hang_accept" || strings.HasPrefix(fault, "stall") && strings.Contains(body, `"stream":true`)
	if quiet {
		_ = c.SetReadDeadline(time.Now().Add(30 * time.Millisecond))
	}
	c.ask(t, "POST", path, "X-Sim-Fault: "+fault+"\r\n", body)
	r := c.get()
	if silent := errors.Is(r.err, os.ErrDeadlineExceeded); silent != quiet {
		t.Errorf("%s: ended with %v, want silence: %v\n%s", fault, r.err, quiet, clip(r.raw))
	}
	_ = c.Close()
	next := dial(t, s)
	next.ask(t, "POST", "/v1/chat/completions", "X-Sim-Fault: none\r\n", chat(3, ""))
	if r := next.get(); !r.ended || !strings.Contains(r.body, `"completion_tokens":3`) {
		t.Errorf("after %s: %v\n%s", fault, r.err, clip(r.raw))
	}
}
