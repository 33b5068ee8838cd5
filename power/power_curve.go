package power

import (
	"cmp"
	"slices"
	"sort"
	"time"
)

// point is a power at an instant.
type point struct {
	t time.Duration
	w float64
}

// powerCurve is power over time, linear between its points.
type powerCurve []point

// newPowerCurve takes the values of sig out of samples, placed by the middle
// of their call and sorted; a second value at the same instant is dropped.
func newPowerCurve(samples []Sample, sig Signal) powerCurve {
	c := make(powerCurve, 0, len(samples))
	for i := range samples {
		if v, ok := samples[i].Values.Get(sig); ok {
			c = append(c, point{samples[i].Mid(), v})
		}
	}
	slices.SortStableFunc(c, func(a, b point) int { return cmp.Compare(a.t, b.t) })
	return slices.CompactFunc(c, func(a, b point) bool { return a.t == b.t })
}

// covers reports whether there is a point on each side of [from, to].
func (c powerCurve) covers(from, to time.Duration) bool {
	return len(c) > 1 && c[0].t <= from && c[len(c)-1].t >= to
}

// at returns the power at t, which must lie between the first and last point.
func (c powerCurve) at(t time.Duration) float64 {
	k := sort.Search(len(c), func(i int) bool { return c[i].t >= t })
	if k == 0 || c[k].t == t {
		return c[k].w
	}
	a, b := c[k-1], c[k]
	f := float64(t-a.t) / float64(b.t-a.t)
	return a.w + f*(b.w-a.w)
}

// energy integrates from one time to another by trapezoids, the ends
// interpolated. The curve must cover both.
func (c powerCurve) energy(from, to time.Duration) Joules {
	var sum float64
	last := point{from, c.at(from)}
	k := sort.Search(len(c), func(i int) bool { return c[i].t > from })
	for ; k < len(c) && c[k].t < to; k++ {
		sum += area(last, c[k])
		last = c[k]
	}
	return Joules(sum + area(last, point{to, c.at(to)}))
}

func area(a, b point) float64 {
	return (a.w + b.w) / 2 * (b.t - a.t).Seconds()
}

// widestGap returns the longest time between neighbouring points that touch
// [from, to].
func (c powerCurve) widestGap(from, to time.Duration) time.Duration {
	var widest time.Duration
	for i := 1; i < len(c); i++ {
		if c[i].t > from && c[i-1].t < to {
			widest = max(widest, c[i].t-c[i-1].t)
		}
	}
	return widest
}

// spacing returns the median time between neighbouring points, 0 without two.
func (c powerCurve) spacing() time.Duration {
	gaps := make([]time.Duration, 0, len(c))
	for i := 1; i < len(c); i++ {
		gaps = append(gaps, c[i].t-c[i-1].t)
	}
	return medianDuration(gaps)
}

// extremes returns the least and the greatest power at and between from and to.
func (c powerCurve) extremes(from, to time.Duration) (least, most float64) {
	least, most = c.at(from), c.at(from)
	for _, p := range c {
		if p.t >= from && p.t <= to {
			least, most = min(least, p.w), max(most, p.w)
		}
	}
	end := c.at(to)
	return min(least, end), max(most, end)
}

// medianDuration sorts d and returns its middle, 0 when it is empty.
func medianDuration(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	m := len(d) / 2
	if len(d)%2 == 1 {
		return d[m]
	}
	return (d[m-1] + d[m]) / 2
}
