package loadgen

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func tokenEvent(text string) string {
	return fmt.Sprintf(`data: {"id":"x","choices":[{"index":0,"delta":{"content":%q},"finish_reason":null}]}`+"\n\n", text)
}

func chunk(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }

const streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

// feed gives a stream its bytes as one read at each moment.
func feed(s *stream, with *parser, at time.Duration, blind time.Duration, text string) {
	s.read([]byte(text), moment{at: at, stamped: true, blind: blind}, with)
}

func TestOnlyLatenessMerges(t *testing.T) {
	t.Parallel()
	a := chunk(tokenEvent("a"))
	type read struct {
		at, blind time.Duration
		text      string
	}
	for _, c := range []struct {
		claim string
		reads []read
		want  int
	}{
		{"one event a read", []read{{20 * ms, 0, a}, {40 * ms, 30 * ms, a}}, 0},
		{"two steps in one read, as late as one step", []read{{20 * ms, 0, a}, {60 * ms, 21 * ms, a + a}}, 1},
		{"five steps in one read", []read{{20 * ms, 0, a}, {120 * ms, 81 * ms, a + a + a + a + a}}, 4},
		{"a server's packing, read promptly", []read{{20 * ms, 0, a + a}, {40 * ms, 50 * us, a + a}, {60 * ms, 2 * ms, a + a + a}}, 0},
		{"a server's hiccup of two steps, read promptly", []read{{20 * ms, 0, a}, {60 * ms, 100 * us, a + a}}, 0},
		{"steps that lay unread behind the first token", []read{{60 * ms, 41 * ms, a + a + a}}, 2},
		{"a first read of a server that buffers", []read{{60 * ms, 100 * us, a + a + a}}, 0},
		{"two calls with one moment are one read, as TLS records are", []read{{20 * ms, 0, a}, {60 * ms, 21 * ms, a}, {60 * ms, 21 * ms, a}}, 1},
		{"nothing is known of the lateness", []read{{20 * ms, 0, a}, {60 * ms, 0, a + a}}, 0},
	} {
		t.Run(c.claim, func(t *testing.T) {
			t.Parallel()
			s, with := newStream(&Request{Stream: true}), new(parser)
			s.rec.T.Send = ms
			for i, r := range c.reads {
				if i == 0 {
					r.text = streamHead + r.text
				}
				feed(s, with, r.at, r.blind, r.text)
			}
			if s.rec.LateMerged != c.want {
				t.Errorf("got %d, want %d", s.rec.LateMerged, c.want)
			}
		})
	}
}

// Moments that go back by what asking two clocks takes do not turn the times of
// a record round.
func TestTimeDoesNotRunBackwards(t *testing.T) {
	t.Parallel()
	s, with := newStream(&Request{Stream: true}), new(parser)
	s.rec.T.Send = ms
	feed(s, with, 20*ms, 0, streamHead+chunk(tokenEvent("a")))
	feed(s, with, 20*ms-10, 0, chunk(tokenEvent("b")))
	s.eof(nil, moment{at: 20*ms - 20})
	if at := s.rec.Events.At; len(at) != 2 || at[1] < at[0] || s.rec.T.LastToken < s.rec.T.FirstToken || s.rec.T.End < s.rec.T.LastToken {
		t.Errorf("events at %v, %+v", at, s.rec.T)
	}
}

// answerText draws the bytes of an answer, sound or broken.
func answerText(t *rapid.T) string {
	events := rapid.SliceOfN(rapid.SampledFrom([]string{
		tokenEvent("a"), tokenEvent("ü€𝄞"), tokenEvent(""), ": ping\n\n", ":\r\n\r\n", "event: ping\ndata: x\n\n",
		"data: {\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"length\"}],\"usage\":{\"completion_tokens\":7}}\r\n\r\n",
		"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":-1}}\n\n",
		"data: {\"choices\":[],\"timings\":{\"predicted_n\":5}}\n\n", "data: [DONE]\n\n", "data: {\"error\":{\"message\":\"no\"}}\n\n",
		"data: {\"cho\n\n", "data: {\ndata: \"choices\": []}\n\n", "\n", "data: tail",
		"data: {\"choices\":[{\"delta\":{\"content\":\"c\"}}],\"usage\":{\"completion_tokens\":2}}\n\n",
	}), 0, 12).Draw(t, "events")
	body := strings.Join(events, "")
	switch rapid.IntRange(0, 7).Draw(t, "form") {
	case 0:
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%sextra", len(body), body)
	case 1:
		return fmt.Sprintf("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body)+5, body)
	case 2:
		return "HTTP/1.0 200 OK\r\n\r\n" + body
	case 3:
		return "HTTP/1.1 500 Oops\r\nContent-Length: 8\r\n\r\n{\"error\":"
	case 4:
		return "HTTP/1.1 200 OK\r\n\r\n \n{\"error\":\"x\"}"
	case 5:
		return "SSH-2.0\r\n" + body
	}
	var b strings.Builder
	b.WriteString(streamHead)
	for rest := body; rest != ""; {
		n := rapid.IntRange(1, len(rest)).Draw(t, "chunk")
		b.WriteString(chunk(rest[:n]))
		rest = rest[n:]
	}
	b.WriteString(rapid.SampledFrom([]string{"0\r\n\r\n", "0\r\nX: y\r\n\r\nmore", "", "zz"}).Draw(t, "last"))
	return b.String()
}

// outcomeOf reads an answer in the given pieces and then the end of the
// connection. Everything that depends on the moments is dropped.
func outcomeOf(pieces []string) *Record {
	s, with := newStream(&Request{Stream: true, KeepText: true, ExpectEvents: 4}), new(parser)
	for i, p := range pieces {
		buf := []byte(p)
		ended := s.read(buf, moment{at: time.Duration(i + 1)}, with)
		for j := range buf {
			buf[j] = '!' // the reader's buffer is used again
		}
		if ended {
			break
		}
	}
	s.eof(nil, moment{at: time.Hour})
	r := s.finish(with)
	r.T = Stamps{}
	if r.Status == 0 {
		r.Error = "" // it quotes what had come
	}
	for i := range r.Events.At {
		r.Events.At[i] = 0
	}
	return r
}

// TestCutsChangeNothing: the record is the same however the bytes are cut into
// reads, but for the moments.
func TestCutsChangeNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := answerText(t)
		var pieces []string
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "read")
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		want := outcomeOf([]string{text})
		if diff := cmp.Diff(want, outcomeOf(pieces)); diff != "" {
			t.Fatalf("%q in pieces (-whole +pieces):\n%s", text, diff)
		}
		if diff := cmp.Diff(want, outcomeOf(strings.Split(text, ""))); diff != "" {
			t.Fatalf("%q byte by byte (-whole +pieces):\n%s", text, diff)
		}
	})
}

func TestUsageWithEveryEventGivesTokens(t *testing.T) {
	t.Parallel()
	event := func(text string, n int64) string {
		return chunk(fmt.Sprintf("data: {\"choices\":[{\"delta\":{\"content\":%q}}],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":%d}}\n\n", text, n))
	}
	for _, c := range []struct {
		claim  string
		events string
		want   []int32
	}{
		{"running totals become tokens of each event", event("", 0) + event("a", 1) + event("b", 4) + event("", 5) + event("c", 6), []int32{1, 3, 2}},
		{"an event without a count drops the column", event("a", 1) + chunk(tokenEvent("b")) + event("c", 3), nil},
		{"a count that falls drops the column", event("a", 4) + event("b", 3), nil},
		{"a count beyond reason drops the column", event("a", 1<<53), nil},
		{"no token, no column", event("", 3), nil},
	} {
		t.Run(c.claim, func(t *testing.T) {
			t.Parallel()
			r := outcomeOf([]string{streamHead + c.events})
			if diff := cmp.Diff(c.want, r.Events.Tokens); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if r.PromptTokens == nil || *r.PromptTokens != 9 {
				t.Errorf("prompt tokens %v", r.PromptTokens)
			}
		})
	}
}

// A token event costs no allocation, with and without usage in each event.
func TestTokenEventAllocatesNothing(t *testing.T) {
	for _, c := range []struct{ name, event string }{
		{"plain", tokenEvent("hello")},
		{"usage", `data: {"choices":[{"index":0,"delta":{"content":"hello"}}],"usage":{"prompt_tokens":3,"completion_tokens":7}}` + "\n\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			const runs = 1000
			s, with := newStream(&Request{Stream: true, KeepText: true, ExpectEvents: runs + 2}), new(parser)
			feed(s, with, ms, 0, streamHead+chunk(c.event))
			bytes, at := []byte(chunk(c.event)), ms
			allocs := testing.AllocsPerRun(runs, func() {
				at += ms
				s.read(bytes, moment{at: at, stamped: true}, with)
			})
			if allocs != 0 || len(s.rec.Events.At) != runs+2 {
				t.Errorf("%v allocations an event, %d events", allocs, len(s.rec.Events.At))
			}
		})
	}
}

func TestLimitsAllocateNothing(t *testing.T) {
	s := newStream(&Request{Stream: true})
	l := &limits{request: time.Hour, firstToken: time.Hour, stall: time.Hour, grace: time.Hour}
	if allocs := testing.AllocsPerRun(100, func() { s.expiry(l) }); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
