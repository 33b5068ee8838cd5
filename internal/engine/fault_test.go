package engine_test

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lmxbench/internal/engine"
)

// wantFault fails the test unless err is one clear line of the class that names
// the words.
func wantFault(t *testing.T, err error, class engine.Class, words ...string) *engine.Error {
	t.Helper()
	var fault *engine.Error
	if !errors.As(err, &fault) {
		t.Fatalf("got %v, want an *engine.Error of class %s", err, class)
	}
	if fault.Class != class {
		t.Errorf("class %s (%v), want %s", fault.Class, err, class)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
	if strings.ContainsAny(err.Error(), "\r\n\x1b\x00") {
		t.Errorf("%q is not one plain line", err)
	}
	return fault
}

func TestProbeFaultsOfTheAnswer(t *testing.T) {
	t.Parallel()
	tests := []struct {
		why   string
		route route
		class engine.Class
		words []string
	}{
		{"a page", route{kind: "text/html", body: "<!DOCTYPE html><title>hi</title>"}, engine.NotOpenAI, []string{"HTML page", "--base-url"}},
		{"a page that calls itself something else", route{kind: "text/plain", body: "\n <html>"}, engine.NotOpenAI, []string{"HTML page"}},
		{"other JSON", route{body: `{"hello":"world"}`}, engine.NotOpenAI, []string{"not a model list", `{"hello":"world"}`}},
		{"a list that is none", route{body: `{"data":7}`}, engine.NotOpenAI, []string{"not a model list"}},
		{"nothing", route{}, engine.NotOpenAI, []string{"empty"}},
		{"a redirect is not followed", route{status: 308, header: map[string]string{"Location": "https://other.example/v1/models"}}, engine.Redirected, []string{"https://other.example/v1/models", "not followed"}},
		{"no key where one is due", route{status: 401, body: `{"error":{"message":"no key"}}`}, engine.Unauthorized, []string{"no key", "LMXBENCH_API_KEY", "--api-key-file"}},
		{"no such path", route{status: 404}, engine.NotFound, []string{"without anything from /v1 on"}},
		{"a model that is loading", route{status: 503, body: `{"error":{"code":503,"message":"Loading model"}}`, header: map[string]string{"Retry-After": "5"}}, engine.NotReady, []string{"Loading model", "wait"}},
		{"a server in trouble", route{status: 500, body: "oh\x1b[2Jno\r\nreally"}, engine.BadStatus, []string{"oh[2Jno really", "log"}},
		{"plain HTTP to a TLS port, in nginx's words", route{status: 400, kind: "text/html", body: "<h1>400</h1>The plain HTTP request was sent to HTTPS port"}, engine.WrongScheme, []string{"https://"}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			server := fake(t, map[string]route{"/v1/models": tt.route})
			_, err := engine.Probe(within(t), targetOf(t, server.URL), engine.Wanted{})
			fault := wantFault(t, err, tt.class, append(tt.words, "GET "+server.URL+"/v1/models")...)
			if want := tt.route.header["Retry-After"]; fault.RetryAfter != want {
				t.Errorf("Retry-After %q, want %q", fault.RetryAfter, want)
			}
		})
	}
}

func TestProbeFaultsOfTheConnection(t *testing.T) {
	t.Parallel()
	tests := []struct {
		why    string
		answer string
		class  engine.Class
		words  []string
	}{
		{"closed without a word", "", engine.ConnectionLost, []string{"closed the connection"}},
		{"closed in the header", "HTTP/1.1 200 OK\r\nContent-", engine.ConnectionLost, nil},
		{"closed in the body", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{", engine.ConnectionLost, nil},
		{"closed in a chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n64\r\n{", engine.ConnectionLost, nil},
		{"another protocol", "SSH-2.0-OpenSSH_9.6\r\n\x1b[31m\r\n\r\n", engine.NotHTTP, []string{"not HTTP"}},
		{"a TLS alert", "\x15\x03\x01\x00\x02\x02\x46\r\n\r\n", engine.WrongScheme, []string{"speaks TLS", "https://"}},
		{"a header without end", "HTTP/1.1 200 OK\r\nx: " + strings.Repeat("y", 1<<20), engine.TooLarge, []string{"header"}},
		{"a broken gzip body", "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\nno", engine.NotHTTP, nil},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			url := raw(t, "tcp", "127.0.0.1:0", func(conn net.Conn, _ int, _ *http.Request) {
				io.WriteString(conn, tt.answer)
			})
			_, err := engine.Probe(within(t), targetOf(t, url), engine.Wanted{})
			wantFault(t, err, tt.class, append(tt.words, "GET "+url)...)
		})
	}
}

func TestProbeBoundsTheBody(t *testing.T) {
	t.Parallel()
	block := []byte(`{"data":[` + strings.Repeat(" ", 1<<20))
	for _, header := range []string{"", "content-encoding: gzip\r\n"} {
		url := raw(t, "tcp", "127.0.0.1:0", func(conn net.Conn, _ int, _ *http.Request) {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\n"+header+"\r\n")
			for {
				if _, err := conn.Write(block); err != nil {
					return // the client has had enough
				}
			}
		})
		_, err := engine.Probe(within(t), targetOf(t, url), engine.Wanted{})
		fault := wantFault(t, err, engine.TooLarge, "longer than 16 MiB")
		if len(fault.Excerpt) == 0 || len(fault.Excerpt) > 2<<10 {
			t.Errorf("excerpt of %d bytes, want some and at most 2 KiB", len(fault.Excerpt))
		}
	}
}

func TestProbeNobodyListens(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().String()[len("127.0.0.1"):]
	listener.Close()
	for _, host := range []string{"127.0.0.1", "localhost"} {
		_, err := engine.Probe(within(t), targetOf(t, "http://"+host+port), engine.Wanted{})
		wantFault(t, err, engine.Refused, "nothing listens on 127.0.0.1"+port, "start the server")
	}
}

func TestProbeUnknownHost(t *testing.T) {
	t.Parallel()
	// RFC 6761 keeps ".invalid" free of addresses.
	_, err := engine.Probe(within(t), targetOf(t, "http://no-such-host.invalid:8000"), engine.Wanted{})
	wantFault(t, err, engine.UnknownHost, `"no-such-host.invalid"`, "--base-url")
}

func TestProbeOfAServerThatNeverAnswers(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	url := raw(t, "tcp", "127.0.0.1:0", func(conn net.Conn, n int, _ *http.Request) {
		if n%2 == 1 { // every second request gets the beginning of an answer
			io.WriteString(conn, "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n{")
		}
		<-release
	})
	defer close(release)
	target := targetOf(t, url)
	target.Timeout = 20 * time.Millisecond
	for range 2 {
		_, err := engine.Probe(within(t), target, engine.Wanted{})
		wantFault(t, err, engine.TimedOut, "within 20ms")
	}

	target.Timeout = time.Hour
	stopped, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := engine.Probe(stopped, target, engine.Wanted{})
	wantFault(t, err, engine.TimedOut, "within the time given")

	reason := errors.New("the user pressed a key")
	ctx, stop := context.WithCancelCause(t.Context())
	context.AfterFunc(stopped, func() { stop(reason) }) // already over
	_, err = engine.Probe(ctx, target, engine.Wanted{})
	wantFault(t, err, engine.Cancelled)
	if !errors.Is(err, reason) {
		t.Errorf("got %v, want it to hold the cause", err)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer sk-right" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		io.WriteString(w, `{"data":[{"id":"m"}]}`)
	}))
	t.Cleanup(server.Close)
	target := targetOf(t, server.URL)

	target.Key = "sk-right"
	if _, err := engine.Probe(within(t), target, engine.Wanted{}); err != nil {
		t.Errorf("with the right key: %v", err)
	}
	target.Key = "sk-wrong"
	_, err := engine.Probe(within(t), target, engine.Wanted{})
	wantFault(t, err, engine.Unauthorized, "does not take this API key")
	target.Key = "sk-right\nX-Evil: 1"
	_, err = engine.Probe(within(t), target, engine.Wanted{})
	wantFault(t, err, engine.BadInput, "line end")
	if strings.Contains(err.Error(), "sk-") {
		t.Errorf("the error shows the key: %v", err)
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"data":[{"id":"m"}]}`)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	caFile := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(caFile, block, 0o600); err != nil {
		t.Fatal(err)
	}
	// The certificate is for 127.0.0.1 and example.com: another name for the
	// same address does not fit it.
	otherName := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	plain := strings.Replace(server.URL, "https://", "http://", 1)
	noTLS := strings.Replace(fake(t, nil).URL, "http://", "https://", 1)
	tests := []struct {
		why, url, ca string
		insecure     bool
		class        engine.Class // empty: it works
		words        []string
	}{
		{"an unknown authority", server.URL, "", false, engine.TLSUntrusted, []string{"--cacert", "--insecure"}},
		{"the authority's file", server.URL, caFile, false, "", nil},
		{"without verification", server.URL, "", true, "", nil},
		{"a certificate for another name", otherName, caFile, false, engine.TLSUntrusted, []string{"another name"}},
		{"http to a TLS port", plain, "", false, engine.WrongScheme, []string{"https://"}},
		{"https to a plain port", noTLS, "", false, engine.WrongScheme, []string{"http://"}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			target := targetOf(t, tt.url)
			cfg, err := engine.LoadTLS(tt.ca, tt.insecure)
			if err != nil {
				t.Fatal(err)
			}
			target.TLS = cfg
			_, err = engine.Probe(within(t), target, engine.Wanted{})
			if tt.class == "" {
				if err != nil {
					t.Errorf("Probe: %v", err)
				}
				return
			}
			wantFault(t, err, tt.class, tt.words...)
		})
	}
	t.Run("the system's roots are the default", func(t *testing.T) {
		t.Parallel()
		_, err := engine.Probe(within(t), targetOf(t, server.URL), engine.Wanted{})
		wantFault(t, err, engine.TLSUntrusted)
	})
	t.Run("a handshake that fails for another reason", func(t *testing.T) {
		t.Parallel()
		target := targetOf(t, server.URL)
		target.TLS = &tls.Config{
			MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS12,
			CipherSuites: []uint16{tls.TLS_RSA_WITH_AES_128_CBC_SHA},
		}
		_, err := engine.Probe(within(t), target, engine.Wanted{})
		wantFault(t, err, engine.TLSFailed, "handshake failed")
	})
}

func TestLoadTLSRefuses(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := engine.LoadTLS(empty, false); err == nil || !strings.Contains(err.Error(), "no PEM certificate") {
		t.Errorf("a file without a certificate: got %v", err)
	}
	if _, err := engine.LoadTLS(filepath.Join(t.TempDir(), "none"), false); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: got %v", err)
	}
}
