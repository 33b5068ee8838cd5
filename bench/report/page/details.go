package page

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"lmxbench/bench/report"
	"lmxbench/bench/report/study"
)

// latencyTable is the table that the terminal shows too.
func (v *view) latencyTable(s *study.Subject) {
	t := table{Caption: "Latency of the counted requests", Head: []string{"", "n", "min", "p50", "p90", "p99", "max"}, Numbers: 1}
	add := func(name string, x *report.Summary, scale float64) {
		if x == nil {
			return
		}
		cells := []string{name, study.Fixed(float64(x.Count), 0)}
		for _, q := range []float64{x.Min, x.P50, x.P90, x.P99, x.Max} {
			cells = append(cells, study.Number(q*scale))
		}
		t.Rows = append(t.Rows, row(cells...))
	}
	add("first token (ms)", s.TTFT, 1)
	itl := "time per token (ms)"
	if b := s.Document.Bench; b != nil {
		if b.Latency.TokenITLBasis == "spread" {
			itl += ", spread evenly over events"
		}
		add("gap between events (ms)", b.Latency.InterChunkMs, 1)
	}
	add(itl, s.ITL, 1)
	add("stream (tok/s)", s.Stream, 1)
	add("end to end (s)", s.EndToEnd, 1e-3)
	if len(t.Rows) == 0 {
		return
	}
	if n := len(v.Sections); n > 0 && v.Sections[n-1].ID == "latency" {
		v.Sections[n-1].Tables = append(v.Sections[n-1].Tables, t)
		return
	}
	v.Sections = append(v.Sections, section{ID: "latency", Heading: "Latency", Tables: []table{t}})
}

// powerSection shows the recording, or only its windows where that cannot be
// drawn.
func (v *view) powerSection(s *study.Subject, t *study.Trace) {
	if t == nil || t.Power == nil {
		return
	}
	if f := powerFigure(t); f != nil {
		v.addSection("power", "Power", "", *f)
	} else if len(t.Power.Windows) > 0 {
		v.Sections = append(v.Sections, section{ID: "power", Heading: "Power", Tables: []table{*powerTable(t.Power)}})
	}
}

func (v *view) instrument(s *study.Subject) {
	sec := section{ID: "instrument", Heading: "The instrument", Tables: []table{*clientTable(&s.Document.Bench.Client)}}
	if f := clientFigure(s); f != nil {
		sec.Figures = []figure{*f}
	}
	v.Sections = append(v.Sections, sec)
}

// details are the tables for those who check.
func (v *view) details(st *study.Study, s *study.Subject) {
	sec := section{ID: "details", Heading: "Details"}
	if x := s.Document.Bench; x != nil {
		sec.Tables = append(sec.Tables, iterationsTable(x))
		if x.Engine.Speculation != nil {
			sec.Tables = append(sec.Tables, speculationTable(x.Engine.Speculation))
		}
	}
	sec.Tables = append(sec.Tables, settingsTable(s))
	if len(st.Roofs) == 1 {
		r := st.Roofs[0]
		if r.Missing != "" {
			sec.Lists = append(sec.Lists, []string{"No ceiling: " + r.Missing + "."})
		} else if len(r.Inputs) > 0 {
			sec.Lists = append(sec.Lists, []string{"Ceilings rest on " + strings.Join(r.Inputs, "; ") + "."})
		}
	}
	if s.Document.Bench != nil {
		sec.Tables = append(sec.Tables, environmentTable(s.Document.Bench.Environment))
	}
	v.Sections = append(v.Sections, sec)
}

func iterationsTable(x *report.Extension) table {
	t := table{
		Caption: "Iterations", Numbers: 0,
		Head: []string{"iteration", "counted", "ok", "output tokens", "tokSOut", "batch wall", "plateau", "TTFT p50 (ms)", "window (s)"},
	}
	for _, it := range x.Iterations {
		counted, tokens, window := "no", "–", "–"
		if it.Counted {
			counted = "yes"
		}
		if it.OutputTokens != nil {
			tokens = study.Fixed(float64(*it.OutputTokens), 0)
		}
		if it.Windows.LMX != nil {
			window = study.Fixed(it.Windows.LMX.Seconds, 3)
		}
		t.Rows = append(t.Rows, row(fmt.Sprint(it.Iteration), counted, fmt.Sprintf("%d of %d", it.OK, it.Requests), tokens,
			dash(it.TokSOut), dash(it.BatchWall), dash(it.Plateau), dash(it.TTFTMs), window))
	}
	return t
}

func speculationTable(c *report.SpeculationCount) table {
	t := table{Caption: "Speculative decoding over the timed batches", Head: []string{"what", "value"}, Numbers: 1}
	t.Rows = append(t.Rows,
		row("drafted tokens", study.Fixed(c.DraftTokens, 0)),
		row("accepted tokens", study.Fixed(c.AcceptedTokens, 0)))
	if c.AcceptanceRate != nil {
		t.Rows = append(t.Rows, row("acceptance", study.Percent(*c.AcceptanceRate)))
	}
	if c.MeanAcceptedLength != nil {
		t.Rows = append(t.Rows, row("tokens per step", study.Fixed(*c.MeanAcceptedLength, 2)))
	}
	t.Rows = append(t.Rows, row("source", c.Source))
	return t
}

func settingsTable(s *study.Subject) table {
	t := table{Caption: "What was set", Head: []string{"setting", "value"}, Numbers: 2}
	for _, name := range slices.Sorted(maps.Keys(s.Settings)) {
		t.Rows = append(t.Rows, row(name, s.Settings[name]))
	}
	return t
}

func environmentTable(e report.Environment) table {
	t := table{Caption: "The client's machine", Head: []string{"what", "value", "known"}, Numbers: 3}
	for _, name := range slices.Sorted(maps.Keys(e)) {
		k := e[name]
		value := "–"
		if k.Value != nil {
			value = fmt.Sprint(k.Value)
		}
		t.Rows = append(t.Rows, row(name, value, k.Source))
	}
	return t
}

// foot says where this came from and how to check it.
func foot(s *study.Subject) (lines []string) {
	lines = append(lines, "From "+s.Path+".")
	if s.HasEvidence() {
		lines = append(lines, "Every number follows from the run directory: lmxbench verify recomputes all of them offline.")
	}
	if x := s.Document.Bench; x != nil {
		lines = append(lines, strings.TrimSpace("Measured by lmxbench "+x.Version+" "+x.Revision)+".")
	}
	return lines
}
