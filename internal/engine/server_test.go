package engine_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"lmxbench/internal/engine"
)

// targetOf returns the target for a base URL, patient enough for a busy machine.
func targetOf(t *testing.T, url string) engine.Target {
	t.Helper()
	base, err := engine.ParseBaseURL(url)
	if err != nil {
		t.Fatalf("parse %s: %v", url, err)
	}
	return engine.Target{Base: base, Timeout: 20 * time.Second}
}

// route is what a fake server answers at one path.
type route struct {
	status int
	kind   string // content type; application/json where empty
	body   string
	header map[string]string
}

// fake serves fixed answers and 404 at all other paths. It keeps no connection
// open longer than the test.
func fake(t *testing.T, routes map[string]route) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, known := routes[r.URL.Path]
		if !known {
			answer = route{status: 404, body: `{"detail":"Not Found"}`}
		}
		for name, value := range answer.header {
			w.Header().Set(name, value)
		}
		if answer.kind == "" {
			answer.kind = "application/json"
		}
		w.Header().Set("Content-Type", answer.kind)
		if answer.status == 0 {
			answer.status = 200
		}
		w.WriteHeader(answer.status)
		w.Write([]byte(answer.body))
	}))
	t.Cleanup(server.Close)
	return server
}

// raw serves bytes: each connection's request is read, then answer is called
// with the connection and the number of the request, from 0. The connection is
// closed when it returns.
func raw(t *testing.T, network, address string, answer func(conn net.Conn, n int, request *http.Request)) string {
	t.Helper()
	listener, err := net.Listen(network, address)
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	return serveRaw(t, listener, answer)
}

// serveRaw is raw on a listener that is there already.
func serveRaw(t *testing.T, listener net.Listener, answer func(conn net.Conn, n int, request *http.Request)) string {
	var open sync.WaitGroup
	open.Go(func() {
		for n := 0; ; n++ {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			open.Go(func() {
				defer conn.Close()
				request, err := http.ReadRequest(bufio.NewReader(conn))
				if err != nil {
					request = nil // not HTTP: some tests want that
				}
				answer(conn, n, request)
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		open.Wait()
	})
	return "http://" + listener.Addr().String()
}

// ours are the lines of a capture that are not the server's.
var ours = regexp.MustCompile(`(?m)^> .*\r?\n`)

// capture returns the server's bytes of a captured HTTP exchange.
func capture(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	data = ours.ReplaceAll(data, nil)
	begin := bytes.Index(data, []byte("HTTP/1.1"))
	if begin < 0 {
		t.Fatalf("%s holds no answer", name)
	}
	return data[begin:]
}

// replay serves captured answers by path, and 404 elsewhere.
func replay(t *testing.T, answers map[string][]byte) string {
	return raw(t, "tcp", "127.0.0.1:0", func(conn net.Conn, _ int, r *http.Request) {
		answer, known := answers[r.URL.Path]
		if !known {
			answer = []byte("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
		}
		conn.Write(answer)
	})
}

// sse is an event stream of the given data, ended by [DONE].
func sse(events ...string) route {
	var b strings.Builder
	for _, data := range append(events, "[DONE]") {
		fmt.Fprintf(&b, "data: %s\n\n", data)
	}
	return route{kind: "text/event-stream", body: b.String()}
}

// within is a context that ends with the test.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}
