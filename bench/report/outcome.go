package report

// The classes a request can end in. Each request ends in exactly one.
const (
	OutcomeOK           = "ok"
	OutcomeShort        = "short"
	OutcomeEmpty        = "empty"
	OutcomeTruncated    = "truncated"
	OutcomeStreamError  = "stream_error"
	OutcomeMalformed    = "malformed"
	OutcomeHTTPError    = "http_error"
	OutcomeConnectError = "connect_error"
	OutcomeTimeout      = "timeout"
	OutcomeCancelled    = "cancelled"
)

// Outcome is a class of docs/outcomes.md.
type Outcome struct {
	Name    string
	Meaning string
}

// Outcomes lists the classes, best first. The slice is the caller's.
func Outcomes() []Outcome {
	return []Outcome{
		{OutcomeOK, "a finish reason or `[DONE]` arrived, at least one token event, and the stream ended cleanly"},
		{OutcomeShort, "ended cleanly, but with fewer tokens than the run demanded (`--min-tokens`, `--ignore-eos`)"},
		{OutcomeEmpty, "ended cleanly with a finish reason and without a token event"},
		{OutcomeTruncated, "the body ended or the connection dropped before a finish reason"},
		{OutcomeStreamError, "an error object arrived inside a 2xx stream, before or after tokens"},
		{OutcomeMalformed, "bytes that are not the protocol: undecodable JSON, broken chunked coding, an over-long line, invalid UTF-8, a body that is no stream"},
		{OutcomeHTTPError, "a status other than 2xx; redirects are not followed and land here"},
		{OutcomeConnectError, "name resolution, dialling or TLS did not succeed"},
		{OutcomeTimeout, "a limit passed; `errorPhase` says which: connect, first token, between tokens, total"},
		{OutcomeCancelled, "the user or the run stopped it"},
	}
}

// knownOutcome reports whether name is a class.
func knownOutcome(name string) bool {
	for _, o := range Outcomes() {
		if o.Name == name {
			return true
		}
	}
	return false
}
