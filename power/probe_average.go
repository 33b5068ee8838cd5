package power

import "time"

// The search for the averaging window.
const (
	averageStep = 25 * time.Millisecond
	averageMax  = 2 * time.Second
	// averageContrast is how much the power must vary, relative to its mean,
	// before the fit says anything.
	averageContrast = 0.05
)

// fitAverage finds the span of a trailing mean by comparing the gauge with
// means of the ring buffer's samples over every span up to two seconds: the
// one with the least squared difference is taken. average must be placed by its
// changes: a polled gauge is old by half its period, which would lengthen the
// span. A steady load fits any span, so the power must vary.
func fitAverage(ring, average powerCurve) (*time.Duration, Reason) {
	if len(ring) < 2 || len(average) < 2 {
		return nil, NoData
	}
	from, to := ring[0].t+averageMax, min(ring[len(ring)-1].t, average[len(average)-1].t)
	from = max(from, average[0].t)
	if to-from < time.Second {
		return nil, TooShort
	}
	least, most := ring.extremes(from, to)
	mean := float64(ring.energy(from, to)) / (to - from).Seconds()
	if most-least < averageContrast*mean {
		return nil, NoData
	}
	sums := ring.cumulative()
	best, bestError := time.Duration(0), 0.0
	for w := time.Duration(0); w <= averageMax; w += averageStep {
		e := sums.misfit(average, w, from, to)
		if w == 0 || e < bestError {
			best, bestError = w, e
		}
	}
	return &best, ""
}

// cumulativeCurve is the energy since the first point, at the points.
type cumulativeCurve struct {
	power powerCurve
	sum   powerCurve // w holds joules
}

func (c powerCurve) cumulative() cumulativeCurve {
	sum := make(powerCurve, len(c))
	for i := range c {
		sum[i].t = c[i].t
		if i > 0 {
			sum[i].w = sum[i-1].w + area(c[i-1], c[i])
		}
	}
	return cumulativeCurve{power: c, sum: sum}
}

// misfit returns the mean squared difference between the gauge and the mean of
// the last w before each of its points.
func (c cumulativeCurve) misfit(average powerCurve, w, from, to time.Duration) float64 {
	var sum float64
	n := 0
	for _, p := range average {
		if p.t < from || p.t > to {
			continue
		}
		predicted := c.power.at(p.t)
		if w > 0 {
			predicted = (c.sum.at(p.t) - c.sum.at(p.t-w)) / w.Seconds()
		}
		sum += (predicted - p.w) * (predicted - p.w)
		n++
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}
