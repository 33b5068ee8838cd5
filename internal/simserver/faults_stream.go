package simserver

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// errorText is an error object as stream data.
func errorText(w *wire) string {
	b, _ := json.Marshal(errorBody(w.st.server.cfg.Profile.Flavor, engineDeath())) // strings and a number
	return string(b)
}

// errorFaults put an error inside a 200 stream.
func errorFaults() []Fault {
	return []Fault{
		{"error_first", "an error object before the first token, then [DONE]", plan{edit: func(w *wire, _ event) {
			w.putText(errorText(w))
			w.putText("[DONE]")
			w.endBody()
		}}},
		strikeFault("error_mid", "an error object between tokens, then [DONE], as vLLM says that its engine died", func(w *wire, _ event) {
			w.putText(errorText(w))
			w.putText("[DONE]")
			w.endBody()
		}),
		strikeFault("error_event", "an event named error between tokens, then the clean end of the body", func(w *wire, _ event) {
			w.raw("event: error\n")
			w.putText(errorText(w))
			w.endBody()
		}),
		strikeFault("error_string", "an error that is a string, not an object, between tokens, then [DONE]", func(w *wire, _ event) {
			w.putText(`{"error":"CUDA out of memory"}`)
			w.putText("[DONE]")
			w.endBody()
		}),
		{"error_null", "every event has \"error\": null, which is none", plan{edit: func(w *wire, e event) {
			w.put(inserted(e, stampOpen, `,"error":null`))
		}}},
		{"finish_error", "the finish reason is error", plan{prepare: func(st *stream) { st.finish = "error" }}},
		{"finish_abort", "the finish reason is abort", plan{prepare: func(st *stream) { st.finish = "abort" }}},
		strikeFault("malformed_json", "one event's JSON is cut short; the rest of the stream is sound", func(w *wire, e event) {
			w.put(event{kind: e.kind, tokens: e.tokens, stamp: -1, data: e.data[:len(e.data)/2]})
		}),
	}
}

// strikeFault passes events on until the moment comes, then does something else
// in place of the event.
func strikeFault(name, about string, act func(*wire, event)) Fault {
	return Fault{name, about, plan{edit: func(w *wire, e event) {
		if w.strike(e) {
			act(w, e)
			return
		}
		w.put(e)
	}}}
}

// endingFaults end a stream in the wrong way or not at all.
func endingFaults() []Fault {
	return []Fault{
		strikeFault("cut_mid_event", "the connection closes after a chunk that holds half an event", func(w *wire, e event) {
			w.raw("data: " + string(e.data[:len(e.data)/2]))
			w.cut()
		}),
		strikeFault("cut_mid_chunk", "the connection closes inside a chunk", func(w *wire, e event) {
			w.flush()
			w.send(fmt.Appendf(nil, "%x\r\ndata: %s", len(e.data)+8, e.data[:len(e.data)/2]))
			w.cut()
		}),
		strikeFault("cut_clean_chunk", "the connection closes between two chunks, without the last one", func(w *wire, _ event) { w.cut() }),
		strikeFault("reset", "the connection is reset (RST) between tokens", func(w *wire, _ event) {
			w.reset = true
			w.cut()
		}),
		strikeFault("bad_chunk_size", "a chunk's size is not hexadecimal", func(w *wire, e event) {
			w.flush()
			w.send(fmt.Appendf(nil, "zz\r\ndata: %s\n\n\r\n", e.data))
			w.cut()
		}),
		{"no_finish", "the body ends cleanly without finish reason, usage or [DONE]", plan{edit: func(w *wire, e event) {
			w.put(unfinished(w, e))
			if e.kind == finishEvent {
				w.endBody()
			}
		}}},
		{"no_finish_done", "usage and [DONE] come, a finish reason never", plan{edit: func(w *wire, e event) { w.put(unfinished(w, e)) }}},
		{"abrupt_after_done", "the connection closes after [DONE], without the last chunk", plan{edit: func(w *wire, e event) {
			w.put(e)
			if e.kind == doneEvent {
				w.cut()
			}
		}}},
		{"abrupt_after_finish", "the connection closes after finish reason and usage, before [DONE]", plan{edit: func(w *wire, e event) {
			if e.kind == doneEvent {
				w.cut()
				return
			}
			w.put(e)
		}}},
		{"stall_first", "silence before the first event, the connection open for ever", plan{edit: func(w *wire, _ event) { w.stall() }}},
		strikeFault("stall_mid", "silence between tokens, the connection open for ever", func(w *wire, _ event) { w.stall() }),
	}
}

// unfinished takes the finish reason out of an event.
func unfinished(w *wire, e event) event {
	if e.kind != finishEvent {
		return e
	}
	return replaced(e, `"finish_reason":"`+w.st.finish+`"`, `"finish_reason":null`)
}

// contentFaults change what the tokens are and how many there are.
func contentFaults() []Fault {
	return []Fault{
		{"empty_output", "a finish reason and no token", plan{prepare: func(st *stream) { st.job.limit, st.finish = 0, "stop" }}},
		{"short_output", "the stream ends by itself at half the cap", plan{prepare: func(st *stream) {
			st.job.limit, st.finish = max(1, st.job.limit/2), "stop"
		}}},
		{"ignore_cap", "half as many tokens again as the cap allows", plan{prepare: func(st *stream) {
			st.job.limit += max(2, st.job.limit/2)
		}}},
		{"two_tokens", "two tokens in every event", plan{prepare: func(st *stream) { st.job.perEvent = 2 }}},
		strikeFault("empty_deltas", "events without text between the tokens, as special tokens make", func(w *wire, e event) {
			w.fired = false
			w.put(event{kind: contentEvent, stamp: -1, data: fmt.Appendf(nil, `%s{"index":0,"delta":{"content":""},"finish_reason":null}%s}`, w.st.pre, w.st.post)})
			w.put(e)
		}),
		channelFault("reasoning", "the first half of the tokens comes as delta.reasoning", reasoningChannel),
		channelFault("reasoning_content", "the first half of the tokens comes as delta.reasoning_content", reasoningContentChannel),
		channelFault("tool_calls", "all tokens are arguments of a tool call", toolCallsChannel),
		channelFault("refusal", "all tokens are a refusal", refusalChannel),
		strikeFault("invalid_utf8", "one event's text holds bytes that are not UTF-8", func(w *wire, e event) {
			w.put(withText(e, "\xff\xfe\xc3("))
		}),
		{"split_utf8", "characters of two to four bytes are cut between chunks", plan{edit: splitUTF8}},
	}
}

// channelFault moves the text from delta.content to another field. Reasoning
// ends half way, the others never.
func channelFault(name, about string, c channel) Fault {
	return Fault{name, about, plan{edit: func(w *wire, e event) {
		thinks := c == reasoningChannel || c == reasoningContentChannel
		if e.tokens == 0 || thinks && w.st.produced > (w.st.job.limit+1)/2 {
			w.put(e)
			return
		}
		before, after, found := bytes.Cut(e.data, []byte(`"content":"`))
		text, rest, ended := bytes.Cut(after, []byte(`"}`))
		if !found || !ended { // a text completion has no channels
			w.put(e)
			return
		}
		w.put(edited(e, fmt.Appendf(nil, "%s%s%s%s}%s", before, c.open, text, c.shut, rest)))
	}}}
}

// withText puts more text at the start of an event's own.
func withText(e event, text string) event {
	for _, open := range []string{`"content":"`, `"text":"`} {
		if i := bytes.Index(e.data, []byte(open)); i >= 0 {
			i += len(open)
			return edited(e, fmt.Appendf(nil, "%s%s%s", e.data[:i], text, e.data[i:]))
		}
	}
	return e
}

// splitUTF8 sends every token event in two chunks with the cut inside a
// character.
func splitUTF8(w *wire, e event) {
	if e.tokens == 0 {
		w.put(e)
		return
	}
	const text = "é世🙂"
	e = withText(e, text)
	at := bytes.Index(e.data, []byte(text)) + []int{1, 3, 7}[w.seen%3] // inside é, 世 or 🙂
	w.stampNow(&e)
	w.raw("data: " + string(e.data[:at]))
	w.flush()
	w.raw(string(e.data[at:]) + "\n\n")
	w.tokens = append(w.tokens, e.tokens)
	w.flush()
}
