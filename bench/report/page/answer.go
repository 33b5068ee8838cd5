package page

import (
	"fmt"
	"math"
	"slices"

	"lmxbench/bench/report"
	"lmxbench/bench/report/study"
)

// severalAnswer is what the whole says first: the comparison where there is
// one, else the best result that can be relied on.
func severalAnswer(st *study.Study) *answer {
	worst := worstVerdict(st)
	a := &answer{Verdict: worst, Class: verdictClass(worst)}
	if worst == "" {
		a.Verdict, a.Class = "not judged", "none"
	}
	if st.IsTable {
		return tableAnswer(st, a)
	}
	if c := mainContrast(st); c != nil {
		return contrastAnswer(st, c, a)
	}
	var best *study.Subject
	for _, s := range st.Subjects {
		if s.Answer() == nil || s.Status() == report.StatusInvalid || s.Partial {
			continue
		}
		if best == nil || s.Answer().TokensPerSecond > best.Answer().TokensPerSecond {
			best = s
		}
	}
	if best == nil {
		a.Value, a.Formula = "No result", "no run can be relied on; the findings below say why"
		return a
	}
	r := best.Answer()
	a.Value, a.Unit = study.Number(r.TokensPerSecond), "tok/s"
	if r.StdDev != nil && r.Iterations > 1 {
		a.Spread = "± " + study.Spread(*r.StdDev, r.TokensPerSecond)
	}
	_, formula := rateWords(r.Basis)
	if len(st.Series) > 1 {
		a.Formula = fmt.Sprintf("the most: %s, at %s; %s", seriesOf(st, best), study.Plural(best.Streams, "stream"), formula)
		if st.Lead != nil {
			a.Lines = append(a.Lines, "Against the runner-up, "+st.Lead.Statement+".")
		}
		return a
	}
	a.Formula = fmt.Sprintf("the most, at %s: %s", study.Plural(best.Streams, "stream"), formula)
	if u := best.PerUser(); u != nil && best.Streams > 1 {
		a.Lines = append(a.Lines, fmt.Sprintf("Each user then sees %s tok/s.", study.Number(*u)))
	}
	if one := st.Series[0].At(1); one != nil && one != best && one.Answer() != nil {
		a.Lines = append(a.Lines, fmt.Sprintf("A single stream runs at %s tok/s.", study.Number(one.Answer().TokensPerSecond)))
	}
	return a
}

// seriesOf is the label of a subject's series.
func seriesOf(st *study.Study, s *study.Subject) string {
	for i := range st.Series {
		if slices.Contains(st.Series[i].Subjects(), s) {
			return st.Series[i].Label
		}
	}
	return s.Label
}

func tableAnswer(st *study.Study, a *answer) *answer {
	a.Verdict, a.Class = "", ""
	best, price := -1, math.Inf(1)
	if st.Money != nil {
		for _, q := range st.Money.Quotes {
			if q.USDPerMillion < price {
				best, price = q.Subject, q.USDPerMillion
			}
		}
	}
	if best >= 0 {
		a.Value, a.Unit = study.Dollars(price), "per million tokens"
		a.Formula = "the cheapest: " + st.Subjects[best].Label
		return a
	}
	for i, s := range st.Subjects {
		if best < 0 || (s.Answer() != nil && st.Subjects[best].Answer() != nil && s.Answer().TokensPerSecond > st.Subjects[best].Answer().TokensPerSecond) {
			best = i
		}
	}
	if r := st.Subjects[best].Answer(); r != nil {
		a.Value, a.Unit, a.Formula = study.Number(r.TokensPerSecond), "tok/s", "the most: "+st.Subjects[best].Label
	}
	return a
}

// mainContrast is the comparison that answers for an A/B of two series: their
// headline rate at the most streams that both ran.
func mainContrast(st *study.Study) (main *study.Contrast) {
	if len(st.Series) != 2 {
		return nil
	}
	for i := range st.Contrasts {
		c := &st.Contrasts[i]
		if c.Metric != "ttftMs" && c.Metric != "batchWall" && (main == nil || c.Streams > main.Streams) {
			main = c
		}
	}
	return main
}

func contrastAnswer(st *study.Study, c *study.Contrast, a *answer) *answer {
	switch {
	case c.Outcome == study.NotCompared:
		a.Value = "Not compared"
	case c.Outcome == study.Same:
		a.Value = "No difference"
		a.Spread = "beyond the noise"
	case c.Outcome == study.TooFew:
		a.Value = "Too few iterations"
		a.Spread = "to tell"
	default:
		a.Value = percentChange(*c.Ratio - 1)
		a.Unit = "tok/s"
	}
	a.Formula = c.Statement
	for i := range st.Contrasts {
		o := &st.Contrasts[i]
		if o != c && o.Metric == c.Metric {
			a.Lines = append(a.Lines, o.Statement+".")
		}
	}
	return a
}

func percentChange(change float64) string {
	sign := "+"
	if math.Abs(change) < 0.0005 {
		return "0.0 %"
	}
	if change < 0 {
		sign = "−"
	}
	return sign + study.Fixed(math.Abs(change)*100, 1) + " %"
}

func worstVerdict(st *study.Study) (worst string) {
	weight := map[string]int{"": 0, report.StatusValid: 1, report.StatusWarn: 2, report.StatusInvalid: 3}
	for _, s := range st.Subjects {
		if weight[s.Status()] > weight[worst] {
			worst = s.Status()
		}
	}
	return worst
}
