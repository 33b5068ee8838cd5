package sse

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// The functions of this file work on JSON values that a scanner has passed, as
// they stand in the text, so they need not look for faults.

// isText reports whether raw is a string with at least one character. Every
// escape stands for a character, so two quotes are the only empty string.
func isText(raw []byte) bool { return len(raw) > 2 && raw[0] == '"' }

// appendString appends what the JSON string raw stands for. Half of a surrogate
// pair becomes U+FFFD, as in encoding/json: JSON allows it, UTF-8 cannot hold it.
func appendString(dst, raw []byte) []byte {
	rest := raw[1 : len(raw)-1]
	for {
		i := bytes.IndexByte(rest, '\\')
		if i < 0 {
			return append(dst, rest...)
		}
		dst = append(dst, rest[:i]...)
		var n int
		dst, n = appendEscape(dst, rest[i:])
		rest = rest[i+n:]
	}
}

// appendEscape appends the character of the escape that p starts with, and
// returns the length of the escape, of both halves of a surrogate pair.
func appendEscape(dst, p []byte) ([]byte, int) {
	switch p[1] {
	case 'b':
		return append(dst, '\b'), 2
	case 'f':
		return append(dst, '\f'), 2
	case 'n':
		return append(dst, '\n'), 2
	case 'r':
		return append(dst, '\r'), 2
	case 't':
		return append(dst, '\t'), 2
	case 'u':
		r, n := hexRune(p[2:6]), 6
		if utf16.IsSurrogate(r) {
			r, n = surrogate(r, p[6:])
		}
		return utf8.AppendRune(dst, r), n
	default: // quote, backslash, slash
		return append(dst, p[1]), 2
	}
}

// surrogate joins the half high, of an escape already read, with the escape that
// next starts with. Without a fitting one the half alone is U+FFFD.
func surrogate(high rune, next []byte) (r rune, n int) {
	if len(next) >= 6 && next[0] == '\\' && next[1] == 'u' {
		if r := utf16.DecodeRune(high, hexRune(next[2:6])); r != utf8.RuneError {
			return r, 12
		}
	}
	return utf8.RuneError, 6
}

// escapeLen returns the length of the escape that p starts with, 0 if malformed.
func escapeLen(p []byte) int {
	if len(p) < 2 {
		return 0
	}
	switch p[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(p) >= 6 && isHex(p[2]) && isHex(p[3]) && isHex(p[4]) && isHex(p[5]) {
			return 6
		}
	}
	return 0
}

func isHex(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func hexRune(p []byte) rune {
	var r rune
	for _, c := range p {
		if isDigit(c) {
			r = r<<4 | rune(c-'0')
		} else {
			r = r<<4 | rune(c&^0x20-'A'+10)
		}
	}
	return r
}
