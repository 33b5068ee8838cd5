package page

import "math"

// axis is one side of a chart.
type axis struct {
	name      string // with its unit
	low, high float64
	ticks     []tick
	log       bool
}

// zeroAxis starts at zero and ends at a round value above high.
func zeroAxis(name string, high float64, most int) axis {
	low, top, ticks := zeroTo(high, most)
	return axis{name: name, low: low, high: top, ticks: ticks}
}

// logAxis spans positive values by decades.
func logAxis(name string, low, high float64, most int) axis {
	bottom, top, ticks := logBetween(low, high, most)
	return axis{name: name + ", log scale", low: bottom, high: top, ticks: ticks, log: true}
}

// frame is a chart's plotting area with its axes drawn.
type frame struct {
	*canvas
	x, y                     scale
	left, top, right, bottom float64
	inset                    float64 // between the ends of the horizontal axis and its scale
}

// newFrame draws axes into a new canvas. The name of the vertical axis stands
// above it, so that no text is turned on its side.
func newFrame(width, height float64, x, y axis) *frame {
	f := &frame{canvas: &canvas{width: width, height: height}}
	widest := 0.0
	for _, t := range y.ticks {
		widest = math.Max(widest, textWidth(t.label))
	}
	f.left, f.right, f.top, f.bottom, f.inset = widest+12, width-14, 26, height-38, 8
	f.text(0, 12, "start", "axis", y.name)
	f.placeY(y)
	f.placeX(x, true)
	return f
}

// placeY draws the grid and the labels of the vertical axis.
func (f *frame) placeY(y axis) {
	f.y = scale{low: y.low, high: y.high, from: f.bottom, to: f.top, log: y.log}
	for _, t := range thin(y.ticks, f.y, false) {
		at := f.y.at(t.value)
		f.line(f.left, at, f.right, at, "grid")
		f.text(f.left-7, at+4, "end", "tick", t.label)
	}
}

// placeX draws the labels of the horizontal axis, and its name below if asked.
func (f *frame) placeX(x axis, named bool) {
	f.x = scale{low: x.low, high: x.high, from: f.left + f.inset, to: f.right - f.inset, log: x.log}
	f.line(f.left, f.bottom, f.right, f.bottom, "base")
	if !named {
		return
	}
	for _, t := range thin(x.ticks, f.x, true) {
		at := f.x.at(t.value)
		f.line(at, f.bottom, at, f.bottom+4, "base")
		label := math.Min(math.Max(at, textWidth(t.label)/2), f.width-textWidth(t.label)/2)
		f.text(label, f.bottom+17, "middle", "tick", t.label)
	}
	f.text(f.right, f.bottom+34, "end", "axis", x.name)
}

// at is the pixel of a point.
func (f *frame) at(x, y float64) point { return point{f.x.at(x), f.y.at(y)} }

// streamsAxis has a tick at each measured concurrency.
func streamsAxis(streams []int) axis {
	a := axis{name: "streams at once, log scale", log: true, low: math.Inf(1)}
	for _, s := range streams {
		a.low, a.high = math.Min(a.low, float64(s)), math.Max(a.high, float64(s))
		a.ticks = append(a.ticks, tick{float64(s), plainNumber(float64(s))})
	}
	if a.low == a.high {
		a.low, a.high = a.low/2, a.high*2
	}
	return a
}
