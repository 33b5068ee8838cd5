// Package power turns a machine's power sensors into joules over an exact
// span of time.
//
// # What it believes
//
// Energy comes from the card's own energy counter over the window asked for,
// never from mean power times time: a short window ends between two updates
// of a sensor, and the usual gauge is a trailing mean of one second. The
// counter's steps ("ticks") are found between two reads, E(t) is drawn through
// them, and a window is worth E(t1) − E(t0). Two other signals, the driver's
// ring buffer of 20 ms samples and the one-second mean, are integrated over
// the same window and must agree; where they do not, a code says so.
//
// A value that was not measured is missing with a reason ([Reason]); it is
// never zero.
//
// # Shape
//
// A [Meter] reads sensors: NVML, an nvidia-smi child, hwmon and RAPL files,
// amd-smi, a recorded file, or a synthetic load. [Start] runs one long-lived
// goroutine per device and signal class and streams every reading into a
// [Sink], usually a [Writer] of power.csv. [ReadFile] loads such a file (or a
// log of nvidia-smi, or of an external meter) as a [Series], and
// [Series.Window] is a pure function of it: whoever has the file has every
// figure.
//
// # The file power.csv
//
// The first line is the header. The first row has kind "origin": its utc and
// stamp_unix_ns are the wall clock at the recording's origin, its note is a
// JSON object with schema, source and version. Then comes one row of kind
// "device" per device, whose note is the [Device] as JSON. Every further row
// is one [Sample]:
//
//	kind, gpu        what it is, and the device's UUID
//	utc              label: origin plus before_ns, to the millisecond
//	before_ns        clock before the call, ns since the origin, monotonic
//	after_ns         clock after it
//	stamp_unix_ns    the source's own wall-clock stamp; for kind "clock" the
//	                 wall clock read together with before_ns
//	<signal>_<unit>  the values, in the order of the [Signal] constants; an
//	                 empty field is a value that was not read
//	missing          signal=reason, separated by blanks
//	note             free text
//
// Numbers are the shortest decimal that reads back to the same float64, so the
// windows of a recording and of its file are the same to the last bit. Reads of
// an unchanged energy counter between its first and its last are left out.
//
// # Limits
//
// The figures are the card's own telemetry. No external meter stands behind
// them, so a gain error of a few per cent per card stays invisible; the stated
// uncertainty covers the timing of the counter's ticks only.
package power
