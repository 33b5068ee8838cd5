// Package simserver is a simulated OpenAI-compatible engine: a server that
// streams made-up text at the pace of a stated engine and keeps exact books on
// when it did so.
//
// It exists for three uses. Demonstrations run without a GPU. Tests meet every
// kind of fault that real servers show (see [Faults]). Calibration compares a
// client's time stamps with the truth: every frame carries the clock reading
// taken just before its own bytes were written ("sim":{"sent_unix_ns":…}), the
// arrival of each request is stamped by the kernel, and the server publishes its
// own lateness, so that a run against a late server can be thrown away.
//
// # How it keeps time
//
// One scheduler (see [Predict] for the same code without sockets) decides which
// stream gets how many tokens at the end of which step. A loop on a thread of its
// own sleeps until that moment, builds each frame from pre-encoded pieces and
// writes it with one non-blocking system call per stream and step. A goroutine
// per connection only reads and parses requests; it is parked in the poller while
// its stream runs. A reader that is too slow gets its bytes queued and is
// counted; it never delays the others.
//
// # Limits
//
// The text is not language and the token counts follow a stated rule
// ([PromptTokens]), not a tokenizer. The exact path (raw writes, kernel stamps,
// precise sleep) is Linux only; elsewhere and under TLS the server works, with
// slower writes and user-space stamps. Nothing here is a measurement: results
// against it must be marked simulated.
package simserver
