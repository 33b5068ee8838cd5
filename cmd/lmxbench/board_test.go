package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// site stands in for the leaderboard: a board of three rows, and one run.
func site(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	row := func(id string, rate, streams int) string {
		return fmt.Sprintf(`{"id":%q,"tokSOut":%d,"batchSize":%d,"outputTokens":1024,"model":{"hfId":"org/Tiny-FP8"},
			"engine":{"engineName":"vllm","quantization":"FP8"},"hardware":{"gpuName":"NVIDIA B200","gpuCount":1}}`, id, rate, streams)
	}
	switch {
	case r.Header.Get("X-Lmx-Version") == "" || !strings.HasPrefix(r.Header.Get("User-Agent"), "lmxbench/"):
		w.WriteHeader(http.StatusForbidden)
	case r.URL.Path == "/api/leaderboard" && r.URL.Query().Get("hfId") == "org/Tiny":
		w.Header().Set("Age", "7200")
		fmt.Fprintf(w, `{"rows":[%s,%s,%s],"total":3}`, row("cm1", 900, 64), row("cm2", 300, 1), row("cm3", 100, 1))
	case r.URL.Path == "/api/leaderboard" && r.URL.Query().Get("hfId") == "org/Busy":
		w.Header().Set("Retry-After", "42")
		w.WriteHeader(http.StatusTooManyRequests)
		fmt.Fprint(w, `{"error":"slow down"}`)
	case r.URL.Path == "/api/leaderboard" && r.URL.Query().Get("hfId") == "org/New":
		w.WriteHeader(http.StatusUpgradeRequired)
	case r.URL.Path == "/api/leaderboard":
		fmt.Fprint(w, `{"rows":[],"total":0}`)
	case r.URL.Path == "/api/speed-tests/cm2":
		fmt.Fprint(w, row("cm2", 300, 1))
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

const tinyRun = `{"engineName":"vllm","hfId":"org/Tiny-FP8","quantization":"FP8","batchSize":1,"tokSOut":200,"outputTokens":1024,
	"prompt":"Think.","hardware":{"gpuName":"NVIDIA B200","gpuCount":1},"provenance":{"cli":"localmaxxing-go"}}`

// called runs a command line.
func called(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(context.Background(), append([]string{"lmxbench"}, args...), strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

func TestBoardOfASite(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(site))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	file, saved := filepath.Join(dir, "run.json"), filepath.Join(dir, "listing.json")
	if err := os.WriteFile(file, []byte(tinyRun), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, errs := called(t, "board", "org/Tiny", "--api-url", server.URL, "--run", dir, "--save", saved)
	if code != exitOK || !strings.Contains(errs, "3 rows are of other models counted (org/Tiny-FP8)") {
		t.Fatalf("exit code %d, %s", code, errs)
	}
	for _, want := range []string{
		"org/Tiny · all 3 rows · 2 of a single stream · cached by the site 2h0m0s ago\n",
		"all rows       place 3 of 4\n", "single stream  place 2 of 3\n",
		"next above           300.0 tok/s, 100.0 more (50.0 %): place 2, 1 × NVIDIA B200, vllm, FP8, 1 stream\n",
		"next below           100.0 tok/s, 100.0 less (50.0 %): place 3, 1 × NVIDIA B200, vllm, FP8, 1 stream\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	// The saved listing gives the same places.
	_, again, _ := called(t, "board", "org/Tiny", "--listing", saved, "--run", dir)
	if d := cmp.Diff(strings.Replace(out, " · cached by the site 2h0m0s ago", "", 1), again); d != "" {
		t.Errorf("from the saved listing (-site +saved):\n%s", d)
	}
	if code, _, errs := called(t, "board", "org/Tiny", "--listing", saved, "--save", saved); code != exitUsage || !strings.Contains(errs, "already there") {
		t.Errorf("saving over it: exit code %d, %s", code, errs)
	}
}

func TestSiteFaultsHaveTheirCodes(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(site))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "run.json")
	if err := os.WriteFile(file, []byte(tinyRun), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		why  string
		args []string
		exit int
		code string
		want string
	}{
		{"too many requests", []string{"board", "org/Busy", "--api-url", server.URL}, exitNothing, "api_error", "status 429 Too Many Requests (slow down): too many requests; try again in 42s"},
		{"too old a version", []string{"board", "org/New", "--api-url", server.URL}, exitNothing, "cli_upgrade_required", "status 426 Upgrade Required"},
		{"no such run", []string{"compare", file, "--with", "cm9", "--api-url", server.URL}, exitNothing, "api_error", "status 404 Not Found"},
		{"an id that is none", []string{"compare", file, "--with", "a b", "--api-url", server.URL}, exitUsage, "invalid_option", "is no id of a run"},
		{"nothing listens", []string{"board", "org/Tiny", "--api-url", "http://127.0.0.1:1"}, exitNothing, "network_error", "nothing listens there"},
		{"a key in the address", []string{"board", "org/Tiny", "--api-url", "http://secret@127.0.0.1:1"}, exitUsage, "invalid_option", "holds a user name"},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			code, out, errs := called(t, append(c.args, "--json")...)
			var line struct{ Code, Message string }
			if err := json.Unmarshal([]byte(errs), &line); err != nil || strings.Count(errs, "\n") != 1 {
				t.Fatalf("standard error is not one JSON line: %s", errs)
			}
			if code != c.exit || line.Code != c.code || !strings.Contains(line.Message, c.want) || out != "" || strings.Contains(errs, "secret") {
				t.Errorf("exit code %d, %s, %q; want %d, %s, %q", code, line.Code, line.Message, c.exit, c.code, c.want)
			}
		})
	}
}

func TestEmptyBoardAndOneRunOfASite(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(site))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "run.json")
	if err := os.WriteFile(file, []byte(tinyRun), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, errs := called(t, "board", "org/Nobody", "--api-url", server.URL, "--run", file)
	if code != exitOK || !strings.Contains(out, "org/Nobody · no row yet") || !strings.Contains(out, "all rows       place 1 of 1\n") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	if !strings.Contains(errs, "the result is of org/Tiny-FP8, and no row of this board is") {
		t.Errorf("nothing is said of the other model: %s", errs)
	}
	code, out, errs = called(t, "compare", file, "--with", server.URL+"/en/runs/cm2", "--api-url", server.URL)
	if want := "200.0 vs 300 → 66.7 %, comparable as far as known: prompt sha256 not given by the other\n"; code != exitOK || !strings.HasPrefix(out, want) || errs != "" {
		t.Errorf("exit code %d, want %q, got\n%s%s", code, want, out, errs)
	}
}
