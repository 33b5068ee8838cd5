// Package report turns the evidence of a run into its result, keeps both on
// disk, and checks one against the other.
//
// [Build] is a pure function from evidence to [Document]: no clock, no network,
// no file, no environment. The document marshals to run.json, which is lmx's
// document with one more key, lmxbench. Because it is pure, [Verify] can do it
// again from the files and compare every field.
//
// # Which requests count
//
// A request that is not ok enters no statistic, and the iteration it belongs
// to does not count at all: the streams beside a failed one had a faster
// server. What failed is counted, shown and judged. A value that cannot be
// computed is absent or null, never 0 and never NaN.
//
// # Numbers
//
// The fields of lmx are rounded as lmx rounds them: each item to one decimal,
// the summary of the items to two. Everything under lmxbench is rounded once,
// at the end: rates to two decimals, milliseconds and microseconds to three,
// shares to six. Rounding also makes the document the same on every machine,
// since a fused multiply-add may differ in the last bit of a float.
package report
