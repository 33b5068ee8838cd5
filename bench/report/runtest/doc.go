// Package runtest makes run directories of an engine that does not exist, for
// tests of what reads them: a [Load] is played by arithmetic, without a clock
// or a network, and written by the same writer that stores a measurement.
// Equal loads give equal directories.
package runtest
