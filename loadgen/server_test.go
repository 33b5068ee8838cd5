package loadgen_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lmxbench/loadgen"
)

// ending is what a scripted server does with the connection after its answer.
type ending int

const (
	keep  ending = iota // waits for the next request
	hold                // says nothing more and never closes
	shut                // closes in order
	reset               // drops the connection
)

// answer is one answer of a scripted server, as bytes.
type answer struct {
	pieces []string // written one by one
	end    ending
}

// raw makes an answer of pieces of bytes.
func raw(end ending, pieces ...string) answer { return answer{pieces: pieces, end: end} }

// chunked makes a 200 stream whose events are a chunk each, with its last chunk.
func chunked(end ending, events ...string) answer {
	a := cut(end, events...)
	a.pieces = append(a.pieces, "0\r\n\r\n")
	return a
}

// cut is chunked without the last chunk.
func cut(end ending, events ...string) answer {
	a := answer{end: end, pieces: []string{chunkedHead}}
	for _, e := range events {
		a.pieces = append(a.pieces, fmt.Sprintf("%x\r\n%s\r\n", len(e), e))
	}
	return a
}

const chunkedHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

// sized makes a whole answer with a Content-Length.
func sized(end ending, status, header, body string) answer {
	return raw(end, fmt.Sprintf("HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n%s", status, header, len(body), body))
}

// The events of a stream.
const (
	roleEvent = `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}` + "\n\n"
	doneEvent = "data: [DONE]\n\n"
)

func token(text string) string {
	return fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{"content":%q},"finish_reason":null}]}`+"\n\n", text)
}

func finish(reason string) string {
	return fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{},"finish_reason":%q}]}`+"\n\n", reason)
}

func usage(prompt, output int) string {
	return fmt.Sprintf(`data: {"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d}}`+"\n\n", prompt, output)
}

// whole is a complete stream of two tokens.
func whole() []string {
	return []string{roleEvent, token("a"), token("b"), finish("length"), usage(3, 2), doneEvent}
}

// server is a scripted server over TCP or TLS.
type server struct {
	net.Listener
	work  sync.WaitGroup
	mu    sync.Mutex
	conns []net.Conn
}

// peer is one accepted connection: conn is what is spoken over, TLS where the
// server is secure, and plain what is below it.
type peer struct {
	conn  net.Conn
	plain *net.TCPConn
	r     *bufio.Reader
}

// serve starts a server that answers request i, counted from 0 in the order in
// which they arrive over all connections, with script(i).
func serve(t testing.TB, secure bool, script func(i int) answer) *server {
	var served atomic.Int64
	return serveConns(t, secure, func(p peer) {
		for p.request() == nil && p.play(script(int(served.Add(1))-1)) {
		}
	})
}

// serveConns starts a server that runs handle for each connection and closes
// it afterwards.
func serveConns(t testing.TB, secure bool, handle func(peer)) *server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{Listener: listener}
	s.work.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns = append(s.conns, conn)
			s.mu.Unlock()
			s.work.Go(func() {
				defer conn.Close()
				p := peer{conn: conn, plain: conn.(*net.TCPConn)}
				if secure {
					p.conn = tls.Server(conn, serverTLS())
					defer p.conn.Close()
				}
				p.r = bufio.NewReader(p.conn)
				handle(p)
			})
		}
	})
	t.Cleanup(s.stop)
	return s
}

// stop closes the listener and every connection and waits.
func (s *server) stop() {
	s.Close()
	s.mu.Lock()
	for _, conn := range s.conns {
		conn.Close()
	}
	s.mu.Unlock()
	s.work.Wait()
}

// connections is how many connections the server has accepted.
func (s *server) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// request reads a whole request.
func (p peer) request() error {
	req, err := http.ReadRequest(p.r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, req.Body)
	return err
}

// play writes an answer and reports whether the connection is kept.
func (p peer) play(a answer) bool {
	for _, piece := range a.pieces {
		if _, err := io.WriteString(p.conn, piece); err != nil {
			return false
		}
	}
	switch a.end {
	case keep:
		return true
	case hold:
		io.Copy(io.Discard, p.r)
	case reset:
		p.plain.SetLinger(0)
		p.plain.Close()
	}
	return false
}

// The certificate of httptest, for 127.0.0.1 and example.com.
var testTLS = sync.OnceValue(func() *httptest.Server {
	srv := httptest.NewUnstartedServer(http.NotFoundHandler())
	srv.StartTLS()
	srv.Close()
	return srv
})

func serverTLS() *tls.Config { return &tls.Config{Certificates: testTLS().TLS.Certificates} }

func clientTLS() *tls.Config {
	pool := testTLS().Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	return &tls.Config{RootCAs: pool, ServerName: "example.com"}
}

// readers are the ways in which a connection can be read.
var readers = []struct {
	name   string
	secure bool
	config func(*loadgen.Config)
}{
	{name: "epoll", config: func(*loadgen.Config) {}},
	{name: "goroutine", config: func(c *loadgen.Config) { c.Goroutines = true }},
	{name: "tls", secure: true, config: func(c *loadgen.Config) { c.TLS = clientTLS() }},
	{name: "user", config: func(c *loadgen.Config) { c.Goroutines, c.UserStamps = true, true }},
}

// eachReader runs a test once for each way of reading.
func eachReader(t *testing.T, test func(t *testing.T, secure bool, config func(address string) loadgen.Config)) {
	for _, r := range readers {
		t.Run("reader="+r.name, func(t *testing.T) {
			t.Parallel()
			test(t, r.secure, func(address string) loadgen.Config {
				cfg := loadgen.Config{Address: address, ConnectTimeout: 20 * time.Second, RequestTimeout: 20 * time.Second}
				r.config(&cfg)
				return cfg
			})
		})
	}
}

// open returns a pool that is closed with the test.
func open(t testing.TB, cfg loadgen.Config) *loadgen.Pool {
	p := loadgen.New(cfg)
	t.Cleanup(p.Close)
	return p
}

// request is a small request for a stream.
func request() *loadgen.Request {
	return &loadgen.Request{Message: message(`{"stream":true}`), Stream: true, ExpectEvents: 16, KeepText: true}
}

func requests(n int) []*loadgen.Request {
	out := make([]*loadgen.Request, n)
	for i := range out {
		out[i] = request()
	}
	return out
}

func message(body string) []byte {
	m, err := loadgen.Message("http://example.com/v1/chat/completions", nil, []byte(body))
	if err != nil {
		panic(err)
	}
	return m
}

// repeat is a script that gives every request the same answer.
func repeat(a answer) func(int) answer { return func(int) answer { return a } }

// inOrder is a script that gives the i-th request the i-th answer.
func inOrder(answers ...answer) func(int) answer {
	return func(i int) answer { return answers[min(i, len(answers)-1)] }
}

func contains(text, part string) bool { return strings.Contains(text, part) }
