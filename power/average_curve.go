package power

import "time"

// newAverageCurve draws A(t), a gauge that shows the mean of the last moments
// and changes every period. Polling finds a new value late, by up to the time
// between two polls, so a value is placed where it appeared: between the last
// read of the old one and the first of the new. A value that outlives a period
// was published again unchanged; it is carried to one period before the next.
func newAverageCurve(gauges []Sample, period time.Duration) powerCurve {
	var c powerCurve
	var prev Sample
	var old float64
	seen := false
	for _, g := range gauges {
		v, ok := g.Values.Get(PowerAverage)
		if !ok {
			continue
		}
		if seen && v == old {
			prev = g
			continue
		}
		t := g.Mid()
		if seen {
			lo := prev.Before
			if period > 0 {
				lo = max(lo, g.Before-period)
			}
			t = lo + (g.After-lo)/2
			if n := len(c); period > 0 && t-c[n-1].t > period+period/2 {
				c = append(c, point{t - period, old})
			}
		}
		c = append(c, point{t, v})
		seen, prev, old = true, g, v
	}
	if n := len(c); n > 0 && prev.Mid() > c[n-1].t {
		c = append(c, point{prev.Mid(), old})
	}
	return c
}

// unaveraged returns the energy between from and to out of the trailing mean
//
//	A(t) = (E(t) − E(t−W)) / W
//
// exactly, but for a rest shorter than W. Whole spans of W telescope from both
// ends of the window:
//
//	from                      p   p+r                         to
//	|--W--|--W--|-- … --W--|--r--|--W--|-- … --W--|
//	  sum of W·A(from+kW)      ↑     sum of W·A(p+r+kW)
//	                 W-mean around the middle × r
//
// and the rest r is put where A is flattest, so that the mean around it is the
// power in it. Integrating A itself would lose W/8 of every step at an end.
// uncertainty covers the rest and the placing of the gauge's updates.
func unaveraged(a powerCurve, w, update, from, to time.Duration) (e, uncertainty Joules, why Reason) {
	n := int((to - from) / w)
	if n < 1 {
		return 0, 0, TooShort
	}
	if !a.covers(from, to) {
		return 0, 0, NotBracketed
	}
	rest := (to - from) - time.Duration(n)*w
	split, slope, ok := flattest(a, w, rest, from, n)
	if !ok {
		return 0, 0, NotBracketed
	}
	p := from + time.Duration(split)*w
	var sum float64
	for k := 1; k <= split; k++ {
		sum += w.Seconds() * a.at(from+time.Duration(k)*w)
	}
	for k := 1; k <= n-split; k++ {
		sum += w.Seconds() * a.at(p+rest+time.Duration(k)*w)
	}
	if rest > 0 {
		sum += rest.Seconds() * a.at(p+rest/2+w/2)
	}
	least, most := a.extremes(from, to)
	doubt := rest.Seconds()*slope/2 + update.Seconds()/2*(most-least)
	return Joules(sum), Joules(doubt), ""
}

// flattest returns the number of whole spans to put before the rest, where the
// means just before and just after it differ least.
func flattest(a powerCurve, w, rest, from time.Duration, n int) (split int, slope float64, ok bool) {
	last := a[len(a)-1].t
	for k := 0; k <= n; k++ {
		mid := from + time.Duration(k)*w + rest/2
		if mid < a[0].t || mid+w > last {
			continue
		}
		s := abs(a.at(mid+w) - a.at(mid))
		if !ok || s < slope {
			split, slope, ok = k, s, true
		}
	}
	return split, slope, ok
}
