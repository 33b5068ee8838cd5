package localmaxxing

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Board is what is known of one model's board.
type Board struct {
	HFID string
	// Rows are the listed ones, fastest first; rows without a rate come last.
	Rows []Row
	// Total is the number of rows on the board, listed or not; nil: not known.
	Total *int
	// SingleTotal is that of the single-stream rows.
	SingleTotal *int
	// Complete says that Rows are the whole board.
	Complete bool
	// Notes say, one line each, what was not taken as it stands and why.
	Notes []string

	ranked [2][]*Row // by class: the rows with a rate, fastest first
	placed [2]bool   // by class: the published places may be used
	unsaid []float64 // rates of the rows that do not say how many streams, fastest first
}

// NoBoardError says that a listing has no row of a board, and whose it has.
type NoBoardError struct {
	HFID string
	Has  []string // models in the listing, the most frequent first
}

// Error is one line.
func (e *NoBoardError) Error() string {
	return fmt.Sprintf("no row of the board %s in the listing; it holds %s", oneLine(e.HFID, 120), someOf(e.Has, 5))
}

// Board picks the rows of a model's board out of the listing. Rows that say on
// which board they stand are taken by that, and so is a listing that was asked
// for or saved for one board. Otherwise the listing is taken for the site's
// answer for this board if all its rows are of this model or one named after
// it; if not, only the rows of this model are taken, and the listing's total
// does not count.
//
// An answer of the site may be empty, and so may the board. A listing that has
// rows, none of them of this board, is a *[NoBoardError].
func (l *Listing) Board(hfID string) (*Board, error) {
	b := &Board{HFID: hfID}
	total := l.Total
	asked := l.HFID != "" && strings.EqualFold(l.HFID, hfID)
	whole := asked || l.HFID == "" && l.isOf(hfID)
	others, foreign, waiting := map[string]int{}, map[string]int{}, 0
	for i := range l.Rows {
		r := l.Rows[i]
		on := first(r.Board, l.HFID)
		switch {
		case on != "" && !strings.EqualFold(on, hfID):
			others[on]++
			total = nil
		case on == "" && !whole && !r.measures(hfID):
			others[first(r.HFID, "no model")]++
			foreign[first(r.HFID, "no model")]++
			total = nil
		case r.Status != "" && !strings.EqualFold(r.Status, "APPROVED"):
			waiting++
		default:
			b.Rows = append(b.Rows, r)
		}
	}
	if len(b.Rows) == 0 && len(others) > 0 {
		return nil, &NoBoardError{HFID: hfID, Has: byCount(others)}
	}
	if waiting > 0 {
		b.note("%s not approved and left out", are(waiting))
	}
	b.noteModels(foreign)
	slices.SortStableFunc(b.Rows, bySpeed)
	b.count(total)
	return b, nil
}

// isOf reports whether all rows without a board of their own are of this model
// or one that is named after it, and at least one is.
func (l *Listing) isOf(hfID string) bool {
	found := false
	for i := range l.Rows {
		r := &l.Rows[i]
		if r.Board != "" {
			return false
		}
		if r.measures(hfID) {
			found = true
		} else if !strings.Contains(repository(r.HFID), repository(hfID)) {
			return false
		}
	}
	return found
}

// measures reports whether the row is of this model, or of one derived from it.
func (r *Row) measures(hfID string) bool {
	return strings.EqualFold(r.HFID, hfID) || r.BaseHFID != "" && strings.EqualFold(r.BaseHFID, hfID)
}

// repository is the part of a model's id behind its owner, in lower case.
func repository(hfID string) string {
	return strings.ToLower(hfID[strings.LastIndexByte(hfID, '/')+1:])
}

func bySpeed(a, b Row) int {
	switch {
	case a.TokSOut == nil && b.TokSOut == nil:
		return 0
	case a.TokSOut == nil:
		return 1
	case b.TokSOut == nil:
		return -1
	}
	return cmp.Compare(*b.TokSOut, *a.TokSOut)
}

func byCount(counts map[string]int) []string {
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	return names
}

func (b *Board) note(format string, args ...any) {
	b.Notes = append(b.Notes, fmt.Sprintf(format, args...))
}

// noteModels says which rows are not, and which may not be expected to be, of
// this board.
func (b *Board) noteModels(foreign map[string]int) {
	derived := map[string]int{}
	unranked := 0
	for i := range b.Rows {
		r := &b.Rows[i]
		if r.TokSOut == nil {
			unranked++
		}
		if r.Board == "" && !strings.EqualFold(r.HFID, b.HFID) {
			derived[first(r.HFID, "no model")]++
		}
	}
	if n, names := named(derived); n > 0 {
		b.note("%s of other models counted (%s): the site rolls derived models up to a board", are(n), names)
	}
	if n, names := named(foreign); n > 0 {
		b.note("%s of other models left out (%s)", are(n), names)
	}
	if unranked > 0 {
		b.note("%s without a rate: not ranked", plural(unranked, "row"))
	}
}

// named is a sum of counts and the most frequent names.
func named(counts map[string]int) (sum int, names string) {
	for _, n := range counts {
		sum += n
	}
	return sum, someOf(byCount(counts), 3)
}

// someOf joins the first few names and says how many more there are.
func someOf(names []string, most int) string {
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

func are(n int) string {
	if n == 1 {
		return "1 row is"
	}
	return fmt.Sprintf("%d rows are", n)
}

// count finds out how many rows the board has, and whether the published places
// can be used. total is what the listing itself says.
func (b *Board) count(total *int) {
	for i := range b.Rows {
		r := &b.Rows[i]
		if r.TokSOut == nil {
			continue
		}
		b.ranked[AllRows] = append(b.ranked[AllRows], r)
		switch is, known := SingleStream.holds(r); {
		case is:
			b.ranked[SingleStream] = append(b.ranked[SingleStream], r)
		case !known:
			b.unsaid = append(b.unsaid, *r.TokSOut)
		}
	}
	b.Total = b.atLeast(total, AllRows)
	if b.Total == nil {
		b.Total = b.atLeast(b.published(AllRows), AllRows)
	}
	b.Complete = b.Total != nil && *b.Total == len(b.Rows)
	b.SingleTotal = b.atLeast(b.published(SingleStream), SingleStream)
	if n := b.singles(); b.Complete && b.SingleTotal == nil && n >= 0 {
		b.SingleTotal = &n
	}
	b.placed[AllRows] = b.fits(AllRows)
	b.placed[SingleStream] = b.fits(SingleStream)
}

// singles is the number of listed single-stream rows, -1 where a row does not
// say how many streams it had.
func (b *Board) singles() (n int) {
	for i := range b.Rows {
		is, known := SingleStream.holds(&b.Rows[i])
		if !known {
			return -1
		}
		if is {
			n++
		}
	}
	return n
}

// atLeast takes a number of rows in a class that can be: neither fewer than are
// listed, nor more than the board has.
func (b *Board) atLeast(n *int, c Class) *int {
	if n == nil {
		return nil
	}
	listed, others := len(b.Rows), 0
	if c == SingleStream {
		listed = 0
		for i := range b.Rows {
			switch is, known := c.holds(&b.Rows[i]); {
			case is:
				listed++
			case known:
				others++
			}
		}
	}
	switch {
	case *n < listed:
		b.note("%s listed (%s) where the listing says that there are %d: that number is not used", are(listed), c, *n)
	case c == SingleStream && b.Total != nil && *n > *b.Total-others:
		b.note("%d rows of a single stream do not fit among %d rows, %d of them of several streams: that number is not used", *n, *b.Total, others)
	default:
		return n
	}
	return nil
}

// published is the number of rows in a class that all rows agree on.
func (b *Board) published(c Class) *int {
	of := 0
	for i := range b.Rows {
		switch n := b.Rows[i].standing(c).Of; {
		case n == 0:
		case of != 0 && n != of:
			b.note("the rows do not agree on how many there are (%s: %d, %d): they are of different days", c, of, n)
			return nil
		default:
			of = n
		}
	}
	if of == 0 {
		return nil
	}
	return &of
}

// fits reports whether the published places in a class fit each other and the
// rates: a faster row has a better place, and the rows listed above and below a
// row have room there. Places of different days do not fit, and bounds made of
// them would be wrong.
func (b *Board) fits(c Class) bool {
	rows := b.ranked[c]
	total, of := b.total(c), 0
	faster := 0 // the last place of the faster rows
	any := false
	for begin, end := 0, 0; begin < len(rows); begin = end {
		rate := *rows[begin].TokSOut
		for end < len(rows) && *rows[end].TokSOut == rate {
			end++
		}
		last := faster
		most := b.bounds(c, end, math.Nextafter(rate, 0)).High - 1
		for _, r := range rows[begin:end] {
			s := r.standing(c)
			if s.Of != 0 {
				of = s.Of
			}
			if s.Rank == 0 {
				continue
			}
			any = true
			if s.Rank <= faster || s.Rank < 1+begin || most >= 0 && s.Rank > most || total >= 0 && of != 0 && of != total {
				b.note("the published places do not fit the listing (%s, %g tok/s on place %d): they are not used", c, rate, s.Rank)
				return false
			}
			last = max(last, s.Rank)
		}
		faster = last
	}
	return any
}

// total is the number of rows in a class, -1 where it is not known.
func (b *Board) total(c Class) int {
	n := b.Total
	if c == SingleStream {
		n = b.SingleTotal
	}
	if n == nil {
		return -1
	}
	return *n
}
