package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"lmxbench/bench/report"
)

// await FILE [REGEXP] waits until the file is there and holds a match.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: await FILE [REGEXP]")
	}
	pattern := regexp.MustCompile("")
	if len(args) == 2 {
		pattern = regexp.MustCompile(args[1])
	}
	path := ts.MkAbs(args[0])
	wait(ts, args[0], func() bool {
		text, err := os.ReadFile(path)
		return err == nil && pattern.Match(text)
	})
}

// setenv NAME FILE sets a variable to the first line of a file; with a glob, to
// the one path that it matches.
func setenv(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: setenv NAME FILE|GLOB")
	}
	if strings.Contains(args[1], "*") {
		paths, err := filepath.Glob(ts.MkAbs(args[1]))
		ts.Check(err)
		if len(paths) != 1 {
			ts.Fatalf("%s matches %d paths, want 1: %v", args[1], len(paths), paths)
		}
		ts.Setenv(args[0], paths[0])
		return
	}
	line, _, _ := strings.Cut(ts.ReadFile(args[1]), "\n")
	ts.Setenv(args[0], line)
}

// edit FILE REGEXP TEXT replaces the first match in a file.
func edit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: edit FILE REGEXP TEXT")
	}
	pattern := regexp.MustCompile(args[1])
	text := ts.ReadFile(args[0])
	at := pattern.FindStringSubmatchIndex(text)
	if at == nil {
		ts.Fatalf("%s holds no %s", args[0], args[1])
	}
	changed := text[:at[0]] + string(pattern.ExpandString(nil, args[2], text, at)) + text[at[1]:]
	if changed == text {
		ts.Fatalf("the edit of %s changes nothing", args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(changed), 0o644))
}

// oneline FILE REGEXP holds that there is one line and it matches.
func oneLine(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: oneline FILE REGEXP")
	}
	text := ts.ReadFile(args[0])
	if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
		ts.Fatalf("%s is not one line:\n%s", args[0], text)
	}
	if !regexp.MustCompile(args[1]).MatchString(text) {
		ts.Fatalf("%s does not match %s:\n%s", args[0], args[1], text)
	}
}

// onejson FILE holds that there is exactly one JSON document.
func oneJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: onejson FILE")
	}
	if text := ts.ReadFile(args[0]); !json.Valid([]byte(text)) {
		ts.Fatalf("%s is not one JSON document:\n%.400s", args[0], text)
	}
}

// jsonlines FILE EVENT… holds that each line is a JSON object with sorted keys,
// an event and a time, and that the events named come in this order among them.
func jsonLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: jsonlines FILE [EVENT…]")
	}
	want := args[1:]
	lines := bufio.NewScanner(strings.NewReader(ts.ReadFile(args[0])))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var object map[string]any
		if err := decodeExact(lines.Bytes(), &object); err != nil {
			ts.Fatalf("%s: %v in %s", args[0], err, lines.Text())
		}
		sorted, err := json.Marshal(object)
		ts.Check(err)
		if !bytes.Equal(sorted, lines.Bytes()) {
			ts.Fatalf("%s: keys are not sorted in %s", args[0], lines.Text())
		}
		event, _ := object["event"].(string)
		if at, _ := object["time"].(string); event == "" || !isStamp(at) {
			ts.Fatalf("%s: no event or time in %s", args[0], lines.Text())
		}
		if len(want) > 0 && event == want[0] {
			want = want[1:]
		}
	}
	if len(want) > 0 {
		ts.Fatalf("%s: no event %s, or not in this order", args[0], want[0])
	}
}

func isStamp(text string) bool {
	at, err := time.Parse(time.RFC3339, text)
	return err == nil && at.UTC().Format(time.RFC3339) == text
}

// decodeExact decodes one JSON value and keeps numbers as they are written.
func decodeExact(text []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(to)
}

type finding struct{ Code, Level, Detail string }

// findings are the verdict's codes in a result, none in another file.
func findings(ts *testscript.TestScript, path string) []finding {
	var document struct {
		Lmxbench struct {
			Verdict struct{ Codes []finding }
		}
	}
	text, err := os.ReadFile(path)
	ts.Check(err)
	if json.Unmarshal(text, &document) != nil {
		return nil
	}
	return document.Lmxbench.Verdict.Codes
}

// codes RESULT [CODE[=LEVEL]…] holds that the verdict names these codes and no
// others, INFO and what a busy machine adds aside.
func codes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: codes RESULT [CODE[=LEVEL]…]")
	}
	var got []string
	for _, f := range findings(ts, ts.MkAbs(args[0])) {
		named := slices.ContainsFunc(args[1:], func(a string) bool { return a == f.Code || strings.HasPrefix(a, f.Code+"=") })
		if !named && (f.Level == "INFO" || busy[f.Code]) {
			continue
		}
		if slices.Contains(args[1:], f.Code+"="+f.Level) {
			f.Code += "=" + f.Level
		}
		got = append(got, f.Code)
	}
	want := slices.Clone(args[1:])
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		ts.Fatalf("codes %v, want %v", got, want)
	}
}

// doubts RESULT CODE… holds that the verdict names these codes, others or not,
// as more than a note.
func doubts(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: doubts RESULT CODE…")
	}
	found := findings(ts, ts.MkAbs(args[0]))
	for _, code := range args[1:] {
		if !slices.ContainsFunc(found, func(f finding) bool { return f.Code == code && f.Level != "INFO" }) {
			ts.Fatalf("no %s among %+v", code, found)
		}
	}
}

// outcomes DIR CLASS=N… holds that the timed requests ended so.
func outcomes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: outcomes DIR CLASS=N…")
	}
	counts := map[string]int{}
	for _, r := range requests(ts, args[0]) {
		if r.Phase == "timed" {
			counts[r.Outcome]++
			if r.Outcome != "ok" && (r.Error == "" || strings.ContainsAny(r.Error, "\r\n")) {
				ts.Fatalf("a request that ended %s has the error %q, want one line", r.Outcome, r.Error)
			}
		}
	}
	var got []string
	for class, n := range counts {
		got = append(got, class+"="+itoa(n))
	}
	slices.Sort(got)
	want := slices.Clone(args[1:])
	slices.Sort(want)
	if !slices.Equal(got, want) {
		ts.Fatalf("outcomes %v, want %v", got, want)
	}
}

// refuses CODE REGEXP ARGS… runs lmxbench and holds that it ends with exit code
// 1, nothing on standard output, and one line that matches; and that the same
// run with --json says it as one JSON object with lmx's code.
func refuses(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: refuses CODE REGEXP ARGS…")
	}
	exits(ts, false, append([]string{"1", "lmxbench"}, args[2:]...))
	oneLine(ts, false, []string{"stderr", "^lmxbench: (?:" + args[1] + ")"})
	if out := ts.ReadFile("stdout"); out != "" {
		ts.Fatalf("standard output is not empty: %s", out)
	}
	if args[2] != "run" {
		return
	}
	exits(ts, false, append([]string{"1", "lmxbench", "run", "--json"}, args[3:]...))
	var said struct{ Event, Time, Code, Message string }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stderr")), &said))
	if said.Event != "error" || !isStamp(said.Time) || said.Code != args[0] || !regexp.MustCompile(args[1]).MatchString(said.Message) {
		ts.Fatalf("said %+v, want the code %s", said, args[0])
	}
	if out := ts.ReadFile("stdout"); out != "" {
		ts.Fatalf("standard output is not empty: %s", out)
	}
}

// strikes FAULT CLASS [OPTION…] measures two iterations of four streams whose
// fourth request meets a fault of the engine, and holds that this request ended
// in its class, that its iteration does not count, that the run is INVALID for
// nothing else, and that one line says so.
func strikes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: strikes FAULT CLASS [OPTION…]")
	}
	fault, class := args[0], args[1]
	dir := "strikes-" + fault
	command := []string{
		"2", "lmxbench", "run", "--sim", "default", "--sim-fault", fault,
		"--sim-fault-every", "7", // requests 1 to 3 find out what the server can
		"--concurrency", "4", "--iterations", "2", "--warmup", "0", "--max-tokens", "12",
		"--out", dir + "/run.json",
	}
	exits(ts, false, append(command, args[2:]...))
	oneLine(ts, false, []string{"stderr", `^lmxbench: iteration 1: 1 of 4 requests failed \(` + class + ` 1\): ..+\n`})
	outcomes(ts, false, []string{dir, "ok=7", class + "=1"})
	codes(ts, false, []string{dir + "/run.json", "failed_requests=INVALID"})
	field(ts, false, []string{dir + "/run.json", "tokSOut", "absent"})
	field(ts, false, []string{dir + "/run.json", "lmxbench.throughput.concurrentRequestWindow.count", "1"})
}

// field FILE PATH REGEXP holds that a value of a JSON file matches; "absent"
// where there is none. In a file of lines it is the first line's that has one.
func field(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: field FILE PATH REGEXP")
	}
	got := "absent"
	d := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	d.UseNumber()
	for got == "absent" && d.More() {
		var tree any
		ts.Check(d.Decode(&tree))
		for key := range strings.SplitSeq(args[1], ".") {
			object, _ := tree.(map[string]any)
			tree = object[key]
		}
		if text, ok := tree.(string); ok {
			got = text
		} else if tree != nil {
			text, err := json.Marshal(tree)
			ts.Check(err)
			got = string(text)
		}
	}
	if !regexp.MustCompile("^(?:" + args[2] + ")$").MatchString(got) {
		ts.Fatalf("%s: %s is %.400s, want %s", args[0], args[1], got, args[2])
	}
}

// loads DIR N holds that the evidence of a run that was cut off can be read,
// and gives a partial result with at least N finished iterations.
func loads(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: loads DIR ITERATIONS")
	}
	run, err := report.Load(ts.MkAbs(args[0]))
	ts.Check(err)
	document, err := report.Build(run.Evidence)
	ts.Check(err)
	if !document.Bench.Partial || document.TokSOut != nil {
		ts.Fatalf("partial is %v, tokSOut is %v; want a partial result without tokSOut", document.Bench.Partial, document.TokSOut)
	}
	finished := 0
	for _, i := range document.Bench.Iterations {
		if i.Counted {
			finished++
		}
	}
	if finished < atoi(ts, args[1]) {
		ts.Fatalf("%d finished iterations, want at least %s", finished, args[1])
	}
}

// gone DIR waits until nothing listens any more where a run had its server.
func gone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: gone DIR")
	}
	var line struct{ Session struct{ Peer string } }
	text, _, _ := strings.Cut(ts.ReadFile(filepath.Join(args[0], "observations.jsonl")), "\n")
	ts.Check(json.Unmarshal([]byte(text), &line))
	wait(ts, "the end of the server at "+line.Session.Peer, func() bool {
		conn, err := net.Dial("tcp", line.Session.Peer)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
}
