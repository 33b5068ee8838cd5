package study_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lmxbench/bench/report"
	"lmxbench/bench/report/runtest"
	"lmxbench/bench/report/study"
	"lmxbench/internal/cost"
)

const seedTable = "../../../testdata/seed/runs.csv"

func TestEveryKindOfInputIsAResult(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	dir := runtest.Store(t, parent, "run", runtest.Burst(8))
	foreign := filepath.Join(parent, "of-lmx")
	copyFile(t, "testdata/lmx-c2.json", filepath.Join(foreign, "run.json"))
	copyFile(t, seedTable, filepath.Join(parent, "both", "runs.csv"))
	copyFile(t, "testdata/lmx-c2.json", filepath.Join(parent, "both", "20260102T030405Z.json"))
	copyFile(t, "testdata/lmx-c2.json", filepath.Join(parent, "both", "payload.json"))
	write(t, filepath.Join(parent, "both", "other.json"), `{"some": "settings"}`)
	write(t, filepath.Join(parent, "both", "other.csv"), "a,b\n1,2\n")
	for _, c := range []struct {
		sentence string
		path     string
		want     int // subjects
		kind     study.Kind
		evidence bool
		notes    int
	}{
		{"a run directory has its evidence", dir, 1, study.KindRun, true, 0},
		{"its run.json alone is the result without the evidence", filepath.Join(dir, "run.json"), 1, study.KindRun, false, 0},
		{"lmx's file has no key of ours", "testdata/lmx-c2.json", 1, study.KindLMX, false, 0},
		{"so has a wrapped one", "testdata/lmx-wrapped.json", 1, study.KindLMX, false, 0},
		{"a folder with lmx's run.json is that result", foreign, 1, study.KindLMX, false, 0},
		{"a table is as many results as it has rows", seedTable, 36, study.KindRow, false, 0},
		{"a folder that holds a table and a result is both, and what is neither is named", filepath.Join(parent, "both"), 37, study.KindLMX, false, 2},
		{"a folder of run directories is a ladder", filepath.Dir(runtest.Store(t, filepath.Join(parent, "ladder"), "c8", runtest.Burst(8))), 1, study.KindRun, true, 0},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			st, err := study.Open([]string{c.path}, study.Options{Mixed: true})
			if err != nil {
				t.Fatal(err)
			}
			if len(st.Subjects) != c.want || len(st.Notes) != c.notes {
				t.Fatalf("got %d subjects and notes %q, want %d and %d notes", len(st.Subjects), st.Notes, c.want, c.notes)
			}
			s := st.Subjects[0]
			if s.Kind != c.kind || s.HasEvidence() != c.evidence || s.Answer() == nil {
				t.Errorf("got kind %s, evidence %v, answer %v", s.Kind, s.HasEvidence(), s.Answer())
			}
		})
	}
}

func TestBadInputIsOneClearLine(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	run := func(name string) string { return runtest.Store(t, parent, name, runtest.Burst(4)) }
	edit := func(path, old, text string) {
		t.Helper()
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), old) {
			t.Fatalf("%s does not hold %q", path, old)
		}
		write(t, path, strings.ReplaceAll(string(data), old, text))
	}
	other := runtest.Burst(8)
	other.Change = func(p *report.Plan) { p.HFID = "example-org/Other-2B" }
	runtest.Store(t, filepath.Join(parent, "models"), "c8", other)
	runtest.Store(t, filepath.Join(parent, "models"), "c4", runtest.Burst(4))
	simulated := runtest.Burst(8)
	simulated.Change = func(p *report.Plan) { p.Simulated = "default" }

	nan := filepath.Join(parent, "nan.json")
	copyFile(t, "testdata/lmx-c2.json", nan)
	edit(nan, `"tokSOut": 198.1,`, `"tokSOut": NaN,`)
	negative := filepath.Join(parent, "negative.json")
	copyFile(t, "testdata/lmx-c2.json", negative)
	edit(negative, `"tokSTotal": 252.2,`, `"tokSTotal": -1,`)
	gone := run("gone")
	if err := os.Remove(filepath.Join(gone, report.RequestsFile)); err != nil {
		t.Fatal(err)
	}
	bare := run("bare")
	if err := os.Remove(filepath.Join(bare, report.ManifestFile)); err != nil {
		t.Fatal(err)
	}
	future := run("future")
	edit(filepath.Join(future, report.ManifestFile), `"schema": 1,`, `"schema": 7,`)
	edited := run("edited")
	edit(filepath.Join(edited, report.RunFile), `"createdAt": "2026`, `"createdAt": "2027`)
	short := run("short")
	edit(filepath.Join(short, report.RunFile), `"metricSource": "remote_endpoint",`, ``)
	versions := run("versions")
	edit(filepath.Join(versions, report.ManifestFile), `"version": "1.2.3"`, `"version": "9.9.9"`)
	newer := filepath.Join(parent, "newer.json")
	copyFile(t, filepath.Join(run("plain"), report.RunFile), newer)
	edit(newer, `"version": "1.2.3"`, `"version": "9.9.9"`)
	nextSchema := filepath.Join(parent, "schema.json")
	copyFile(t, filepath.Join(parent, "plain", report.RunFile), nextSchema)
	edit(nextSchema, `"schema": 1,`, `"schema": 2,`)
	empty := filepath.Join(parent, "empty")
	if err := os.MkdirAll(empty, 0o755); err != nil {
		t.Fatal(err)
	}
	table := func(name, text string) string {
		path := filepath.Join(parent, name)
		write(t, path, text)
		return path
	}
	const head = "hf_id,engine,concurrency,tok_s_out,price_usd_h\n"
	for _, c := range []struct {
		sentence string
		paths    []string
		want     string
	}{
		{"nothing is there", []string{filepath.Join(parent, "nowhere")}, "does not exist"},
		{"a folder without a result says what would be one", []string{empty}, "holds no result"},
		{"a directory of which a file is gone is half a run", []string{gone}, "half a run directory: requests.jsonl is gone"},
		{"evidence without a manifest is half a run", []string{bare}, "half a run directory"},
		{"a schema of the future names the version that wrote it", []string{future}, "schema 7, this program reads 1"},
		{"so does one inside a result", []string{nextSchema}, "schema 2 of lmxbench, this program reads 1"},
		{"a result edited by hand is not the run's", []string{edited}, "is not the file that the run wrote"},
		{"one of another size is not either", []string{short}, "is not as the run left it"},
		{"manifest and result of two versions are mixed", []string{versions}, "mixes two versions"},
		{"results of two versions are not put on one curve", []string{filepath.Join(parent, "plain"), newer}, "two versions"},
		{"NaN by hand is named with its line", []string{nan}, `is no JSON: "\"tokSOut\": NaN,`},
		{"a negative rate is no measurement", []string{negative}, "tokSTotal is -1, which is no measurement"},
		{"two models are not one ladder", []string{filepath.Join(parent, "models")}, "two models"},
		{"nor are they one comparison", []string{filepath.Join(parent, "models", "c8"), filepath.Join(parent, "models", "c4")}, "two models"},
		{"the simulated engine never stands beside a measured one", []string{runtest.Store(t, parent, "sim", simulated), filepath.Join(parent, "plain")}, "never stand side by side"},
		{"a file that is no result", []string{table("other.json", `{"a": 1}`)}, "not a result"},
		{"a table without a needed column", []string{table("few.csv", "hf_id,engine,concurrency\na,b,1\n")}, "no column tok_s_out"},
		{"a table without a row", []string{table("none.csv", head)}, "no row below the header"},
		{"NaN in a table is named with its line", []string{table("nan.csv", head+"m,vllm,1,20,1\nm,vllm,2,NaN,1\n")}, `:3: tok_s_out is "NaN", want a number above zero`},
		{"so is a price of zero", []string{table("zero.csv", head+"m,vllm,1,20,0\n")}, `:2: price_usd_h is "0"`},
		{"and a row that misses cells", []string{table("cells.csv", head+"m,vllm,1\n")}, "wrong number of fields"},
		{"and a row without a rate", []string{table("norate.csv", head+"m,vllm,1,,1\n")}, "tok_s_out is missing"},
		{"and streams that are none", []string{table("streams.csv", head+"m,vllm,0.5,20,1\n")}, `concurrency is "0.5"`},
		{"a column twice", []string{table("twice.csv", "hf_id,engine,concurrency,tok_s_out,engine\n")}, "column engine twice"},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			_, err := study.Open(c.paths, study.Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q in it", err, c.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
		})
	}
}

func TestMixedResultsStandTogetherWhenAskedFor(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	other := runtest.Burst(8)
	other.Change = func(p *report.Plan) { p.HFID = "example-org/Other-2B" }
	a, b := runtest.Store(t, parent, "a", runtest.Burst(8)), runtest.Store(t, parent, "b", other)
	st, err := study.Open([]string{a, b}, study.Options{Mixed: true})
	if err != nil {
		t.Fatal(err)
	}
	if !st.IsTable || len(st.Contrasts) != 0 {
		t.Errorf("got table %v and %d comparisons: different models are a list and not compared", st.IsTable, len(st.Contrasts))
	}
}

func TestACutOffRunShowsWhatItLeftAndSaysSo(t *testing.T) {
	t.Parallel()
	l := runtest.Burst(4)
	l.Cut = true
	st, err := study.Open([]string{runtest.Store(t, t.TempDir(), "cut", l)}, study.Options{Prices: study.Prices{GPUHourUSD: ptr(2.0)}})
	if err != nil {
		t.Fatal(err)
	}
	s := st.Subjects[0]
	if !s.Partial || s.Status() != report.StatusInvalid || s.Answer() != nil || st.Money != nil {
		t.Errorf("got partial %v, status %s, answer %v, money %v", s.Partial, s.Status(), s.Answer(), st.Money)
	}
	if len(st.Notes) == 0 || !strings.Contains(st.Notes[0], "was cut off") {
		t.Errorf("got notes %q", st.Notes)
	}
}

func TestAFileOfLMXGivesWhatItHolds(t *testing.T) {
	t.Parallel()
	st, err := study.Open([]string{"testdata/lmx-c2.json"}, study.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := st.Subjects[0]
	if got := s.Answer(); got.TokensPerSecond != 198.1 || got.Iterations != 3 || *got.StdDev != 3.32 || len(got.Values) != 3 {
		t.Errorf("answer: got %+v", got)
	}
	// 252.2 · 128 / (61 + 128)
	if got := s.Rate(cost.BatchWall); got == nil || got.Derived == "" || got.TokensPerSecond < 170.79 || got.TokensPerSecond > 170.81 {
		t.Errorf("wall rate from the total rate: got %+v", got)
	}
	if s.TTFT == nil || s.TTFT.Count != 6 || s.TTFT.P50 != 229.15 || s.Verdict != nil || s.GPU != "NVIDIA GeForce RTX 4090" {
		t.Errorf("got TTFT %+v, verdict %v, GPU %q", s.TTFT, s.Verdict, s.GPU)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	write(t, to, string(data))
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
