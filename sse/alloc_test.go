package sse_test

import (
	"testing"

	"lmxbench/sse"
)

// TestNoAllocationPerEvent holds the promise of the package on recorded streams,
// however they are cut into reads, once the buffers have grown.
func TestNoAllocationPerEvent(t *testing.T) {
	for _, name := range streamNames(t) {
		response := readCapture(t, name)[0]
		body := response.body()
		for _, reads := range []struct {
			sentence string
			pieces   [][]byte
		}{
			{"an event per read", response.pieces},
			{"one read", [][]byte{body}},
			{"reads of 100 bytes", cutEvery(body, 100)},
			{"reads of 1,448 bytes", cutEvery(body, 1448)},
		} {
			var f sse.Framer
			var d sse.Decoder
			var c sse.Chunk
			events := 0
			if n := testing.AllocsPerRun(10, func() {
				f.Reset()
				events += consume(t, &f, &d, &c, reads.pieces)
			}); n != 0 {
				t.Errorf("%s, %s: got %v allocations", name, reads.sentence, n)
			}
			if events != 11*len(response.pieces) {
				t.Errorf("%s, %s: got %d events", name, reads.sentence, events)
			}
		}
	}
}

// TestNoAllocationForOtherEvents does the same for kinds of events that the
// recordings lack.
func TestNoAllocationForOtherEvents(t *testing.T) {
	for _, row := range []struct{ sentence, stream string }{
		{"comments", ": ping\n\n"},
		{"a ping", "event: ping\ndata: {}\n\n"},
		{"several data lines", "data: {\ndata: }\n\n"},
		{"escapes", "data: " + delta(`"content":"\n\u00e9\ud83d\ude00"`) + "\n\n"},
		{"keys with escapes", "data: " + delta(`"\u0063ontent":"x"`) + "\n\n"},
		{"tool calls", "data: " + delta(`"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{}"}}]`) + "\n\n"},
		{"parts", "data: " + delta(`"content":[{"text":"x"}]`) + "\n\n"},
		{"timings", "data: {\"timings\":{\"predicted_n\":1}}\n\n"},
		{"errors", "data: {\"error\":{\"message\":\"a\\nb\"}}\n\n"},
	} {
		var f sse.Framer
		var d sse.Decoder
		var c sse.Chunk
		pieces := cutEvery([]byte(row.stream), 7)
		if n := testing.AllocsPerRun(10, func() { consume(t, &f, &d, &c, pieces) }); n != 0 {
			t.Errorf("%s: got %v allocations", row.sentence, n)
		}
	}
}

// TestIdleFramerIsSmall holds that a stream between two reads costs little.
func TestIdleFramerIsSmall(t *testing.T) {
	t.Parallel()
	var d sse.Decoder
	var c sse.Chunk
	for _, size := range []int{1, 100, 1448, 1 << 16} {
		var f sse.Framer
		consume(t, &f, &d, &c, cutEvery(readCapture(t, "chat-stream")[0].body(), size))
		if held := f.Held(); held > 1024 {
			t.Errorf("reads of %d bytes: the framer holds %d bytes", size, held)
		}
	}
}

// consume frames and decodes and returns the number of events.
func consume(t testing.TB, f *sse.Framer, d *sse.Decoder, c *sse.Chunk, pieces [][]byte) (events int) {
	for _, piece := range pieces {
		f.Push(piece)
		for f.Next() {
			if _, err := d.DecodeEvent(f.Event(), c); err != nil {
				t.Fatal(err)
			}
			events++
		}
	}
	return events
}

func cutEvery(body []byte, size int) [][]byte {
	var pieces [][]byte
	for len(body) > 0 {
		n := min(size, len(body))
		pieces = append(pieces, body[:n])
		body = body[n:]
	}
	return pieces
}
