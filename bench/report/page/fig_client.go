package page

import (
	"math"

	"lmxbench/bench/report"
	"lmxbench/bench/report/study"
)

// mark is a time on the scale of the instrument figure.
type mark struct {
	name  string
	ms    float64
	class string
}

// clientFigure puts the instrument's own error on one scale with what it
// measures.
func clientFigure(s *study.Subject) *figure {
	c := &s.Document.Bench.Client
	var marks []mark
	add := func(name string, ms float64, class string) {
		if ms > 0 {
			marks = append(marks, mark{name, ms, class})
		}
	}
	if s.TTFT != nil {
		add("first token, median", s.TTFT.P50, "dot1")
	}
	if s.ITL != nil {
		add("time per token, median", s.ITL.P50, "dot1")
	}
	if l := c.ReadLagUs; l != nil {
		add("read delay, p99", l.P99/1e3, "dot6")
		add("read delay, median", l.P50/1e3, "dot6")
	}
	if k := c.Calibration; k != nil {
		add("stamp error, p99 (calibrated)", k.StampP99Us/1e3, "dot6")
		add("stamp error, median (calibrated)", k.StampP50Us/1e3, "dot6")
	}
	if len(marks) < 2 || c.ReadLagUs == nil {
		return nil
	}
	f := &figure{
		Heading: "Can the clock be trusted?",
		Caption: clientCaption(c),
		Legend:  []key{{"dot1", "dot", "what was measured"}, {"dot6", "dot", "the instrument's own error"}},
	}
	f.Wide, f.Narrow = draw("client", "Instrument error beside what it measures", "Times on a logarithmic scale; the numbers are in the table beside it.", false, func(width float64) *canvas {
		return paintMarks(marks, width)
	})
	return f
}

func clientCaption(c *report.Client) string {
	switch c.TimestampSource {
	case "kernel":
		return "Times carry the kernel's receive stamp, so a late read only delays: it falsifies a gap only where events merge. Each step to the right is a factor."
	case "user":
		return "Times are taken after the read, so the read delay is the error of every time here. Each step to the right is a factor."
	}
	return "The read delay beside what it measures. Each step to the right is a factor."
}

func paintMarks(marks []mark, width float64) *canvas {
	const rowHeight = 30
	low, high := math.Inf(1), 0.0
	for _, m := range marks {
		low, high = math.Min(low, m.ms), math.Max(high, m.ms)
	}
	a := logAxis("ms", low, high, ticksFor(width)+1)
	c := &frame{canvas: &canvas{width: width, height: float64(len(marks))*rowHeight + 40}}
	c.left, c.right, c.bottom = 0, width-8, float64(len(marks))*rowHeight+4
	c.placeX(a, true)
	for i, m := range marks {
		y := float64(i)*rowHeight + 18
		x := c.x.at(m.ms)
		c.line(c.x.from, y, c.x.to, y, "grid")
		label := m.name + "  " + study.Millis(m.ms)
		anchor, at := "start", x+9
		if x+9+textWidth(label) > width {
			anchor, at = "end", x-9
		}
		c.dot(x, y, 5, m.class, label)
		c.text(at, y+4, anchor, "tick halo", label)
	}
	return c.canvas
}

func clientTable(c *report.Client) *table {
	t := &table{Caption: "The instrument", Head: []string{"what", "value"}, Numbers: 1}
	add := func(what, value string) { t.Rows = append(t.Rows, row(what, value)) }
	add("time stamps", c.TimestampSource)
	if l := c.ReadLagUs; l != nil {
		add("read delay, median", study.Seconds(l.P50/1e6))
		add("read delay, p99", study.Seconds(l.P99/1e6))
		add("read delay, max", study.Seconds(l.Max/1e6))
	}
	share := func(what string, x *float64) {
		if x != nil {
			add(what, study.Percent(*x))
		}
	}
	share("events merged because the client was late", c.LateCoalescedShare)
	share("events that share a read", c.CoalescedShare)
	share("share of the cores used", c.CPUShare)
	if c.CPUPerEventUs != nil {
		add("processor time per event", study.Seconds(*c.CPUPerEventUs/1e6))
	}
	if c.SendSpreadMs != nil {
		add("spread of the sends", study.Millis(*c.SendSpreadMs))
	}
	add("longest stall of the client", study.Millis(c.StallMs))
	if k := c.Calibration; k != nil {
		add("calibrated at streams", study.Fixed(float64(k.Streams), 0))
		add("stamp error, median", study.Seconds(k.StampP50Us/1e6))
		add("stamp error, p99", study.Seconds(k.StampP99Us/1e6))
		add("error of the mean first token", study.Seconds(k.TTFTErrUs/1e6))
		add("error of the p99 time per token", study.Seconds(k.ITLErrUs/1e6))
	} else {
		add("calibration", "none for this machine and load")
	}
	return t
}
