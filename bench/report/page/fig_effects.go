package page

import (
	"fmt"
	"math"
	"slices"

	"lmxbench/bench/report"
	"lmxbench/bench/report/study"
)

// effects shows every comparison as a change in per cent with its interval.
func effects(st *study.Study) *figure {
	var rows []study.Contrast
	for _, c := range st.Contrasts {
		if c.Ratio != nil {
			rows = append(rows, c)
		}
	}
	if len(rows) == 0 || len(rows) > 60 {
		return nil
	}
	f := &figure{
		Heading: "Does the change show?", Full: true,
		Caption: "Change against " + st.Series[0].Label + ", with its 95 % interval where the iterations are enough for one. An interval that reaches over the middle line is no difference that the iterations can show; for the time to the first token, left is better.",
		Legend:  []key{{"dot3", "dot", "better"}, {"dot5", "dot", "worse"}, {"dot6", "dot", "within noise, or too few iterations to tell"}},
	}
	f.Wide, f.Narrow = draw("effects", "Changes with their intervals", "Per cent against the first series; the numbers are in the comparison table.", true, func(width float64) *canvas {
		return paintEffects(rows, len(st.Series) > 2, width)
	})
	return f
}

func paintEffects(rows []study.Contrast, several bool, width float64) *canvas {
	const rowHeight = 36
	low, high := -1.0, 1.0
	for _, c := range rows {
		change := (*c.Ratio - 1) * 100
		low, high = math.Min(low, change), math.Max(high, change)
		if c.Low != nil {
			low, high = math.Min(low, *c.Low*100), math.Max(high, *c.High*100)
		}
	}
	bottom, top, ticks := linearBetween(low, high, ticksFor(width)-1)
	for i := range ticks {
		if ticks[i].value > 0 {
			ticks[i].label = "+" + ticks[i].label
		}
	}
	f := &frame{canvas: &canvas{width: width, height: float64(len(rows))*rowHeight + 48}}
	f.left, f.right, f.top, f.bottom = 0, width-4, 0, float64(len(rows))*rowHeight+8
	f.placeX(axis{name: "change in %", low: bottom, high: top, ticks: ticks}, true)
	for _, t := range thin(ticks, f.x, true) {
		class := "grid"
		if t.value == 0 {
			class = "base"
		}
		f.line(f.x.at(t.value), f.top, f.x.at(t.value), f.bottom, class)
	}
	for i, c := range rows {
		y := float64(i)*rowHeight + 14
		label := study.Plural(c.Streams, "stream") + " · " + study.MetricName(c.Metric)
		if several {
			label = c.To + " · " + label
		}
		f.text(0, y, "start", "tick halo", cut(label, width))
		class := "6"
		switch c.Outcome {
		case study.Faster:
			class = "3"
		case study.Slower:
			class = "5"
		}
		y += 11
		if c.Low != nil {
			f.line(f.x.at(*c.Low*100), y, f.x.at(*c.High*100), y, "whisker stroke"+class)
		}
		f.dot(f.x.at((*c.Ratio-1)*100), y, 4.5, "dot"+class, c.Statement)
	}
	return f.canvas
}

// answersFigure compares series at one concurrency, where there is no curve to
// draw.
func answersFigure(st *study.Study) *figure {
	streams, ok := st.CommonStreams()
	if !ok || len(st.Series) < 2 || len(st.Series) > 24 {
		return nil
	}
	var rows []bar
	for i := range st.Series {
		s := st.Series[i].At(streams)
		if s == nil || s.Answer() == nil {
			continue
		}
		r := s.Answer()
		class, detail := "bar1", s.Status()
		if detail == report.StatusInvalid || s.Partial {
			class = "bar5"
		}
		if detail == report.StatusValid {
			detail = ""
		}
		rows = append(rows, bar{
			name: st.Series[i].Label, detail: detail, value: r.TokensPerSecond, dots: r.Values, class: class,
			title: fmt.Sprintf("%s: %s tok/s%s", st.Series[i].Label, study.Number(r.TokensPerSecond), verdictWords(s)),
		})
	}
	if len(rows) < 2 {
		return nil
	}
	f := &figure{
		Full:    true,
		Heading: fmt.Sprintf("Which setting is fastest at %s?", study.Plural(streams, "stream")),
		Caption: "Bars are medians from zero, dots the iterations: where the dots of two bars mix, their order means little.",
	}
	f.Wide, f.Narrow = draw("answers", "Results by setting", "Tokens per second; the numbers are in the table of results.", true, func(width float64) *canvas {
		named := slices.Clone(rows)
		for i := range rows {
			named[i].name = cut(rows[i].name, (width-70)/1.2) // the names are bold
		}
		return bars(width, named, "tok/s", 0)
	})
	return f
}
