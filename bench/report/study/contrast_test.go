package study_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lmxbench/bench/report"
	"lmxbench/bench/report/runtest"
	"lmxbench/bench/report/study"
)

// pair opens two runs of four streams, the second after a change.
func pair(t *testing.T, a, b runtest.Load) *study.Study {
	t.Helper()
	parent := t.TempDir()
	st, err := study.Open([]string{runtest.Store(t, parent, "a", a), runtest.Store(t, parent, "b", b)}, study.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func TestADifferenceIsStatedOnlyBeyondTheNoise(t *testing.T) {
	t.Parallel()
	base := runtest.Burst(4)
	with := func(change func(*runtest.Load)) runtest.Load {
		l := base
		l.Seed = 99
		change(&l)
		return l
	}
	faster := func(l *runtest.Load) { l.Step = l.Step * 9 / 10 }
	for _, c := range []struct {
		sentence string
		a, b     runtest.Load
		want     study.Outcome
		words    string
	}{
		{"a step that is a tenth shorter shows in six iterations", base, with(faster), study.Faster, "more than the iterations scatter"},
		{"so does a longer one, as slower", with(faster), base, study.Slower, "more than the iterations scatter"},
		{"the same thing twice shows no difference", base, with(func(*runtest.Load) {}), study.Same, "no difference beyond the noise"},
		{"three iterations cannot tell, however large the difference", with(func(l *runtest.Load) { l.Iterations = 3 }), with(func(l *runtest.Load) { l.Iterations = 3; faster(l) }), study.TooFew, "3 and 3 iterations are too few"},
		{"another output length is other work", base, with(func(l *runtest.Load) { l.Tokens = 128 }), study.NotCompared, "different work, max tokens is 256 and 128"},
		{"another prompt is too", base, with(func(l *runtest.Load) { l.Change = func(p *report.Plan) { p.PromptName = "code-v1" } }), study.NotCompared, "different work, prompt is reasoning-v1 and code-v1"},
		{"an INVALID run is not compared", base, with(func(l *runtest.Load) { l.Failed = 1 }), study.NotCompared, "INVALID (failed_requests)"},
		{"an interrupted one is not either", base, with(func(l *runtest.Load) { l.Cut = true }), study.NotCompared, "was interrupted"},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			t.Parallel()
			st := pair(t, c.a, c.b)
			if len(st.Contrasts) == 0 {
				t.Fatal("got no comparison")
			}
			got := st.Contrasts[0]
			if got.Outcome != c.want || !strings.Contains(got.Statement, c.words) {
				t.Errorf("got %s: %s", got.Outcome, got.Statement)
			}
			if (got.Low != nil) != (c.want == study.Faster || c.want == study.Slower || c.want == study.Same) {
				t.Errorf("got interval %v for %s", got.Low, got.Outcome)
			}
		})
	}
}

func TestALaterFirstTokenIsWorse(t *testing.T) {
	t.Parallel()
	late := runtest.Burst(4)
	late.TTFT *= 2
	st := pair(t, runtest.Burst(4), late)
	for _, c := range st.Contrasts {
		if c.Metric == "ttftMs" && c.Outcome != study.Slower {
			t.Errorf("got %s: %s", c.Outcome, c.Statement)
		}
	}
}

func TestFilesOfLMXCompareAsFarAsTheyGo(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	many := filepath.Join(parent, "many.json")
	copyFile(t, "testdata/lmx-c2.json", many)
	st, err := study.Open([]string{"testdata/lmx-c2.json", many}, study.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := st.Contrasts[0]; got.Outcome != study.TooFew {
		t.Errorf("three iterations each: got %s: %s", got.Outcome, got.Statement)
	}
	// The wall rate is derived from medians, so its scatter is not known.
	if got := st.Contrasts[1]; got.Outcome != study.TooFew || !strings.Contains(got.Statement, "do not hold the iterations") {
		t.Errorf("got %s: %s", got.Outcome, got.Statement)
	}
}

func TestSeriesAreRunsThatDifferInConcurrencyOnly(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	with := func(n int, change func(*report.Plan)) runtest.Load {
		l := runtest.Burst(n)
		l.Iterations, l.Tokens, l.Change = 2, 32, change
		return l
	}
	seqs := func(n float64) func(*report.Plan) {
		return func(p *report.Plan) { p.ServeFlags = map[string]any{"maxRunningSeqs": n} }
	}
	for _, c := range []struct {
		sentence string
		loads    []runtest.Load
		want     []string // labels, with their number of members
	}{
		{"a ladder is one series, whatever its output lengths", []runtest.Load{with(4, nil), with(1, func(p *report.Plan) { p.MaxTokens = 64 }), with(2, nil)}, []string{"FP8 3"}},
		{"a setting splits it, and is its name", []runtest.Load{with(1, seqs(8)), with(2, seqs(8)), with(1, seqs(16))}, []string{"maxRunningSeqs 8 2", "maxRunningSeqs 16 1"}},
		{"a setting that one does not state is named as missing", []runtest.Load{with(1, nil), with(1, func(p *report.Plan) { p.Backend = "" })}, []string{"backend cuda 1", "no backend 1"}},
		{"the same run twice is told apart by its folder", []runtest.Load{with(1, nil), with(1, nil)}, []string{"r0 1", "r1 1"}},
		{"many differences are not listed in a name", []runtest.Load{with(1, nil), with(1, func(p *report.Plan) {
			p.ServeFlags = map[string]any{"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}
		})}, []string{"r0 1", "r1 1"}},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			var paths []string
			for i, l := range c.loads {
				paths = append(paths, runtest.Store(t, filepath.Join(parent, strings.ReplaceAll(c.sentence, " ", "-")), "r"+string(rune('0'+i)), l))
			}
			st, err := study.Open(paths, study.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range st.Series {
				got = append(got, st.Series[i].Label+" "+string(rune('0'+len(st.Series[i].Members))))
			}
			if strings.Join(got, "; ") != strings.Join(c.want, "; ") {
				t.Errorf("got %q, want %q", got, c.want)
			}
			for i := range st.Series {
				last := 0
				for _, s := range st.Series[i].Subjects() {
					if s.Streams <= last {
						t.Errorf("%s: %d streams after %d", st.Series[i].Label, s.Streams, last)
					}
					last = s.Streams
				}
			}
		})
	}
}

func TestTheBestOfASweepIsComparedWithTheRunnerUp(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	var paths []string
	for i, step := range []time.Duration{50, 49, 40} { // hundreds of µs
		l := runtest.Burst(2)
		l.Tokens, l.Step, l.Seed = 64, step*100*time.Microsecond, uint64(i)
		l.Change = func(p *report.Plan) { p.ServeFlags = map[string]any{"prefillChunkSize": float64(i)} }
		paths = append(paths, runtest.Store(t, parent, "s"+string(rune('0'+i)), l))
	}
	st, err := study.Open(paths, study.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if st.Lead == nil || st.Lead.To != "prefillChunkSize 2" || st.Lead.From != "prefillChunkSize 1" || st.Lead.Outcome != study.Faster {
		t.Errorf("got %+v", st.Lead)
	}
}
