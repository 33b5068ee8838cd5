package report_test

import (
	"testing"
	"time"

	"lmxbench/bench/report"
	"lmxbench/stats"
)

func TestStreamsCarryTheirEvents(t *testing.T) {
	t.Parallel()
	e := speculating()
	lines := e.Requests[1:2]
	streams, ok := report.Streams(lines)
	if !ok || len(streams) != 1 {
		t.Fatalf("%d streams, %v", len(streams), ok)
	}
	s, r := streams[0], lines[0]
	if s.FirstToken != time.Duration(r.T.FirstToken) || s.OutputTokens != int(*r.OutputTokens) ||
		len(s.EventTimes) != r.Events.Len() || len(s.EventTokens) != r.Events.Len() {
		t.Errorf("%+v is not the request", s)
	}
	if n, ok := stats.TokensWithin(streams, stats.Window{From: s.FirstToken - 1, To: s.LastToken}); !ok || n != float64(s.OutputTokens) {
		t.Errorf("%v tokens within the stream, want %d", n, s.OutputTokens)
	}
	lines[0].Outcome = report.OutcomeEmpty
	if _, ok := report.Streams(lines); ok {
		t.Error("streams of a failed batch")
	}
	if _, ok := report.Streams(nil); ok {
		t.Error("streams of nothing")
	}
}

func TestCompareJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, file, computed string
		want                []report.Difference
	}{
		{"equal", `{"a":1}`, `{"a":1}`, nil},
		{"order and blanks do not count", `{ "b":2,"a":[1] }`, `{"a":[1],"b":2}`, nil},
		{"numbers are compared as written", `{"a":1.0}`, `{"a":1}`, []report.Difference{{Path: "x.a", File: "1.0", Computed: "1"}}},
		{"another kind", `{"a":{}}`, `{"a":[]}`, []report.Difference{{Path: "x.a", File: "{}", Computed: "[]"}}},
		{"a longer array", `{"a":[1,2]}`, `{"a":[1]}`, []report.Difference{{Path: "x.a[1]", File: "2", Computed: "absent"}}},
		{"a shorter array", `[]`, `[null]`, []report.Difference{{Path: "x[0]", File: "absent", Computed: "null"}}},
		{"null is not absent", `{"a":null}`, `{}`, []report.Difference{{Path: "x.a", File: "null", Computed: "absent"}}},
		{"no JSON", `{`, `{}`, []report.Difference{{Path: "x", File: "no JSON: unexpected EOF", Computed: "JSON"}}},
	} {
		got := report.CompareJSON("x", []byte(c.file), []byte(c.computed))
		if len(got) != len(c.want) || (len(got) == 1 && got[0] != c.want[0]) {
			t.Errorf("%s: %v, want %v", c.why, got, c.want)
		}
	}
}
