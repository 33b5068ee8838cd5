package report_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"lmxbench/bench/report"
)

func text(t *testing.T, e report.Evidence, how report.Text) string {
	t.Helper()
	var b bytes.Buffer
	if err := how.Write(&b, build(t, e)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A server's words reach the terminal as words.
func TestTextHoldsNoControlCharacters(t *testing.T) {
	t.Parallel()
	e := small(1).evidence()
	evil := "x\x1b[2J\r\n\a\u0085y"
	e.Plan.HFID, e.Plan.EngineVersion, e.Plan.Quantization = evil, evil, evil
	timed(&e, func(r *report.Request) { r.FinishReason = &evil })
	e.Attached.Findings = []report.Finding{{Code: "thermal", Level: report.Warn, Detail: evil}}
	got := text(t, e, report.Text{Dir: evil, Power: "812 W"})
	for _, line := range strings.Split(got, "\n") {
		if strings.ContainsFunc(line, unicode.IsControl) {
			t.Errorf("a control character in %q", line)
		}
	}
}

func TestTextFitsOneScreen(t *testing.T) {
	t.Parallel()
	for name, e := range shapes() {
		if lines := strings.Count(text(t, e, report.Text{Dir: "runs/x"}), "\n"); lines > 24 {
			t.Errorf("%s takes %d lines", name, lines)
		}
	}
}

func TestSimulatedIsPlainlyVisible(t *testing.T) {
	t.Parallel()
	first, _, _ := strings.Cut(text(t, fromSimulator(), report.Text{}), "\n")
	if !strings.HasPrefix(first, "SIMULATED") {
		t.Errorf("the first line is %q", first)
	}
}

func TestEveryWarningSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for _, c := range verdictCases {
		e := sound()
		c.change(&e)
		got := text(t, e, report.Text{})
		if c.level == report.Info {
			if !strings.Contains(got, c.code) {
				t.Errorf("%s: %s is not shown", c.why, c.code)
			}
			continue
		}
		found := false
		for _, line := range strings.Split(got, "\n") {
			found = found || (strings.Contains(line, c.code+": ") && strings.HasSuffix(line, "→ "+report.Advice(c.code)))
		}
		if !found {
			t.Errorf("%s: no line says %s and what to do:\n%s", c.why, c.code, got)
		}
	}
}
