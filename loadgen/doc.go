// Package loadgen sends batches of prepared HTTP requests to an
// OpenAI-compatible server and records when each piece of each answer arrived.
//
// It is the measuring core. A [Pool] opens N connections first, releases N
// requests from a barrier, reads every stream to its end and hands over one
// [Record] per request. It knows no percentiles and writes no files.
//
// Three opinions shape it.
//
// The time of an event is the kernel's. On Linux each plain connection is read
// with recvmsg and the kernel's software receive stamp (SO_TIMESTAMPING), so a
// reader that is scheduled late reports the same time, only later; the moment
// of the read is kept beside it as the lag. Elsewhere, and where a read comes
// without a stamp, the moment after the read is used and marked as such.
//
// One loop reads many streams. Plain connections are read by a few epoll loops
// (docs/adr/0002); TLS and connections given by a custom dialler are read by a
// goroutine each. Both feed the same state machine.
//
// Nothing is retried. The one exception is a kept-alive connection that has
// served before and closes without one byte of answer: it is replaced once,
// the clock starts anew, and the record says so.
package loadgen
