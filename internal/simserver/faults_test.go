package simserver_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"lmxbench/internal/simserver"
)

// sight is what a raw client saw of one faulty request.
type sight struct {
	response
	conn *rawConn
	t    *testing.T
}

// has fails unless the bytes on the wire match the pattern.
func (s sight) has(pattern string) {
	s.t.Helper()
	if !regexp.MustCompile("(?s)" + pattern).Match(s.raw) {
		s.t.Errorf("bytes don't match %q:\n%s", pattern, clip(s.raw))
	}
}

func (s sight) hasNot(pattern string) {
	s.t.Helper()
	if regexp.MustCompile("(?s)" + pattern).Match(s.raw) {
		s.t.Errorf("bytes match %q and should not:\n%s", pattern, clip(s.raw))
	}
}

// clean fails unless the body ended as its framing says, with the connection
// still usable.
func (s sight) clean() {
	s.t.Helper()
	if s.err != nil || !s.ended {
		s.t.Errorf("got a body that ends with %v (last chunk: %v), want a clean end", s.err, s.ended)
	}
	s.conn.ask(s.t, "GET", "/health", "", "")
	if next := s.conn.get(); next.err != nil || !strings.HasPrefix(next.head, "HTTP/1.1 200") {
		s.t.Errorf("next request on the connection: %q, %v", next.head, next.err)
	}
}

// closed fails unless the connection ended before the body did.
func (s sight) closed() {
	s.t.Helper()
	if s.ended || !errors.Is(s.err, io.EOF) && !errors.Is(s.err, io.ErrUnexpectedEOF) {
		s.t.Errorf("got end %v (last chunk: %v), want a closed connection without the last chunk", s.err, s.ended)
	}
}

// silent fails unless the connection is open and nothing comes.
func (s sight) silent() {
	s.t.Helper()
	if !errors.Is(s.err, os.ErrDeadlineExceeded) {
		s.t.Errorf("got end %v, want silence on an open connection", s.err)
	}
}

// tokens counts the events with text in delta.content.
func (s sight) tokens() int {
	return len(regexp.MustCompile(`"content":"[^"]+"`).FindAllString(s.body, -1))
}

func (s sight) wantTokens(n int) {
	s.t.Helper()
	if got := s.tokens(); got != n {
		s.t.Errorf("got %d events with content, want %d", got, n)
	}
}

func clip(b []byte) string {
	if len(b) > 3000 {
		return string(b[:1500]) + "\n…\n" + string(b[len(b)-1500:])
	}
	return string(b)
}

// silence is how long a test listens before it calls a connection silent.
const silence = 150 * time.Millisecond

// TestFaults reads the bytes of each fault.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, f := range simserver.Faults() {
		check, ok := faultCases[f.Name]
		if !ok {
			t.Errorf("fault %s has no case", f.Name)
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			if f.About == "" {
				t.Error("no description")
			}
			s := start(t, simserver.Config{Profile: quick(t)})
			c := dial(t, s)
			if strings.HasPrefix(f.Name, "stall") || strings.HasPrefix(f.Name, "hang") {
				_ = c.SetReadDeadline(time.Now().Add(silence))
			}
			c.ask(t, "POST", "/v1/chat/completions", "X-Sim-Fault: "+f.Name+"\r\n", chat(8, ""))
			check(sight{response: c.get(), conn: c, t: t})
		})
	}
	if got, want := len(faultCases), len(simserver.Faults()); got != want {
		t.Errorf("%d cases for %d faults", got, want)
	}
}

// TestFaultStamps: faulty streams carry the send time of their own bytes too.
func TestFaultStamps(t *testing.T) {
	t.Parallel()
	sent := regexp.MustCompile(`"sent_unix_ns":([1-9]\d{18})\}\}`)
	for _, name := range []string{"crlf", "buffered", "merged", "usage_with_text", "reasoning", "multi_line_data", "content_length"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, simserver.Config{Profile: quick(t)})
			c := dial(t, s)
			c.ask(t, "POST", "/v1/chat/completions", "", chat(8, `,"sim_fault":"`+name+`"`))
			r := c.get()
			want := 10 // role, 8 tokens, usage
			if name == "usage_with_text" {
				want = 9
			}
			if got := len(sent.FindAllString(r.body, -1)); got != want {
				t.Errorf("got %d send times, want %d:\n%s", got, want, clip(r.raw))
			}
		})
	}
}

// TestFaultSelection: a fault comes from the header, the query, the body or the
// server, which also spreads it.
func TestFaultSelection(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		cfg                simserver.Config
		path, header, body string
		want               []int // statuses of successive requests
	}{
		"the header names it":               {header: "X-Sim-Fault: http_500\r\n", want: []int{500}},
		"the query names it":                {path: "?fault=http_503", want: []int{503}},
		"the body names it":                 {body: `,"sim_fault":"http_429"`, want: []int{429}},
		"the header wins over the body":     {header: "X-Sim-Fault: http_500\r\n", body: `,"sim_fault":"http_429"`, want: []int{500}},
		"the server applies it to all":      {cfg: simserver.Config{Fault: "http_500"}, want: []int{500, 500}},
		"the server applies it to some":     {cfg: simserver.Config{Fault: "http_500", FaultEvery: 3}, want: []int{200, 200, 500, 200, 200, 500}},
		"a share of one means all":          {cfg: simserver.Config{Fault: "http_500", FaultShare: 1}, want: []int{500, 500}},
		"none spares a request":             {cfg: simserver.Config{Fault: "http_500"}, header: "X-Sim-Fault: none\r\n", want: []int{200}},
		"an unknown name is refused":        {header: "X-Sim-Fault: gremlins\r\n", want: []int{400}},
		"an argument that is none, too":     {header: "X-Sim-Fault: error_mid:often\r\n", want: []int{400}},
		"an argument is accepted":           {header: "X-Sim-Fault: error_mid:5\r\n", want: []int{200}},
		"a duration is an argument as well": {header: "X-Sim-Fault: slow_headers:1ms\r\n", want: []int{200}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.cfg.Profile = quick(t)
			c := dial(t, start(t, tt.cfg))
			for i, want := range tt.want {
				c.ask(t, "POST", "/v1/chat/completions"+tt.path, tt.header, chat(4, tt.body))
				if r := c.get(); !strings.HasPrefix(r.head, fmt.Sprintf("HTTP/1.1 %d ", want)) {
					t.Errorf("request %d: got %q, want status %d", i+1, r.head, want)
				}
			}
		})
	}
}

// TestFaultArgument: the number after the colon moves the strike.
func TestFaultArgument(t *testing.T) {
	t.Parallel()
	c := dial(t, start(t, simserver.Config{Profile: quick(t)}))
	for after, want := range map[int]int{0: 0, 1: 1, 5: 5, 100: 7} { // a shorter stream is struck at its last token
		c.ask(t, "POST", "/v1/chat/completions", fmt.Sprintf("X-Sim-Fault: error_mid:%d\r\n", after), chat(8, ""))
		if got := (sight{response: c.get()}).tokens(); got != want {
			t.Errorf("error_mid:%d came after %d tokens, want %d", after, got, want)
		}
	}
}

// TestStallEndsWithClient: a silent stream frees its connection when the client
// goes, and shows up as aborted.
func TestStallEndsWithClient(t *testing.T) {
	t.Parallel()
	s := start(t, simserver.Config{Profile: quick(t)})
	c := dial(t, s)
	c.ask(t, "POST", "/v1/chat/completions", "X-Sim-Fault: stall_mid\r\n", chat(8, ""))
	_ = c.SetReadDeadline(time.Now().Add(silence))
	c.get()
	_ = c.Conn.(*net.TCPConn).Close()
	waitFor(t, "the stalled request to be aborted", func() bool { return s.Stats().Aborted == 1 })
}
