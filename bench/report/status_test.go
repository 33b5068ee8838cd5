package report_test

import (
	"testing"
	"time"

	"lmxbench/bench/report"
)

func TestStatusLine(t *testing.T) {
	t.Parallel()
	var none *string
	at := time.Date(2026, 11, 30, 20, 0, 0, 987654321, time.FixedZone("", 3600))
	for _, c := range []struct {
		why    string
		fields map[string]any
		want   string
	}{
		{"no fields", nil, `{"event":"x","time":"2026-11-30T19:00:00Z"}`},
		{"sorted keys", map[string]any{"zeta": 1, "alpha": "a"}, `{"alpha":"a","event":"x","time":"2026-11-30T19:00:00Z","zeta":1}`},
		{"null and empty are dropped, zero and false stay", map[string]any{"a": nil, "b": "", "c": none, "d": 0, "e": false, "f": []string(nil), "g": []string{}}, `{"d":0,"e":false,"event":"x","g":[],"time":"2026-11-30T19:00:00Z"}`},
		{"fields cannot take the names of the event", map[string]any{"event": "y", "time": "never"}, `{"event":"x","time":"2026-11-30T19:00:00Z"}`},
		{"HTML as in lmx", map[string]any{"p": "<a&b>"}, `{"event":"x","p":"\u003ca\u0026b\u003e","time":"2026-11-30T19:00:00Z"}`},
	} {
		got, err := report.StatusLine("x", at, c.fields)
		if err != nil || string(got) != c.want+"\n" {
			t.Errorf("%s: got %s (%v), want %s", c.why, got, err, c.want)
		}
	}
	if _, err := report.StatusLine("x", at, map[string]any{"bad": func() {}}); err == nil {
		t.Error("a function was encoded")
	}
}
