package page

import (
	"fmt"
	"math"
	"slices"

	"lmxbench/bench/report/study"
	"lmxbench/internal/cost"
)

func sorted(xs []float64) []float64 { return slices.Sorted(slices.Values(xs)) }

// bar is a row of a bar chart: a value, its repetitions as dots, and words.
type bar struct {
	name, detail string
	value        float64
	dots         []float64
	class        string
	title        string
}

// bars draws horizontal bars from zero, name and detail above each, value at
// its end.
func bars(width float64, rows []bar, unit string, high float64) *canvas {
	const rowHeight, barHeight = 46, 16
	for _, r := range rows {
		high = math.Max(high, r.value)
		for _, d := range r.dots {
			high = math.Max(high, d)
		}
	}
	x := zeroAxis(unit, high, ticksFor(width)-1)
	c := &frame{canvas: &canvas{width: width, height: float64(len(rows))*rowHeight + 42}}
	c.left, c.right, c.bottom = 0, width-2, float64(len(rows))*rowHeight+4
	c.placeX(x, false)
	for _, t := range thin(x.ticks, c.x, true) {
		at := c.x.at(t.value)
		c.line(at, c.top, at, c.bottom, "grid")
		label := math.Min(math.Max(at, textWidth(t.label)/2), width-textWidth(t.label)/2)
		c.text(label, c.bottom+16, "middle", "tick", t.label)
	}
	c.text(width, c.bottom+32, "end", "axis", unit)
	for i, r := range rows {
		y := float64(i)*rowHeight + 14
		value := study.Number(r.value)
		detail := r.detail
		if 1.15*(textWidth(r.name)+textWidth(detail))+textWidth(value)+30 > width {
			detail = ""
		}
		c.text2(0, y, "name halo", r.name, "axis", detail)
		c.text(width, y, "end", "strong halo", value)
		c.rect(c.x.at(0), y+6, c.x.at(r.value)-c.x.at(0), barHeight, r.class, r.title)
		for k, d := range r.dots {
			c.dot(c.x.at(d), y+6+barHeight/2, 3, "iteration", fmt.Sprintf("%s, iteration %d: %s %s", r.name, k+1, study.Number(d), unit))
		}
	}
	return c.canvas
}

// ratesFigure shows the throughputs of a run by their formulas.
func ratesFigure(s *study.Subject, full bool) figure {
	f := figure{
		Full:    full,
		Heading: "How fast, by which definition?",
		Caption: "One batch has several honest throughputs: they count the same tokens over different spans of time. Bars are medians, dots the iterations.",
	}
	var rows []bar
	t := &table{Caption: "Throughputs by name", Head: []string{"name", "formula", "median tok/s", "σ", "n", "iterations"}, Numbers: 2}
	for _, r := range s.Rates {
		class := "bar2"
		if r.Basis == s.Headline {
			class = "bar1"
		}
		name, formula := rateWords(r.Basis)
		spread, values := "–", ""
		if r.StdDev != nil {
			spread = study.Spread(*r.StdDev, r.TokensPerSecond)
		}
		for i, v := range r.Values {
			if i > 0 {
				values += "  "
			}
			values += study.Number(v)
		}
		if r.Derived != "" {
			values = "derived: " + r.Derived
		}
		t.Rows = append(t.Rows, row(string(r.Basis), formula, study.Number(r.TokensPerSecond), spread, countText(r.Iterations), values))
		if r.Basis == cost.Plateau && s.Streams == 1 {
			continue // one stream's plateau is its inter-token rate
		}
		rows = append(rows, bar{name: name, detail: formula, value: r.TokensPerSecond, dots: r.Values, class: class, title: name + ": " + study.Number(r.TokensPerSecond) + " tok/s"})
	}
	slices.SortStableFunc(rows, func(a, b bar) int {
		switch {
		case a.value > b.value:
			return -1
		case a.value < b.value:
			return 1
		}
		return 0
	})
	f.Wide, f.Narrow = draw("rates", "Throughputs by definition", "Horizontal bars in tokens per second; the numbers are in the table below.", full, func(width float64) *canvas {
		return bars(width, rows, "tok/s", 0)
	})
	f.Table = t
	return f
}

func countText(n int) string {
	if n == 0 {
		return "–"
	}
	return study.Fixed(float64(n), 0)
}

// rateWords are a throughput's name and formula for people.
func rateWords(basis cost.Basis) (name, formula string) {
	switch basis {
	case cost.InterToken:
		return "inter-token", "(tokens − 1) ÷ (last token − first token)"
	case cost.ConcurrentRequestWindow:
		return "request window", "Σ tokens ÷ (last completion − first token)"
	case cost.BatchWall:
		return "batch wall", "Σ tokens ÷ (last completion − first send)"
	case cost.Plateau:
		return "plateau", "tokens while every stream decodes ÷ that time"
	}
	return string(basis), ""
}

// roofFigure shows the measured rate beside what the memory could deliver.
func roofFigure(s *study.Subject, r *study.Roof) *figure {
	if r == nil || r.Missing != "" || r.Rate == nil || (r.Model == nil && r.Dense == nil) {
		return nil
	}
	f := &figure{Heading: "How near is that to the memory's limit?"}
	name, _ := rateWords(r.RateBasis)
	rows := []bar{{name: "measured", detail: name, value: *r.Rate, class: "bar1", title: "measured: " + study.Number(*r.Rate) + " tok/s"}}
	t := &table{Caption: "Ceilings of the decode rate", Head: []string{"rate", "tok/s", "measured ÷ it"}, Numbers: 1}
	add := func(name, detail string, v *float64, class string, draw bool) {
		if v == nil {
			return
		}
		t.Rows = append(t.Rows, row(name, study.Number(*v), study.Percent(*r.Rate / *v)))
		if draw {
			rows = append(rows, bar{name: name, detail: detail, value: *v, class: class, title: name + ": " + study.Number(*v) + " tok/s"})
		}
	}
	t.Rows = append(t.Rows, row("measured ("+name+")", study.Number(*r.Rate), "100 %"))
	add("model ceiling", "what a step is expected to read", r.Model, "bar3", true)
	// A bar many times longer than the others would hide them.
	near := r.Hard != nil && r.Model != nil && *r.Hard <= 2.5*math.Max(*r.Model, *r.Rate)
	add("hard ceiling", "fewest bytes physically possible", r.Hard, "bar4", near)
	add("dense fallback", "bandwidth ÷ checkpoint, one stream", r.Dense, "bar3", true)
	f.Caption = roofCaption(r, near)
	f.Wide, f.Narrow = draw("roof", "Measured rate and decode ceilings", roofCaption(r, near), false, func(width float64) *canvas {
		return bars(width, rows, "tok/s", 0)
	})
	f.Table = t
	return f
}

func roofCaption(r *study.Roof, near bool) string {
	text := "Decoding reads weights and cache from memory for every step; the ceiling is the rate at which that alone would take all the time."
	if r.Model == nil && r.Dense != nil {
		text += " This one takes a step to read the whole checkpoint for one stream; a mixture of experts, several streams and speculation exceed it by far."
	}
	if share := r.Share(); share != nil {
		text = fmt.Sprintf("The run reached %s of what its memory bandwidth allows on paper if reading weights and cache were all it did.", study.Percent(*share))
		if *share > 0.9 {
			text += " Above 90 %, ask whether routing is skewed or a type is smaller than declared."
		}
	}
	if r.Hard != nil && !near {
		text += fmt.Sprintf(" The hard ceiling, above which a result is impossible, is far off at %s tok/s.", study.Number(*r.Hard))
	}
	if r.Impossible {
		text += " The measured rate is above the hard ceiling: something declared is wrong."
	}
	return text
}
