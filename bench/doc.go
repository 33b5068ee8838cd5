// Package bench runs the measurement: it asks the server what it is, warms it
// up, sends the timed batches, notes what it can see of the client and of the
// server around each of them, and writes the run directory.
//
// [Run] is the whole of it. It takes a [Config], which is the plan as far as
// the user decides it, and gives back one [Rung] per concurrency. It parses no
// flags, prints nothing, and keeps no state between calls; what happens on the
// way is told to an [Observer].
//
// Everything that may end up in a figure is written as it is measured; the
// result document is computed from those files' content by package
// bench/report and nowhere else.
package bench
