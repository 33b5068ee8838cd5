package page

import (
	"fmt"

	"lmxbench/bench/report/study"
)

// comparison is the section of statements, effects and settings.
func (v *view) comparison(st *study.Study) {
	s := section{ID: "comparison", Heading: "Comparison"}
	if len(st.Differences) > 0 {
		s.Tables = append(s.Tables, differenceTable(st))
	} else {
		s.Lead = "No setting that is known tells these apart: the same thing measured twice, or a change that the settings do not show."
	}
	if f := answersFigure(st); f != nil {
		s.Figures = append(s.Figures, *f)
	}
	if f := effects(st); f != nil {
		s.Figures = append(s.Figures, *f)
	}
	s.Tables = append(s.Tables, contrastTable(st))
	s.Lists = append(s.Lists, []string{
		"Compared are the iterations, by the Mann–Whitney test and the Hodges–Lehmann interval of the shift. Iterations of one run share a server start; what changes from start to start is not in their scatter, so repeat whole runs before you believe a small difference.",
	})
	v.Sections = append(v.Sections, s)
}

func differenceTable(st *study.Study) table {
	t := table{Caption: "What differs", Head: []string{"setting"}}
	for _, s := range st.Series {
		t.Head = append(t.Head, s.Label)
	}
	t.Numbers = len(t.Head)
	for _, d := range st.Differences {
		texts := []string{d.Name}
		if d.Workload {
			texts[0] += " (workload)"
		}
		for _, value := range d.Values {
			if value == "" {
				value = "–"
			}
			texts = append(texts, value)
		}
		t.Rows = append(t.Rows, row(texts...))
	}
	return t
}

func contrastTable(st *study.Study) table {
	t := table{Caption: "Comparisons with " + st.Series[0].Label, Numbers: 2, Head: []string{"series", "what", "streams", "median there", "median here", "change", "95 % interval", "p", "finding"}}
	if len(st.Series) == 2 {
		t.Caption = "From " + st.Series[0].Label + " to " + st.Series[1].Label
		t.Head[3], t.Head[4] = "median from", "median to"
	}
	for _, c := range st.Contrasts {
		change, interval, p := "–", "–", "–"
		if c.Ratio != nil {
			change = percentChange(*c.Ratio - 1)
		}
		if c.Low != nil {
			interval = percentChange(*c.Low) + " to " + percentChange(*c.High)
		}
		if c.P != nil {
			p = fmt.Sprintf("%.2g", *c.P)
		}
		cells := row(c.To, study.MetricName(c.Metric), fmt.Sprint(c.Streams), dash(c.A), dash(c.B), change, interval, p, string(c.Outcome))
		cells[len(cells)-1].Title = c.Statement
		t.Rows = append(t.Rows, cells)
	}
	if len(st.Series) == 2 {
		t.Head, t.Numbers = t.Head[1:], 1
		for i := range t.Rows {
			t.Rows[i] = t.Rows[i][1:]
		}
	}
	return t
}
