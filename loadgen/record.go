package loadgen

import "time"

// Outcome is the one class a request ended in. Only OK may enter a statistic;
// HTTP status 200 is not success.
type Outcome string

// The outcomes, in the words of docs/outcomes.md.
const (
	OK           Outcome = "ok"            // finish reason, at least one token event, clean end
	Short        Outcome = "short"         // clean end with fewer tokens than demanded
	Empty        Outcome = "empty"         // clean end without one token event
	Truncated    Outcome = "truncated"     // body or connection ended before a finish reason
	StreamError  Outcome = "stream_error"  // an error object inside a 2xx answer
	Malformed    Outcome = "malformed"     // bytes that are not the protocol
	HTTPError    Outcome = "http_error"    // status other than 2xx
	ConnectError Outcome = "connect_error" // DNS, dial or TLS
	Timeout      Outcome = "timeout"       // a deadline passed; see Record.ErrorPhase
	Cancelled    Outcome = "cancelled"     // the user or the run stopped it
)

// Phase names where a request was when a deadline passed or it was cut.
type Phase string

// The phases of a request.
const (
	PhaseConnect       Phase = "connect"
	PhaseFirstToken    Phase = "firstToken"
	PhaseBetweenTokens Phase = "betweenTokens"
	PhaseTotal         Phase = "total"
)

// Stamps are the moments of one request as durations from the pool's origin.
// Zero means that it did not happen: the origin lies before the first dial.
//
//	Connect   connection ready, TLS included (its last use for a kept one stays)
//	Send      just before the write of the request's first byte
//	FirstByte first byte of the answer's head
//	End       end of the body, or when the request was given up
//
// The others are stamps of the read that completed the event they name.
type Stamps struct {
	Connect, Send, FirstByte, FirstEvent time.Duration
	FirstToken, FirstContent, LastToken  time.Duration
	Finish, End                          time.Duration
	// FirstLmx and LastLmx follow lmx's rule: text of the first choice's
	// reasoning and content only.
	FirstLmx, LastLmx time.Duration
}

// Events are the token events of a stream as columns of equal length.
type Events struct {
	At  []int64 // ns from the origin
	Lag []int64 // ns between the kernel's stamp and the read; NoStamp where the read carried none
	// Bytes is the size of the event's data.
	Bytes []int32
	// Tokens is how many tokens each event brought, or nil unless the server
	// counted as it went on every token event.
	Tokens []int32
}

// NoStamp marks a read that carried no kernel stamp in Events.Lag.
const NoStamp = -1

// Record is everything seen of one request. The pool fills it and hands it
// over when the batch has ended; it is the caller's from then on.
type Record struct {
	Outcome    Outcome
	Error      string // one line; empty for OK
	ErrorPhase Phase  // set for Timeout and ConnectError

	Status       int // 0: no answer
	Redirect     string
	RetryAfter   string
	Coding       string // content coding of the body, "" for identity
	BodyExcerpt  string // at most 2 KiB of a body that was no stream
	FinishReason string
	HasFinish    bool
	Done         bool // [DONE] arrived
	AbruptEnd    bool // the connection was cut after the answer was complete
	Reconnected  bool
	KeptAlive    bool // the connection had served a request before

	PromptTokens, OutputTokens, CachedTokens *int64 // nil: the server did not say
	UsageInvalid                             bool   // a usage that is no count was dropped
	Usage, Timings                           []byte // verbatim JSON of the last one seen

	OutputSHA256 [32]byte // of the text of every channel in order of arrival
	Text         []byte   // lmx's output text, when the request asked to keep it
	OtherEvents  int      // events that carried no token
	LateMerged   int      // token events read together with an earlier one because this client was late

	T      Stamps
	Events Events
}
