package engine

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxQuoted bounds what an error repeats of somebody else's text, in bytes.
const maxQuoted = 120

// maxExcerpt bounds what is kept of a body that was not understood, in bytes.
const maxExcerpt = 2 << 10

// quote is text between quotation marks on one line, cut where it is long.
func quote(text string) string { return strconv.Quote(cut(text, maxQuoted)) }

// cut shortens text to at most limit bytes without splitting a character.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := limit
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// oneLine turns foreign text into one short line: white space is joined, and
// what does not print is left out, so that no server can drive a terminal.
func oneLine(text string, limit int) string {
	text = strings.ToValidUTF8(cut(text, 4*limit), "")
	fields := strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case !strconv.IsPrint(r):
			return -1
		}
		return r
	}, text))
	return cut(strings.Join(fields, " "), limit)
}

// excerpt is the beginning of a body for evidence, as text.
func excerpt(body []byte) string {
	if len(body) > maxExcerpt {
		body = body[:maxExcerpt]
	}
	return strings.ToValidUTF8(string(body), "\uFFFD")
}
