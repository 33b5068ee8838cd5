package sse_test

import (
	"testing"

	"lmxbench/sse"
)

// BenchmarkFrameDecode frames and decodes recorded streams. Repeat it with
//
//	go test -run '^$' -bench FrameDecode -count 6 ./sse
func BenchmarkFrameDecode(b *testing.B) {
	for _, name := range []string{
		"chat-stream", "spec-chat-stream", "reasoning-chat-stream", "chat-stream-continuous-usage",
		"chat-stream-token-ids", "chat-stream-logprobs", "split-utf8-chat-stream",
	} {
		response := readCapture(b, name)[0]
		body := response.body()
		for _, reads := range []struct {
			name   string
			pieces [][]byte
		}{
			{"event", response.pieces},
			{"1448B", cutEvery(body, 1448)},
			{"64KiB", cutEvery(body, 64<<10)},
		} {
			b.Run("stream="+name+"/read="+reads.name, func(b *testing.B) {
				var f sse.Framer
				var d sse.Decoder
				var c sse.Chunk
				events := 0
				b.SetBytes(int64(len(body)))
				b.ReportAllocs()
				for b.Loop() {
					events += consume(b, &f, &d, &c, reads.pieces)
				}
				b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
			})
		}
	}
}

// BenchmarkFrame frames alone, to tell the two halves apart.
func BenchmarkFrame(b *testing.B) {
	response := readCapture(b, "chat-stream")[0]
	body := response.body()
	var f sse.Framer
	events := 0
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		for _, piece := range response.pieces {
			f.Push(piece)
			for f.Next() {
				events++
			}
		}
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
}
