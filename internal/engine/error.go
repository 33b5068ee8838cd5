package engine

import (
	"fmt"
	"strings"
)

// Class says which kind of fault kept a question from being answered.
type Class string

// The classes of [Error].
const (
	Refused        Class = "refused"         // nothing listens on the port
	UnknownHost    Class = "unknown_host"    // the name has no address
	Unreachable    Class = "unreachable"     // no route to the address
	TLSUntrusted   Class = "tls_untrusted"   // the certificate cannot be verified
	TLSFailed      Class = "tls_failed"      // any other fault of the handshake
	WrongScheme    Class = "wrong_scheme"    // http spoken to an https port, or the reverse
	TimedOut       Class = "timed_out"       // no whole answer within the deadline
	Stalled        Class = "stalled"         // a stream began and fell silent
	Cancelled      Class = "cancelled"       // the caller's context ended
	ConnectionLost Class = "connection_lost" // the server closed in mid-answer
	NotHTTP        Class = "not_http"        // the answer is not HTTP
	Redirected     Class = "redirected"      // status 3xx; Location says where to
	Unauthorized   Class = "unauthorized"    // status 401 or 403
	NotFound       Class = "not_found"       // status 404, 405 or 501: no such path
	NotReady       Class = "not_ready"       // status 429 or 503: asking later may help
	RequestRefused Class = "request_refused" // status 400 or 422: the body was not taken
	BadStatus      Class = "bad_status"      // any other status that is not 2xx
	NotOpenAI      Class = "not_openai"      // an answer that is not of the OpenAI API
	TooLarge       Class = "too_large"       // more bytes than this package reads
	StreamFailed   Class = "stream_failed"   // a stream that broke, or told of an error
	CapIgnored     Class = "cap_ignored"     // more tokens than the request allowed
	BadInput       Class = "bad_input"       // the caller's own key, file or address
)

// Error is a question that failed. It prints as one line.
type Error struct {
	Class Class
	// Asked is the method and the URL of the question, as in
	// "GET http://127.0.0.1:8000/v1/models".
	Asked string
	// Problem and Advice are what went wrong and what to do about it, one line
	// each. Advice may be empty.
	Problem, Advice string
	// Status is the HTTP status, 0 where no answer came.
	Status int
	// Location is where a redirect pointed, RetryAfter what the server said of
	// when to ask again. Both are as sent, or empty.
	Location, RetryAfter string
	// Excerpt is the beginning of the answer's body, at most 2 KiB.
	Excerpt string
	// Err is what was underneath, or nil.
	Err error
}

// Error is the whole fault on one line.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Asked != "" {
		b.WriteString(e.Asked + ": ")
	}
	b.WriteString(e.Problem)
	if e.Advice != "" {
		b.WriteString("; " + e.Advice)
	}
	return b.String()
}

// Unwrap returns what was underneath.
func (e *Error) Unwrap() error { return e.Err }

// ModelError says that the model to measure could not be chosen from what the
// server lists.
type ModelError struct {
	// Asked is the model that was asked for and is not listed, or empty where
	// none was chosen and more than one is listed.
	Asked string
	// Listed are the ids the server lists, in its order. It may be empty.
	Listed []string
}

// Error names the models, on one line.
func (e *ModelError) Error() string {
	listed := make([]string, 0, len(e.Listed))
	for i, id := range e.Listed {
		if i == 20 {
			listed = append(listed, fmt.Sprintf("and %d more", len(e.Listed)-i))
			break
		}
		listed = append(listed, oneLine(id, maxQuoted))
	}
	names := strings.Join(listed, ", ")
	switch {
	case len(e.Listed) == 0:
		return "the server lists no model: name one with --served-model"
	case e.Asked == "":
		return fmt.Sprintf("the server lists %d models and none was chosen: choose one with --served-model (%s)",
			len(e.Listed), names)
	}
	return fmt.Sprintf("the server does not list the model %s: choose one with --served-model (%s)",
		quote(e.Asked), names)
}
