package localmaxxing_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lmxbench/internal/localmaxxing"
)

func TestListingsOfAllForms(t *testing.T) {
	t.Parallel()
	two := `{"id":"1","hfId":"a/b","tokSOut":5},{"id":"2","hfId":"a/b","tokSOut":7}`
	for _, c := range []struct {
		why, text string
		ids       string
		total     *int
	}{
		{"the site's leaderboard", `{"rows":[` + two + `],"total":276}`, "1 2", ptr(276)},
		{"the site's runs", `{"benchmarks":[` + two + `]}`, "1 2", nil},
		{"a scoreboard", `{"generated_utc":"2026-09-06T10:38Z","runs_live":2,"runs":[` + two + `]}`, "1 2", nil},
		{"an array", "[" + two + "]", "1 2", nil},
		{"one row", siteRow, "cm0example1", nil},
		{"an empty board", `{"rows":[],"total":0}`, "", ptr(0)},
		{"a table with a byte order mark and Windows line ends", "\xef\xbb\xbfhf_id,tok_s_out,run_id,mood\r\na/b,5,1,good\r\na/b,7,2,\r\n", "1 2", nil},
		{"a table whose notes hold a comma and a line end", "run_id,hf_id,tok_s_out,notes\n1,a/b,5,\"a, b\nc\"\n2,a/b,7,\n", "1 2", nil},
		{"a row that is listed twice counts once", `{"rows":[` + two + `,{"id":"1","hfId":"a/b","tokSOut":9}]}`, "1 2", nil},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			l, err := localmaxxing.ParseListing([]byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if got := ids(l.Rows); got != c.ids {
				t.Errorf("got rows %q, want %q", got, c.ids)
			}
			if d := cmp.Diff(c.total, l.Total); d != "" {
				t.Errorf("total (-want +got):\n%s", d)
			}
			text, err := l.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			saved, err := localmaxxing.ParseListing(text)
			if err != nil {
				t.Fatalf("%v in %s", err, text)
			}
			if d := cmp.Diff(l.Rows, saved.Rows); d != "" {
				t.Errorf("saved and read (-want +got):\n%s", d)
			}
		})
	}
}

func ids(rows []localmaxxing.Row) string {
	var all []string
	for _, r := range rows {
		all = append(all, r.ID)
	}
	return strings.Join(all, " ")
}

func TestWhatIsNoListingIsSaidInOneLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ why, text, want string }{
		{"nothing", " \n", "it is empty"},
		{"a web page", "<!doctype html>\n", "it is a web page"},
		{"JSON that breaks off", "{\n\"rows\": [\n{\"hfId\": \"a/b\"", "line 3 is no JSON"},
		{"two documents", `{"rows":[]} {"rows":[]}`, "line 1 is no JSON"},
		{"JSON of something else", `{"status":"ok"}`, "no array of rows in it"},
		{"an array of numbers", `{"rows":[1,2]}`, "row 1 is a number, want an object"},
		{"an array of nothing", `{"rows":[null]}`, "row 1 is nothing, want an object"},
		{"a row of something else", `{"rows":[{"hfId":"a/b"},{"name":"x"}]}`, "row 2 has neither hfId, model nor tokSOut"},
		{"a table of something else", "name,speed\nx,1\n", "line 1 has no column hf_id"},
		{"a column twice", "hf_id,tok_s_out,hf_id\n", "column hf_id twice"},
		{"a line with a cell too few", "hf_id,tok_s_out\na/b\n", "line 2: wrong number of fields"},
		{"a quotation mark that is not closed", "hf_id,tok_s_out\n\"a/b,1\n", "extraneous or missing \""},
		{"a power log", "2026/09/06 04:49:01.123, 700.1, 99, 166000\n", "line 1 has no column hf_id"},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			_, err := localmaxxing.ParseListing([]byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %q, want one line with %q", err, c.want)
			}
		})
	}
}

func TestNotesNameTheRowAndAreBounded(t *testing.T) {
	t.Parallel()
	l, err := localmaxxing.ParseListing([]byte("hf_id,tok_s_out,verified\n" + strings.Repeat("a/b,fast,perhaps\n", 30)))
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Rows) != 30 || len(l.Notes) != 21 || l.Notes[20] != "40 more" {
		t.Errorf("got %d rows and %d notes, the last %q", len(l.Rows), len(l.Notes), l.Notes[len(l.Notes)-1])
	}
	if want := "line 2: tok_s_out is fast, want a number above 0"; l.Notes[0] != want {
		t.Errorf("got note %q, want %q", l.Notes[0], want)
	}
	l, err = localmaxxing.ParseListing([]byte(`[{"hfId":"a/b","id":"cm7","tokSOut":0}]`))
	if err != nil || len(l.Notes) != 1 || !strings.HasPrefix(l.Notes[0], "row 1 (cm7): tokSOut is 0") {
		t.Errorf("got notes %q, %v", l.Notes, err)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	l := seed(t)
	const id = "cmtplgojv02tcn701uyzagsof"
	for _, text := range []string{
		id, "https://www.localmaxxing.com/en/runs/" + id, "https://www.localmaxxing.com/de/runs/" + id + "/",
		"gemma4-26b-a4b-udq4kxl-mtp-n5__rtx5090x1__llamacpp__c1",
	} {
		if r := l.Find(text); r == nil || r.ID != id {
			t.Errorf("%s: got %v, want the row %s", text, r, id)
		}
	}
	for _, text := range []string{"", "/", "cmtplgojv", "nobody"} {
		if r := l.Find(text); r != nil {
			t.Errorf("%q finds %s", text, r.ID)
		}
	}
}

// seed is the published table of 36 runs.
func seed(t testing.TB) *localmaxxing.Listing {
	t.Helper()
	text, err := os.ReadFile("../../testdata/seed/runs.csv")
	if err != nil {
		t.Fatal(err)
	}
	l, err := localmaxxing.ParseListing(text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}
