package sse_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"lmxbench/sse"
)

// TestFramerEventsDoNotDependOnCuts compares with the reference on streams made
// of the pieces that matter to the grammar, cut anywhere, with small limits.
func TestFramerEventsDoNotDependOnCuts(t *testing.T) {
	t.Parallel()
	word := rapid.SampledFrom([]string{
		"\n", "\n", "\r", "\r\n", "\n\n", "\r\r", "\r\n\r\n", ":", ": ", " ", "data", "data: ", "data:x\n", "event", "event: ",
		"event: error\n", "error", "id: 1\n", "retry", "x", "{}", "\ufeff", "\xef\xbb", "\u0085", "\u2028", "\x00", "\xff", "[DONE]",
		"a longer piece of text that needs room", "data: a\n\n", "data: a\r\n\r\n", "data: a\ndata: b\n\n",
	})
	rapid.Check(t, func(t *rapid.T) {
		var stream bytes.Buffer
		for _, w := range rapid.SliceOfN(word, 0, 40).Draw(t, "words") {
			stream.WriteString(w)
		}
		limit := rapid.SampledFrom([]int{sse.MaxEvent, 40, 12, 7, 1}).Draw(t, "limit")
		sizes := rapid.SliceOfN(rapid.ByteRange(0, 20), 1, 10).Draw(t, "sizes")
		checkCuts(t, limit, stream.String(), sizes)
	})
}

// FuzzFramerCuts does the same on streams that the fuzzer finds.
func FuzzFramerCuts(f *testing.F) {
	f.Add([]byte("data: a\r\n\r\ndata: b\n\n"), []byte{1, 2, 3}, uint16(0))
	f.Add([]byte("\xef\xbb\xbfevent: x\rdata:1\rdata:2\r\r: c\n"), []byte{2}, uint16(9))
	f.Add([]byte("data: a\n\nevent: error\n\nid: 1\ndata"), []byte{0, 7}, uint16(100))
	for _, name := range streamNames(f) {
		body := readCapture(f, name)[0].body()
		f.Add(body[:min(len(body), 2000)], []byte{200, 1, 31}, uint16(0))
	}
	f.Fuzz(func(t *testing.T, stream, sizes []byte, limit uint16) {
		max := int(limit)
		if limit == 0 {
			max = sse.MaxEvent
		}
		checkCuts(t, max, string(stream), sizes)
	})
}

func checkCuts(t tester, limit int, stream string, sizes []byte) {
	want := slowFrame(limit, stream)
	for _, cut := range []struct {
		how    string
		pieces []string
	}{
		{"one read", []string{stream}},
		{"a read per byte", cutInto(stream, nil)},
		{"cut", cutInto(stream, sizes)},
	} {
		diffFramed(t, want, frame(t, limit, cut.pieces...), cut.how)
	}
}
