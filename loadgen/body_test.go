package loadgen

import (
	"bytes"
	"errors"
	"io"
	"net/http/httputil"
	"strings"
	"testing"
)

// decode runs p through a body in pieces of at most size bytes. It returns the
// content, the bytes behind the body, and whether the body came to its end.
func decode(b body, p []byte, size int) (content, behind []byte, done bool, err error) {
	for len(p) > 0 {
		n := min(size, len(p))
		now := p[:n]
		p = p[n:]
		for len(now) > 0 {
			if b.done {
				return content, append(bytes.Clone(now), p...), true, nil
			}
			piece, rest, err := b.next(now)
			if err != nil {
				return content, nil, false, err
			}
			content = append(content, piece...)
			now = rest
		}
	}
	return content, nil, b.done, nil
}

func TestChunkedBody(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		claim, text, content, behind string
		done, broken                 bool
	}{
		{"chunks join", "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", "abcde", "", true, false},
		{"a size in capitals, zeros in front", "00A\r\n0123456789\r\n0\r\n\r\n", "0123456789", "", true, false},
		{"extensions and spaces behind the size", "3;a=\"b\"\r\nabc\r\n0 \r\n\r\n", "abc", "", true, false},
		{"bare line feeds", "3\nabc\n0\n\n", "abc", "", true, false},
		{"trailers", "0\r\nA: b\r\nC: d\r\n\r\n", "", "", true, false},
		{"bytes behind the body", "0\r\n\r\nmore", "", "more", true, false},
		{"no end yet", "3\r\nab", "ab", "", false, false},
		{"no end of the trailers yet", "0\r\nA: b\r\n", "", "", false, false},
		{"a size that is no number", "x\r\n", "", "", false, true},
		{"no size", "\r\n", "", "", false, true},
		{"a negative size", "-1\r\n", "", "", false, true},
		{"a size beyond 63 bits", "8000000000000000\r\n", "", "", false, true},
		{"a chunk longer than its size", "3\r\nabcd\r\n", "abc", "", false, true},
		{"a carriage return alone", "3\rabc", "", "", false, true},
		{"an endless extension", "3;" + strings.Repeat("x", 20<<10), "", "", false, true},
		{"an endless size", strings.Repeat("0", 20<<10), "", "", false, true},
		{"an endless trailer", "0\r\n" + strings.Repeat("x", 20<<10), "", "", false, true},
	} {
		t.Run(c.claim, func(t *testing.T) {
			t.Parallel()
			for _, size := range []int{1, 2, 1 << 20} {
				content, behind, done, err := decode(newBody(bodyChunked, 0), []byte(c.text), size)
				if string(content) != c.content || string(behind) != c.behind || done != c.done || (err != nil) != c.broken {
					t.Errorf("in pieces of %d: got %q, behind %q, done %v, error %v", size, content, behind, done, err)
				}
				if err != nil && !errors.Is(err, errChunk) {
					t.Errorf("error %v is no chunk error", err)
				}
			}
		})
	}
}

func TestBodyWithALength(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 3, 100} {
		content, behind, done, err := decode(newBody(bodyLength, 5), []byte("hello world"), size)
		if string(content) != "hello" || string(behind) != " world" || !done || err != nil {
			t.Errorf("in pieces of %d: got %q, behind %q, done %v, %v", size, content, behind, done, err)
		}
	}
	if b := newBody(bodyLength, 0); !b.done {
		t.Error("a body of no bytes is not done")
	}
}

// FuzzBody compares the chunked decoder with the one of net/http: what that one
// takes, ours takes too and with the same content, and the content is the same
// however the bytes are cut.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		"3\r\nabc\r\n0\r\n\r\n", "3;x\r\nabc\r\n0\r\nA: b\r\n\r\n", "a\r\n0123456789\r\n", "0\r\n\r\n0\r\n\r\n", "3\nabc\n0\n\n", "ffffffffffffffff\r\n",
	} {
		f.Add([]byte(seed), 1)
	}
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		size = max(1, size%64)
		content, behind, done, err := decode(newBody(bodyChunked, 0), text, len(text)+1)
		cutContent, cutBehind, cutDone, cutErr := decode(newBody(bodyChunked, 0), text, size)
		if !bytes.Equal(content, cutContent) || !bytes.Equal(behind, cutBehind) || done != cutDone || (err == nil) != (cutErr == nil) {
			t.Fatalf("pieces of %d change %q: %q, %q, %v, %v; whole: %q, %q, %v, %v", size, text, cutContent, cutBehind, cutDone, cutErr, content, behind, done, err)
		}
		want, wantErr := io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(text)))
		if wantErr == nil && !bytes.Equal(content, want) {
			t.Fatalf("%q: net/http reads %q, ours %q (%v)", text, want, content, err)
		}
		if err == nil && !bytes.HasPrefix(content, want) {
			t.Fatalf("%q: net/http reads %q (%v), ours %q", text, want, wantErr, content)
		}
	})
}
