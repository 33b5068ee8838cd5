package sse_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lmxbench/sse"
)

// heard is what a client knows after a stream.
type heard struct {
	Events, Tokens, Counted int // all events; with text; with text that counts for lmx
	Done, Failed            int
	Channels                sse.Channels
	Text                    string
	Finish                  string
	Usages                  int
	Prompt, Completion      sse.Optional[int64]
	Cached                  sse.Optional[int64]
	Failure                 string
}

func hear(t *testing.T, pieces [][]byte) heard {
	t.Helper()
	var f sse.Framer
	var d sse.Decoder
	var c sse.Chunk
	var got heard
	for _, piece := range pieces {
		f.Push(piece)
		for f.Next() {
			got.Events++
			kind, err := d.DecodeEvent(f.Event(), &c)
			if err != nil {
				t.Fatalf("%v: %q", err, f.Event().Data)
			}
			switch kind {
			case sse.Done:
				got.Done++
			case sse.Failure:
				got.Failed++
				got.Failure = string(c.Error.Message)
			case sse.Completion:
			default:
				t.Errorf("got kind %v: %q", kind, f.Event().Data)
			}
			if c.Channels != 0 {
				got.Tokens++
			}
			if len(c.Text) > 0 {
				got.Counted++
			}
			got.Channels |= c.Channels
			got.Text += string(c.AllText)
			if c.FinishReason != nil {
				got.Finish = string(c.FinishReason)
			}
			if c.Usage.Raw != nil {
				got.Usages++
				got.Prompt, got.Completion, got.Cached = c.Usage.Prompt, c.Usage.Completion, c.Usage.Cached
			}
		}
	}
	if f.Pending() || f.Err() != nil {
		t.Errorf("pending %v, error %v", f.Pending(), f.Err())
	}
	return got
}

// TestRecordedStreams reads what vLLM sent. The word of the random model that a
// token stands for has 5 or 7 bytes, so texts are compared by length.
func TestRecordedStreams(t *testing.T) {
	t.Parallel()
	const dead = "EngineCore encountered an issue. See stack trace (above) for the root cause."
	complete := func(events, tokens int, want heard) heard {
		want.Events, want.Tokens, want.Counted, want.Done, want.Finish = events, tokens, tokens, 1, "length"
		return want
	}
	for _, row := range []struct {
		sentence string
		name     string
		bytes    int // of text
		want     heard
	}{
		{"32 tokens: a role, the tokens, a usage, the end mark", "chat-stream", 224, complete(35, 32, heard{Usages: 1, Prompt: some(23), Completion: some(32)})},
		{"usage on every event is a running total", "chat-stream-continuous-usage", 56, complete(11, 8, heard{Usages: 10, Prompt: some(23), Completion: some(8)})},
		{"logprobs are no text", "chat-stream-logprobs", 56, complete(11, 8, heard{Usages: 1, Prompt: some(23), Completion: some(8)})},
		{"without usage nothing is known", "chat-stream-no-usage", 56, complete(10, 8, heard{})},
		{"token ids do not disturb", "chat-stream-token-ids", 56, complete(11, 8, heard{Usages: 1, Prompt: some(23), Completion: some(8)})},
		{"a text completion has no role event", "completions-stream", 56, complete(10, 8, heard{Usages: 1, Prompt: some(4), Completion: some(8)})},
		{"reasoning is a channel of its own", "reasoning-chat-stream", 73, complete(19, 16, heard{Usages: 1, Prompt: some(23), Completion: some(16)})},
		{"with reasoning off it is content", "reasoning-off-chat-stream", 73, complete(19, 16, heard{Usages: 1, Prompt: some(40), Completion: some(16)})},
		{"1,024 tokens come in 208 events", "spec-chat-stream", 7168, complete(211, 208, heard{Usages: 1, Prompt: some(23), Completion: some(1024), Cached: some(0)})},
		{"8 tokens come in 5 events", "spec-chat-stream-continuous-usage", 56, complete(8, 5, heard{Usages: 7, Prompt: some(23), Completion: some(8), Cached: some(16)})},
		{"as a text completion too", "spec-completions-stream", 56, complete(7, 5, heard{Usages: 1, Prompt: some(4), Completion: some(8), Cached: some(0)})},
		{"64 tokens come in 16 events, 16 of the prompt were cached", "spec-token-ids-chat-stream", 320, complete(19, 16, heard{Usages: 1, Prompt: some(23), Completion: some(64), Cached: some(16)})},
		{"10 of 24 tokens are special and have no text", "special-tokens-chat-stream", 70, complete(27, 14, heard{Usages: 1, Prompt: some(23), Completion: some(24)})},
		{"halves of a character have no text until it ends", "split-utf8-chat-stream", 158, complete(51, 22, heard{Usages: 1, Prompt: some(23), Completion: some(48)})},
		{"a dead engine is an error, then the end mark", "killed-engine-chat-stream", 91, heard{Events: 23, Tokens: 19, Counted: 19, Failed: 1, Done: 1, Failure: dead}},
		{"a stopped server is the same", "killed-sigterm-group-chat-stream", 140, heard{Events: 23, Tokens: 20, Counted: 20, Failed: 1, Done: 1, Failure: dead}},
		{"a stream that went silent has no finish reason", "killed-sigterm-api-server-chat-stream", 154, heard{Events: 23, Tokens: 22, Counted: 22}},
		{"neither has one that was cut", "killed-sigkill-api-server-chat-stream", 21, heard{Events: 4, Tokens: 3, Counted: 3}},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			t.Parallel()
			row.want.Channels = sse.Content
			if strings.HasPrefix(row.name, "reasoning-chat") {
				row.want.Channels = sse.Reasoning
			}
			response := readCapture(t, row.name)[0]
			got := hear(t, response.pieces)
			if len(got.Text) != row.bytes {
				t.Errorf("got %d bytes of text, want %d", len(got.Text), row.bytes)
			}
			if diff := cmp.Diff(got, hear(t, [][]byte{response.body()})); diff != "" {
				t.Errorf("one read differs (-pieces +whole):\n%s", diff)
			}
			var single [][]byte
			for _, b := range response.body() {
				single = append(single, []byte{b})
			}
			if diff := cmp.Diff(got, hear(t, single)); diff != "" {
				t.Errorf("reads of one byte differ (-pieces +bytes):\n%s", diff)
			}
			got.Text = ""
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestRecordedEventsAreHTTPChunks holds what makes vLLM's recordings good for
// timing: each HTTP chunk is one event.
func TestRecordedEventsAreHTTPChunks(t *testing.T) {
	t.Parallel()
	for _, name := range streamNames(t) {
		for _, response := range readCapture(t, name) {
			if got := hear(t, response.pieces).Events; got != len(response.pieces) || got == 0 {
				t.Errorf("%s: got %d events from %d chunks", name, got, len(response.pieces))
			}
		}
	}
}

// TestRecordedChunksMatchTheReference compares every recorded chunk, whole and
// with each of its bytes lost.
func TestRecordedChunksMatchTheReference(t *testing.T) {
	t.Parallel()
	for _, name := range streamNames(t) {
		var f sse.Framer
		for i, piece := range readCapture(t, name)[0].pieces {
			f.Push(piece)
			for f.Next() {
				data := f.Event().Data
				checkAgainstReference(t, data)
				for at := 0; i%50 == 0 && at < len(data); at++ {
					checkAgainstReference(t, append(data[:at:at], data[at+1:]...))
				}
			}
		}
	}
}
