package localmaxxing_test

import (
	"bytes"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lmxbench/internal/localmaxxing"
)

// FuzzParseListing: whatever is read, the rows survive being saved, ranking does
// not panic, and no bound contradicts another.
func FuzzParseListing(f *testing.F) {
	for _, s := range []string{
		siteRow, `{"rows":[` + siteRow + `],"total":276}`, `[{"hfId":"a/b","tokSOut":1}]`, `{"board":"a/b","rows":[]}`,
		"hf_id,tok_s_out,rank_all,total_all,rank_c1,total_c1,concurrency\na/b,5,1,3,1,2,1\na/b,4,3,3,,2,8\n",
		`{"rows":[{"hfId":"a/b","tokSOut":5,"rank":2,"total":2},{"hfId":"a/b","tokSOut":5,"rank":1,"conc":1}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := localmaxxing.ParseListing(text)
		if err != nil {
			if bytes.ContainsRune([]byte(err.Error()), '\n') {
				t.Fatalf("%q is more than one line", err)
			}
			return
		}
		saved, err := l.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		if len(l.Rows) > 0 {
			roundTrip(t, l, saved)
		}
		for i := range l.Rows {
			r := &l.Rows[i]
			again(t, *r)
			if b, err := l.Board(r.HFID); err == nil {
				sound(t, b)
			}
		}
	})
}

// roundTrip holds that a saved listing has the same rows.
func roundTrip(t *testing.T, l *localmaxxing.Listing, saved []byte) {
	t.Helper()
	got, err := localmaxxing.ParseListing(saved)
	if err != nil {
		t.Fatalf("%v in %s", err, saved)
	}
	if d := cmp.Diff(l.Rows, got.Rows); d != "" {
		t.Fatalf("saved and read (-want +got):\n%s", d)
	}
}

func sound(t *testing.T, b *localmaxxing.Board) {
	t.Helper()
	for _, class := range []localmaxxing.Class{localmaxxing.AllRows, localmaxxing.SingleStream} {
		for i := range b.Rows {
			r := &b.Rows[i]
			low, high := b.Standing(r, class)
			if high != 0 && low > high {
				t.Fatalf("%s: row %d on place %d to %d", class, i, low, high)
			}
			if r.TokSOut == nil {
				continue
			}
			for _, rate := range []float64{*r.TokSOut, *r.TokSOut * 1.01, *r.TokSOut * 0.99} {
				if p := b.Place(rate, class); rate > 0 && (p.Low < 1 || p.High != 0 && p.Low > p.High || p.Of != 0 && p.High > p.Of) {
					t.Fatalf("%s: %g tok/s on place %d to %d of %d", class, rate, p.Low, p.High, p.Of)
				}
			}
		}
	}
}

// FuzzRefusal: whatever a site sends with a status, the error is one printable
// line of bounded length, and a wait is neither negative nor endless.
func FuzzRefusal(f *testing.F) {
	f.Add(429, "41.2", "1788690000", []byte(`{"error":"slow down","retryAfterMs":90000}`))
	f.Add(301, "", "", []byte("<html>"))
	f.Add(400, "-1", "x", []byte(`{"error":{"message":"a\u001b[2J\nb"}}`))
	now := time.Date(2026, 9, 6, 10, 38, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, status int, header, reset string, body []byte) {
		h := http.Header{"Retry-After": {header}, "X-Ratelimit-Reset": {reset}, "Location": {header}, "X-Ratelimit-Limit": {reset}}
		e := localmaxxing.Refusal("GET http://site.example/api/leaderboard", status, h, body, localmaxxing.ReadLimits(h, now))
		text := e.Error()
		for _, r := range text {
			if !strconv.IsPrint(r) {
				t.Fatalf("%q holds %U", text, r)
			}
		}
		if len(text) > 1000 || e.Limits.Wait < 0 || e.Limits.Wait > 8*24*time.Hour {
			t.Fatalf("%d bytes, a wait of %s", len(text), e.Limits.Wait)
		}
	})
}
