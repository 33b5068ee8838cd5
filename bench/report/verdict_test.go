package report_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lmxbench/bench/report"
)

// A stream that was held back has neither waves nor a plateau to speak of.
func TestBufferedStreamsAreOneFinding(t *testing.T) {
	t.Parallel()
	e := sound()
	timed(&e, func(r *report.Request) { squeeze(r, r.Events.Len()) })
	v := build(t, e).Bench.Verdict
	if len(v.Codes) != 1 || v.Codes[0].Code != "buffered_stream" {
		t.Errorf("%+v", v.Codes)
	}
}

func TestEachCodeFires(t *testing.T) {
	t.Parallel()
	for _, c := range verdictCases {
		t.Run(c.code+": "+c.why, func(t *testing.T) {
			t.Parallel()
			e := sound()
			c.change(&e)
			v := build(t, e).Bench.Verdict
			i := slices.IndexFunc(v.Codes, func(f report.Finding) bool { return f.Code == c.code })
			if i < 0 {
				t.Fatalf("did not fire: %+v", v)
			}
			f := v.Codes[i]
			if f.Level != c.level {
				t.Errorf("level %s, want %s: %s", f.Level, c.level, f.Detail)
			}
			if f.Detail == "" || strings.Contains(f.Detail, "\n") || strings.Contains(f.Detail, "%!") {
				t.Errorf("detail is no sentence on one line: %q", f.Detail)
			}
			t.Log(f.Detail)
			if want := worst(v.Codes); v.Status != want {
				t.Errorf("status %s, the codes say %s", v.Status, want)
			}
		})
	}
}

func worst(findings []report.Finding) string {
	status := report.StatusValid
	for _, f := range findings {
		if f.Level == report.Invalid {
			return report.StatusInvalid
		}
		if f.Level == report.Warn {
			status = report.StatusWarn
		}
	}
	return status
}

// Every code that this package judges has a case above.
func TestEachCodeHasACase(t *testing.T) {
	t.Parallel()
	tested := make(map[string]bool)
	for _, c := range verdictCases {
		tested[c.code] = true
	}
	for _, code := range powerCodes {
		tested[code] = true
	}
	seen := make(map[string]bool)
	for _, r := range report.Catalogue() {
		if seen[r.Code] {
			t.Errorf("%s is in the catalogue twice", r.Code)
		}
		seen[r.Code] = true
		if !tested[r.Code] {
			t.Errorf("%s has no case", r.Code)
		}
		if r.Meaning == "" || r.Threshold == "" || r.Advice == "" {
			t.Errorf("%s lacks a meaning, a threshold or advice", r.Code)
		}
	}
	for code := range tested {
		if !seen[code] {
			t.Errorf("%s is not in the catalogue", code)
		}
	}
}

// powerCodes are found by package power and passed on as they are.
var powerCodes = []string{
	"power_not_bracketed", "power_gap", "gpu_identity_changed", "counter_non_monotonic", "counter_stuck",
	"counter_vs_samples", "alias_risk", "power_capped", "thermal", "foreign_process", "scope_module",
	"mig_no_energy", "sensor_unavailable",
}

func TestPowerFindingsNeverMakeAThroughputInvalid(t *testing.T) {
	t.Parallel()
	for _, code := range powerCodes {
		e := sound()
		e.Attached.Findings = []report.Finding{{Code: code, Level: report.Invalid, Detail: "a sensor's fault"}}
		v := build(t, e).Bench.Verdict
		want := report.Verdict{Status: report.StatusWarn, Codes: []report.Finding{{Code: code, Level: report.Warn, Detail: "a sensor's fault"}}}
		if diff := cmp.Diff(want, v); diff != "" {
			t.Errorf("%s (-want +got):\n%s", code, diff)
		}
	}
}
