package localmaxxing

import (
	"math"
	"sort"
)

// Placement is where a rate stands among the rows of a class. A place is 1 more
// than the number of faster rows, so equal rates share one.
type Placement struct {
	// Low and High enclose the place: the best and the worst that agree with
	// what is listed. They are equal where the place is certain. High is 0 where
	// nothing bounds it.
	Low, High int
	// Of is the number of rows with this one among them; 0: not known.
	Of int
	// Ties is the number of listed rows with just this rate.
	Ties int
	// Above is the slowest listed row that is faster, Below the fastest that is
	// slower; nil where there is none.
	Above, Below *Neighbour
}

// Exact reports whether the place is certain.
func (p Placement) Exact() bool { return p.Low == p.High }

// Neighbour is a row next to a place.
type Neighbour struct {
	Row *Row
	// Low and High enclose the row's own place, as in [Placement].
	Low, High int
	// Gap is how far apart the two rates are, in tokens per second, above 0.
	Gap float64
	// Share is the gap as a share of the rate that was placed.
	Share float64
	// Next says that no row, listed or not, stands in between.
	Next bool
}

// Place says where a rate would stand if a result with it joined the board.
//
// On a complete board the place is counted. On a part of one it is enclosed:
//
//	Low  = 1 + the larger of: listed rows above; the last published place above
//	High = the smaller of: 1 + listed rows above + rows not listed;
//	       the first published place at or below the rate
//
// A row on place r has r − 1 rows before it, so a slower result comes after r
// rows at least, and one that is as fast or faster after r − 1 at most. Rows
// that do not say how many streams they had may be of a single stream, or not:
// they widen the bounds of that class.
//
// The rate is a finite number above 0.
func (b *Board) Place(tokensPerSecond float64, c Class) Placement {
	rows := b.ranked[c]
	above := faster(rows, tokensPerSecond)
	ties := 0
	for above+ties < len(rows) && *rows[above+ties].TokSOut == tokensPerSecond {
		ties++
	}
	p := b.bounds(c, above, tokensPerSecond)
	p.Ties = ties
	if above > 0 {
		p.Above = b.neighbour(rows[above-1], c, tokensPerSecond)
		p.Above.Next = b.all(c) || p.Exact() && b.endsBefore(above-1, p.Low, c)
	}
	if at := above + ties; at < len(rows) {
		p.Below = b.neighbour(rows[at], c, tokensPerSecond)
		rank := rows[at].standing(c).Rank
		p.Below.Next = b.all(c) || p.Exact() && b.placed[c] && rank == p.Low+ties
	}
	return p
}

// faster counts the rows above a rate.
func faster(rows []*Row, rate float64) int {
	return sort.Search(len(rows), func(i int) bool { return *rows[i].TokSOut <= rate })
}

// all reports whether every row of a class is listed and known to be in it.
func (b *Board) all(c Class) bool {
	return b.Complete && (c == AllRows || b.singles() >= 0)
}

// bounds encloses the place of a rate with so many listed rows of its class
// above it.
func (b *Board) bounds(c Class, above int, rate float64) Placement {
	rows := b.ranked[c]
	p := Placement{Low: 1 + above}
	if b.Total != nil {
		maybe := 0 // rows above that may be of the class
		if c == SingleStream {
			maybe = sort.Search(len(b.unsaid), func(i int) bool { return b.unsaid[i] <= rate })
		}
		p.High = 1 + above + maybe + *b.Total - len(b.Rows)
	}
	if total := b.total(c); total >= 0 {
		p.Of = total + 1
		p.High = smaller(p.High, 1+total-(len(rows)-above))
	}
	if !b.placed[c] {
		return p
	}
	for i, r := range rows {
		rank := r.standing(c).Rank
		switch {
		case rank == 0:
		case i < above:
			p.Low = max(p.Low, rank+1)
		default:
			p.High = smaller(p.High, rank)
		}
	}
	return p
}

// smaller is the smaller bound; 0 is none.
func smaller(a, b int) int {
	if a == 0 {
		return b
	}
	return min(a, b)
}

func (b *Board) neighbour(r *Row, c Class, rate float64) *Neighbour {
	gap := math.Abs(*r.TokSOut - rate)
	n := &Neighbour{Row: r, Gap: gap, Share: gap / rate}
	n.Low, n.High = b.Standing(r, c)
	return n
}

// endsBefore reports whether a listed row and its equals are known to take the
// places up to just before a place. Boards number equal rows onwards or alike.
func (b *Board) endsBefore(at, place int, c Class) bool {
	if !b.placed[c] {
		return false
	}
	rows := b.ranked[c]
	last, equals := 0, 0
	for i := at; i >= 0 && *rows[i].TokSOut == *rows[at].TokSOut; i-- {
		equals++
		last = max(last, rows[i].standing(c).Rank)
	}
	return last > 0 && (last == place-1 || last+equals == place)
}

// Standing encloses the place of a row of this board: the published one where
// there is one that fits, otherwise as [Board.Place] does. Both are 0 for a row
// that is not ranked in the class.
func (b *Board) Standing(r *Row, c Class) (low, high int) {
	if is, _ := c.holds(r); !is || r.TokSOut == nil {
		return 0, 0
	}
	if rank := r.standing(c).Rank; rank > 0 && b.placed[c] {
		return rank, rank
	}
	p := b.bounds(c, faster(b.ranked[c], *r.TokSOut), *r.TokSOut)
	return p.Low, p.High
}
