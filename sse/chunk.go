package sse

// Channels is a set of the ways in which a delta can carry generated text.
type Channels uint8

// The channels. A channel is in a set only if it held a non-empty string.
const (
	// Content is the answer: content of a delta or message, or text of a text
	// completion.
	Content Channels = 1 << iota
	// Reasoning is reasoning, or reasoning_content.
	Reasoning
	// Refusal is refusal.
	Refusal
	// ToolCall is the name or arguments of a tool call, or of the older
	// function_call.
	ToolCall
)

// Chunk is what one event's data says. Its slices are views of that data or of
// the [Decoder]'s memory: they hold until the next call of Decode or DecodeEvent,
// and no longer than the data itself.
type Chunk struct {
	// Done is set for the data "[DONE]"; everything else is then zero.
	Done bool
	// Object is set when the data is a JSON object. Other JSON is no chunk.
	Object bool
	// HasChoices is set when choices is an array with at least one element.
	HasChoices bool
	// Channels holds the channels with text in any of the choices. It is empty
	// exactly when the event is not a token event.
	Channels Channels

	// Text is what lmx counts: reasoning, then content, of the first element of
	// choices, decoded. The event counts for lmx iff it is not empty. When a delta
	// has both reasoning and reasoning_content, the first non-empty one of them
	// is taken, in this order, and the other is left out as its double.
	Text []byte
	// AllText is the decoded text of every channel of every choice: per choice
	// reasoning, content, refusal, then name and arguments of each call. It
	// starts with Text.
	AllText []byte

	// FinishReason is the first non-empty finish_reason among the choices; nil
	// when there is none. The values "error" and "abort" are failures, which the
	// caller must judge.
	FinishReason []byte

	// Usage is the server's count of tokens, so far or in total.
	Usage Usage
	// Timings is the object "timings" of llama.cpp as it stands, nil when there
	// is none. ParseTimings reads it.
	Timings []byte
	// Error is the error that the server reports in place of, or beside, a chunk.
	Error ErrorReport
}

// Usage is the server's own count of tokens. Where a request gets several, each
// replaces the one before: they are running totals.
type Usage struct {
	// Raw is the value of usage as it stands; nil when it was missing or null.
	Raw []byte
	// Prompt is prompt_tokens, or input_tokens when that is missing or null.
	Prompt Optional[int64]
	// Completion is completion_tokens, or output_tokens.
	Completion Optional[int64]
	// Cached is cached_tokens of prompt_tokens_details, or input_tokens_details.
	Cached Optional[int64]
	// Invalid is set when usage is not an object, or one of the three counts is
	// there but is not an integer from 0 to 2^53. Such a count is not Known.
	Invalid bool
}

// ErrorReport is an error inside a stream or a body.
type ErrorReport struct {
	// Raw is the reported error as it stands; nil when there was none.
	Raw []byte
	// Message says in UTF-8, in at most 512 bytes, what the server said; the start
	// of Raw when no message was found. It may be empty.
	Message []byte
}
