package simserver_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"lmxbench/internal/simserver"
)

// quick is an engine without waits worth mentioning.
func quick(t testing.TB) simserver.Profile {
	t.Helper()
	p, err := simserver.LookupProfile("default")
	if err != nil {
		t.Fatal(err)
	}
	p.StepCurve = []simserver.StepPoint{{Batch: 1, Time: 200 * time.Microsecond}}
	p.PrefillRate, p.Gather = 0, 0
	return p
}

// start runs a server until the test ends.
func start(t testing.TB, cfg simserver.Config) *simserver.Server {
	t.Helper()
	s, err := simserver.Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(t.Context()) }()
	t.Cleanup(func() {
		_ = s.Close()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return s
}

// rawConn speaks HTTP by hand, so that a test sees the bytes.
type rawConn struct {
	net.Conn
	in *bufio.Reader
}

func dial(t testing.TB, s *simserver.Server) *rawConn {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(s.URL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	// A hung test is worse than a failed one.
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	return &rawConn{c, bufio.NewReader(c)}
}

// ask sends one request; header lines end in CR LF.
func (c *rawConn) ask(t testing.TB, method, path, header, body string) {
	t.Helper()
	_, err := fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n%s", method, path, header, len(body), body)
	if err != nil {
		t.Fatal(err)
	}
}

// response is what came back, as bytes and taken apart.
type response struct {
	raw    []byte // head and body, as they were on the wire
	head   string
	chunks []string // of a chunked body, without the last
	body   string   // decoded
	// ended says that a chunked body had its last chunk; err is why reading
	// stopped: nil for a complete response, io.EOF, a reset or a timeout.
	ended bool
	err   error
}

// get reads one response to its end by its own framing.
func (c *rawConn) get() (r response) {
	var raw bytes.Buffer
	in := bufio.NewReaderSize(io.TeeReader(c.in, &raw), 16) // small, to read no further than needed
	defer func() { r.raw = raw.Bytes() }()
	for {
		line, err := in.ReadString('\n')
		r.head += line
		if err != nil {
			r.err = err
			return r
		}
		if line == "\r\n" {
			break
		}
	}
	lower := strings.ToLower(r.head)
	switch {
	case strings.Contains(lower, "transfer-encoding: chunked"):
		r.readChunks(in)
	case strings.Contains(lower, "content-length: "):
		_, after, _ := strings.Cut(lower, "content-length: ")
		n, _ := strconv.Atoi(strings.TrimSpace(after[:strings.Index(after, "\r")]))
		b := make([]byte, n)
		k, err := io.ReadFull(in, b)
		r.body, r.err = string(b[:k]), err
	default:
		b, err := io.ReadAll(in)
		r.body, r.err = string(b), err
	}
	return r
}

func (r *response) readChunks(in *bufio.Reader) {
	var body strings.Builder
	defer func() { r.body = body.String() }()
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			r.err = err
			return
		}
		n, err := strconv.ParseInt(strings.TrimSpace(line), 16, 64)
		if err != nil {
			rest, _ := io.ReadAll(in)
			body.WriteString(line + string(rest))
			r.err = errors.New("bad chunk size")
			return
		}
		b := make([]byte, n+2)
		k, err := io.ReadFull(in, b)
		if err != nil {
			body.Write(b[:k])
			r.err = err
			return
		}
		if n == 0 {
			r.ended = true
			return
		}
		r.chunks = append(r.chunks, string(b[:n]))
		body.Write(b[:n])
	}
}

// chat is a chat request for so many tokens; more is further JSON members.
func chat(tokens int, more string) string {
	return fmt.Sprintf(`{"model":"sim-small","messages":[{"role":"user","content":"hello"}],"max_tokens":%d,`+
		`"stream":true,"stream_options":{"include_usage":true}%s}`, tokens, more)
}
