package sse

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unicode/utf8"
)

// maxDepth is how deep JSON may nest. Real chunks stay below a dozen.
const maxDepth = 512

// jsonSpace is the white space of JSON.
const jsonSpace = " \t\r\n"

// SyntaxError says that data is not JSON, where, and why.
type SyntaxError struct {
	// Offset is the index of the offending byte, from 0; the length of the data
	// when it ends too early.
	Offset int
	// Reason is a short phrase.
	Reason string
}

// Error gives reason and offset.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("sse: invalid JSON: %s at byte %d", e.Reason, e.Offset)
}

// scanner walks over JSON text once and checks all of it: RFC 8259, valid UTF-8,
// at most maxDepth levels. It is driven from outside, one construct at a time:
//
//	for s.object(); s.member(); {
//		if string(s.key) == "wanted" {
//			raw := s.value()
//		} else {
//			s.value()
//		}
//	}
//
// Each member and each element must be followed by exactly one value. The first
// fault is kept and moves the position to the end of the text, where everything
// fails, so loops end and callers look at fault once, at the end.
type scanner struct {
	data  []byte
	pos   int
	depth int
	first bool // just behind an opening bracket: no comma due
	fault *SyntaxError

	key    []byte // decoded key of the last member
	keyBuf []byte // memory of a key with escapes
}

// reset starts a new text.
func (s *scanner) reset(data []byte) {
	*s = scanner{data: data, keyBuf: s.keyBuf}
}

// fail notes a fault and returns the end of the text.
func (s *scanner) fail(i int, reason string) int {
	if s.fault == nil {
		s.fault = &SyntaxError{Offset: i, Reason: reason}
	}
	s.pos = len(s.data)
	return s.pos
}

// end checks that only white space is left.
func (s *scanner) end() {
	if i := space(s.data, s.pos); i < len(s.data) {
		s.fail(i, "data after the value")
	}
}

// peek skips white space and returns the byte behind it, or 0 at the end. (A NUL
// in the text fails just as the end does, since no construct starts with it.)
func (s *scanner) peek() byte {
	s.pos = space(s.data, s.pos)
	return at(s.data, s.pos)
}

// object enters an object.
func (s *scanner) object() { s.open('{', "object expected") }

// array enters an array.
func (s *scanner) array() { s.open('[', "array expected") }

func (s *scanner) open(bracket byte, reason string) {
	switch {
	case s.peek() != bracket:
		s.fail(s.pos, reason)
	case s.depth == maxDepth:
		s.fail(s.pos, "nested too deep")
	default:
		s.pos++
		s.depth++
		s.first = true
	}
}

// member reads the next key of the entered object, and its colon, or leaves the
// object and returns false.
func (s *scanner) member() bool {
	i, more := s.next('}')
	if !more {
		return false
	}
	if at(s.data, i) != '"' {
		s.fail(i, "key expected")
		return false
	}
	end, escaped := s.text(i)
	raw := s.data[i:end]
	colon := space(s.data, end)
	if at(s.data, colon) != ':' {
		s.fail(colon, "colon expected") // or text has failed before
		return false
	}
	s.pos = colon + 1
	if escaped {
		s.keyBuf = appendString(s.keyBuf[:0], raw)
		s.key = s.keyBuf
	} else {
		s.key = raw[1 : len(raw)-1]
	}
	return true
}

// element moves to the next element of the entered array, or leaves the array
// and returns false.
func (s *scanner) element() bool {
	i, more := s.next(']')
	if more {
		s.pos = i
	}
	return more
}

// next passes the comma before the next item, if one is due, and returns where
// the item starts; or it passes the closing bracket and returns false. It leaves
// the position to its caller if there is an item.
//
// (The functions below work on an index of their own and not on the position,
// since a position that goes through memory at each step halves the speed.)
func (s *scanner) next(closing byte) (i int, more bool) {
	first := s.first
	s.first = false
	i = space(s.data, s.pos)
	switch c := at(s.data, i); {
	case c == closing:
		s.pos = i + 1
		s.depth--
		return i, false
	case i == len(s.data):
		s.fail(i, "unexpected end")
		return i, false
	case first:
		return i, true
	case c != ',':
		s.fail(i, "comma or closing bracket expected")
		return i, false
	}
	return space(s.data, i+1), true
}

// value passes one value of any type and returns its bytes as they stand,
// without white space around. The result is nil after a fault.
func (s *scanner) value() []byte {
	i := space(s.data, s.pos)
	s.pos = s.skip(i)
	if s.fault != nil {
		return nil
	}
	return s.data[i:s.pos]
}

// skip passes the value that starts at i and returns its end, or the end of the
// text after a fault.
func (s *scanner) skip(i int) int {
	switch c := at(s.data, i); c {
	case '"':
		end, _ := s.text(i)
		return end
	case '{':
		s.pos = i
		for s.object(); s.member(); {
			s.pos = s.skip(space(s.data, s.pos))
		}
		return s.pos
	case '[':
		s.pos = i
		for s.array(); s.element(); {
			s.pos = s.skip(s.pos)
		}
		return s.pos
	case 't':
		return s.literal(i, "true")
	case 'f':
		return s.literal(i, "false")
	case 'n':
		return s.literal(i, "null")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return s.number(i)
	}
	return s.fail(i, "value expected")
}

func (s *scanner) literal(i int, word string) int {
	end := i + len(word)
	if end > len(s.data) || string(s.data[i:end]) != word {
		return s.fail(i, "value expected")
	}
	return end
}

// number passes -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)? at i. What follows
// it is the business of the caller.
func (s *scanner) number(i int) int {
	p := s.data
	if p[i] == '-' {
		i++
	}
	whole := i
	i = digits(p, i)
	if i == whole || p[whole] == '0' && i > whole+1 {
		return s.fail(whole, "malformed number")
	}
	if at(p, i) == '.' {
		fraction := i + 1
		if i = digits(p, fraction); i == fraction {
			return s.fail(i, "malformed number")
		}
	}
	if c := at(p, i); c == 'e' || c == 'E' {
		i++
		if c := at(p, i); c == '+' || c == '-' {
			i++
		}
		exponent := i
		if i = digits(p, exponent); i == exponent {
			return s.fail(i, "malformed number")
		}
	}
	return i
}

// text passes the string whose opening quote is at i, and returns the index
// behind its closing quote and whether it has escapes. After a fault it returns
// the end of the text.
func (s *scanner) text(i int) (end int, escaped bool) {
	p := s.data
	for i++; ; {
		for i+8 <= len(p) {
			if m := notPlain(binary.LittleEndian.Uint64(p[i:])); m != 0 {
				i += bits.TrailingZeros64(m) / 8
				break
			}
			i += 8
		}
		switch {
		case i >= len(p):
			return s.fail(i, "unexpected end of string"), escaped
		case p[i] == '"':
			return i + 1, escaped
		case p[i] == '\\':
			n := escapeLen(p[i:])
			if n == 0 {
				return s.fail(i, "malformed escape"), escaped
			}
			escaped = true
			i += n
		case p[i] < ' ':
			return s.fail(i, "control character in string"), escaped
		case p[i] < utf8.RuneSelf: // plain, but less than eight bytes from the end
			i++
		default:
			r, n := utf8.DecodeRune(p[i:])
			if r == utf8.RuneError && n == 1 {
				return s.fail(i, "invalid UTF-8"), escaped
			}
			i += n
		}
	}
}

// at returns the byte at i, or 0 at the end.
func at(p []byte, i int) byte {
	if i < len(p) {
		return p[i]
	}
	return 0
}

// space returns the index, from i, of the first byte that is no white space.
func space(p []byte, i int) int {
	if i < len(p) && p[i] > ' ' {
		return i
	}
	return spaces(p, i)
}

func spaces(p []byte, i int) int {
	for i < len(p) && (p[i] == ' ' || p[i] == '\n' || p[i] == '\r' || p[i] == '\t') {
		i++
	}
	return i
}

func digits(p []byte, i int) int {
	for i < len(p) && isDigit(p[i]) {
		i++
	}
	return i
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// notPlain looks at eight bytes at once and sets the top bit of those that are
// not plain. For a byte b with a clear top bit, and n up to 0x80, b-n sets the
// top bit iff b < n; bytes with a set top bit are marked as they are. A byte that
// borrows may spoil the marks of bytes above it, but it is marked itself: the
// lowest mark is exact, and only that one is used.
func notPlain(w uint64) uint64 {
	const (
		ones = 0x0101010101010101
		tops = 0x80 * ones
	)
	quote := w ^ '"'*ones      // 0 where a quote was
	backslash := w ^ '\\'*ones // 0 where a backslash was
	return ((quote - ones) | (backslash - ones) | (w - ' '*ones) | w) & tops
}
