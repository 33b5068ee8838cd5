package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lmxbench/sse"
)

// negotiationTokens caps the requests that [Negotiate] sends.
const negotiationTokens = 16

// Verdict is an answer to a question that may stay open.
type Verdict string

// The verdicts.
const (
	Yes     Verdict = "yes"
	No      Verdict = "no"
	Unclear Verdict = "unclear"
)

// Alteration is one field that a server made us drop or rename.
type Alteration struct {
	// Field is the field's place in the body, "stream_options.include_usage"
	// for one inside another.
	Field string
	// RenamedTo is its new name; empty where it was dropped.
	RenamedTo string
	// Status is the HTTP status of the refusal, and Said the server's words. A
	// field that was taken but not obeyed has the status of success.
	Status int
	Said   string
}

// Capabilities is what a server does with a request.
type Capabilities struct {
	// Request is the request to send from now on: the caller's own, with the
	// alterations in it.
	Request     Request
	Alterations []Alteration

	// CapHonoured says whether max_tokens ends an answer. It is Unclear where
	// the answer ended before.
	CapHonoured Verdict
	// ContinuousUsage says whether the server counts tokens on every event when
	// asked to. It is Unclear where that request failed.
	ContinuousUsage Verdict
	// Usage is set where a token count came. PromptTokens, OutputTokens and
	// CachedTokens are that count, of one small request.
	Usage                                    bool
	PromptTokens, OutputTokens, CachedTokens sse.Optional[int64]
	// Channels are the ways in which text came: content, reasoning and others.
	Channels sse.Channels
	// TokenEvents is the number of events that brought text.
	TokenEvents int
	// FinishReason is the server's word; empty where none came.
	FinishReason string
	// Timings is set where llama.cpp's own timings came.
	Timings bool
	// Coding is the content coding of the answer although none was wanted; empty
	// for a plain body.
	Coding string
}

// Negotiate finds out in which form the server takes r. It sends small requests
// (at most 16 tokens) that are otherwise r as it would be measured. A field the
// server refuses by name (status 400 or 422, or an error in the stream) is
// dropped, the token cap is renamed to max_completion_tokens, and the request
// is sent again: once a field. Two more requests may follow: one with the
// cap's other name where the server took the cap and did not obey it, one that
// asks for continuous usage.
//
// Any other refusal is an [*Error]. Each request has [Target.Timeout]; models
// that load or compile on the first request need it long.
func Negotiate(ctx context.Context, t Target, r Request) (Capabilities, error) {
	if err := r.Check(); err != nil {
		return Capabilities{}, &Error{Class: BadInput, Problem: err.Error()}
	}
	n := negotiation{target: t}
	got, err := n.settle(ctx, small(r))
	if err != nil {
		return Capabilities{}, err
	}
	if n.capHonoured(got) == No && n.request.Renamed["max_tokens"] == "" {
		got = n.tryOtherCap(ctx, got)
	}
	c := Capabilities{
		Request:      restore(n.request, r),
		Alterations:  n.alterations,
		CapHonoured:  n.capHonoured(got),
		Usage:        got.usageEvents > 0,
		PromptTokens: got.prompt, OutputTokens: got.completion, CachedTokens: got.cached,
		Channels:     got.channels,
		TokenEvents:  got.tokenEvents,
		FinishReason: got.finish,
		Timings:      got.timings,
		Coding:       n.coding,
	}
	c.ContinuousUsage = n.continuousUsage(ctx)
	return c, ctx.Err()
}

// small is r with few tokens; a demand for more than that would be refused.
func small(r Request) Request {
	r.MaxTokens = min(r.MaxTokens, negotiationTokens)
	if r.MinTokens != nil && *r.MinTokens > r.MaxTokens {
		least := r.MaxTokens
		r.MinTokens = &least
	}
	return r
}

// restore gives a negotiated request the token numbers of the caller's own.
func restore(negotiated, r Request) Request {
	negotiated.MaxTokens, negotiated.MinTokens = r.MaxTokens, r.MinTokens
	return negotiated
}

// negotiation is the state of one Negotiate.
type negotiation struct {
	target      Target
	request     Request // as it was sent last
	alterations []Alteration
	coding      string
}

// settle sends r until the server takes it or names no further field.
func (n *negotiation) settle(ctx context.Context, r Request) (reading, error) {
	for {
		n.request = r
		got, refused, err := n.send(ctx, r)
		if err == nil {
			return got, nil
		}
		next, change, ok := alter(r, refused)
		if !ok {
			return reading{}, err
		}
		var fault *Error
		if errors.As(err, &fault) {
			change.Status = fault.Status
		}
		change.Said = oneLine(refused.message, 2*maxQuoted)
		n.alterations = append(n.alterations, change)
		r = next
	}
}

// alter drops or renames the field that a refusal names; ok is false where it
// names none that can be spared. Each field is altered at most once, which
// bounds the number of requests.
func alter(r Request, refused refusal) (next Request, change Alteration, ok bool) {
	const capField, otherCap = "max_tokens", "max_completion_tokens"
	candidates := spare(r)
	if r.Renamed[capField] == "" {
		candidates = append(candidates, capField)
	}
	field := refused.names(candidates)
	switch field {
	case "":
		return r, Alteration{}, false
	case capField:
		return r.rename(capField, otherCap), Alteration{Field: field, RenamedTo: otherCap}, true
	}
	return r.drop(field), Alteration{Field: field}, true
}

// spare lists the fields of r that a request can do without. Inner fields come
// before the object they are in.
func spare(r Request) []string {
	var places []string
	fields := r.fields()
	for _, name := range sortedKeys(fields) {
		switch name {
		case "model", "stream", "max_tokens", "max_completion_tokens":
			continue
		case "stream_options":
			options, _ := fields[name].(map[string]any)
			for _, inner := range sortedKeys(options) {
				places = append(places, name+"."+inner)
			}
		}
		places = append(places, name)
	}
	return slices.DeleteFunc(places, func(p string) bool { return slices.Contains(r.Dropped, p) })
}

// send asks for one completion. Where the server refuses, refused is what it
// said.
func (n *negotiation) send(ctx context.Context, r Request) (got reading, refused refusal, err error) {
	template, err := NewTemplate(r)
	if err != nil {
		return reading{}, refusal{}, &Error{Class: BadInput, Problem: err.Error()}
	}
	q := question{
		method: "POST", path: "/v1/chat/completions",
		body: template.Append(nil, NewNonces(1)[0]),
	}
	x, err := n.target.open(ctx, q)
	if err != nil {
		return reading{}, refusal{}, err
	}
	defer x.close()
	if x.status < 200 || x.status > 299 {
		return n.refused(x)
	}
	got, err = x.readCompletion(r.MaxTokens)
	if err != nil {
		return got, refusal{}, err
	}
	if x.coded() {
		n.coding = x.contentEncoding
	}
	if got.failed {
		fault := x.broken(got.failure)
		fault.Problem = "the server reports an error inside its answer: " + oneLine(got.failure, 2*maxQuoted)
		fault.Advice = ""
		return got, refusal{message: got.failure}, fault
	}
	if got.finish == "error" || got.finish == "abort" {
		fault := x.broken("")
		fault.Problem = "the server ended its answer with the finish reason " + got.finish
		fault.Advice = "look at the server's log"
		return got, refusal{}, fault
	}
	if !r.OneAnswer && !got.streamed {
		return got, refusal{}, notStreamed(x)
	}
	return got, refusal{}, nil
}

// refused reads an answer with another status than success.
func (n *negotiation) refused(x *exchange) (reading, refusal, error) {
	a, err := x.readWhole()
	if err != nil {
		return reading{}, refusal{}, err
	}
	fault := n.target.statusFault(x.q, a)
	if fault.Class != RequestRefused {
		return reading{}, refusal{}, fault
	}
	fault.Advice = "the request is not one that this server takes"
	return reading{}, parseRefusal(a.body), fault
}

// notStreamed is an answer in one piece where a stream was asked for.
func notStreamed(x *exchange) *Error {
	return &Error{
		Class: StreamFailed, Asked: x.target.asked(x.q), Status: x.status,
		Problem: fmt.Sprintf("the answer came in one piece (%s) although a stream was asked for",
			oneLine(x.contentType, maxQuoted)),
		Advice: "switch streaming on in the server or in the proxy before it, or measure with --no-stream",
	}
}

// capHonoured judges whether the answer kept to the cap.
func (n *negotiation) capHonoured(got reading) Verdict {
	limit := n.request.MaxTokens
	tokens := got.tokenEvents // each event holds at least one token
	if got.completion.Known {
		tokens = max(tokens, int(got.completion.Value))
	}
	switch {
	case got.overrun || tokens > limit:
		return No
	case got.finish == "length" || tokens == limit:
		return Yes
	}
	return Unclear
}

// tryOtherCap sends the cap under its other name, and keeps that where it is
// obeyed: some servers skip fields they do not know.
func (n *negotiation) tryOtherCap(ctx context.Context, was reading) reading {
	first := n.request
	n.request = first.rename("max_tokens", "max_completion_tokens")
	got, _, err := n.send(ctx, n.request)
	if err != nil || n.capHonoured(got) == No {
		n.request = first
		return was
	}
	n.alterations = append(n.alterations, Alteration{
		Field: "max_tokens", RenamedTo: "max_completion_tokens", Status: 200,
		Said: "max_tokens was taken and not obeyed",
	})
	return got
}

// continuousUsage asks once more, with a count wanted on every event.
func (n *negotiation) continuousUsage(ctx context.Context) Verdict {
	r := n.request
	if r.OneAnswer || slices.Contains(r.Dropped, "stream_options") {
		return No
	}
	r.ContinuousUsage = true
	got, refused, err := n.send(ctx, r)
	switch {
	case err != nil && refused.names([]string{"stream_options.continuous_usage_stats", "stream_options"}) != "":
		return No
	case err != nil || got.tokenEvents < 2:
		return Unclear
	case got.usageEvents >= got.tokenEvents:
		return Yes
	}
	return No
}
