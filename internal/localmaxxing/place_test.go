package localmaxxing_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lmxbench/internal/localmaxxing"
)

// rated makes a listing of rows "rate/streams"; streams may be missing. total
// is what the site says, -1 for nothing.
func rated(t testing.TB, total int, rows ...string) *localmaxxing.Listing {
	t.Helper()
	l := &localmaxxing.Listing{HFID: "a/b"}
	for i, text := range rows {
		r := localmaxxing.Row{ID: fmt.Sprint(i), HFID: "a/b", TokSOut: new(float64)}
		rate, streams, said := strings.Cut(text, "/")
		fmt.Sscan(rate, r.TokSOut)
		if said {
			r.Streams = new(int)
			fmt.Sscan(streams, r.Streams)
		}
		l.Rows = append(l.Rows, r)
	}
	if total >= 0 {
		l.Total = &total
	}
	return l
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	const all, single = localmaxxing.AllRows, localmaxxing.SingleStream
	tied := []string{"900/64", "500/1", "500/1", "500/8", "100/1"}
	for _, c := range []struct {
		why   string
		list  *localmaxxing.Listing
		rate  float64
		class localmaxxing.Class
		want  string
	}{
		{"a whole board is counted", rated(t, 5, tied...), 600, all, "2 of 6, above 1 next, below 2 next"},
		{"equals share a place, and the next comes after all of them", rated(t, 5, tied...), 400, all, "5 of 6, above 2 next, below 5 next"},
		{"a result that equals three is among them", rated(t, 5, tied...), 500, all, "2 of 6, 3 tie, above 1 next, below 5 next"},
		{"single streams are ranked among themselves", rated(t, 5, tied...), 500, single, "1 of 4, 2 tie, above –, below 3 next"},
		{"without a total only the best place is known", rated(t, -1, tied...), 400, all, "5 to 0 of 0, above 2 to 0, below 5 to 0"},
		{"rows that are not listed may be anywhere", rated(t, 7, tied...), 400, all, "5 to 7 of 8, above 2 to 4, below 5 to 7"},
		{"a row that does not say its streams may be of a single one", rated(t, 3, "900", "500/1", "100/1"), 400, single, "2 to 3 of 0, above 1 to 2, below 2 to 3"},
		{"one that is slower does not matter to the place", rated(t, 3, "900/1", "500/1", "100"), 600, single, "2 of 0, above 1, below 2"},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			b, err := c.list.Board("a/b")
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(b.Place(c.rate, c.class)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// Boards may number equal rows alike: two on place 2 leave place 4 to the next.
func TestEqualRowsOnOnePublishedPlace(t *testing.T) {
	t.Parallel()
	l := rated(t, 9, "300/1", "200/1", "200/1", "100/1")
	for i, n := range []int{1, 2, 2, 4} {
		l.Rows[i].All.Rank = n
	}
	b, err := l.Board("a/b")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := describe(b.Place(150, localmaxxing.AllRows)), "4 of 10, above 2 next, below 4 next"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A count of single streams that does not fit the count of all rows is not used.
func TestCountsThatDoNotFitEachOther(t *testing.T) {
	t.Parallel()
	l := rated(t, 5, "300/8", "200/1", "100/1")
	l.Rows[1].Single.Of = 5 // one of the five rows has 8 streams
	b, err := l.Board("a/b")
	if err != nil {
		t.Fatal(err)
	}
	if b.SingleTotal != nil || *b.Total != 5 || !strings.Contains(strings.Join(b.Notes, "; "), "5 rows of a single stream do not fit among 5 rows, 1 of them of several streams") {
		t.Errorf("got %v single streams, notes %q", b.SingleTotal, b.Notes)
	}
}

func TestPublishedPlacesThatDoNotFitAreNotUsed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why    string
		places [3]int // of 300, 200, 100 tok/s
		total  int
		fits   bool
	}{
		{"in order, with gaps", [3]int{2, 5, 9}, 9, true},
		{"one is not given", [3]int{2, 0, 9}, 9, true},
		{"a faster row on a later place", [3]int{5, 2, 9}, 9, false},
		{"two rates on one place", [3]int{2, 2, 9}, 9, false},
		{"no room above", [3]int{1, 0, 2}, 9, false},
		{"no room below", [3]int{8, 0, 9}, 9, false},
		{"beyond the last", [3]int{1, 2, 10}, 9, false},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			l := rated(t, c.total, "300/1", "200/1", "100/1")
			for i, n := range c.places {
				l.Rows[i].All.Rank = n
			}
			b, err := l.Board("a/b")
			if err != nil {
				t.Fatal(err)
			}
			noted := slices.ContainsFunc(b.Notes, func(n string) bool { return strings.Contains(n, "do not fit") })
			low, high := b.Standing(&b.Rows[0], localmaxxing.AllRows)
			if used := low == c.places[0] && high == low; used != c.fits || noted == c.fits {
				t.Errorf("used %v, noted %v (%q), want fits %v", used, noted, b.Notes, c.fits)
			}
		})
	}
}

// However a board is cut into a listing, and whichever places and counts are
// published, the bounds hold the truth, and a neighbour that is called the next
// one is.
func TestBoundsHoldTheTruth(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rates := rapid.SliceOfN(rapid.IntRange(1, 12), 1, 14).Draw(t, "rates")
		slices.SortFunc(rates, func(a, b int) int { return b - a })
		alike := rapid.Bool().Draw(t, "equal rows share a place")
		counted := rapid.Bool().Draw(t, "counts are published")
		single := 0
		var board []localmaxxing.Row
		for i, rate := range rates {
			r := localmaxxing.Row{ID: fmt.Sprint(i), HFID: "a/b", TokSOut: ptr(float64(rate)), Streams: ptr(rapid.IntRange(1, 2).Draw(t, "streams"))}
			r.All.Rank = i + 1
			if alike && i > 0 && rates[i-1] == rate {
				r.All.Rank = board[i-1].All.Rank
			}
			if *r.Streams == 1 {
				single++
				r.Single.Rank = single
			}
			board = append(board, r)
		}
		l := &localmaxxing.Listing{HFID: "a/b"}
		if rapid.Bool().Draw(t, "the total is known") {
			l.Total = ptr(len(board))
		}
		for _, r := range board {
			if rapid.IntRange(0, 2).Draw(t, "listed") == 0 {
				continue
			}
			if rapid.IntRange(0, 3).Draw(t, "place given") == 0 {
				r.All, r.Single = localmaxxing.Standing{}, localmaxxing.Standing{}
			} else if counted {
				r.All.Of, r.Single.Of = len(board), single
			}
			if rapid.IntRange(0, 3).Draw(t, "streams said") == 0 {
				r.Streams, r.Single = nil, localmaxxing.Standing{}
			}
			l.Rows = append(l.Rows, r)
		}
		b, err := l.Board("a/b")
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range b.Notes {
			if strings.Contains(n, "fit") || strings.Contains(n, "not used") {
				t.Fatalf("true places are not believed: %s", n)
			}
		}
		rate := float64(rapid.IntRange(0, 24).Draw(t, "rate"))/2 + 0.5
		for _, class := range []localmaxxing.Class{localmaxxing.AllRows, localmaxxing.SingleStream} {
			holds(t, b, board, rate, class)
		}
	})
}

// holds compares a placement with the whole board.
func holds(t *rapid.T, b *localmaxxing.Board, board []localmaxxing.Row, rate float64, class localmaxxing.Class) {
	var of []localmaxxing.Row
	truth := 1
	for _, r := range board {
		if class == localmaxxing.SingleStream && *r.Streams != 1 {
			continue
		}
		of = append(of, r)
		if *r.TokSOut > rate {
			truth++
		}
	}
	p := b.Place(rate, class)
	if p.Low > truth || p.High != 0 && p.High < truth || p.High != 0 && p.Low > p.High {
		t.Fatalf("%s: place %d to %d, in truth %d", class, p.Low, p.High, truth)
	}
	if p.Of != 0 && p.Of != len(of)+1 {
		t.Fatalf("%s: of %d, in truth %d", class, p.Of, len(of)+1)
	}
	for _, r := range of {
		if a := p.Above; a != nil && a.Next && *r.TokSOut > rate && *r.TokSOut < *a.Row.TokSOut {
			t.Fatalf("%s: %g is called the next above %g, and %g is in between", class, *a.Row.TokSOut, rate, *r.TokSOut)
		}
		if d := p.Below; d != nil && d.Next && *r.TokSOut < rate && *r.TokSOut > *d.Row.TokSOut {
			t.Fatalf("%s: %g is called the next below %g, and %g is in between", class, *d.Row.TokSOut, rate, *r.TokSOut)
		}
	}
	if b.Complete && class == localmaxxing.AllRows && !p.Exact() {
		t.Fatalf("place %d to %d on a whole board", p.Low, p.High)
	}
}
