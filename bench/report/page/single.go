package page

import (
	"fmt"
	"strings"

	"lmxbench/bench/report"
	"lmxbench/bench/report/study"
	"lmxbench/internal/cost"
	"lmxbench/stats"
)

// single is the page of one result; t is nil where there is no evidence.
func single(st *study.Study, t *study.Trace) *view {
	s := st.Subjects[0]
	v := &view{
		Kicker: strings.TrimSpace("LLM serving report · " + day(s.CreatedAt)), Heading: heading(s),
		Subject: subjectFacts(s), Answer: singleAnswer(s), Notes: st.Notes,
	}
	v.Title = v.Answer.Value + " " + v.Answer.Unit + " · " + v.Heading
	v.Banners = banners(s)
	v.Tiles = tiles(st, s)
	v.addFindings(s, "")
	v.addSection("speed", "Throughput", "", ratesFigures(st, s)...)
	if t != nil && len(t.Lanes) > 0 {
		v.addSection("time", "Over time", "", timeline(t, plateauRate(s, t)))
	}
	if t != nil && len(t.TTFT) > 0 {
		figures := []figure{ttftCurve(t)}
		if len(t.ITL) > 0 {
			figures = append(figures, itlCurve(t))
		}
		v.addSection("latency", "Latency", "", figures...)
	}
	v.latencyTable(s)
	v.powerSection(s, t)
	if m := moneySection(st); m != nil {
		v.Sections = append(v.Sections, *m)
	}
	if s.Document.Bench != nil {
		v.instrument(s)
	}
	v.details(st, s)
	v.Foot = foot(s)
	return v
}

func heading(s *study.Subject) string {
	if s.Model == "" {
		return "Model unnamed"
	}
	return s.Model
}

func day(created string) string {
	date, clock, ok := strings.Cut(created, "T")
	if !ok {
		return created
	}
	if len(clock) >= 5 {
		return date + " " + clock[:5] + " UTC"
	}
	return date
}

// subjectFacts say what was measured, in the order people ask.
func subjectFacts(s *study.Subject) (facts []string) {
	facts = append(facts, strings.TrimSpace(report.EngineTitle(s.Engine)+" "+s.EngineVersion))
	if s.Quantization != "" {
		facts = append(facts, s.Quantization)
	}
	if s.Speculation != "" {
		facts = append(facts, "speculation "+s.Speculation)
	}
	if s.GPU != "" {
		facts = append(facts, fmt.Sprintf("%d × %s", max(1, s.GPUs), s.GPU))
	} else {
		facts = append(facts, "hardware not stated")
	}
	load := study.Plural(s.Streams, "stream")
	if s.MaxTokens > 0 {
		load += " × " + study.Plural(s.MaxTokens, "token")
	}
	if a := s.Answer(); a != nil && a.Iterations > 0 {
		load += " × " + study.Plural(a.Iterations, "iteration")
	}
	facts = append(facts, load)
	if s.Prompt != "" {
		facts = append(facts, "prompt "+s.Prompt)
	}
	return facts
}

func banners(s *study.Subject) (all []banner) {
	if s.Simulated {
		profile := s.Document.Bench.Plan.Simulated
		if profile != "" {
			profile = " (" + profile + ")"
		}
		all = append(all, banner{"sim", "Simulated engine" + profile + ": made-up speed that says nothing about any hardware."})
	}
	if s.Partial {
		all = append(all, banner{"bad", "Interrupted: this run did not finish. What follows is what it left, and no result."})
	}
	return all
}

func singleAnswer(s *study.Subject) *answer {
	a := &answer{Unit: "tok/s", Verdict: s.Status(), Class: verdictClass(s.Status())}
	if a.Verdict == "" {
		a.Verdict = "not judged"
		a.Lines = append(a.Lines, "A file of lmx holds no evidence, so nothing here could be checked.")
	}
	r := s.Answer()
	if r == nil {
		a.Value, a.Unit = "No result", ""
		if s.Partial {
			a.Formula = "the run was interrupted"
		} else {
			a.Formula = "no rate can be relied on; the findings below say why"
		}
		return a
	}
	a.Value = study.Number(r.TokensPerSecond)
	_, formula := rateWords(r.Basis)
	a.Formula = formula + ": lmx's " + lmxWords(r.Basis)
	if r.StdDev != nil && r.Iterations > 1 {
		a.Spread = "± " + study.Spread(*r.StdDev, r.TokensPerSecond)
		line := fmt.Sprintf("± is the standard deviation of %s.", study.Plural(r.Iterations, "iteration"))
		if half, ok := stats.StudentHalfWidth(r.Iterations, 0.95); ok {
			line += fmt.Sprintf(" The mean is known to ± %s at 95 %%, if iterations are alike.", study.Spread(half**r.StdDev, r.TokensPerSecond))
		}
		a.Lines = append(a.Lines, line)
	}
	return a
}

func lmxWords(basis cost.Basis) string {
	if basis == cost.InterToken {
		return "rate of one stream"
	}
	return "aggregate of all streams"
}

func verdictClass(status string) string {
	switch status {
	case report.StatusValid:
		return "ok"
	case report.StatusWarn:
		return "warn"
	case report.StatusInvalid:
		return "bad"
	}
	return "none"
}

// tiles are the key figures beside the answer. One that is not known says so.
func tiles(st *study.Study, s *study.Subject) (all []tile) {
	add := func(name, value, unit, detail string) {
		t := tile{Name: name, Value: value, Unit: unit, Detail: detail}
		if unit == "" {
			t.Class = "unknown"
		}
		all = append(all, t)
	}
	summary := func(name string, x *report.Summary, unit string) {
		if x == nil {
			add(name, "not known", "", "not in this file")
			return
		}
		detail := "median"
		if x.Count > 1 {
			detail = "median; p99 " + study.Number(x.P99)
		}
		add(name, study.Number(x.P50), unit, detail)
	}
	summary("First token", s.TTFT, "ms")
	summary("Time per token", s.ITL, "ms")
	if u := s.PerUser(); u != nil {
		detail := "median of the streams"
		if s.Stream == nil {
			detail = "result ÷ streams"
		}
		add("Each user sees", study.Number(*u), "tok/s", detail)
	}
	if p := s.Rate(cost.Plateau); p != nil && s.Streams > 1 {
		detail := "while every stream decodes"
		if b := s.Document.Bench; b != nil && b.Throughput.Plateau != nil {
			detail += ", " + study.Percent(b.Throughput.Plateau.OverlapFraction) + " of the window"
		}
		add("Plateau", study.Number(p.TokensPerSecond), "tok/s", detail)
	}
	if e := s.EndToEnd; e != nil && s.Streams == 1 {
		add("Whole answer", study.Number(e.P50/1e3), "s", "median, send to last byte")
	}
	all = append(all, energyTile(s), costTile(st), roofTile(st))
	if t, ok := clientTile(s); ok {
		all = append(all, t)
	}
	return all
}

// clientTile is how far the instrument can be trusted.
func clientTile(s *study.Subject) (tile, bool) {
	if s.Document.Bench == nil {
		return tile{}, false
	}
	c := &s.Document.Bench.Client
	t := tile{Name: "Read delay of the client", Value: "not known", Class: "unknown", Detail: c.TimestampSource + " stamps"}
	if l := c.ReadLagUs; l != nil {
		value, unit, _ := strings.Cut(study.Seconds(l.P50/1e6), " ")
		t = tile{Name: t.Name, Value: value, Unit: unit, Detail: "median; p99 " + study.Seconds(l.P99/1e6) + "; " + c.TimestampSource + " stamps"}
	}
	return t, true
}

func energyTile(s *study.Subject) tile {
	e := s.Energy
	switch {
	case e == nil:
		return tile{Name: "Energy", Value: "not measured", Class: "unknown", Detail: s.NoPower}
	case e.JoulesPerToken != nil:
		t := tile{Name: "Energy", Value: study.Number(*e.JoulesPerToken), Unit: "J/token"}
		if e.Watts != nil {
			t.Detail = study.Number(*e.Watts) + " W over the " + e.Window + " window"
		}
		return t
	case e.Watts != nil:
		return tile{Name: "Power", Value: study.Number(*e.Watts), Unit: "W", Detail: e.Window}
	}
	return tile{Name: "Energy", Value: "not measured", Class: "unknown"}
}

func roofTile(st *study.Study) tile {
	if len(st.Roofs) == 1 {
		if share := st.Roofs[0].Share(); share != nil {
			return tile{Name: "Of the memory's limit", Value: strings.TrimSuffix(study.Percent(*share), " %"), Unit: "%", Detail: "of the model ceiling, " + study.Number(*st.Roofs[0].Model) + " tok/s"}
		}
		if st.Roofs[0].Dense != nil && st.Roofs[0].Rate != nil {
			return tile{Name: "Dense fallback", Value: study.Number(*st.Roofs[0].Dense), Unit: "tok/s", Detail: "bandwidth ÷ checkpoint"}
		}
	}
	return tile{Name: "Of the memory's limit", Value: "not known", Class: "unknown", Detail: "shape or bandwidth missing"}
}

func costTile(st *study.Study) tile {
	if st.Money != nil && len(st.Money.Quotes) > 0 {
		q := st.Money.Quotes[0]
		detail := fmt.Sprintf("per million tokens at $%s/h (%s)", study.Fixed(q.Tariff.USDPerHour, 2), q.Basis)
		if len(q.Against) > 0 {
			detail += "; " + againstWords(q.Against[0].CheaperBy) + " than " + st.Money.APIs[0].Name
		}
		return tile{Name: "Cost", Value: strings.TrimPrefix(study.Dollars(q.USDPerMillion), "$"), Unit: "$/M", Detail: detail}
	}
	if st.Subjects[0].Answer() == nil || st.Subjects[0].Status() == report.StatusInvalid {
		return tile{Name: "Cost", Value: "no price", Class: "unknown", Detail: "the run is no result"}
	}
	return tile{Name: "Cost", Value: "no price given", Class: "unknown", Detail: "add --gpu-hour-usd"}
}

// addFindings lists the codes of a verdict; where names the subject on pages of
// several.
func (v *view) addFindings(s *study.Subject, where string) {
	if s.Verdict == nil {
		return
	}
	for _, f := range s.Verdict.Codes {
		if f.Level == report.Info {
			text := f.Code + ": " + f.Detail
			if where != "" {
				continue
			}
			v.Notes = append(v.Notes, text)
			continue
		}
		class := "warn"
		if f.Level == report.Invalid {
			class = "bad"
		}
		v.Findings = append(v.Findings, finding{
			Level: string(f.Level), Class: class, Code: f.Code, Where: where,
			Meaning: meaning(f.Code), Detail: f.Detail, Advice: report.Advice(f.Code),
		})
	}
}

// meaning is a code in one sentence of the catalogue.
func meaning(code string) string {
	for _, r := range report.Catalogue() {
		if r.Code == code {
			return r.Meaning
		}
	}
	return ""
}

func (v *view) addSection(id, heading, lead string, figures ...figure) {
	if len(figures) > 0 {
		v.Sections = append(v.Sections, section{ID: id, Heading: heading, Lead: lead, Figures: figures})
	}
}

func ratesFigures(st *study.Study, s *study.Subject) (figures []figure) {
	var roof *figure
	if len(st.Roofs) == 1 {
		roof = roofFigure(s, &st.Roofs[0])
	}
	if len(s.Rates) > 0 {
		figures = append(figures, ratesFigure(s, roof == nil))
	}
	if roof != nil {
		figures = append(figures, *roof)
	}
	return figures
}

// plateauRate is the rate of the drawn iteration's plateau.
func plateauRate(s *study.Subject, t *study.Trace) *float64 {
	for _, it := range s.Document.Bench.Iterations {
		if it.Iteration == t.Iteration {
			return it.Plateau
		}
	}
	return nil
}
