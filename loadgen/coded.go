package loadgen

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// coded takes a content coding off a body that comes in pieces. We ask for
// identity; a server or a proxy that codes anyway is decoded as it streams,
// and the record says so.
//
// The decoders of the library pull, our bytes are pushed: the decoder runs as
// a coroutine that is resumed with each piece and gives back what it can.
type coded struct {
	in   []byte
	eof  bool
	err  error
	next func() ([]byte, bool)
	stop func()
}

var errStopped = errors.New("stopped")

// newCoded returns a decoder for a Content-Encoding, or an error that names an
// unknown one. stop must be called.
func newCoded(coding string) (*coded, error) {
	open, ok := codings[coding]
	if !ok {
		return nil, fmt.Errorf("unknown content coding %q though identity was asked for", coding)
	}
	c := &coded{}
	c.next, c.stop = iter.Pull(func(yield func([]byte) bool) {
		// Read asks for more input by yielding nothing.
		source := readFunc(func(p []byte) (int, error) {
			for len(c.in) == 0 {
				if c.eof {
					return 0, io.EOF
				}
				if !yield(nil) {
					return 0, errStopped
				}
			}
			n := copy(p, c.in)
			c.in = c.in[n:]
			return n, nil
		})
		c.err = drain(open, source, yield)
	})
	return c, nil
}

func drain(open opener, source io.Reader, yield func([]byte) bool) error {
	r, err := open(source)
	if err != nil {
		return err
	}
	buf := make([]byte, 16<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 && !yield(buf[:n]) {
			return nil
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// push decodes p and hands each decoded piece to emit; a piece is valid until
// emit returns.
func (c *coded) push(p []byte, emit func([]byte)) error {
	c.in = p
	for {
		piece, ok := c.next()
		if !ok {
			if c.err != nil {
				return fmt.Errorf("decode body: %w", c.err)
			}
			return nil
		}
		if len(piece) == 0 {
			return nil
		}
		emit(piece)
	}
}

// finish tells the decoder that the body has ended.
func (c *coded) finish(emit func([]byte)) error {
	c.eof = true
	return c.push(nil, emit)
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

type opener func(io.Reader) (io.Reader, error)

var codings = map[string]opener{
	"gzip":    func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	"x-gzip":  func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	"deflate": func(r io.Reader) (io.Reader, error) { return openDeflate(r) },
	"br":      func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil },
	"zstd": func(r io.Reader) (io.Reader, error) {
		return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	},
}

// openDeflate tells the two things servers call deflate apart by the first two
// bytes: zlib (RFC 1950, the right one) and raw deflate (RFC 1951).
func openDeflate(r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(r)
	head, err := buffered.Peek(2)
	if err != nil {
		return nil, err
	}
	if head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(buffered)
	}
	return flate.NewReader(buffered), nil
}
