package page

import (
	"fmt"

	"lmxbench/bench/report/study"
)

// moneySection is what tokens cost; nil where no price and no energy is known.
func moneySection(st *study.Study) *section {
	m := st.Money
	if m == nil {
		return nil
	}
	s := &section{ID: "cost", Heading: "What does a token cost?"}
	if len(m.Quotes) > 0 {
		s.Tables = append(s.Tables, quoteTable(st))
	}
	if len(m.BreakEvens) > 0 {
		s.Tables = append(s.Tables, breakEvenTable(st))
	}
	if len(m.Energy) > 0 {
		s.Tables = append(s.Tables, energyTable(st))
	}
	s.Lists = append(s.Lists, append(tariffWords(m), m.Assumptions...))
	return s
}

// mostTariffs is the number of different prices an hour that are explained.
const mostTariffs = 4

// tariffWords says where the prices an hour come from.
func tariffWords(m *study.Money) (lines []string) {
	seen := map[string]bool{}
	for _, q := range m.Quotes {
		line := fmt.Sprintf("%s, $%s an hour: %s.", q.Tariff.Name, study.Fixed(q.Tariff.USDPerHour, 2), q.Tariff.Basis)
		if !seen[line] {
			seen[line] = true
			lines = append(lines, line)
		}
	}
	if len(lines) > mostTariffs {
		return []string{"Prices an hour are those that the table states for each row."}
	}
	return lines
}

func quoteTable(st *study.Study) table {
	m := st.Money
	single := st.Single() != nil
	t := table{Caption: "Dollars per million output tokens", Numbers: 2}
	if !single {
		t.Head = append(t.Head, "result")
		t.Numbers++
	}
	t.Head = append(t.Head, "machine", "by the rate", "$/h", "tok/s", "$/M tokens")
	for _, api := range m.APIs {
		t.Head = append(t.Head, "against "+api.Name+" ("+study.Dollars(api.USDPerMillion)+")", "break-even duty")
	}
	for _, q := range m.Quotes {
		var texts []string
		if !single {
			texts = append(texts, st.Subjects[q.Subject].Label)
		}
		texts = append(texts, q.Tariff.Name, string(q.Basis), study.Fixed(q.Tariff.USDPerHour, 2), study.Number(q.TokensPerSecond), study.Dollars(q.USDPerMillion))
		for _, a := range q.Against {
			texts = append(texts, againstWords(a.CheaperBy), dutyWords(a.Duty))
		}
		t.Rows = append(t.Rows, row(texts...))
	}
	return t
}

// dutyWords is the share of the time that a machine must be busy.
func dutyWords(share float64) string {
	if share > 1 {
		return "never"
	}
	return study.Percent(share)
}

func againstWords(by float64) string {
	if by >= 1 {
		return study.Number(by) + " × cheaper"
	}
	return study.Number(1/by) + " × dearer"
}

func breakEvenTable(st *study.Study) table {
	m := st.Money
	t := table{Caption: "Break-even with a hosted service, as a bracket", Numbers: 3}
	if len(st.Series) > 1 {
		t.Head = append(t.Head, "series")
		t.Numbers++
	}
	t.Head = append(t.Head, "machine", "service", "by the rate", "tok/s needed", "streams", "measure also")
	for _, b := range m.BreakEvens {
		var texts []string
		if len(st.Series) > 1 {
			texts = append(texts, st.Series[b.Series].Label)
		}
		streams := string(b.Where)
		if b.Low != nil {
			streams = b.Bracket()
		}
		missing := ""
		for i, c := range b.Missing {
			if i > 0 {
				missing += ", "
			}
			missing += fmt.Sprint(c)
		}
		texts = append(texts, b.Tariff.Name, b.API.Name+" at "+study.Dollars(b.API.USDPerMillion), string(b.Basis), study.Number(b.TokensPerSecond), streams, missing)
		t.Rows = append(t.Rows, row(texts...))
	}
	return t
}

func energyTable(st *study.Study) table {
	m := st.Money
	t := table{Caption: "Energy", Head: []string{"result", "J/token", "Wh/M tokens", "$/M tokens", "how"}, Numbers: 1}
	for _, e := range m.Energy {
		price := "–"
		if e.USDPerMillion != nil {
			price = study.Dollars(*e.USDPerMillion)
		}
		t.Rows = append(t.Rows, row(st.Subjects[e.Subject].Label, study.Number(e.JoulesPerToken), study.Number(e.WattHoursPerMillion), price, e.How))
	}
	return t
}
