package loadgen

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/valyala/fasthttp"
)

// maxHead bounds the head of an answer.
const maxHead = 64 << 10

var errHeadTooLong = errors.New("the head of the answer is longer than 64 KiB")

// head is what the head of an answer says.
type head struct {
	status     int
	kind       bodyKind
	length     int64
	coding     string
	retryAfter string
	location   string
	close      bool // the server will close the connection after this answer
}

// success reports whether the status is 2xx.
func (h *head) success() bool { return h.status >= 200 && h.status <= 299 }

// interim reports whether another head follows this one.
func (h *head) interim() bool { return h.status >= 100 && h.status < 200 && h.status != 101 }

// cutHead takes a head off the start of p. It returns nil without an error
// while the head is not complete.
func cutHead(p []byte) (h *head, rest []byte, err error) {
	p = bytes.TrimLeft(p, "\r\n")
	if !isHTTP(p) {
		return nil, nil, notHTTP(p)
	}
	n := headEnd(p)
	if n == 0 {
		if len(p) > maxHead {
			return nil, nil, errHeadTooLong
		}
		return nil, p, nil
	}
	h, err = parseHead(p[:n])
	return h, p[n:], err
}

// isHTTP reports whether p may be the start of an HTTP/1 answer.
func isHTTP(p []byte) bool {
	const start = "HTTP/1."
	n := min(len(p), len(start))
	return string(p[:n]) == start[:n]
}

func notHTTP(p []byte) error {
	const alert, handshake = 0x15, 0x16
	if p[0] == alert || p[0] == handshake {
		return errors.New("the server speaks TLS on this port; use https://")
	}
	return fmt.Errorf("the answer is not HTTP/1.1: %s", firstLine(p))
}

// headEnd returns the length of the head at the start of p, its empty line
// included, or 0 while that has not come.
func headEnd(p []byte) int {
	for at := 0; ; {
		i := bytes.IndexByte(p[at:], '\n')
		if i < 0 {
			return 0
		}
		at += i + 1
		switch {
		case at < len(p) && p[at] == '\n':
			return at + 1
		case at+1 < len(p) && p[at] == '\r' && p[at+1] == '\n':
			return at + 2
		}
	}
}

// parseHead reads a complete head.
func parseHead(p []byte) (*head, error) {
	var h fasthttp.ResponseHeader
	h.SetNoDefaultContentType(true)
	err := h.Read(bufio.NewReaderSize(bytes.NewReader(p), len(p)+16))
	_, status, _ := bytes.Cut(p, []byte(" "))
	// A status of 0 would read as fasthttp's default, 200.
	if err != nil || bytes.HasPrefix(bytes.TrimLeft(status, " "), []byte("0")) {
		return nil, fmt.Errorf("the head of the answer is malformed: %s", firstLine(p))
	}
	out := &head{
		status:     h.StatusCode(),
		coding:     strings.ToLower(strings.TrimSpace(string(h.ContentEncoding()))),
		retryAfter: string(h.Peek(fasthttp.HeaderRetryAfter)),
		close:      h.ConnectionClose(),
	}
	if out.status >= 300 && out.status <= 399 {
		out.location = string(h.Peek(fasthttp.HeaderLocation))
	}
	if out.coding == "identity" {
		out.coding = ""
	}
	switch n := h.ContentLength(); {
	case out.status < 200 || out.status == 204 || out.status == 304:
		out.kind, out.close = bodyLength, out.close || out.status == 101
	case n == -1:
		out.kind = bodyChunked
	case n >= 0:
		out.kind, out.length = bodyLength, int64(n)
	default:
		out.kind, out.close = bodyUntilClose, true
	}
	return out, nil
}

// firstLine is a printable excerpt of the first line of p.
func firstLine(p []byte) string {
	line, _, _ := bytes.Cut(p, []byte("\n"))
	if len(line) > 80 {
		line = line[:80]
	}
	return fmt.Sprintf("%q", bytes.TrimRight(line, "\r"))
}
