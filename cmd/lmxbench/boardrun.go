package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"lmxbench/internal/localmaxxing"
)

// boardRun is where a result would stand on a board.
type boardRun struct {
	Path string           `json:"path"`
	Row  localmaxxing.Row `json:"row"`
	// Submittable is false for a result that may not go to the site; Reason says
	// why, and what hinders a place as well.
	Submittable bool         `json:"submittable"`
	Reason      string       `json:"reason,omitempty"`
	Places      []boardStand `json:"places"`
}

// boardStand is the place among the rows of a class, or why there is none.
type boardStand struct {
	Class  string          `json:"class"`
	Place  *boardPlace     `json:"place"`
	Of     int             `json:"of,omitempty"` // with this result; 0: not known
	Ties   int             `json:"ties,omitempty"`
	Above  *boardNeighbour `json:"above,omitempty"`
	Below  *boardNeighbour `json:"below,omitempty"`
	Reason string          `json:"reason,omitempty"`
}

type boardNeighbour struct {
	Place boardPlace       `json:"place"`
	Row   localmaxxing.Row `json:"row"`
	Gap   float64          `json:"gapTokS"`  // tokens per second
	Share float64          `json:"gapShare"` // of the result's own rate
	Next  bool             `json:"next"`     // nothing stands in between, listed or not
}

func newBoardRun(b *localmaxxing.Board, run *result, singleOnly bool) *boardRun {
	r := &boardRun{Path: run.path, Row: run.row, Reason: run.unfit(), Places: []boardStand{}}
	r.Submittable = r.Reason == ""
	if run.row.TokSOut == nil || run.invalid() {
		return r
	}
	if !singleOnly {
		r.Places = append(r.Places, newBoardStand(b, *run.row.TokSOut, localmaxxing.AllRows))
	}
	single := boardStand{Class: localmaxxing.SingleStream.String()}
	switch n := run.row.Streams; {
	case n == nil:
		single.Reason = "the result does not say how many streams it had"
	case *n != 1:
		single.Reason = fmt.Sprintf("not ranked, the result has %d streams", *n)
	default:
		single = newBoardStand(b, *run.row.TokSOut, localmaxxing.SingleStream)
	}
	r.Places = append(r.Places, single)
	return r
}

func newBoardStand(b *localmaxxing.Board, rate float64, class localmaxxing.Class) boardStand {
	p := b.Place(rate, class)
	return boardStand{
		Class: class.String(), Place: &boardPlace{p.Low, p.High}, Of: p.Of, Ties: p.Ties,
		Above: newBoardNeighbour(p.Above), Below: newBoardNeighbour(p.Below),
	}
}

func newBoardNeighbour(n *localmaxxing.Neighbour) *boardNeighbour {
	if n == nil {
		return nil
	}
	return &boardNeighbour{Place: boardPlace{n.Low, n.High}, Row: *n.Row, Gap: n.Gap, Share: n.Share, Next: n.Next}
}

// write prints the places for a person.
func (r *boardRun) write(w io.Writer) {
	rate := "no rate"
	if r.Row.TokSOut != nil {
		rate = perSecond(*r.Row.TokSOut) + " tok/s"
	}
	if r.Row.Streams != nil {
		rate += ", " + plural(*r.Row.Streams, "stream")
	}
	fmt.Fprintf(w, "%s: %s\n", r.Path, rate)
	if !r.Submittable {
		fmt.Fprintf(w, "  it cannot be submitted: %s\n", r.Reason)
	}
	for _, s := range r.Places {
		s.write(w)
	}
}

func (s *boardStand) write(w io.Writer) {
	if s.Place == nil {
		fmt.Fprintf(w, "  %-14s %s\n", s.Class, s.Reason)
		return
	}
	place := "place " + s.Place.String()
	if s.Of > 0 {
		place += fmt.Sprintf(" of %d", s.Of)
	}
	if s.Ties > 0 {
		place += ", with the same rate as " + plural(s.Ties, "row")
	}
	fmt.Fprintf(w, "  %-14s %s\n", s.Class, place)
	s.Above.write(w, "above", "more", "nothing listed is faster")
	s.Below.write(w, "below", "less", "nothing listed is slower")
}

func (n *boardNeighbour) write(w io.Writer, side, change, none string) {
	if n == nil {
		fmt.Fprintf(w, "    %-21s%s\n", side, none)
		return
	}
	label := "nearest listed " + side
	if n.Next {
		label = "next " + side
	}
	fmt.Fprintf(w, "    %-21s%s tok/s, %s %s (%s): place %s, %s\n", label, perSecond(*n.Row.TokSOut),
		perSecond(n.Gap), change, percent(n.Share), &n.Place, rowInWords(&n.Row))
}

// rowInWords names a row by what it measured.
func rowInWords(r *localmaxxing.Row) string {
	var parts []string
	for _, p := range []string{r.Hardware.String(), r.Engine, r.Quantization, r.Speculation} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if r.Streams != nil {
		parts = append(parts, plural(*r.Streams, "stream"))
	}
	return strings.Join(parts, ", ")
}

// perSecond prints a rate with one decimal and thousands separated.
func perSecond(v float64) string {
	text := strconv.FormatFloat(v, 'f', 1, 64)
	whole, fraction, _ := strings.Cut(text, ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	return whole + "." + fraction
}

// percent prints a share above 0 with one decimal, or two digits where it is
// small.
func percent(share float64) string {
	if p := share * 100; p < 1 {
		return strconv.FormatFloat(p, 'g', 2, 64) + " %"
	}
	return strconv.FormatFloat(share*100, 'f', 1, 64) + " %"
}

func wholeOrNone(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

func yesNo(b *bool) string {
	switch {
	case b == nil:
		return ""
	case *b:
		return "yes"
	}
	return "no"
}

// shortHash is enough of a hash to tell prompts apart.
func shortHash(hash string) string { return hash[:min(12, len(hash))] }

func milliseconds(d *time.Duration) string {
	if d == nil {
		return ""
	}
	return strconv.FormatFloat(float64(*d)/1e6, 'f', -1, 64)
}
