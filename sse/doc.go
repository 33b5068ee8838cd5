// Package sse turns the bytes of a streamed completion into what a load
// generator needs to know about it.
//
// It has two halves, both fed by the caller, both without a clock, a
// connection, a goroutine or an allocation per event:
//
//	bytes of one read ──Framer──► Event{Name, Data} ──Decoder──► Kind, Chunk
//
// [Framer] is the grammar of server-sent events as the WHATWG HTML standard
// states it (section 9.2.6, "Interpreting an event stream"), on bytes: reads
// are not events, and the events are the same however the bytes are cut into
// reads. [Decoder] reads one event as a chunk of an OpenAI chat or text
// completion with a strict JSON scanner of its own (RFC 8259, UTF-8 checked).
//
// Opinions, and where they come from:
//
//   - A token event is one with a non-empty string in some channel. Role-only
//     deltas, "", null and missing keys are all "no token".
//   - Events are not tokens: counts are read from usage, never from events.
//   - A missing count is missing; it is never 0.
//   - Events are judged by their data, not by their name, with two exceptions
//     that [Decoder.DecodeEvent] states.
//   - What is not needed is checked for syntax and otherwise skipped. A needed
//     field of an unexpected type is "no token", not a failure.
//
// The package does not decide the outcome of a request: it reports a finish
// reason, an error, an unfinished event, a syntax error, and leaves the verdict
// to its caller.
package sse
