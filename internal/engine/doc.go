// Package engine asks a model server everything that is asked outside of the
// timed window: what it is, which model it serves, which request fields it
// takes, what its counters say, and what the command that started it means.
//
// Every question is one HTTP/1.1 exchange on a connection of its own. No proxy
// is taken from the environment, no redirect is followed, nothing is retried,
// bodies are bounded, and every call ends with its context or with
// [Target.Timeout], whichever comes first. TLS certificates are verified unless
// the caller's configuration says otherwise.
//
// A question that fails gives an [*Error]: one line that says what was asked,
// what went wrong and what to do, with a [Class] for programs.
//
// What a server does not tell stays absent. A quantity that is missing from
// /metrics is missing from [Counters], and never 0.
package engine
