package sse_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lmxbench/sse"
)

// TestLlamaCPPRecordings reads what a real llama.cpp server sent: null content
// first, one token an event, the finish reason with an empty delta, and usage
// and timings together in a chunk without choices.
func TestLlamaCPPRecordings(t *testing.T) {
	t.Parallel()
	some := func(n int64) sse.Optional[int64] { return sse.Optional[int64]{Value: n, Known: true} }
	for _, row := range []struct {
		sentence, name string
		want           heard
	}{
		{
			"32 tokens come in 32 events", "llamacpp-chat-stream",
			heard{Events: 36, Tokens: 32, Counted: 32, Done: 1, Channels: sse.Content, Finish: "length", Usages: 1, Prompt: some(82), Completion: some(32), Cached: some(0)},
		},
		{
			"speculation changes nothing about that", "llamacpp-chat-stream-speculative",
			heard{Events: 100, Tokens: 96, Counted: 96, Done: 1, Channels: sse.Content, Finish: "length", Usages: 1, Prompt: some(82), Completion: some(96), Cached: some(0)},
		},
		{
			"without include_usage there is no count", "llamacpp-chat-stream-no-usage",
			heard{Events: 11, Tokens: 8, Counted: 8, Done: 1, Channels: sse.Content, Finish: "length"},
		},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			t.Parallel()
			response := readCapture(t, row.name)[0]
			got := hear(t, response.pieces)
			if diff := cmp.Diff(got, hear(t, [][]byte{response.body()})); diff != "" {
				t.Errorf("one read differs (-pieces +whole):\n%s", diff)
			}
			if got.Text == "" {
				t.Error("no text")
			}
			got.Text = ""
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
