package localmaxxing_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lmxbench/internal/localmaxxing"
)

// board serves a board of so many rows, fastest first, at most most of them at
// once, with the site's parameters.
func board(rows, most int, total string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
		var part []string
		for i := offset; i < rows && len(part) < min(limit, most); i++ {
			part = append(part, fmt.Sprintf(`{"id":"cm%d","tokSOut":%d,"batchSize":%d,"model":{"hfId":"a/b"}}`, i, rows-i, 1+i%2))
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		fmt.Fprintf(w, `{"rows":[%s]%s}`, strings.Join(part, ","), total)
	}
}

func client(t *testing.T, handler http.HandlerFunc, change ...func(*localmaxxing.ClientConfig)) *localmaxxing.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	cfg := localmaxxing.ClientConfig{BaseURL: server.URL}
	for _, f := range change {
		f(&cfg)
	}
	c, err := localmaxxing.NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLeaderboardReadsAllPages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why     string
		handler http.HandlerFunc
		rows    int
		total   *int
		note    string
	}{
		{"one page", board(3, 200, `,"total":3`), 3, ptr(3), ""},
		{"an empty board", board(0, 200, `,"total":0`), 0, ptr(0), ""},
		{"two pages", board(276, 200, `,"total":276`), 276, ptr(276), ""},
		{"a page that ends with the board", board(400, 200, `,"total":400`), 400, ptr(400), ""},
		{"a site that gives less at once than was asked for", board(276, 50, `,"total":276`), 276, ptr(276), ""},
		{"a site that does not count: the empty page tells", board(276, 200, ""), 276, ptr(276), ""},
		{"a site that ends early", board(250, 200, `,"total":276`), 250, ptr(276), "the site gave 250 of 276 rows"},
		{"a site that does not know offsets", func(w http.ResponseWriter, r *http.Request) {
			q := r.URL.Query()
			q.Del("offset")
			r.URL.RawQuery = q.Encode()
			board(276, 200, `,"total":276`)(w, r)
		}, 200, ptr(276), "the site gave 200 of 276 rows"},
		{"nor ids", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"rows":[{"hfId":"a/b","tokSOut":1},{"hfId":"a/b","tokSOut":1}],"total":5}`)
		}, 2, ptr(5), "the site gave 2 of 5 rows"},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			l, err := client(t, c.handler).Leaderboard(t.Context(), "a/b")
			if err != nil {
				t.Fatal(err)
			}
			if len(l.Rows) != c.rows || strings.Join(l.Notes, "; ") != c.note {
				t.Errorf("got %d rows and notes %q, want %d and %q", len(l.Rows), l.Notes, c.rows, c.note)
			}
			if d := cmp.Diff(c.total, l.Total); d != "" {
				t.Errorf("total (-want +got):\n%s", d)
			}
		})
	}
}

func TestABoardThatChangesMeanwhileIsNoted(t *testing.T) {
	t.Parallel()
	l, err := client(t, func(w http.ResponseWriter, r *http.Request) {
		total := `,"total":276`
		if r.URL.Query().Get("offset") != "" {
			total = `,"total":277`
		}
		board(277, 200, total)(w, r)
	}).Leaderboard(t.Context(), "a/b")
	if err != nil || len(l.Rows) != 277 || *l.Total != 277 || !strings.Contains(strings.Join(l.Notes, "; "), "the board changed while it was read") {
		t.Errorf("got %d rows, notes %q, %v", len(l.Rows), l.Notes, err)
	}
}

func TestWhatTheSiteIsTold(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 9, 6, 10, 38, 0, 0, time.UTC)
	asked := make(chan *http.Request, 2)
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		asked <- r
		for name, value := range map[string]string{
			"Age": "3600", "X-RateLimit-Limit": "30", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1788690000", "Retry-After": "61.5",
		} {
			w.Header().Set(name, value)
		}
		board(1, 200, `,"total":1`)(w, r)
	}, func(cfg *localmaxxing.ClientConfig) {
		cfg.BaseURL += "/mirror/api/"
		cfg.UserAgent = "lmxbench/0.1.0"
		cfg.Now = func() time.Time { return now }
	})
	l, err := c.Leaderboard(t.Context(), "Qwen/Qwen3.6 & friends")
	if err != nil {
		t.Fatal(err)
	}
	r := <-asked
	if len(asked) > 0 {
		t.Error("it was asked twice")
	}
	if got, want := r.Method+" "+r.URL.String(), "GET /mirror/api/leaderboard?hfId=Qwen%2FQwen3.6+%26+friends&limit=200"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for name, want := range map[string]string{
		"X-Lmx-Version": localmaxxing.ContractVersion, "User-Agent": "lmxbench/0.1.0", "Accept": "application/json", "Authorization": "", "Cookie": "",
	} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	want := localmaxxing.RateLimit{Limit: ptr(30), Remaining: ptr(0), Reset: time.Unix(1788690000, 0).UTC(), Wait: 61500 * time.Millisecond}
	if d := cmp.Diff(want, l.Limits); d != "" {
		t.Errorf("limits (-want +got):\n%s", d)
	}
	if *l.Age != time.Hour || !l.At.Equal(now) || !strings.HasSuffix(l.Source, "/mirror/api/leaderboard?hfId=Qwen%2FQwen3.6+%26+friends&limit=200") {
		t.Errorf("got age %s, at %s, source %s", l.Age, l.At, l.Source)
	}
	saved, err := l.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	again, err := localmaxxing.ParseListing(saved)
	if err != nil || again.HFID != l.HFID || *again.Total != 1 || !again.At.Equal(now) || again.Source != l.Source {
		t.Errorf("saved and read: %+v, %v", again, err)
	}
}

func TestRefusalsAreOneLineEach(t *testing.T) {
	t.Parallel()
	type header map[string]string
	for _, c := range []struct {
		why    string
		status int
		header header
		body   string
		kind   localmaxxing.Kind
		want   []string
		wait   time.Duration
	}{
		{"400", 400, nil, `{"error":"hfId is malformed"}`, localmaxxing.BadRequest, []string{"status 400 Bad Request (hfId is malformed): ", "check the model's id"}, 0},
		{"401", 401, nil, `{"error":"Unauthorized"}`, localmaxxing.Unauthorized, []string{"status 401 Unauthorized", "should not need"}, 0},
		{"403 of a firewall", 403, header{"Content-Type": "text/html"}, "<html>error code: 1010", localmaxxing.Forbidden, []string{"status 403 Forbidden: ", "give --listing"}, 0},
		{"404", 404, nil, ``, localmaxxing.NotFound, []string{"status 404 Not Found: ", "check the id"}, 0},
		{"409", 409, nil, `{"message":"edited"}`, localmaxxing.Conflict, []string{"status 409 Conflict (edited): ", "ask again"}, 0},
		{"422 with an error object", 422, nil, `{"error":{"message":"limit is too large","code":7}}`, localmaxxing.Unprocessable, []string{"(limit is too large)"}, 0},
		{"426", 426, nil, `{"error":"upgrade lmx"}`, localmaxxing.UpgradeNeeded, []string{"status 426 Upgrade Required (upgrade lmx)", "update lmxbench"}, 0},
		{"429 with a header", 429, header{"Retry-After": "41.2"}, `{"error":"slow down"}`, localmaxxing.RateLimited, []string{"(slow down)", "try again in 42s"}, 41200 * time.Millisecond},
		{"429 whose body asks for longer", 429, header{"Retry-After": "1"}, `{"retryAfterMs":90000}`, localmaxxing.RateLimited, []string{"try again in 1m30s"}, 90 * time.Second},
		{"429 with a date", 429, header{"Retry-After": "Sun, 06 Sep 2026 10:40:00 GMT"}, ``, localmaxxing.RateLimited, []string{"try again in 2m0s"}, 2 * time.Minute},
		{"429 with a date that is past", 429, header{"Retry-After": "Sun, 06 Sep 2020 10:40:00 GMT"}, ``, localmaxxing.RateLimited, []string{"too many requests; try later"}, 0},
		{"429 with nonsense", 429, header{"Retry-After": "NaN", "X-RateLimit-Remaining": "-3"}, `{"retryAfterMs":-1e300}`, localmaxxing.RateLimited, []string{"try later"}, 0},
		{"500 with a page", 500, header{"Content-Type": "text/html"}, "<html>", localmaxxing.SiteFailed, []string{"status 500 Internal Server Error: ", "a fault of its own"}, 0},
		{"301, which is not followed", 301, header{"Location": "https://www.site.example/x"}, ``, localmaxxing.Redirected, []string{"status 301 Moved Permanently (to https://www.site.example/x)", "not followed"}, 0},
		{"a status without a name", 599, nil, ``, localmaxxing.SiteFailed, []string{"status 599: "}, 0},
		{"418", 418, nil, ``, localmaxxing.OtherStatus, []string{"status 418 I'm a teapot"}, 0},
		{"a message that would drive a terminal", 400, nil, `{"error":"a\u001b[31m\nb` + strings.Repeat("x", 900) + `"}`, localmaxxing.BadRequest, []string{"(a[31m bxxx"}, 0},
		{"200 with a web page", 200, header{"Content-Type": "text/html; charset=utf-8"}, "<html>", localmaxxing.NotAPI, []string{"the answer is text/html, not JSON", "not the leaderboard's API"}, 0},
		{"200 with JSON of something else", 200, header{"Content-Type": "application/json"}, `{"status":"ok"}`, localmaxxing.NotAPI, []string{"no array of rows in it"}, 0},
		{"200 with broken JSON", 200, header{"Content-Type": "application/json"}, `{"rows":[`, localmaxxing.NotAPI, []string{"the answer is broken JSON"}, 0},
		{"200 with a table, which is for files", 200, header{"Content-Type": "application/json"}, "hf_id,tok_s_out\n", localmaxxing.NotAPI, []string{"broken JSON"}, 0},
		{"200 without end", 200, header{"Content-Type": "application/json"}, strings.Repeat(" ", 16<<20) + "{}", localmaxxing.TooLarge, []string{"more than 16 MiB came"}, 0},
		{"200 that breaks off", 200, header{"Content-Type": "application/json", "Content-Length": "1000"}, `{"rows":[`, localmaxxing.ConnectionLost, []string{"unexpected EOF"}, 0},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			_, err := client(t, func(w http.ResponseWriter, _ *http.Request) {
				for name, value := range c.header {
					w.Header().Set(name, value)
				}
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.body)
			}, func(cfg *localmaxxing.ClientConfig) {
				cfg.Now = func() time.Time { return time.Date(2026, 9, 6, 10, 38, 0, 0, time.UTC) }
			}).Leaderboard(t.Context(), "a/b")
			var e *localmaxxing.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want an *Error", err)
			}
			if e.Kind != c.kind || e.Limits.Wait != c.wait {
				t.Errorf("got %s and a wait of %s, want %s and %s", e.Kind, e.Limits.Wait, c.kind, c.wait)
			}
			text := err.Error()
			if !strings.HasPrefix(text, "GET http://127.0.0.1:") || strings.ContainsAny(text, "\n\x1b") || len(text) > 700 {
				t.Errorf("got %q, want one line that names what was asked", text)
			}
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("got %q, want %q in it", text, want)
				}
			}
		})
	}
}

// A request that is counted against a limit, or that the site could not answer,
// is not sent again behind the user's back.
func TestNothingIsAskedTwice(t *testing.T) {
	t.Parallel()
	for _, status := range []int{429, 500, 503, 200} {
		asked := make(chan struct{}, 10)
		_, err := client(t, func(w http.ResponseWriter, _ *http.Request) {
			asked <- struct{}{}
			if status != 200 {
				w.WriteHeader(status)
				return
			}
			panic(http.ErrAbortHandler) // the connection ends without an answer
		}).Leaderboard(t.Context(), "a/b")
		if err == nil || len(asked) != 1 {
			t.Errorf("status %d: asked %d times, %v", status, len(asked), err)
		}
	}
}

func TestNoAnswer(t *testing.T) {
	t.Parallel()
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	kindOf := func(t *testing.T, c *localmaxxing.Client, ctx context.Context) localmaxxing.Kind {
		t.Helper()
		_, err := c.Leaderboard(ctx, "a/b")
		var e *localmaxxing.Error
		if !errors.As(err, &e) || strings.Contains(err.Error(), "\n") {
			t.Fatalf("got %v, want an *Error of one line", err)
		}
		return e.Kind
	}
	t.Run("no answer in time", func(t *testing.T) {
		t.Parallel()
		c := client(t, hang, func(cfg *localmaxxing.ClientConfig) { cfg.Timeout = 20 * time.Millisecond })
		if got := kindOf(t, c, t.Context()); got != localmaxxing.TimedOut {
			t.Errorf("got %s", got)
		}
	})
	t.Run("a body that does not end in time", func(t *testing.T) {
		t.Parallel()
		c := client(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"rows":[`)
			w.(http.Flusher).Flush()
			hang(w, r)
		}, func(cfg *localmaxxing.ClientConfig) { cfg.Timeout = 200 * time.Millisecond })
		if got := kindOf(t, c, t.Context()); got != localmaxxing.TimedOut {
			t.Errorf("got %s", got)
		}
	})
	t.Run("the user gives up", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancelCause(t.Context())
		reason := errors.New("enough")
		c := client(t, func(w http.ResponseWriter, r *http.Request) {
			cancel(reason)
			hang(w, r)
		})
		_, err := c.Leaderboard(ctx, "a/b")
		if !errors.Is(err, reason) {
			t.Errorf("got %v, want the user's reason in it", err)
		}
	})
	t.Run("nothing listens", func(t *testing.T) {
		t.Parallel()
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listener.Close()
		c, err := localmaxxing.NewClient(localmaxxing.ClientConfig{BaseURL: "http://" + listener.Addr().String()})
		if err != nil {
			t.Fatal(err)
		}
		if got := kindOf(t, c, t.Context()); got != localmaxxing.Unreachable {
			t.Errorf("got %s", got)
		}
	})
}

func TestAddressesOfTheSite(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"https://www.localmaxxing.com", " http://127.0.0.1:8080/ ", "https://site.example/mirror/api"} {
		if _, err := localmaxxing.NewClient(localmaxxing.ClientConfig{BaseURL: text}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"":                                 "is no address of a site",
		"www.localmaxxing.com":             "write something like https://www.localmaxxing.com",
		"ftp://site.example":               "is no address",
		"https://":                         "is no address",
		"https://user:secret@site.example": "holds a user name",
		"https://secret@site.example:x":    "holds a user name",
		"https://site.example/?key=secret": "has a query",
		"https://site.example/#secret":     "has a query or a fragment",
		"https://site.example/\x1b[2J":     "is no address",
		"http://[::1":                      "is no address",
		"https://site.example?":            "has a query",
	} {
		_, err := localmaxxing.NewClient(localmaxxing.ClientConfig{BaseURL: text})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret@") || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func TestOneRun(t *testing.T) {
	t.Parallel()
	var paths []string
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		paths = append(paths, r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, siteRow)
	})
	row, notes, err := c.Run(t.Context(), "cm0example1")
	if err != nil || len(notes) > 0 || row.ID != "cm0example1" || *row.TokSOut != 304.89 {
		t.Errorf("got %+v, notes %q, %v", row, notes, err)
	}
	for _, id := range []string{"", "a/b", "..", "a?b", strings.Repeat("a", 65), "cm\n"} {
		if _, _, err := c.Run(t.Context(), id); err == nil || !strings.Contains(err.Error(), "is no id of a run") {
			t.Errorf("%q: got %v", id, err)
		}
	}
	if !slices.Equal(paths, []string{"/api/speed-tests/cm0example1"}) {
		t.Errorf("asked for %q", paths)
	}
	odd := client(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `[]`)
	})
	if _, _, err := odd.Run(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "it is an array, want an object") {
		t.Errorf("got %v", err)
	}
}
