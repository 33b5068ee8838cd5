// Package study puts results side by side: it opens them, finds the ladders
// and the settings that differ among them, compares what can be compared, and
// works out what a token costs and how far the ceiling is.
//
// Four kinds of input are results alike: run directories of this program,
// run.json files of lmx (without our key, also wrapped in {"payload": …}), rows
// of a table of published runs, and folders that hold any of these. What one of
// them does not know stays unknown; it is never filled in from another.
//
// # Opinions
//
// A curve over concurrency joins runs that differ in nothing else: same model,
// engine, settings. Two runs are compared at equal concurrency only, by their
// iterations, and the statement says when there are too few of these to tell.
// Results of different models or of different versions of this program do not
// stand in one study unless asked for, results of the simulated engine never
// stand beside measured ones, and a run that is INVALID is shown and not
// compared.
//
// No price, bandwidth or size is built in as a truth: prices come from the
// caller or from the rows themselves, and whatever is taken from a table of
// hardware says so.
package study
