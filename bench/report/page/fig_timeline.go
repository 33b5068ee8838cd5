package page

import (
	"fmt"
	"math"

	"lmxbench/bench/report/study"
)

// timeline draws one iteration over time: the streams above, tokens per second
// below on the same axis, with the plateau shaded through both.
func timeline(t *study.Trace, plateauRate *float64) figure {
	f := figure{Heading: "What happened in the batch?", Full: true}
	f.Caption = fmt.Sprintf("Iteration %d from its first request to its last byte: each bar is a stream, pale while it waits for its first token and dark while tokens arrive; below, the tokens of all streams together.", t.Iteration)
	f.Legend = []key{{"wait", "box", "waiting for the first token"}, {"decode", "box", "tokens arriving"}}
	if t.Failed > 0 {
		f.Legend = append(f.Legend, key{"failed", "box", "failed"})
	}
	if t.Plateau != nil && t.Streams > 1 {
		f.Legend = append(f.Legend, key{"plateau", "box", "plateau: every stream decodes"})
	}
	desc := fmt.Sprintf("%s over %s; the numbers are in the table below the picture.", study.Plural(t.Streams, "stream"), study.Seconds(t.Seconds))
	f.Wide, f.Narrow = draw("timeline", "Streams and throughput over the time of one iteration", desc, true, func(width float64) *canvas {
		return paintTimeline(t, plateauRate, width)
	})
	f.Table = timelineTable(t)
	return f
}

func paintTimeline(t *study.Trace, plateauRate *float64, width float64) *canvas {
	lanes := math.Min(math.Max(float64(len(t.Lanes))*7, 14), 230)
	most := 0.0
	for _, r := range t.Rates {
		most = math.Max(most, r)
	}
	const gap, rateHeight = 34, 130
	y := zeroAxis("tok/s", most, 4)
	x := zeroAxis("seconds since the first request", t.Seconds, ticksFor(width))
	x.high = math.Max(t.Seconds, 1e-9)
	for len(x.ticks) > 1 && x.ticks[len(x.ticks)-1].value > x.high {
		x.ticks = x.ticks[:len(x.ticks)-1]
	}
	f := newFrame(width, 18+lanes+gap+rateHeight+38, x, axis{ticks: y.ticks})
	f.b.Reset()
	f.top = 18 + lanes + gap
	f.placeY(y)
	f.placeX(x, true)
	f.text(0, 11, "start", "axis", laneTitle(t, width))
	f.text(0, f.top-12, "start", "axis", "tok/s of all streams")
	if p := t.Plateau; p != nil && t.Streams > 1 {
		f.rect(f.x.at(p.From), 18, f.x.at(p.To)-f.x.at(p.From), f.bottom-18, "plateau", plateauTitle(p, plateauRate))
	}
	f.lanes(t, 18, lanes)
	f.rates(t)
	if p := t.Plateau; p != nil && plateauRate != nil && t.Streams > 1 {
		label := "plateau " + study.Number(*plateauRate) + " tok/s"
		if room := f.x.at(p.To) - f.x.at(p.From); room > textWidth(label)+8 {
			f.text(f.x.at(p.From)+room/2, f.top-12, "middle", "strong", label)
		}
	}
	return f.canvas
}

func laneTitle(t *study.Trace, width float64) string {
	per := 1
	for _, l := range t.Lanes {
		per = max(per, l.Streams)
	}
	if t.Streams == 1 {
		return "1 stream"
	}
	text := study.Plural(t.Streams, "stream") + ", earliest first token on top"
	if per == 1 {
		return text
	}
	long := fmt.Sprintf("%s; each bar is %d of them", text, per)
	if textWidth(long) < width {
		return long
	}
	return fmt.Sprintf("%s, earliest on top; a bar is %d", study.Plural(t.Streams, "stream"), per)
}

func plateauTitle(p *study.Span, rate *float64) string {
	text := fmt.Sprintf("Plateau from %s to %s", study.Seconds(p.From), study.Seconds(p.To))
	if rate != nil {
		text += ": " + study.Number(*rate) + " tok/s"
	}
	return text
}

// lanes draws the streams into [top, top + height].
func (f *frame) lanes(t *study.Trace, top, height float64) {
	each := height / math.Max(float64(len(t.Lanes)), 1)
	thick := each
	if each > 3 {
		thick = math.Min(each-1, 14)
	}
	number := 1
	for i, l := range t.Lanes {
		y := top + float64(i)*each
		title := laneWords(l, number)
		number += l.Streams
		x0, x1, x2, x3 := f.x.at(l.Send), f.x.at(l.FirstToken), f.x.at(l.LastToken), f.x.at(l.End)
		if l.Outcome != "ok" {
			f.rect(x0, y, x3-x0, thick, "failed", title)
			continue
		}
		f.rect(x0, y, x1-x0, thick, "wait", title)
		f.rect(x1, y, x2-x1, thick, "decode", title)
		if x3-x2 > 1 {
			f.rect(x2, y, x3-x2, thick, "wait", title)
		}
	}
}

func laneWords(l study.Lane, number int) string {
	who := fmt.Sprintf("Stream %d", number)
	if l.Streams > 1 {
		who = fmt.Sprintf("Streams %d to %d (medians)", number, number+l.Streams-1)
	}
	if l.Outcome != "ok" {
		return who + ": " + l.Outcome
	}
	return fmt.Sprintf("%s: first token after %s, last at %s", who, study.Seconds(l.FirstToken-l.Send), study.Seconds(l.LastToken))
}

// rates draws tokens per second as a filled step line with hover columns.
func (f *frame) rates(t *study.Trace) {
	if len(t.Rates) == 0 {
		return
	}
	bin := t.Seconds / float64(len(t.Rates))
	var top, bottom []point
	for i, r := range t.Rates {
		x0, x1 := float64(i)*bin, float64(i+1)*bin
		top = append(top, f.at(x0, r), f.at(x1, r))
		bottom = append(bottom, f.at(x0, 0), f.at(x1, 0))
	}
	f.area(top, bottom, "fill1", "")
	f.path(top, "stroke1", "")
	for i, r := range t.Rates {
		x0, x1 := f.x.at(float64(i)*bin), f.x.at(float64(i+1)*bin)
		f.rect(x0, f.top, x1-x0, f.bottom-f.top, "hit", fmt.Sprintf("%s: %s tok/s, %s decoding",
			study.Seconds((float64(i)+0.5)*bin), study.Number(r), study.Fixed(t.Active[i], 0)))
	}
}

// timelineRows bounds the table behind the picture.
const timelineRows = 24

func timelineTable(t *study.Trace) *table {
	out := &table{Caption: "Throughput over the iteration", Head: []string{"from (s)", "to (s)", "tok/s", "streams decoding"}}
	per := (len(t.Rates) + timelineRows - 1) / timelineRows
	if per == 0 {
		return nil
	}
	bin := t.Seconds / float64(len(t.Rates))
	for i := 0; i < len(t.Rates); i += per {
		end := min(i+per, len(t.Rates))
		rate, active := mean(t.Rates[i:end]), mean(t.Active[i:end])
		out.Rows = append(out.Rows, row(study.Fixed(float64(i)*bin, 2), study.Fixed(float64(end)*bin, 2), study.Number(rate), study.Fixed(active, 1)))
	}
	return out
}

func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

// ticksFor is the number of ticks that a horizontal axis has room for.
func ticksFor(width float64) int {
	if width < 450 {
		return 5
	}
	if width < 700 {
		return 7
	}
	return 12
}
