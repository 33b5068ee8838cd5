package loadgen

import (
	"bufio"
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		claim, text string
		want        *head
		rest        string
		err         string
	}{
		{"a length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", &head{status: 200, kind: bodyLength, length: 5}, "hello", ""},
		{"chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", &head{status: 200, kind: bodyChunked}, "", ""},
		{"chunks beat a length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: Chunked\r\n\r\n", &head{status: 200, kind: bodyChunked}, "", ""},
		{"neither: until the connection closes", "HTTP/1.1 200 OK\r\n\r\nx", &head{status: 200, kind: bodyUntilClose, close: true}, "x", ""},
		{"HTTP/1.0 closes unless it says otherwise", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", &head{status: 200, kind: bodyLength, close: true}, "", ""},
		{"HTTP/1.0 with keep-alive", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n", &head{status: 200, kind: bodyLength}, "", ""},
		{"no reason phrase", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", &head{status: 200, kind: bodyLength}, "", ""},
		{"line ends left over from the answer before", "\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", &head{status: 200, kind: bodyLength}, "", ""},
		{"coding and retry", "HTTP/1.1 429 Slow\r\nContent-Encoding: GZIP\r\nRetry-After: 3\r\nContent-Length: 0\r\n\r\n", &head{status: 429, kind: bodyLength, coding: "gzip", retryAfter: "3"}, "", ""},
		{"identity is no coding", "HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\nContent-Length: 0\r\n\r\n", &head{status: 200, kind: bodyLength}, "", ""},
		{"a place to go counts only in a redirect", "HTTP/1.1 200 OK\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n", &head{status: 200, kind: bodyLength}, "", ""},
		{"a redirect", "HTTP/1.1 301 Moved\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n", &head{status: 301, kind: bodyLength, location: "/x"}, "", ""},
		{"304 has no body whatever its length", "HTTP/1.1 304 Same\r\nContent-Length: 9\r\n\r\n", &head{status: 304, kind: bodyLength}, "", ""},
		{"101 ends HTTP", "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\n\r\n", &head{status: 101, kind: bodyLength, close: true}, "", ""},
		{"not complete", "HTTP/1.1 200 OK\r\nA: b\r\n", nil, "HTTP/1.1 200 OK\r\nA: b\r\n", ""},
		{"the first bytes", "HTT", nil, "HTT", ""},
		{"only line ends", "\r\n", nil, "", ""},
		{"another protocol", "220 smtp ready\r\n", nil, "", `not HTTP/1.1: "220 smtp ready"`},
		{"HTTP/2", "\x00\x00\x12\x04\x00\x00", nil, "", "not HTTP/1.1"},
		{"TLS", "\x15\x03\x03", nil, "", "https://"},
		{"a status that is no number", "HTTP/1.1 2x0 OK\r\n\r\n", nil, "", "malformed"},
		{"a status below 100", "HTTP/1.1 000 OK\r\n\r\n", nil, "", "malformed"},
		{"bare line feeds", "HTTP/1.1 200 OK\nContent-Length: 1\n\nx", nil, "", "malformed"},
		{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", nil, "", "malformed"},
		{"a coding of the transfer that nobody knows", "HTTP/1.1 200 OK\r\nTransfer-Encoding: rot13\r\n\r\n", nil, "", "malformed"},
		{"a negative length", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", nil, "", "malformed"},
	} {
		t.Run(c.claim, func(t *testing.T) {
			t.Parallel()
			h, rest, err := cutHead([]byte(c.text))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("got error %v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, h, cmp.AllowUnexported(head{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if string(rest) != c.rest {
				t.Errorf("rest %q, want %q", rest, c.rest)
			}
		})
	}
}

// FuzzHead: the head reader takes any bytes, says the same of them in pieces,
// and where net/http reads a status too, it is the same one.
func FuzzHead(f *testing.F) {
	for _, seed := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1.0 404 No\n\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
		"\r\nHTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 200 OK\r\n A: b\r\n\r\n", "SSH-2.0",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		h, rest, err := cutHead(text)
		if h == nil {
			return
		}
		n := len(text) - len(rest)
		for i := range n { // it is complete with its last byte and not before
			if early, _, err := cutHead(text[:i]); early != nil || err != nil {
				t.Fatalf("%d of %d bytes of %q: %+v, %v", i, n, text, early, err)
			}
		}
		if again, behind, err := cutHead(text[:n]); err != nil || again == nil || *again != *h || len(behind) != 0 {
			t.Fatalf("%q alone: %+v, rest %q, %v", text[:n], again, behind, err)
		}
		if err != nil {
			return
		}
		theirs, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(bytes.TrimLeft(text, "\r\n"))), nil)
		if err != nil {
			return // stricter than ours
		}
		defer theirs.Body.Close()
		if theirs.StatusCode != h.status {
			t.Fatalf("%q: status %d, net/http reads %d", text, h.status, theirs.StatusCode)
		}
		if h.kind == bodyLength && theirs.ContentLength > 0 && h.status != 304 && theirs.ContentLength != h.length {
			t.Fatalf("%q: length %d, net/http reads %d", text, h.length, theirs.ContentLength)
		}
	})
}
