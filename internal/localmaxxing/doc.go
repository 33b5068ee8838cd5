// Package localmaxxing reads the leaderboards of localmaxxing.com: it asks the
// site's HTTP API, reads listings that were saved to files, and says where a
// result would stand on a board and whether two results may be compared.
//
// A board is the set of rows that the site shows for one model. Its order is by
// tokSOut, the output tokens per second, over all rows, whatever they measured;
// a second order takes the single-stream rows only. A listing need not hold the
// whole board. What can be said from a part of it is said as bounds, and every
// bound holds for whatever the missing rows are: see [Board.Place].
//
// Nothing here is a measurement, and nothing is made up: a value that a listing
// does not give stays nil or empty, and a value that cannot be one (a rate of
// 0, a text where a number belongs) is left out and named in the notes.
//
// The part that asks is read-only and sends no key: the site's listings are
// public.
package localmaxxing
