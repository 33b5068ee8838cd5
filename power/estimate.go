package power

import "time"

// EnergySource says how an energy was obtained.
type EnergySource string

// The energy sources, from the best to none.
const (
	EnergyCounterTicks EnergySource = "counter"
	EnergySamples      EnergySource = "samples"
	EnergyAverage      EnergySource = "average_integrated"
	EnergyExternal     EnergySource = "external"
	EnergyNone         EnergySource = "none"
)

// weaker returns the worse of two sources, or b when there is no a yet.
func weaker(a, b EnergySource, first bool) EnergySource {
	order := []EnergySource{EnergyExternal, EnergyCounterTicks, EnergySamples, EnergyAverage, EnergyNone}
	if first {
		return b
	}
	for i := len(order) - 1; i >= 0; i-- {
		if a == order[i] || b == order[i] {
			return order[i]
		}
	}
	return b
}

// Estimate is the energy of a window by one signal.
type Estimate struct {
	// Joules is nil when the signal cannot say.
	Joules *Joules `json:"joules"`
	// Uncertainty bounds the timing error.
	Uncertainty *Joules `json:"uncertaintyJoules,omitempty"`
	// Reason says why Joules is nil.
	Reason Reason `json:"reason,omitempty"`
}

func missing(why Reason) Estimate { return Estimate{Reason: why} }

func estimated(e, uncertainty Joules) Estimate {
	return Estimate{Joules: &e, Uncertainty: &uncertainty}
}

// The longest holes that are still interpolated over.
const (
	maxTickGap  = 3 * time.Second        // counter, at an end of the window
	maxRingGap  = 250 * time.Millisecond // ring buffer: a drain came too late
	maxGaugeGap = 3 * time.Second        // gauges, at the slowest useful cadence
)

// byCounter computes E(to) − E(from) from the ticks of the energy counter.
func (t *Track) byCounter(from, to time.Duration) (Estimate, counterCurve) {
	if why, ok := t.Device.Unavailable[EnergyCounter.String()]; ok {
		return missing(why), counterCurve{}
	}
	c := newCounterCurve(t.counter, t.Device)
	a, b, ok := c.between(from, to)
	switch {
	case c.fellWithin(from, to):
		return missing(CounterBackwards), c
	case c.stuckWithin(from, to):
		return missing(CounterStuck), c
	case !ok && len(t.counter) == 0:
		return missing(NoData), c
	case !ok:
		return missing(firstReason(t.counter, EnergyCounter, from, to, NotBracketed)), c
	case a.gap > maxTickGap || b.gap > maxTickGap:
		return missing(Gap), c
	default:
		return estimated(b.e-a.e, a.uncertainty+b.uncertainty), c
	}
}

func (c counterCurve) fellWithin(from, to time.Duration) bool {
	for _, t := range c.backwards {
		if t > from && t < to {
			return true
		}
	}
	return false
}

func (c counterCurve) stuckWithin(from, to time.Duration) bool {
	for _, s := range c.stuck {
		if s.meets(from, to) {
			return true
		}
	}
	return false
}

// byRing integrates the driver's 20 ms samples.
func (t *Track) byRing(from, to time.Duration) Estimate {
	if why, ok := t.Device.Unavailable[PowerSample.String()]; ok {
		return missing(why)
	}
	c := newPowerCurve(t.ring, PowerSample)
	switch {
	case len(c) == 0:
		return missing(firstReason(t.ring, PowerSample, from, to, NoData))
	case !c.covers(from, to):
		return missing(NotBracketed)
	case c.widestGap(from, to) > maxRingGap:
		return missing(Gap)
	default:
		return estimated(c.energy(from, to), 0)
	}
}

// byAverage undoes the trailing mean where its span is known and integrates
// the gauge as it stands where it is not.
func (t *Track) byAverage(from, to time.Duration) Estimate {
	if why, ok := t.Device.Unavailable[PowerAverage.String()]; ok {
		return missing(why)
	}
	raw := newPowerCurve(t.gauges, PowerAverage)
	switch {
	case len(raw) == 0:
		return missing(firstReason(t.gauges, PowerAverage, from, to, NoData))
	case !raw.covers(from, to):
		return missing(NotBracketed)
	case raw.widestGap(from, to) > maxGaugeGap:
		return missing(Gap)
	}
	if t.Device.AverageWindow <= 0 {
		return t.plain(raw, from, to)
	}
	a := newAverageCurve(t.gauges, t.Device.GaugePeriod)
	update := max(t.Device.GaugePeriod, raw.spacing())
	e, doubt, why := unaveraged(a, t.Device.AverageWindow, update, from, to)
	if why != "" {
		return missing(why)
	}
	return estimated(e, doubt)
}

// byInstant integrates the short samples of the present power.
func (t *Track) byInstant(from, to time.Duration) Estimate {
	if why, ok := t.Device.Unavailable[PowerInstant.String()]; ok {
		return missing(why)
	}
	c := newPowerCurve(t.gauges, PowerInstant)
	switch {
	case len(c) == 0:
		return missing(firstReason(t.gauges, PowerInstant, from, to, NoData))
	case !c.covers(from, to):
		return missing(NotBracketed)
	case c.widestGap(from, to) > maxGaugeGap:
		return missing(Gap)
	default:
		return t.plain(c, from, to)
	}
}

// plain integrates a curve; half a step of its spacing at each end is open.
func (t *Track) plain(c powerCurve, from, to time.Duration) Estimate {
	least, most := c.extremes(from, to)
	return estimated(c.energy(from, to), Joules((most-least)*c.spacing().Seconds()/2))
}

// firstReason returns what the samples in [from, to] say about sig, or other.
func firstReason(list []Sample, sig Signal, from, to time.Duration, other Reason) Reason {
	for i := range list {
		if list[i].After < from || list[i].Before > to {
			continue
		}
		if why := list[i].fails(sig); why != "" {
			return why
		}
	}
	return other
}
