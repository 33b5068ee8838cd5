package localmaxxing

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds on what is kept of somebody else's text, in bytes.
const (
	maxText    = 512
	maxMessage = 300
)

// cut shortens text to at most limit bytes, a mark included, without splitting
// a character.
func cut(text string, limit int) string {
	const mark = "…"
	if len(text) <= limit {
		return text
	}
	end := limit - len(mark)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark
}

// oneLine joins white space and leaves out what does not print, so that no text
// of a stranger can drive a terminal.
func oneLine(text string, limit int) string {
	text = strings.ToValidUTF8(cut(text, 4*limit), "")
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case !strconv.IsPrint(r):
			return -1
		}
		return r
	}, text)
	return cut(strings.Join(strings.Fields(text), " "), limit)
}

// first returns the first text that is not empty.
func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// plural is "1 row", "2 rows".
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}
