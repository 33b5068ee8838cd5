package report_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lmxbench/bench/report"
)

// damage stores a run, changes one of its files, and verifies it.
func damage(t *testing.T, dir, name string, change func([]byte) []byte) []string {
	t.Helper()
	path := filepath.Join(dir, name)
	whole := readFile(t, path)
	changed := change(slices.Clone(whole))
	if bytes.Equal(whole, changed) {
		t.Fatalf("the change to %s changes nothing", name)
	}
	if err := os.WriteFile(path, changed, 0o644); err != nil {
		t.Fatal(err)
	}
	differences, err := report.Verify(dir)
	if err != nil {
		t.Fatalf("Verify: %v", err)
	}
	if err := os.WriteFile(path, whole, 0o644); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, d := range differences {
		if line := d.String(); strings.Contains(line, "\n") {
			t.Errorf("a difference takes several lines: %q", line)
		}
		lines = append(lines, d.String())
	}
	return lines
}

// names reports whether some difference begins with prefix.
func names(lines []string, prefix string) bool {
	return slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, prefix) })
}

// Whatever digit of run.json is changed, the field is named, not only the
// file.
func TestEveryDigitOfTheResultIsVerified(t *testing.T) {
	t.Parallel()
	dir := store(t, fromSimulator())
	raw := readFile(t, filepath.Join(dir, report.RunFile))
	checked := 0
	for i, c := range raw {
		if c < '0' || c > '9' || i%13 != 0 {
			continue
		}
		checked++
		lines := damage(t, dir, report.RunFile, func(b []byte) []byte {
			b[i] = '0' + (c-'0'+1)%10
			return b
		})
		if !names(lines, "run.json sha256") {
			t.Errorf("byte %d: the file is not named: %v", i, lines)
		}
		if !slices.ContainsFunc(lines, func(l string) bool { return !strings.HasPrefix(l, "run.json ") }) {
			t.Errorf("byte %d, …%s…: no field is named: %v", i, raw[max(0, i-20):min(len(raw), i+20)], lines)
		}
	}
	if checked < 100 {
		t.Errorf("only %d digits were changed", checked)
	}
}

func TestEveryStampIsVerified(t *testing.T) {
	t.Parallel()
	dir := store(t, small(1).evidence())
	raw := readFile(t, filepath.Join(dir, report.RequestsFile))
	for i, c := range raw {
		if c < '0' || c > '9' || i%97 != 0 {
			continue
		}
		lines := damage(t, dir, report.RequestsFile, func(b []byte) []byte {
			b[i] = '0' + (c-'0'+1)%10
			return b
		})
		if !names(lines, "requests.jsonl sha256") {
			t.Errorf("byte %d: the file is not named: %v", i, lines)
		}
	}
}

func TestDamageIsNamed(t *testing.T) {
	t.Parallel()
	line := func(n int, change func([]byte) []byte) func([]byte) []byte {
		return func(b []byte) []byte {
			lines := bytes.SplitAfter(b, []byte("\n"))
			lines[n-1] = change(lines[n-1])
			return bytes.Join(lines, nil)
		}
	}
	replace := func(from, to string) func([]byte) []byte {
		return func(b []byte) []byte { return bytes.Replace(b, []byte(from), []byte(to), 1) }
	}
	drop := func([]byte) []byte { return nil }
	for _, c := range []struct {
		why, file string
		change    func([]byte) []byte
		want      []string // beginnings of differences
	}{
		{"a key was added to run.json", "run.json", replace(`"tokSOut":`, `"tokSOutBest": 9999,`+"\n"+`  "tokSOut":`), []string{"lmxbench.iterations[0].tokSOutBest: file has 9999, evidence gives absent"}},
		{"a key was added below lmxbench", "run.json", replace(`"schema": 1`, `"quality": "high", "schema": 1`), []string{`lmxbench.quality: file has "high", evidence gives absent`}},
		{"a key was taken out of run.json", "run.json", replace(`"hfId": "example-org/Tiny-1B",`+"\n  \"lmxbench\"", `"lmxbench"`), []string{`hfId: file has absent, evidence gives "example-org/Tiny-1B"`}},
		{"the verdict was changed", "run.json", replace(`"status": "VALID"`, `"status": "WARN"`), []string{`lmxbench.verdict.status: file has "WARN", evidence gives "VALID"`}},
		{"run.json was formatted anew", "run.json", replace("  \"backend\"", "\t\"backend\""), []string{"run.json formatting", "run.json sha256"}},
		{"run.json is no JSON", "run.json", func(b []byte) []byte { return b[:len(b)/2] }, []string{"run.json bytes", "run.json: file has no JSON"}},
		{"the end of a request came sooner", "requests.jsonl", line(2, func(b []byte) []byte {
			i := bytes.Index(b, []byte(`"lastToken":`)) + len(`"lastToken":`)
			b[i+2] = '0' + (b[i+2]-'0'+1)%10
			return b
		}), []string{"requests.jsonl sha256", "sampleStats.tokSOut.mean: file has", "samples[0].tokSOut: file has", "lmxbench.latency.tpotMs"}},
		{"a line was dropped", "requests.jsonl", line(3, drop), []string{"requests.jsonl bytes", "requests.jsonl lines", "requests.jsonl timed iteration 2: file has 0 requests, evidence gives 1 by its observation"}},
		{"two lines were swapped", "requests.jsonl", func(b []byte) []byte {
			lines := bytes.SplitAfter(b, []byte("\n"))
			lines[2], lines[3] = lines[3], lines[2]
			return bytes.Join(lines, nil)
		}, []string{"requests.jsonl:4: file has timed iteration 2 request 1", "requests.jsonl sha256"}},
		{"a line was doubled", "requests.jsonl", line(2, func(b []byte) []byte { return append(b, b...) }), []string{"requests.jsonl:3: file has timed iteration 1 request 1", "requests.jsonl lines", "requests.jsonl timed iteration 1: file has 2 requests"}},
		{"the file was cut", "requests.jsonl", func(b []byte) []byte { return b[:len(b)-30] }, []string{"requests.jsonl bytes", "requests.jsonl lines", "evidence: file has unreadable: "}},
		{"a line is no JSON", "requests.jsonl", line(2, replace(`{"phase"`, `{phase`)), []string{"evidence: file has unreadable: "}},
		{"a line has an unknown key", "requests.jsonl", line(2, replace(`{"phase"`, `{"speed":1,"phase"`)), []string{"evidence: file has unreadable: "}},
		{"an observation was changed", "observations.jsonl", replace(`"reads":`, `"reads":1`), []string{"observations.jsonl sha256"}},
		{"an observation was dropped", "observations.jsonl", line(3, drop), []string{"observations.jsonl lines", "requests.jsonl timed iteration 1: file has 1 request, evidence gives no such batch"}},
		{"a status line was changed", "status.jsonl", replace("iteration", "Iteration"), []string{"status.jsonl sha256"}},
		{"another file of the run was changed", "hardware.json", func([]byte) []byte { return []byte("{ }\n") }, []string{"hardware.json bytes", "hardware.json sha256"}},
		{"the plan was changed", "manifest.json", replace(`"maxTokens": 128`, `"maxTokens": 129`), []string{"manifest.json planSha256", "engineFlags.maxTokens: file has 128, evidence gives 129"}},
		{"the tool's version was changed", "manifest.json", replace(`"version": "1.2.3"`, `"version": "1.2.4"`), []string{`lmxbench.version: file has "1.2.3", evidence gives "1.2.4"`}},
		{"a fingerprint was changed", "manifest.json", replace(`"sha256": "`, `"sha256": "0`), []string{""}},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			dir := store(t, small(1).evidence())
			lines := damage(t, dir, c.file, c.change)
			if len(lines) == 0 {
				t.Error("no difference")
			}
			for _, want := range c.want {
				if !names(lines, want) {
					t.Errorf("no difference begins with %q:\n%s", want, strings.Join(lines, "\n"))
				}
			}
		})
	}
}

func TestMissingFilesAreNamed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{report.RunFile, report.RequestsFile, report.ObservationsFile, report.StatusFile, "hardware.json"} {
		dir := store(t, small(1).evidence())
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		differences, err := report.Verify(dir)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !slices.ContainsFunc(differences, func(d report.Difference) bool { return d.Path == name && d.File == "absent" }) {
			t.Errorf("%s is gone and not named: %v", name, differences)
		}
	}
}

func TestVerifyNeedsARun(t *testing.T) {
	t.Parallel()
	if _, err := report.Verify(t.TempDir()); err == nil || !strings.Contains(err.Error(), report.ManifestFile) {
		t.Errorf("an empty folder: %v", err)
	}
	dir := store(t, small(1).evidence())
	path := filepath.Join(dir, report.ManifestFile)
	for _, c := range []struct{ from, to, want string }{
		{`"schema": 1`, `"schema": 7`, "schema 7"},
		{`"state": "complete"`, `"state": "running"`, "cut off"},
		{`"run": "run.json"`, `"run": "../run.json"`, "not the name of a file"},
		{`"state"`, `"estate"`, "unknown field"},
	} {
		whole := readFile(t, path)
		if err := os.WriteFile(path, bytes.Replace(whole, []byte(c.from), []byte(c.to), 1), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := report.Verify(dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.to, err)
		}
		if err := os.WriteFile(path, whole, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
