package page

import (
	"fmt"
	"math"

	"lmxbench/bench/report/study"
)

// ttftCurve shows how long how many requests waited for their first token.
func ttftCurve(t *study.Trace) figure {
	f := figure{
		Heading: "How long did users wait for the first token?",
		Caption: "Read from a share of requests upwards: that many had their first token within this time. A flat curve means that all waited alike.",
	}
	most := 0.0
	for _, q := range t.TTFT {
		most = math.Max(most, q.Value)
	}
	f.Wide, f.Narrow = draw("ttft", "Time to first token by share of requests", quantileWords("first token", t.TTFT), false, func(width float64) *canvas {
		c := newFrame(width, 260, axis{name: "share of requests", low: 0, high: 1, ticks: shareTicks()}, zeroAxis("ms to the first token", most, 5))
		c.curve(t.TTFT, "1", "of requests had their first token within", func(q float64) float64 { return q })
		return c.canvas
	})
	f.Table = quantileTable("Time to first token", "ms", column{"first token", t.TTFT})
	return f
}

// upper leaves out the lowest tenth: gaps of zero, of events that were read
// together, have no place on a logarithmic scale.
func upper(points []study.Quantile) (kept []study.Quantile) {
	for _, q := range points {
		if q.Q >= 0.1 {
			kept = append(kept, q)
		}
	}
	return kept
}

func shareTicks() (ticks []tick) {
	for _, p := range []float64{0, 0.25, 0.5, 0.75, 0.9, 1} {
		ticks = append(ticks, tick{p, fmt.Sprintf("%.0f %%", p*100)})
	}
	return ticks
}

// itlCurve shows the gaps between tokens far into their tail, and under them
// the client's own delay.
func itlCurve(t *study.Trace) figure {
	f := figure{
		Heading: "How evenly did tokens flow?",
		Caption: "Time per token, up to the rarest stalls on the right; the lower curve is this client's own delay in reading them, which should stay far below.",
		Legend:  []key{{"stroke1", "line", "time per token"}, {"stroke6", "line", "client's read delay"}},
	}
	low, high := math.Inf(1), 0.0
	nines := 1.0
	itl, lag := upper(t.ITL), upper(t.Lag)
	for _, curve := range [][]study.Quantile{itl, lag} {
		for _, q := range curve {
			if q.Value > 0 {
				low, high = math.Min(low, q.Value), math.Max(high, q.Value)
			}
			if q.Q < 1 {
				nines = math.Max(nines, math.Ceil(-math.Log10(1-q.Q)-1e-9))
			}
		}
	}
	pos := func(q float64) float64 { return math.Min(-math.Log10(math.Max(1-q, 1e-9)), nines+0.35) }
	x := axis{name: "share of tokens", low: 0, high: nines + 0.35}
	for _, p := range []struct {
		q     float64
		label string
	}{{0.1, "10 %"}, {0.5, "50 %"}, {0.9, "90 %"}, {0.99, "99 %"}, {0.999, "99.9 %"}, {0.9999, "99.99 %"}} {
		if pos(p.q) <= nines {
			x.ticks = append(x.ticks, tick{pos(p.q), p.label})
		}
	}
	x.ticks = append(x.ticks, tick{nines + 0.35, "max"})
	f.Wide, f.Narrow = draw("itl", "Time per token and client delay by share of tokens", quantileWords("time per token", t.ITL), false, func(width float64) *canvas {
		c := newFrame(width, 260, x, logAxis("ms", low, high, 8))
		c.curve(lag, "6", "of reads were late by at most", pos)
		c.curve(itl, "1", "of tokens took at most", pos)
		return c.canvas
	})
	f.Table = quantileTable("Time per token, and the client's read delay", "ms", column{"time per token", t.ITL}, column{"client's delay", t.Lag})
	return f
}

// curve draws quantiles as a line with hover targets.
func (f *frame) curve(points []study.Quantile, colour, words string, x func(q float64) float64) {
	var line []point
	for _, q := range points {
		line = append(line, f.at(x(q.Q), q.Value))
	}
	f.path(line, "stroke"+colour, "")
	for i, q := range points {
		title := fmt.Sprintf("%s %s %s", shareWords(q.Q), words, study.Millis(q.Value))
		if len(points) <= 12 {
			f.dot(line[i].x, line[i].y, 3, "dot"+colour, title)
		}
		f.hoverTarget(line[i].x, line[i].y, title)
	}
}

func shareWords(q float64) string {
	if q == 1 {
		return "All"
	}
	return fmt.Sprintf("%.4g %%", q*100)
}

func quantileWords(what string, points []study.Quantile) string {
	text := what
	for _, q := range points {
		switch q.Q {
		case 0.5, 0.9, 0.99, 1:
			text += fmt.Sprintf("; %s within %s", shareWords(q.Q), study.Millis(q.Value))
		}
	}
	return text
}

// column is a distribution in a table.
type column struct {
	name   string
	points []study.Quantile
}

func quantileTable(caption, unit string, columns ...column) *table {
	t := &table{Caption: caption, Head: []string{"share"}, Numbers: 1}
	at := map[float64][]string{}
	var order []float64
	for i, c := range columns {
		t.Head = append(t.Head, c.name+" ("+unit+")")
		for _, q := range c.points {
			if at[q.Q] == nil {
				at[q.Q] = make([]string, len(columns))
				order = append(order, q.Q)
			}
			at[q.Q][i] = study.Number(q.Value)
		}
	}
	for _, q := range sorted(order) {
		texts := append([]string{shareWords(q)}, at[q]...)
		for i, text := range texts {
			if text == "" {
				texts[i] = "–"
			}
		}
		t.Rows = append(t.Rows, row(texts...))
	}
	return t
}
