package study

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"lmxbench/bench/report"
	"lmxbench/internal/cost"
)

// WriteText prints the study for a terminal: a single run as it was printed
// when it was measured, with cost and ceiling; several as tables, the answer
// first.
func (st *Study) WriteText(w io.Writer) error {
	var b bytes.Buffer
	if s := st.Single(); s != nil && s.Document != nil {
		line := report.Text{Dir: s.Path, Power: s.powerLine(), Ceiling: st.ceilingLine(), Cost: st.costLine()}
		if err := line.Write(&b, s.Document); err != nil {
			return err
		}
	} else {
		st.severalText(&b)
	}
	st.moneyText(&b)
	if st.Single() == nil {
		st.roofText(&b)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (s *Subject) powerLine() string {
	e := s.Energy
	switch {
	case e == nil && s.NoPower != "":
		return "not measured: " + s.NoPower
	case e == nil || e.Watts == nil:
		return "not measured"
	case e.JoulesPerToken == nil:
		return fmt.Sprintf("%s W (%s)", Number(*e.Watts), e.Window)
	}
	return fmt.Sprintf("%s W, %s J/token over the %s window", Number(*e.Watts), Number(*e.JoulesPerToken), e.Window)
}

func (st *Study) ceilingLine() string {
	r := &st.Roofs[0]
	switch share := r.Share(); {
	case r.Missing != "":
		return "not known: " + r.Missing
	case share != nil && r.Hard != nil:
		text := fmt.Sprintf("%s is %s of the model ceiling, %s tok/s; hard ceiling %s", r.RateBasis, Percent(*share), Number(*r.Model), Number(*r.Hard))
		if r.Impossible {
			text += ": the rate is IMPOSSIBLE, something declared is wrong"
		}
		return text
	case r.Dense != nil:
		return fmt.Sprintf("%s tok/s for one stream of a dense model (bandwidth ÷ checkpoint)", Number(*r.Dense))
	}
	return ""
}

func (st *Study) costLine() string {
	if st.Money == nil || len(st.Money.Quotes) == 0 {
		return ""
	}
	q := st.Money.Quotes[0]
	return fmt.Sprintf("%s per million output tokens at $%s an hour, by %s", Dollars(q.USDPerMillion), Fixed(q.Tariff.USDPerHour, 2), q.Basis)
}

// severalText is what there is to say about several results without prices.
func (st *Study) severalText(b *bytes.Buffer) {
	if st.Subjects[0].Simulated {
		b.WriteString("SIMULATED: nothing here says anything about hardware\n\n")
	}
	for _, c := range st.Contrasts {
		// Of more than two series only what each is known by.
		if len(st.Series) == 2 || (c.Metric != metricTTFT && c.Metric != string(cost.BatchWall)) {
			fmt.Fprintf(b, "  %s\n", c.Statement)
		}
	}
	if st.Lead != nil {
		fmt.Fprintf(b, "  the two fastest: %s\n", st.Lead.Statement)
	}
	if len(st.Contrasts) > 0 {
		b.WriteString("\n")
	}
	for i := range st.Series {
		if len(st.Series) > 1 && !st.IsTable {
			fmt.Fprintf(b, "series %d: %s\n", i+1, st.Series[i].Label)
		}
	}
	if len(st.Differences) > 0 && !st.IsTable {
		b.WriteString("\n")
		t := newTable("setting")
		head := table.Row{"setting"}
		for i := range st.Series {
			head = append(head, fmt.Sprintf("series %d", i+1))
		}
		t.AppendHeader(head)
		for _, d := range st.Differences {
			cells := table.Row{d.Name}
			for _, v := range d.Values {
				cells = append(cells, first(clip(v, 40), "–"))
			}
			t.AppendRow(cells)
		}
		b.WriteString(t.Render() + "\n\n")
	}
	st.resultText(b)
	st.findingText(b)
}

func (st *Study) resultText(b *bytes.Buffer) {
	t := newTable("result", "streams", "tok/s", "± σ", "n", "wall tok/s", "plateau tok/s", "user tok/s", "TTFT p50 ms", "p99", "ITL p50 ms", "p99", "verdict")
	for _, s := range st.Subjects {
		cells := table.Row{s.Label, Fixed(float64(s.Streams), 0)}
		rate, sigma, n := "–", "–", "–"
		if r := s.Answer(); r != nil {
			rate = Number(r.TokensPerSecond)
			if r.StdDev != nil {
				sigma = Spread(*r.StdDev, r.TokensPerSecond)
			}
			if r.Iterations > 0 {
				n = strconv.Itoa(r.Iterations)
			}
		}
		cells = append(cells, rate, sigma, n, rateText(s.Rate(cost.BatchWall)), rateText(s.Rate(cost.Plateau)), orDash(s.PerUser()))
		for _, x := range []*report.Summary{s.TTFT, s.ITL} {
			switch {
			case x == nil:
				cells = append(cells, "–", "–")
			case x.Count < 2:
				cells = append(cells, Number(x.P50), "–")
			default:
				cells = append(cells, Number(x.P50), Number(x.P99))
			}
		}
		t.AppendRow(append(cells, first(s.Status(), "–")))
	}
	b.WriteString(t.Render() + "\n")
}

// findingText lists warnings once each, with the results that have them.
func (st *Study) findingText(b *bytes.Buffer) {
	where := map[string][]string{}
	var order []report.Finding
	for _, s := range st.Subjects {
		if s.Verdict == nil {
			continue
		}
		for _, f := range s.Verdict.Codes {
			if f.Level == report.Info {
				continue
			}
			key := string(f.Level) + f.Code
			if where[key] == nil {
				order = append(order, f)
			}
			where[key] = append(where[key], s.Label)
		}
	}
	if len(order) > 0 {
		b.WriteString("\n")
	}
	for _, f := range order {
		fmt.Fprintf(b, "  %-7s %s (%s)", f.Level, f.Code, strings.Join(where[string(f.Level)+f.Code], ", "))
		if advice := report.Advice(f.Code); advice != "" {
			b.WriteString(" → " + advice)
		}
		b.WriteString("\n")
	}
}

func (st *Study) moneyText(b *bytes.Buffer) {
	m := st.Money
	if m == nil {
		return
	}
	if len(m.Quotes) > 0 {
		b.WriteString("\n")
		head := []string{"result", "machine", "$/h", "by the rate", "tok/s", "$/M tokens"}
		for _, api := range m.APIs {
			head = append(head, "vs "+api.Name+" "+Dollars(api.USDPerMillion))
		}
		t := newTable(head...)
		for _, q := range m.Quotes {
			cells := table.Row{st.Subjects[q.Subject].Label, q.Tariff.Name, Fixed(q.Tariff.USDPerHour, 2), string(q.Basis), Number(q.TokensPerSecond), Dollars(q.USDPerMillion)}
			for _, a := range q.Against {
				cells = append(cells, againstText(a.CheaperBy))
			}
			t.AppendRow(cells)
		}
		b.WriteString(t.Render() + "\n")
	}
	if len(m.BreakEvens) > 0 {
		b.WriteString("\n")
	}
	for _, e := range m.BreakEvens {
		series := ""
		if len(st.Series) > 1 {
			series = st.Series[e.Series].Label + ": "
		}
		fmt.Fprintf(b, "  %s%s\n", series, e.Statement)
	}
	if len(m.Energy) > 0 {
		b.WriteString("\n")
		t := newTable("result", "J/token", "Wh/M tokens", "$/M tokens", "how")
		for _, e := range m.Energy {
			price := "–"
			if e.USDPerMillion != nil {
				price = Dollars(*e.USDPerMillion)
			}
			t.AppendRow(table.Row{st.Subjects[e.Subject].Label, Number(e.JoulesPerToken), Number(e.WattHoursPerMillion), price, e.How})
		}
		b.WriteString(t.Render() + "\n")
	}
	b.WriteString("\n")
	for _, a := range m.Assumptions {
		fmt.Fprintf(b, "  %s\n", a)
	}
}

func againstText(by float64) string {
	if by >= 1 {
		return Number(by) + "× cheaper"
	}
	return Number(1/by) + "× dearer"
}

func (st *Study) roofText(b *bytes.Buffer) {
	t := newTable("result", "rate", "by", "model ceiling", "share", "hard ceiling")
	rows := 0
	for _, r := range st.Roofs {
		if r.Model == nil || r.Rate == nil {
			continue
		}
		rows++
		t.AppendRow(table.Row{st.Subjects[r.Subject].Label, Number(*r.Rate), string(r.RateBasis), Number(*r.Model), Percent(*r.Share()), orDash(r.Hard)})
	}
	if rows > 0 {
		b.WriteString("\n" + t.Render() + "\n")
	}
}

// newTable is a plain table whose columns of numbers are right-aligned.
func newTable(head ...string) table.Writer {
	t := report.NewTable()
	var cells table.Row
	var columns []table.ColumnConfig
	for i, h := range head {
		cells = append(cells, h)
		switch h {
		case "result", "setting", "machine", "by the rate", "by", "how", "verdict":
		default:
			columns = append(columns, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	t.SetColumnConfigs(columns)
	if len(head) > 1 {
		t.AppendHeader(cells)
	}
	return t
}

func rateText(r *Rate) string {
	if r == nil {
		return "–"
	}
	return Number(r.TokensPerSecond)
}

func orDash(x *float64) string {
	if x == nil {
		return "–"
	}
	return Number(*x)
}
