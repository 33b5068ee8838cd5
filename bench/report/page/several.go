package page

import (
	"fmt"
	"slices"
	"strings"

	"lmxbench/bench/report"
	"lmxbench/bench/report/study"
)

// several is the page of more than one result.
func several(st *study.Study) *view {
	v := &view{Kicker: severalKicker(st), Notes: slices.Clone(st.Notes)}
	v.Heading = severalHeading(st)
	v.Subject = severalFacts(st)
	v.Answer = severalAnswer(st)
	v.Title = strings.TrimSpace(v.Answer.Value+" "+v.Answer.Unit) + " · " + v.Heading
	if st.Subjects[0].Simulated {
		v.Banners = append(v.Banners, banner{"sim", "Simulated engine: made-up speed that says nothing about any hardware."})
	}
	for _, s := range st.Subjects {
		v.addFindings(s, s.Label)
	}
	v.mergeFindings()
	if len(st.Contrasts) > 0 {
		v.comparison(st)
	}
	v.curves(st)
	v.Sections = append(v.Sections, section{ID: "results", Heading: "Results", Tables: []table{resultTable(st).pruned()}})
	if m := moneySection(st); m != nil {
		if f := priceList(st); f != nil && st.IsTable {
			m.Figures = append(m.Figures, *f)
		}
		v.Sections = append(v.Sections, *m)
	}
	v.roofs(st)
	v.Foot = severalFoot(st)
	return v
}

func severalKicker(st *study.Study) string {
	kind := "Comparison"
	switch {
	case st.IsTable:
		kind = "Table of results"
	case len(st.Series) == 1:
		kind = "Ladder"
	case len(st.Contrasts) == 0:
		kind = "Results side by side"
	}
	latest := ""
	for _, s := range st.Subjects {
		latest = max(latest, s.CreatedAt)
	}
	return strings.TrimSuffix(kind+" · "+day(latest), " · ")
}

func severalHeading(st *study.Study) string {
	models := map[string]bool{}
	for _, s := range st.Subjects {
		models[s.Model] = true
	}
	if len(models) == 1 {
		return heading(st.Subjects[0])
	}
	return fmt.Sprintf("%s of %s", study.Plural(len(st.Subjects), "result"), study.Plural(len(models), "model"))
}

// severalFacts are the facts that all subjects share.
func severalFacts(st *study.Study) (facts []string) {
	shared := func(value func(*study.Subject) string) {
		text := value(st.Subjects[0])
		for _, s := range st.Subjects {
			if value(s) != text {
				return
			}
		}
		if text != "" {
			facts = append(facts, text)
		}
	}
	shared(func(s *study.Subject) string {
		return strings.TrimSpace(report.EngineTitle(s.Engine) + " " + s.EngineVersion)
	})
	shared(func(s *study.Subject) string { return s.Quantization })
	shared(func(s *study.Subject) string {
		if s.GPU == "" {
			return "hardware not stated"
		}
		return fmt.Sprintf("%d × %s", max(1, s.GPUs), s.GPU)
	})
	var streams []int
	for _, s := range st.Subjects {
		if !slices.Contains(streams, s.Streams) {
			streams = append(streams, s.Streams)
		}
	}
	slices.Sort(streams)
	list := strings.Trim(strings.ReplaceAll(fmt.Sprint(streams), " ", ", "), "[]")
	if len(streams) == 1 {
		facts = append(facts, study.Plural(streams[0], "stream"))
	} else {
		facts = append(facts, list+" streams")
	}
	shared(func(s *study.Subject) string {
		if s.Prompt == "" {
			return ""
		}
		return "prompt " + s.Prompt
	})
	return facts
}

// mergeFindings joins a code that several results share into one entry.
func (v *view) mergeFindings() {
	var merged []finding
	for _, f := range v.Findings {
		at := slices.IndexFunc(merged, func(m finding) bool { return m.Code == f.Code && m.Level == f.Level })
		if at < 0 {
			f.Detail = f.Where + ": " + f.Detail
			merged = append(merged, f)
			continue
		}
		merged[at].Where += ", " + f.Where
		merged[at].Detail += "\n" + f.Where + ": " + f.Detail
	}
	slices.SortStableFunc(merged, func(a, b finding) int {
		if a.Level == b.Level {
			return 0
		}
		if a.Level == string(report.Invalid) {
			return -1
		}
		return 1
	})
	v.Findings = merged
}

// curves is the section of the pictures over concurrency.
func (v *view) curves(st *study.Study) {
	series := ladders(st)
	if len(series) == 0 || len(series) > maxColours {
		return
	}
	s := section{ID: "load", Heading: "Over load"}
	if len(series) > 1 {
		for i := range series {
			s.Legend = append(s.Legend, key{"stroke" + colour(i), "line", series[i].Label})
		}
	}
	for _, f := range []*figure{throughputLadder(series), waitLadder(series), pareto(series), costLadder(st, series), energyLadder(series)} {
		if f != nil {
			s.Figures = append(s.Figures, *f)
		}
	}
	if len(s.Figures) > 0 {
		v.Sections = append(v.Sections, s)
	}
}

func resultTable(st *study.Study) table {
	t := table{Caption: "Every result", Head: []string{"result"}, Numbers: 1}
	judged := slices.ContainsFunc(st.Subjects, func(s *study.Subject) bool { return s.Verdict != nil })
	ranked := slices.ContainsFunc(st.Subjects, func(s *study.Subject) bool { return s.Rank != nil && s.Rank.All > 0 })
	if judged {
		t.Head, t.Numbers = append(t.Head, "verdict"), 2
	}
	t.Head = append(t.Head, "streams", "tokens", "tok/s", "± σ", "n", "wall tok/s", "plateau tok/s", "each user tok/s", "TTFT p50 ms", "p99", "ITL p50 ms", "p99")
	if ranked {
		t.Head = append(t.Head, "rank", "of", "single rank", "of")
	}
	for _, s := range st.Subjects {
		cells := row(s.Label)
		if judged {
			cells = append(cells, cell{Text: orDash(s.Status()), Class: "v-" + verdictClass(s.Status())})
		}
		cells = append(cells, row(resultCells(s)...)...)
		if ranked {
			cells = append(cells, row(rankCells(s.Rank)...)...)
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

func resultCells(s *study.Subject) []string {
	rate, sigma, count := "–", "–", "–"
	if r := s.Answer(); r != nil {
		rate, count = study.Number(r.TokensPerSecond), countText(r.Iterations)
		if r.StdDev != nil {
			sigma = study.Spread(*r.StdDev, r.TokensPerSecond)
		}
	}
	by := func(name string) string {
		for i := range s.Rates {
			if string(s.Rates[i].Basis) == name {
				return study.Number(s.Rates[i].TokensPerSecond)
			}
		}
		return "–"
	}
	summary := func(x *report.Summary) (p50, p99 string) {
		if x == nil {
			return "–", "–"
		}
		if x.Count < 2 {
			return study.Number(x.P50), "–"
		}
		return study.Number(x.P50), study.Number(x.P99)
	}
	t50, t99 := summary(s.TTFT)
	i50, i99 := summary(s.ITL)
	return []string{fmt.Sprint(s.Streams), countText(s.MaxTokens), rate, sigma, count, by("batchWall"), by("plateau"), dash(s.PerUser()), t50, t99, i50, i99}
}

func rankCells(r *study.Rank) []string {
	if r == nil {
		return []string{"–", "–", "–", "–"}
	}
	return []string{countText(r.All), countText(r.AllOf), countText(r.SingleStream), countText(r.SingleOf)}
}

func orDash(text string) string {
	if text == "" {
		return "–"
	}
	return text
}

// roofs is a table of the ceilings of all subjects that have one.
func (v *view) roofs(st *study.Study) {
	t := table{Caption: "Share of the memory's limit", Numbers: 1, Head: []string{"result", "rate tok/s", "by", "model ceiling", "share", "hard ceiling"}}
	missing := map[string]bool{}
	var reasons []string
	for _, r := range st.Roofs {
		s := st.Subjects[r.Subject]
		if r.Missing != "" {
			if !missing[r.Missing] {
				missing[r.Missing] = true
				reasons = append(reasons, "No ceiling for some: "+r.Missing+".")
			}
			continue
		}
		if r.Model == nil || r.Rate == nil {
			continue
		}
		t.Rows = append(t.Rows, row(s.Label, study.Number(*r.Rate), string(r.RateBasis), study.Number(*r.Model), study.Percent(*r.Share()), dash(r.Hard)))
	}
	if len(t.Rows) == 0 {
		return
	}
	s := section{ID: "ceiling", Heading: "How near is the memory's limit?", Tables: []table{t}, Lists: [][]string{reasons}}
	s.Lead = "The model ceiling is the rate at which reading weights and cache would take all the time; the hard ceiling charges the fewest bytes possible, and a result above it is wrong."
	v.Sections = append(v.Sections, s)
}

func severalFoot(st *study.Study) (lines []string) {
	var from []string
	for i, s := range st.Subjects {
		if i == 12 {
			from = append(from, fmt.Sprintf("and %d more", len(st.Subjects)-i))
			break
		}
		from = append(from, s.Path)
	}
	lines = append(lines, "From "+strings.Join(from, ", ")+".")
	versions := map[string]bool{}
	for _, s := range st.Subjects {
		if s.Document != nil && s.Document.Bench != nil && !versions[s.Document.Bench.Version] {
			versions[s.Document.Bench.Version] = true
			lines = append(lines, strings.TrimSpace("Measured by lmxbench "+s.Document.Bench.Version+" "+s.Document.Bench.Revision)+".")
		}
	}
	return lines
}
