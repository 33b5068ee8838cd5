package localmaxxing_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lmxbench/internal/localmaxxing"
)

const (
	qwen     = "Qwen/Qwen3.6-35B-A3B"
	nemotron = "nvidia/NVIDIA-Nemotron-3.5-Lightning-30B-A3B-NVFP4"
	bf16     = "nvidia/NVIDIA-Nemotron-3.5-Lightning-30B-A3B-BF16"
)

// The published table counts 36 runs on 8 boards; these are its own sums.
func TestPublishedCounts(t *testing.T) {
	t.Parallel()
	l := seed(t)
	if len(l.Notes) > 0 {
		t.Errorf("notes: %q", l.Notes)
	}
	boards, verified, single, speculative, firsts, singleFirsts := map[string]int{}, 0, 0, 0, map[string]bool{}, map[string]bool{}
	for _, r := range l.Rows {
		boards[r.Board]++
		if *r.Verified {
			verified++
		}
		if *r.Streams == 1 {
			single++
		}
		if r.Speculation != "" {
			speculative++
		}
		if r.All.Rank == 1 {
			firsts[r.Board] = true
		}
		if r.Single.Rank == 1 {
			singleFirsts[r.Board] = true
		}
		if (r.Single.Rank > 0) != (*r.Streams == 1) {
			t.Errorf("%s: %d streams, place %d among single streams", r.Name, *r.Streams, r.Single.Rank)
		}
	}
	got := fmt.Sprint(len(l.Rows), len(boards), verified, single, speculative, len(firsts), len(singleFirsts))
	if want := "36 8 20 21 10 7 4"; got != want {
		t.Errorf("rows, boards, verified, single, speculative, firsts, single firsts: got %s, want %s", got, want)
	}
}

// Every published place and count comes back from the rows of its board.
func TestPublishedPlacesComeBack(t *testing.T) {
	t.Parallel()
	l := seed(t)
	for i := range l.Rows {
		r := &l.Rows[i]
		b, err := l.Board(r.Board)
		if err != nil || len(b.Notes) > 0 {
			t.Fatalf("%s: %v, notes %q", r.Board, err, b.Notes)
		}
		if b.Complete || *b.Total != r.All.Of || *b.SingleTotal != r.Single.Of {
			t.Errorf("%s: complete %v, %d and %d rows, want %d and %d of which a part is listed",
				r.Board, b.Complete, *b.Total, *b.SingleTotal, r.All.Of, r.Single.Of)
		}
		if low, high := b.Standing(r, localmaxxing.AllRows); low != r.All.Rank || high != r.All.Rank {
			t.Errorf("%s: place %d to %d, published %d", r.Name, low, high, r.All.Rank)
		}
		if low, high := b.Standing(r, localmaxxing.SingleStream); low != r.Single.Rank || high != r.Single.Rank {
			t.Errorf("%s: single-stream place %d to %d, published %d", r.Name, low, high, r.Single.Rank)
		}
	}
}

// What 36 of about 1,200 rows tell about a new result, and what not.
func TestWhatFollowsFromAPartOfABoard(t *testing.T) {
	t.Parallel()
	l := seed(t)
	const all, single = localmaxxing.AllRows, localmaxxing.SingleStream
	for _, c := range []struct {
		why   string
		board string
		rate  float64
		class localmaxxing.Class
		want  string
	}{
		{"faster than the first row: certain", qwen, 15000, all, "1 of 277, above –, below 1 next"},
		{"between places 1 and 2: certain", qwen, 13000, all, "2 of 277, above 1 next, below 2 next"},
		{"between places 5 and 6", qwen, 7000, all, "6 of 277, above 5 next, below 6 next"},
		{"between places 6 and 9: two rows are not listed", qwen, 6000, all, "7 to 9 of 277, above 6, below 9"},
		{"between places 9 and 15", qwen, 1000, all, "10 to 15 of 277, above 9, below 15"},
		{"just below place 53, with 223 rows unseen", qwen, 100, all, "54 to 277 of 277, above 53, below –"},
		{"a tie shares the place", qwen, 14499.4, all, "1 of 277, 1 tie, above –, below 2 next"},
		{"a tie with place 15 shares it, although 10 to 14 are not listed", qwen, 426.8, all, "10 to 15 of 277, 1 tie, above 9, below 35"},
		{"single stream: the first place is not among the rows", qwen, 450, single, "1 to 2 of 163, above –, below 2"},
		{"single stream: between places 2 and 18", qwen, 400, single, "3 to 18 of 163, above 2, below 18"},
		{"a record that is listed: certain", nemotron, 700, single, "1 of 9, above –, below 1 next"},
		{"between places 4 and 6 among single streams", nemotron, 400, single, "5 to 6 of 9, above 4, below 6"},
		{"below the last listed place", nemotron, 10, single, "7 to 9 of 9, above 6, below –"},
		{"above it all", bf16, 1e6, all, "1 of 16, above –, below 1 next"},
		{"between places 5 and 6 of an unbroken series", bf16, 300, all, "6 of 16, above 5 next, below 6 next"},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			b, err := l.Board(c.board)
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(b.Place(c.rate, c.class)); got != c.want {
				t.Errorf("%g tok/s, %s: got %s, want %s", c.rate, c.class, got, c.want)
			}
		})
	}
}

func describe(p localmaxxing.Placement) string {
	text := span(p.Low, p.High) + fmt.Sprintf(" of %d", p.Of)
	if p.Ties > 0 {
		text += fmt.Sprintf(", %d tie", p.Ties)
	}
	side := func(n *localmaxxing.Neighbour) string {
		if n == nil {
			return "–"
		}
		if n.Next {
			return span(n.Low, n.High) + " next"
		}
		return span(n.Low, n.High)
	}
	return text + ", above " + side(p.Above) + ", below " + side(p.Below)
}

func span(low, high int) string {
	if low == high {
		return fmt.Sprint(low)
	}
	return fmt.Sprintf("%d to %d", low, high)
}

func TestDistance(t *testing.T) {
	t.Parallel()
	b, err := seed(t).Board(qwen)
	if err != nil {
		t.Fatal(err)
	}
	p := b.Place(12000, localmaxxing.AllRows)
	got := fmt.Sprintf("%.1f %.4f %.1f %.4f", p.Above.Gap, p.Above.Share, p.Below.Gap, p.Below.Share)
	if want := "5.2 0.0004 2132.2 0.1777"; got != want {
		t.Errorf("gaps above and below: got %s, want %s", got, want)
	}
}

func TestRowsOfOneBoard(t *testing.T) {
	t.Parallel()
	derived := `{"id":"1","hfId":"a/Tiny","tokSOut":5},{"id":"2","hfId":"a/Tiny-FP8","tokSOut":7}`
	for _, c := range []struct {
		why, listing, ids string
		total             *int
		complete          bool
		note              string
	}{
		{"the site's answer, with a derived model rolled up", `{"rows":[` + derived + `],"total":2}`, "2 1", ptr(2), true, "1 row is of other models counted (a/Tiny-FP8)"},
		{"a part of it", `{"rows":[` + derived + `],"total":276}`, "2 1", ptr(276), false, "rolls derived models up"},
		{"rows of other models, and no word on the board", `{"rows":[` + derived + `,{"hfId":"c/Huge","tokSOut":9}],"total":3}`, "1", nil, false, "2 rows are of other models left out (a/Tiny-FP8, c/Huge)"},
		{"a base model named by the site", `[{"id":"3","model":{"hfId":"x/Other","baseModel":{"hfId":"a/Tiny"}}},{"hfId":"c/Huge"}]`, "3", nil, false, "1 row is of other models left out (c/Huge)"},
		{"a listing saved for the board", `{"board":"a/tiny","rows":[{"id":"4","hfId":"z/Any"}],"total":1}`, "4", ptr(1), true, "1 row without a rate: not ranked"},
		{"rows of several boards, counted together", `{"rows":[{"id":"9","hfId":"a/Tiny","board":"a/Tiny","tokSOut":1},{"hfId":"c/Huge","board":"c/Huge"}],"total":2}`, "9", nil, false, ""},
		{"rows that are not approved", `[{"id":"5","hfId":"a/Tiny","tokSOut":1,"status":"PENDING"},{"id":"6","hfId":"a/Tiny","tokSOut":1,"status":"APPROVED"}]`, "6", nil, false, "1 row is not approved"},
		{"more rows than there are", `{"rows":[` + derived + `],"total":1}`, "2 1", nil, false, "2 rows are listed (all rows) where the listing says that there are 1"},
		{"counts of different days", `[{"hfId":"a/Tiny","id":"7","tokSOut":2,"rank":1,"total":9},{"hfId":"a/Tiny","id":"8","tokSOut":1,"rank":3,"total":10}]`, "7 8", nil, false, "do not agree on how many there are (all rows: 9, 10)"},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			l, err := localmaxxing.ParseListing([]byte(c.listing))
			if err != nil {
				t.Fatal(err)
			}
			b, err := l.Board("a/Tiny")
			if err != nil {
				t.Fatal(err)
			}
			if got := ids(b.Rows); got != c.ids || b.Complete != c.complete {
				t.Errorf("got rows %q, complete %v, want %q, %v", got, b.Complete, c.ids, c.complete)
			}
			if d := cmp.Diff(c.total, b.Total); d != "" {
				t.Errorf("total (-want +got):\n%s", d)
			}
			if c.note != "" && !slices.ContainsFunc(b.Notes, func(n string) bool { return strings.Contains(n, c.note) }) {
				t.Errorf("got notes %q, want %q", b.Notes, c.note)
			}
		})
	}
}

func TestNoSuchBoard(t *testing.T) {
	t.Parallel()
	_, err := seed(t).Board("nobody/Nothing")
	var no *localmaxxing.NoBoardError
	if !errors.As(err, &no) || len(no.Has) != 8 || no.Has[0] != qwen {
		t.Errorf("got %v, want the 8 boards, the longest first", err)
	}
	empty := &localmaxxing.Listing{HFID: "a/b", Total: ptr(0)}
	b, err := empty.Board("A/B")
	if err != nil || !b.Complete {
		t.Fatalf("an empty board: %v", err)
	}
	if got := describe(b.Place(1, localmaxxing.AllRows)); got != "1 of 1, above –, below –" {
		t.Errorf("first on an empty board: got %s", got)
	}
}
