// Package page renders a study as one HTML file: the answer first, then
// pictures that answer one question each, then every number behind them.
//
// The file needs nothing else: no network, no script, no font, no image. It
// follows the reader's light or dark scheme, is drawn a second time for narrow
// screens so that text keeps its size there, and every picture has a title, a
// description, hover texts and a table of its numbers. Its size does not depend
// on how many tokens were measured.
//
// # Pictures
//
// Scales start at zero where lengths are compared and are logarithmic only
// where values span decades, which the axis then says. One colour means one
// thing on the whole page. Text that would overlap is left out or moved, never
// shrunk.
package page
