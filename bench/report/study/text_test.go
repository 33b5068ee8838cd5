package study_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lmxbench/bench/report/runtest"
	"lmxbench/bench/report/study"
)

// studies are the shapes that the goldens show.
func studies(t *testing.T) map[string]*study.Study {
	t.Helper()
	parent := t.TempDir()
	small := func(n int, step float64, iterations int) runtest.Load {
		l := runtest.Burst(n)
		l.Tokens, l.Iterations = 64, iterations
		l.Step = time.Duration(float64(l.Step) * step)
		return l
	}
	prices := study.Options{Prices: study.Prices{
		GPUHourUSD: ptr(5.6), USDPerKWh: ptr(0.12), APIs: []study.API{{Name: "hosted", USDPerMillion: 1.9}, {Name: "other", USDPerMillion: 0.9}}, Date: "2026-11-30",
	}}
	open := func(o study.Options, paths ...string) *study.Study {
		st, err := study.Open(paths, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range st.Subjects { // the same on every machine
			s.Path = strings.ReplaceAll(s.Path, parent, "runs")
		}
		return st
	}
	for _, n := range []int{1, 4, 8} {
		runtest.Store(t, filepath.Join(parent, "a"), "c"+string(rune('0'+n)), small(n, 1, 6))
		runtest.Store(t, filepath.Join(parent, "b"), "c"+string(rune('0'+n)), small(n, 1.1, 6))
	}
	return map[string]*study.Study{
		"single":     open(prices, filepath.Join(parent, "a", "c4")),
		"ladder":     open(prices, filepath.Join(parent, "a")),
		"comparison": open(study.Options{}, filepath.Join(parent, "a"), filepath.Join(parent, "b")),
		"lmx":        open(prices, "testdata/lmx-c2.json"),
		"table":      open(study.Options{Prices: study.Prices{APIs: []study.API{{Name: "hosted", USDPerMillion: 0.7}}}}, seedTable),
	}
}

func TestTextIsAsItWas(t *testing.T) {
	for name, st := range studies(t) {
		var b bytes.Buffer
		if err := st.WriteText(&b); err != nil {
			t.Fatal(err)
		}
		golden(t, filepath.Join("testdata", name+".txt"), b.Bytes())
	}
}

func TestRowsAndJSONHoldEveryResult(t *testing.T) {
	t.Parallel()
	for name, st := range studies(t) {
		rows := st.Rows()
		if len(rows) != len(st.Subjects)+1 {
			t.Errorf("%s: got %d rows for %d subjects", name, len(rows), len(st.Subjects))
		}
		for _, r := range rows {
			if len(r) != len(rows[0]) {
				t.Errorf("%s: a row of %d cells under a header of %d", name, len(r), len(rows[0]))
			}
		}
		var b bytes.Buffer
		if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(st)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var back struct {
			Subjects []struct {
				Label string `json:"label"`
				Rates []struct {
					TokensPerSecond float64 `json:"tokensPerSecond"`
				} `json:"rates"`
			} `json:"subjects"`
		}
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for i, s := range back.Subjects {
			if seen[s.Label] {
				t.Errorf("%s: label %q twice", name, s.Label)
			}
			seen[s.Label] = true
			if len(s.Rates) == 0 || s.Rates[0].TokensPerSecond != st.Subjects[i].Rates[0].TokensPerSecond {
				t.Errorf("%s: got rates %v of %s", name, s.Rates, s.Label)
			}
		}
	}
}

func TestNumbersForPeople(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want string }{
		{study.Number(14499.4), "14,499"},
		{study.Number(220.4), "220.4"},
		{study.Number(4.5367), "4.54"},
		{study.Number(0.05274), "0.053"},
		{study.Number(-1234.5), "−1,234"},
		{study.Number(-0.0001), "0.000"},
		{study.Spread(0.021, 220.4), "0.02"},
		{study.Spread(0, 220.4), "0.0"},
		{study.Spread(111.2, 14290), "111"},
		{study.Dollars(7.057875), "$7.06"},
		{study.Dollars(0.15888), "$0.16"},
		{study.Dollars(0.107284), "$0.107"},
		{study.Dollars(0.0001234), "$0.00012"},
		{study.Dollars(0), "$0"},
		{study.Percent(1.013), "101 %"},
		{study.Percent(0.0321), "3.2 %"},
		{study.Percent(0.00012), "0.012 %"},
		{study.Seconds(0.0000333), "33.3 µs"},
		{study.Millis(1733), "1.73 s"},
		{study.Plural(1, "stream"), "1 stream"},
		{study.Plural(1024, "token"), "1,024 tokens"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
