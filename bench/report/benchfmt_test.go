package report_test

import (
	"bytes"
	"testing"

	"golang.org/x/perf/benchfmt"

	"lmxbench/bench/report"
)

// The parser behind benchstat reads every line, and keys that would put two
// versions of an engine into different tables are not among them.
func TestBenchfmtIsReadByBenchstat(t *testing.T) {
	t.Parallel()
	e := small(8).evidence()
	e.Plan.HFID, e.Plan.EngineVersion = "a b/c\nd", "new\nengine: fake"
	var b bytes.Buffer
	if err := report.Benchfmt(&b, build(t, e), build(t, withFailures(false)), build(t, small(1).evidence())); err != nil {
		t.Fatal(err)
	}
	reader := benchfmt.NewReader(&b, "test")
	var names []string
	for reader.Scan() {
		switch line := reader.Result().(type) {
		case *benchfmt.Result:
			names = append(names, string(line.Name))
			for _, key := range []string{"engine-version", "verdict"} {
				if value := line.GetConfig(key); value != "" {
					t.Errorf("%s is a key: %q", key, value)
				}
			}
			if got := line.GetConfig("engine"); got != "vllm" {
				t.Errorf("engine %q", got)
			}
			if v, ok := line.Value("tok/s"); !ok || v <= 0 {
				t.Errorf("%s has no tok/s", line.Name)
			}
		case *benchfmt.SyntaxError:
			t.Error(line)
		}
	}
	// Three iterations of each run, none of the one without a result.
	if len(names) != 6 || names[0] != "Serve/model=a_b_c_d/tokens=128/streams=8" {
		t.Errorf("%q", names)
	}
}
