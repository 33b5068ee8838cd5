package loadgen

import (
	"errors"
	"fmt"
	"math"
)

// bodyKind is how the end of an HTTP/1.1 body is told (RFC 9112 §6.3).
type bodyKind uint8

const (
	bodyUntilClose bodyKind = iota
	bodyLength
	bodyChunked
)

// body takes the coding of an HTTP/1.1 body off, incrementally and without
// copying: each call returns the next piece of content inside the bytes given.
type body struct {
	kind      bodyKind
	state     chunkState
	remaining int64 // bytes left of the body or of the current chunk
	line      int   // bytes of the current size or trailer line
	digits    int
	done      bool
}

// newBody starts a body of the kind; length is that of a bodyLength.
func newBody(kind bodyKind, length int64) body {
	return body{kind: kind, remaining: length, done: kind == bodyLength && length == 0}
}

type chunkState uint8

const (
	chunkSize chunkState = iota
	chunkExtension
	chunkSizeLF
	chunkData
	chunkDataCR
	chunkDataLF
	chunkTrailer
)

// maxChunkLine bounds a chunk-size or trailer line.
const maxChunkLine = 16 << 10

var errChunk = errors.New("broken chunked coding")

// next returns the first piece of content in p, the bytes after it, and an
// error where the coding is broken. An empty piece means that p held none; the
// rest is then empty too, or the body is done and rest is what lies behind it.
func (b *body) next(p []byte) (piece, rest []byte, err error) {
	if b.done {
		return nil, p, nil
	}
	switch b.kind {
	case bodyUntilClose:
		return p, nil, nil
	case bodyLength:
		piece, rest = b.take(p)
		b.done = b.remaining == 0
		return piece, rest, nil
	}
	return b.chunk(p)
}

// take cuts up to remaining bytes off p.
func (b *body) take(p []byte) (piece, rest []byte) {
	n := min(int64(len(p)), b.remaining)
	b.remaining -= n
	return p[:n], p[n:]
}

func (b *body) chunk(p []byte) (piece, rest []byte, err error) {
	for len(p) > 0 && !b.done {
		if b.state == chunkData {
			piece, p = b.take(p)
			if b.remaining == 0 {
				b.state = chunkDataCR
			}
			return piece, p, nil
		}
		if err := b.control(p[0]); err != nil {
			return nil, nil, err
		}
		p = p[1:]
	}
	return nil, p, nil
}

// control takes one byte outside of chunk data. A bare LF ends a line as well,
// as RFC 9112 §2.2 lets a recipient accept.
func (b *body) control(c byte) error {
	switch b.state {
	case chunkSize:
		return b.sizeByte(c)
	case chunkExtension:
		switch {
		case c == '\n':
			return b.sizeEnd()
		case c == '\r':
			b.state = chunkSizeLF
		default:
			return b.count()
		}
	case chunkSizeLF:
		if c != '\n' {
			return fmt.Errorf("%w: byte %q after the CR of a size line", errChunk, c)
		}
		return b.sizeEnd()
	case chunkDataCR:
		if c == '\n' {
			b.startSize()
		} else if c == '\r' {
			b.state = chunkDataLF
		} else {
			return fmt.Errorf("%w: byte %q where a chunk should end", errChunk, c)
		}
	case chunkDataLF:
		if c != '\n' {
			return fmt.Errorf("%w: byte %q where a chunk should end", errChunk, c)
		}
		b.startSize()
	case chunkTrailer:
		switch c {
		case '\n':
			b.done = b.line == 0
			b.line = 0
		case '\r':
		default:
			return b.count()
		}
	}
	return nil
}

func (b *body) startSize() { b.state, b.remaining, b.line, b.digits = chunkSize, 0, 0, 0 }

// count bounds the current line.
func (b *body) count() error {
	if b.line++; b.line > maxChunkLine {
		return fmt.Errorf("%w: a line of more than %d bytes", errChunk, maxChunkLine)
	}
	return nil
}

func (b *body) sizeByte(c byte) error {
	var digit int64
	switch {
	case '0' <= c && c <= '9':
		digit = int64(c - '0')
	case 'a' <= c && c <= 'f':
		digit = int64(c-'a') + 10
	case 'A' <= c && c <= 'F':
		digit = int64(c-'A') + 10
	case b.digits > 0 && (c == ';' || c == ' ' || c == '\t'):
		b.state = chunkExtension
		return nil
	case b.digits > 0 && c == '\r':
		b.state = chunkSizeLF
		return nil
	case b.digits > 0 && c == '\n':
		return b.sizeEnd()
	default:
		return fmt.Errorf("%w: byte %q in a chunk size", errChunk, c)
	}
	if b.remaining > math.MaxInt64>>4 {
		return fmt.Errorf("%w: a chunk size beyond 63 bits", errChunk)
	}
	b.remaining = b.remaining<<4 | digit
	b.digits++
	return b.count()
}

func (b *body) sizeEnd() error {
	b.line = 0
	b.state = chunkData
	if b.remaining == 0 {
		b.state = chunkTrailer
	}
	return nil
}
