package page

import (
	"fmt"
	"math"
	"slices"

	"lmxbench/bench/report"
	"lmxbench/bench/report/study"
	"lmxbench/internal/cost"
)

// maxColours is the number of series that can be told apart.
const maxColours = 8

// ladders are the series that can be drawn over concurrency.
func ladders(st *study.Study) (all []study.Series) {
	for _, s := range st.Series {
		if s.IsLadder() {
			all = append(all, s)
		}
	}
	return all
}

// spot is a measured value of a series.
type spot struct {
	x, y      float64
	low, high float64 // scatter; equal to y where it is not known
	bad       bool    // INVALID: drawn hollow and not joined
	label     string
	title     string
}

// curveSet is what a ladder picture draws: one list of spots a series.
type curveSet struct {
	names []string
	spots [][]spot
	dash  [][]spot // a second, lighter curve of each series; may be empty
}

func colour(i int) string { return fmt.Sprint(i%maxColours + 1) }

// collect makes a spot of each subject that value knows.
func collect(series []study.Series, value func(*study.Subject) (spot, bool)) (c curveSet) {
	for i := range series {
		var list []spot
		for _, s := range series[i].Subjects() {
			if p, ok := value(s); ok {
				p.bad = s.Status() == report.StatusInvalid || s.Partial
				list = append(list, p)
			}
		}
		c.names = append(c.names, series[i].Label)
		c.spots = append(c.spots, list)
	}
	return c
}

func (c curveSet) empty() bool {
	for _, list := range c.spots {
		if len(list) > 0 {
			return false
		}
	}
	return true
}

// xs are the different positions, ascending.
func (c curveSet) xs() (xs []float64) {
	for _, list := range c.spots {
		for _, p := range list {
			if !slices.Contains(xs, p.x) {
				xs = append(xs, p.x)
			}
		}
	}
	slices.Sort(xs)
	return xs
}

func (c curveSet) extent() (low, high float64) {
	low = math.Inf(1)
	for _, lists := range [][][]spot{c.spots, c.dash} {
		for _, list := range lists {
			for _, p := range list {
				low, high = math.Min(low, math.Min(p.y, p.low)), math.Max(high, math.Max(p.y, p.high))
			}
		}
	}
	return low, high
}

// paint draws the set over concurrency.
func (c curveSet) paint(width, height float64, y axis) *frame {
	f := newFrame(width, height, c.streams(), y)
	f.curves(c)
	return f
}

// streams is the logarithmic axis of the measured concurrencies.
func (c curveSet) streams() axis {
	var streams []int
	for _, x := range c.xs() {
		streams = append(streams, int(x))
	}
	return streamsAxis(streams)
}

func (f *frame) curves(c curveSet) {
	for i, list := range c.dash {
		f.join(list, "thin"+colour(i))
	}
	for i, list := range c.spots {
		f.join(list, "stroke"+colour(i))
	}
	for i, list := range c.spots {
		for _, p := range list {
			at := f.at(p.x, p.y)
			if p.high > p.low {
				f.line(at.x, f.y.at(p.low), at.x, f.y.at(p.high), "whisker stroke"+colour(i))
			}
			class := "dot" + colour(i)
			if p.bad {
				class = "hollow"
			}
			f.dot(at.x, at.y, 4, class, p.title)
			f.hoverTarget(at.x, at.y, p.title)
		}
	}
}

// join draws a line through the spots that may be used.
func (f *frame) join(list []spot, class string) {
	var line []point
	for _, p := range list {
		if !p.bad {
			line = append(line, f.at(p.x, p.y))
		}
	}
	f.path(line, class, "")
}

// mostLabelled is the number of curves whose every spot can carry a label.
const mostLabelled = 3

// label writes the spots' labels where they do not touch one another.
func (f *frame) label(c curveSet) {
	type box struct{ x0, y0, x1, y1 float64 }
	var taken []box
	for _, list := range c.spots {
		for _, p := range list {
			at := f.at(p.x, p.y)
			taken = append(taken, box{at.x - 4, at.y - 4, at.x + 4, at.y + 4})
		}
	}
	for _, list := range c.spots {
		for i, p := range list {
			if len(c.spots) > mostLabelled && i < len(list)-1 {
				continue // only the end of each curve
			}
			at, w := f.at(p.x, p.y), textWidth(p.label)
			for _, try := range []struct {
				dx, dy float64
				anchor string
			}{{8, 4, "start"}, {-8, 4, "end"}, {0, -9, "middle"}, {0, 17, "middle"}} {
				x := at.x + try.dx
				b := box{x, at.y + try.dy - 10, x + w, at.y + try.dy + 3}
				switch try.anchor {
				case "end":
					b.x0, b.x1 = x-w, x
				case "middle":
					b.x0, b.x1 = x-w/2, x+w/2
				}
				inside := b.x0 >= f.left && b.x1 <= f.width && b.y0 >= f.top-8 && b.y1 <= f.bottom
				free := !slices.ContainsFunc(taken, func(o box) bool { return b.x0 < o.x1 && o.x0 < b.x1 && b.y0 < o.y1 && o.y0 < b.y1 })
				if inside && free {
					f.text(x, at.y+try.dy, try.anchor, "tick halo", p.label)
					taken = append(taken, b)
					break
				}
			}
		}
	}
}

// throughputLadder is total throughput over concurrency.
func throughputLadder(series []study.Series) *figure {
	c := collect(series, func(s *study.Subject) (spot, bool) {
		r := s.Answer()
		if r == nil {
			return spot{}, false
		}
		p := spot{x: float64(s.Streams), y: r.TokensPerSecond, low: r.TokensPerSecond, high: r.TokensPerSecond}
		for _, v := range r.Values {
			p.low, p.high = math.Min(p.low, v), math.Max(p.high, v)
		}
		p.title = fmt.Sprintf("%s: %s tok/s%s", s.Label, study.Number(p.y), verdictWords(s))
		return p, true
	})
	if c.empty() {
		return nil
	}
	f := &figure{
		Heading: "What does more load bring?",
		Caption: "All tokens per second over the number of streams at once, as lmx counts them. A straight line is perfect scaling; where it flattens, more users only wait longer.",
	}
	if len(series) == 1 {
		plateau := collect(series, func(s *study.Subject) (spot, bool) {
			r := s.Rate(cost.Plateau)
			if r == nil {
				return spot{}, false
			}
			return spot{x: float64(s.Streams), y: r.TokensPerSecond, low: r.TokensPerSecond, high: r.TokensPerSecond}, true
		})
		if !plateau.empty() {
			c.dash = plateau.spots
			f.Legend = []key{{"stroke1", "line", "result (tokSOut)"}, {"thin1", "dash", "plateau: while every stream decodes"}}
		}
	}
	_, high := c.extent()
	f.Wide, f.Narrow = draw("throughput", "Throughput over concurrency", "Tokens per second over streams; the numbers are in the table of results.", false, func(width float64) *canvas {
		// Both axes from zero: only then is a straight line perfect scaling.
		x := c.streams()
		x.name, x.log, x.low = "streams at once", false, 0
		p := newFrame(width, 280, x, zeroAxis("tok/s", high, 5))
		p.curves(c)
		return p.canvas
	})
	return f
}

func verdictWords(s *study.Subject) string {
	if s.Status() == "" {
		return ""
	}
	return " (" + s.Status() + ")"
}

// waitLadder is the time to the first token over concurrency.
func waitLadder(series []study.Series) *figure {
	get := func(pick func(*report.Summary) float64, name string) func(s *study.Subject) (spot, bool) {
		return func(s *study.Subject) (spot, bool) {
			if s.TTFT == nil || !(s.TTFT.P50 > 0) {
				return spot{}, false
			}
			v := pick(s.TTFT)
			return spot{x: float64(s.Streams), y: v, low: v, high: v, title: fmt.Sprintf("%s: %s %s", s.Label, name, study.Millis(v))}, true
		}
	}
	c := collect(series, get(func(x *report.Summary) float64 { return x.P50 }, "first token, median"))
	if c.empty() || len(c.xs()) < 2 {
		return nil
	}
	c.dash = collect(series, get(func(x *report.Summary) float64 { return x.P99 }, "first token, p99")).spots
	f := &figure{
		Heading: "How long is the wait for the first token?",
		Caption: "Median over the streams as a line, the slowest hundredth dashed: what each user pays for sharing the machine.",
	}
	if len(series) == 1 {
		f.Legend = []key{{"stroke1", "line", "median"}, {"thin1", "dash", "p99"}}
	}
	low, high := c.extent()
	f.Wide, f.Narrow = draw("wait", "Time to first token over concurrency", "Milliseconds on a logarithmic scale over streams; the numbers are in the table of results.", false, func(width float64) *canvas {
		return c.paint(width, 280, logAxis("ms to the first token", low, high, 7)).canvas
	})
	return f
}

// energyLadder is the energy of a token over concurrency.
func energyLadder(series []study.Series) *figure {
	c := collect(series, func(s *study.Subject) (spot, bool) {
		if s.Energy == nil || s.Energy.JoulesPerToken == nil {
			return spot{}, false
		}
		v := *s.Energy.JoulesPerToken
		return spot{x: float64(s.Streams), y: v, low: v, high: v, title: fmt.Sprintf("%s: %s J per token%s", s.Label, study.Number(v), verdictWords(s))}, true
	})
	if len(c.xs()) < 2 {
		return nil
	}
	f := &figure{
		Heading: "What does load do to the energy?",
		Caption: "Energy of the GPUs divided by the tokens of the same window: idle power is shared by all streams, so a token costs less the more there are.",
	}
	low, high := c.extent()
	f.Wide, f.Narrow = draw("joules", "Energy per token over concurrency", "Joules on a logarithmic scale over streams; the numbers are in the cost table.", false, func(width float64) *canvas {
		return c.paint(width, 280, logAxis("J per token", low, high, 7)).canvas
	})
	return f
}

// pareto is total throughput over the rate that each user sees.
func pareto(series []study.Series) *figure {
	c := collect(series, func(s *study.Subject) (spot, bool) {
		r, user := s.Answer(), s.PerUser()
		if r == nil || user == nil {
			return spot{}, false
		}
		return spot{
			x: *user, y: r.TokensPerSecond, low: r.TokensPerSecond, high: r.TokensPerSecond, label: fmt.Sprintf("c%d", s.Streams),
			title: fmt.Sprintf("%s: each user %s tok/s, all together %s tok/s%s", s.Label, study.Number(*user), study.Number(r.TokensPerSecond), verdictWords(s)),
		}, true
	})
	if len(c.xs()) < 2 {
		return nil
	}
	f := &figure{
		Heading: "What is the trade between one user and all?",
		Caption: "To the right each user reads faster, upwards the machine earns more; every point is a number of streams (c), and up and to the right is better.",
	}
	_, high := c.extent()
	xs := c.xs()
	f.Wide, f.Narrow = draw("pareto", "Total throughput over throughput per user", "Each point is a concurrency; the numbers are in the table of results.", false, func(width float64) *canvas {
		p := newFrame(width, 280, zeroAxis("tok/s that each user sees", xs[len(xs)-1], ticksFor(width)-1), zeroAxis("tok/s of all users", high, 5))
		p.curves(c)
		p.label(c)
		return p.canvas
	})
	return f
}
