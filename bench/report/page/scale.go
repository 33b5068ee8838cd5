package page

import (
	"math"
	"strconv"
	"strings"

	"lmxbench/bench/report/study"
)

// scale maps values to pixels, linearly or by logarithm.
type scale struct {
	low, high float64 // domain
	from, to  float64 // pixels
	log       bool
}

// at is the pixel of a value, held within the scale.
func (s scale) at(v float64) float64 {
	low, high := s.low, s.high
	if s.log {
		low, high, v = math.Log(low), math.Log(high), math.Log(math.Max(v, math.SmallestNonzeroFloat64))
	}
	share := 0.5
	if high > low {
		share = math.Min(math.Max((v-low)/(high-low), 0), 1)
	}
	return s.from + share*(s.to-s.from)
}

// tick is a value with its label.
type tick struct {
	value float64
	label string
}

// zeroTo is the domain from zero to a round value at or above high.
func zeroTo(high float64, most int) (low, top float64, ticks []tick) {
	if !(high > 0) {
		high = 1
	}
	step := niceStep(high / float64(most))
	top = math.Ceil(high/step-1e-9) * step
	return 0, top, linearTicks(0, top, step)
}

// niceStep is the least of 1, 2, 2.5 and 5 times a power of ten not below x.
func niceStep(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 2.5, 5} {
		if m*power >= x*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

func linearTicks(low, high, step float64) (ticks []tick) {
	decimals := 0
	for d := step; decimals < 6 && math.Abs(d-math.Round(d)) > 1e-9*math.Max(1, d); d *= 10 {
		decimals++
	}
	for i := 0; ; i++ {
		v := low + float64(i)*step
		if v > high*(1+1e-9) {
			return ticks
		}
		ticks = append(ticks, tick{v, study.Fixed(v, decimals)})
	}
}

// linearBetween is a domain with round ends around low and high, which need not
// be positive.
func linearBetween(low, high float64, most int) (bottom, top float64, ticks []tick) {
	if high <= low {
		low, high = low-1, high+1
	}
	step := niceStep((high - low) / float64(most))
	bottom, top = math.Floor(low/step+1e-9)*step, math.Ceil(high/step-1e-9)*step
	return bottom, top, linearTicks(bottom, top, step)
}

// logBetween is a logarithmic domain around positive values, with ticks at 1,
// 2 and 5 or at powers of ten, no more than most.
func logBetween(low, high float64, most int) (bottom, top float64, ticks []tick) {
	if !(low > 0) {
		low = high / 1000
	}
	if !(low > 0) || !(high > 0) {
		low, high = 1, 10
	}
	bottom, top = roundLog(low, math.Floor), roundLog(high, math.Ceil)
	if top <= bottom {
		bottom, top = bottom/2, top*2
	}
	for _, mantissas := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		ticks = nil
		for e := math.Floor(math.Log10(bottom)); e <= math.Ceil(math.Log10(top)); e++ {
			for _, m := range mantissas {
				if v := m * math.Pow(10, e); v >= bottom*(1-1e-9) && v <= top*(1+1e-9) {
					ticks = append(ticks, tick{v, plainNumber(v)})
				}
			}
		}
		if len(ticks) <= most && len(ticks) > 1 {
			return bottom, top, ticks
		}
	}
	// Still too many decades: every second, third, … power of ten.
	for every := 2; len(ticks) > most; every++ {
		var fewer []tick
		for i, t := range ticks {
			if i%every == 0 {
				fewer = append(fewer, t)
			}
		}
		if len(fewer) <= most || every > 20 {
			return bottom, top, fewer
		}
	}
	return bottom, top, ticks
}

// roundLog rounds to 1, 2 or 5 times a power of ten in the direction of round.
func roundLog(v float64, round func(float64) float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)+1e-12))
	steps := []float64{1, 2, 5, 10}
	up := round(0.5) == 1
	best := steps[0]
	if up {
		best = steps[3]
		for i := 3; i >= 0; i-- {
			if steps[i]*power >= v*(1-1e-9) {
				best = steps[i]
			}
		}
		return best * power
	}
	for _, s := range steps {
		if s*power <= v*(1+1e-9) {
			best = s
		}
	}
	return best * power
}

// plainNumber writes a tick value in full: 0.001, 20, 5,000.
func plainNumber(v float64) string {
	text := strconv.FormatFloat(v, 'f', -1, 64)
	if whole, fraction, ok := strings.Cut(text, "."); ok {
		if len(fraction) > 6 {
			return strconv.FormatFloat(v, 'g', 3, 64)
		}
		_ = whole
		return text
	}
	return study.Fixed(v, 0)
}

// thin drops ticks whose labels would touch, keeping the first and the last.
func thin(ticks []tick, s scale, horizontal bool) (kept []tick) {
	room := func(t tick) float64 {
		if horizontal {
			return textWidth(t.label)/2 + 5
		}
		return 8
	}
	for i, t := range ticks {
		if i > 0 && i < len(ticks)-1 {
			last := ticks[len(ticks)-1]
			near := math.Abs(s.at(t.value)-s.at(kept[len(kept)-1].value)) < room(t)+room(kept[len(kept)-1])
			nearLast := math.Abs(s.at(t.value)-s.at(last.value)) < room(t)+room(last)
			if near || nearLast {
				continue
			}
		}
		kept = append(kept, t)
	}
	if n := len(kept); n > 2 && math.Abs(s.at(kept[n-1].value)-s.at(kept[n-2].value)) < room(kept[n-1])+room(kept[n-2]) {
		kept = append(kept[:n-2], kept[n-1])
	}
	return kept
}

// textWidth estimates the width of a label at the size of the charts, in a wide
// font: the reader's is not known.
func textWidth(text string) float64 {
	width := 0.0
	for _, r := range text {
		switch {
		case strings.ContainsRune(" .,:;'|il1jtfrI()", r):
			width += 4.6
		case r >= 'A' && r <= 'Z' || r == 'm' || r == 'w' || r == '%':
			width += 9.6
		default:
			width += 7.1
		}
	}
	return width
}
