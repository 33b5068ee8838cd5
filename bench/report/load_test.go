package report_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lmxbench/bench/report"
)

func TestLoadIsStrictAndNamesTheLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ why, file, from, to, want string }{
		{"unknown key", "requests.jsonl", `"request":1,"outcome"`, `"speed":9,"request":1,"outcome"`, `requests.jsonl:1: json: unknown field "speed"`},
		{"unknown phase", "requests.jsonl", `"phase":"warmup"`, `"phase":"cooldown"`, `requests.jsonl:1: unknown phase "cooldown"`},
		{"unknown outcome", "requests.jsonl", `"outcome":"ok"`, `"outcome":"fine"`, `requests.jsonl:1: unknown outcome "fine"`},
		{"iteration 0", "requests.jsonl", `"iteration":1`, `"iteration":0`, "requests.jsonl:1: iteration 0, request 1"},
		{"a negative count", "requests.jsonl", `"outputTokens":128`, `"outputTokens":-128`, "requests.jsonl:1: -128 is no token count"},
		{"a fractional count", "requests.jsonl", `"outputTokens":128`, `"outputTokens":127.5`, "requests.jsonl:1: json: cannot unmarshal number 127.5"},
		{"a time before the origin", "requests.jsonl", `"send":`, `"send":-`, "requests.jsonl:1: time stamp -500000000 is not of this run"},
		{"columns of unequal length", "requests.jsonl", `"lag":[`, `"lag":[1,`, "requests.jsonl:1: events: columns of unequal length"},
		{"a column of text", "requests.jsonl", `"lag":[`, `"lag":["1",`, "requests.jsonl:1: events: column \"lag\": item 0: not an integer"},
		{"an unknown column", "requests.jsonl", `"lag":[`, `"log":[`, "requests.jsonl:1: events: unknown column \"log\""},
		{"an empty line", "requests.jsonl", "\n", "\n\n", "requests.jsonl:2: JSON is cut off"},
		{"no session", "observations.jsonl", `{"session":`, `{"sessions":`, `observations.jsonl:1: json: unknown field "sessions"`},
		{"a batch of an unknown phase", "observations.jsonl", `"phase":"timed"`, `"phase":"probe"`, `observations.jsonl:3: unknown phase "probe"`},
		{"a second session", "observations.jsonl", "\n{\"batch\"", "\n{\"session\":{\"originUnixNs\":1},\"batch\"", "observations.jsonl:2: the session is the first line"},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			dir := store(t, small(1).evidence())
			path := filepath.Join(dir, c.file)
			whole := readFile(t, path)
			changed := bytes.Replace(whole, []byte(c.from), []byte(c.to), 1)
			if bytes.Equal(whole, changed) {
				t.Fatal("nothing was changed")
			}
			if err := os.WriteFile(path, changed, 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := report.Load(dir)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %q, want %q in it", err, c.want)
			}
		})
	}
}

func TestRequestsSurviveTheirFile(t *testing.T) {
	t.Parallel()
	odd := []report.Request{
		{Phase: "probe", Iteration: 1, Request: 1, Outcome: "http_error", Status: 503, RetryAfter: "3", Error: "503 <Service Unavailable>", BodyExcerpt: "{\"events\":{\"t\":[1]}}\n,\"events\":{\u2028"},
		{Phase: "timed", Iteration: 1, Request: 2, Outcome: "ok", Events: &report.Events{T: []int64{}, Lag: []int64{}, Bytes: []int32{}}},
		{Phase: "timed", Iteration: 1, Request: 3, Outcome: "ok", Usage: []byte(`{"events":{"t":[1],"lag":[2],"bytes":[3]}}`)},
		{Phase: "timed", Iteration: 1, Request: 4, Outcome: "truncated", OutputText: ptr(""), PromptTokens: ptr(int64(0)), FinishReason: ptr("")},
	}
	var file []byte
	for _, e := range []report.Evidence{speculating(), withFailures(true), queued()} {
		odd = append(odd, e.Requests...)
	}
	for i := range odd {
		var err error
		if file, err = report.AppendRequest(file, &odd[i]); err != nil {
			t.Fatal(err)
		}
	}
	got, err := report.ReadRequests(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(odd, got); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
}

func TestUsageThatIsNoJSONIsKeptAsText(t *testing.T) {
	t.Parallel()
	r := report.Request{Phase: "timed", Iteration: 1, Request: 1, Outcome: "malformed", Usage: []byte(`{"completion_tokens":NaN}`)}
	line, err := report.AppendRequest(nil, &r)
	if err != nil {
		t.Fatal(err)
	}
	back, err := report.ParseRequest(bytes.TrimSpace(line))
	if err != nil || string(back.Usage) != `"{\"completion_tokens\":NaN}"` {
		t.Errorf("read %s, %v", back.Usage, err)
	}
}

func TestReadDocument(t *testing.T) {
	t.Parallel()
	example := readFile(t, "testdata/lmx-example.json")
	for _, c := range []struct {
		why, text, want string
		tokSOut         float64
	}{
		{"lmx's own file", string(example), "", 198.1},
		{"wrapped in a payload", `{"payload":` + string(example) + `}`, "", 198.1},
		{"our own file", marshal(t, build(t, small(8).evidence())), "", 714.9},
		{"a JSON file of something else", `{"name":"x"}`, "not a result", 0},
		{"no JSON", `tokSOut: 3`, "invalid character", 0},
		{"an array", `[]`, "cannot unmarshal array", 0},
	} {
		path := filepath.Join(t.TempDir(), "run.json")
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		d, err := report.ReadDocument(path)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v", c.why, err)
			}
			continue
		}
		if err != nil || d.TokSOut == nil || *d.TokSOut != c.tokSOut {
			t.Errorf("%s: %+v, %v", c.why, d, err)
		}
	}
}

// A document that is read back is the document that was written, but for the
// order of raw JSON inside it.
func TestDocumentSurvivesItsFile(t *testing.T) {
	t.Parallel()
	for name, e := range shapes() {
		text := marshal(t, build(t, e))
		d, err := report.ParseDocument([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(text, marshal(t, d)); diff != "" {
			t.Errorf("%s (-written +read):\n%s", name, diff)
		}
	}
}
