package report_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lmxbench/bench/report"
)

const docs = "../../docs/"

// section is the text of a page between a marker and its end; -update replaces
// it.
func section(t *testing.T, page, marker, want string) {
	t.Helper()
	text := string(readFile(t, docs+page))
	before, rest, ok := strings.Cut(text, "<!-- "+marker+" -->\n")
	got, after, closed := strings.Cut(rest, "<!-- end -->\n")
	if !ok || !closed {
		t.Fatalf("%s has no section %q", page, marker)
	}
	if *update {
		text := before + "<!-- " + marker + " -->\n" + want + "<!-- end -->\n" + after
		if err := os.WriteFile(docs+page, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", page, diff)
	}
}

func TestVerdictsPage(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("| code | level | what is wrong | when | what to do |\n|---|---|---|---|---|\n")
	for _, r := range report.Catalogue() {
		level := string(r.Level)
		if r.Beyond != "" {
			level += " → " + string(r.Beyond)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", r.Code, level, r.Meaning, r.Threshold, r.Advice)
	}
	section(t, "verdicts.md", "catalogue", b.String())
}

func TestOutcomesPage(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("| class | when |\n|---|---|\n")
	for _, o := range report.Outcomes() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", o.Name, o.Meaning)
	}
	section(t, "outcomes.md", "outcomes", b.String())
}

// Every key of our extension is explained, and every key that is explained is
// there.
func TestRunJSONPageNamesEveryKey(t *testing.T) {
	t.Parallel()
	page := string(readFile(t, docs+"run-json.md"))
	_, page, _ = strings.Cut(page, "## Fields of lmxbench")
	page, _, _ = strings.Cut(page, "## requests.jsonl")
	explained := make(map[string]bool)
	for _, quoted := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(page, -1) {
		for _, word := range strings.Split(quoted[1], ".") {
			explained[word] = true
		}
	}
	known := make(map[string]bool)
	keys(reflect.TypeFor[report.Extension](), known)
	for key := range known {
		if !explained[key] {
			t.Errorf("docs/run-json.md does not explain %q", key)
		}
	}
	for _, line := range regexp.MustCompile(`(?m)^\| ([^|]+) \|`).FindAllStringSubmatch(page, -1) {
		for _, quoted := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(line[1], -1) {
			for _, word := range strings.Split(quoted[1], ".") {
				if word != "*" && !known[word] {
					t.Errorf("docs/run-json.md explains %q, which no result has", word)
				}
			}
		}
	}
}

// keys collects the JSON names below a type, but for the plan's own and those
// of raw values.
func keys(typ reflect.Type, into map[string]bool) {
	switch typ.Kind() {
	case reflect.Pointer, reflect.Slice:
		keys(typ.Elem(), into)
	case reflect.Struct:
		if typ == reflect.TypeFor[report.PlanRecord]() || typ == reflect.TypeFor[report.Calibrated]() {
			return
		}
		for i := range typ.NumField() {
			field := typ.Field(i)
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name != "" {
				into[name] = true
			}
			if field.Type != reflect.TypeFor[json.RawMessage]() {
				keys(field.Type, into)
			}
		}
	}
}
