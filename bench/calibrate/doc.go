// Package calibrate measures the client itself: it runs the real measuring core
// against the simulated engine, which keeps the clock reading of every write,
// and states how far the client's numbers lie from that truth on this machine.
//
// A calibration is a ladder of [Load]s. Each is measured in rounds, and each
// round runs the client and then a bare epoll loop ([simserver.Floor]) against a
// fresh engine under the same load, so that what the client costs is compared
// with the least it could cost at the same minute. The answer is one [Rung] per
// load and one sentence ([Trust.Sentence]).
//
// Opinions. The truth is the send time of the very bytes an event came in, by
// the same machine's clock; the time the engine takes from that clock reading to
// the end of its write is charged to the client, so every error is an upper
// bound. A rung whose engine was late is void, says so and is never averaged
// in. What could not be measured is absent, not zero.
//
// Limits. Client and engine share a machine, so the path is loopback: a network
// adds its own delay, which no client can tell from the server's. Kernel stamps,
// the floor and memory are Linux only.
package calibrate
