package page

import (
	"fmt"
	"math"

	"lmxbench/bench/report"
	"lmxbench/bench/report/study"
)

// powerFigure shows the draw over the whole run with its batches; nil without a
// recording that can be drawn.
func powerFigure(t *study.Trace) *figure {
	p := t.Power
	if p == nil || len(p.Points) == 0 {
		return nil
	}
	f := &figure{
		Heading: "What did it draw, and when?", Full: true,
		Caption: fmt.Sprintf("Power of the GPUs over the whole run (%s). Shaded are the batches: energy is taken between their edges, warm-ups apart.", p.Signal),
		Legend:  []key{{"stroke2", "line", "power"}, {"span-timed", "box", "iteration"}, {"span-warmup", "box", "warm-up"}},
	}
	if p.LimitWatts > 0 {
		f.Legend = append(f.Legend, key{"limit", "dash", "power limit"})
	}
	f.Wide, f.Narrow = draw("power", "Power over the run", "Watts over seconds since the start of the run; the windows are in the table below.", true, func(width float64) *canvas {
		return paintPower(t, p, width)
	})
	f.Table = powerTable(p)
	return f
}

func paintPower(t *study.Trace, p *study.PowerTrace, width float64) *canvas {
	from, to, most := p.Points[0].At, p.Points[len(p.Points)-1].At, p.LimitWatts
	for _, q := range p.Points {
		most = math.Max(most, q.High)
	}
	low, high, ticks := linearBetween(from, to, ticksFor(width))
	x := axis{name: "seconds since the start of the run", low: math.Max(low, from), high: math.Min(high, to)}
	for _, k := range ticks {
		if k.value >= x.low && k.value <= x.high {
			x.ticks = append(x.ticks, k)
		}
	}
	f := newFrame(width, 230, x, zeroAxis("W, all GPUs in use", most, 5))
	for _, b := range t.Batches {
		class, name := "span-timed", fmt.Sprintf("iteration %d", b.Iteration)
		if b.Phase == report.PhaseWarmup {
			class, name = "span-warmup", fmt.Sprintf("warm-up %d", b.Iteration)
		}
		if b.To < from || b.From > to {
			continue
		}
		f.rect(f.x.at(b.From), f.top, f.x.at(b.To)-f.x.at(b.From), f.bottom-f.top, class, name+batchEnergy(p, b))
	}
	var line, upper, lower []point
	for _, q := range p.Points {
		line, upper, lower = append(line, f.at(q.At, q.Watts)), append(upper, f.at(q.At, q.High)), append(lower, f.at(q.At, q.Low))
	}
	f.area(upper, lower, "fill2", "")
	f.path(line, "stroke2", "")
	if p.LimitWatts > 0 {
		y := f.y.at(p.LimitWatts)
		f.line(f.left, y, f.right, y, "limit")
	}
	return f.canvas
}

// batchEnergy is what the widest window of a batch drew, for its hover text.
func batchEnergy(p *study.PowerTrace, b study.BatchSpan) string {
	name := "request"
	if b.Phase == report.PhaseWarmup {
		name = "warmup"
	}
	for _, w := range p.Windows {
		if w.Name == name && w.Iteration == b.Iteration && w.Watts != nil {
			return ": " + study.Number(*w.Watts) + " W on average"
		}
	}
	return ""
}

func powerTable(p *study.PowerTrace) *table {
	t := &table{
		Caption: "Energy by window", Numbers: 2,
		Head: []string{"window", "iteration", "seconds", "mean W", "J", "± J", "J/token", "by"},
	}
	for _, w := range p.Windows {
		by := w.Source
		if w.Joules == nil && w.Reason != "" {
			by = "none: " + w.Reason
		}
		t.Rows = append(t.Rows, row(w.Name, fmt.Sprint(w.Iteration), study.Fixed(w.Span.To-w.Span.From, 2),
			dash(w.Watts), dash(w.Joules), dash(w.Doubt), dash(w.JoulesPerToken), by))
	}
	return t
}

func dash(x *float64) string {
	if x == nil {
		return "–"
	}
	return study.Number(*x)
}
