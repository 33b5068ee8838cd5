package power

import "time"

// GPUWindow is one device's share of a window. A nil figure was not measured.
type GPUWindow struct {
	UUID  string `json:"uuid"`
	Name  string `json:"name,omitempty"`
	Scope Scope  `json:"scope"`
	// Energy is the best estimate; EnergySource says which signal gave it.
	Energy       *Joules      `json:"energyJoules"`
	Uncertainty  *Joules      `json:"uncertaintyJoules,omitempty"`
	EnergySource EnergySource `json:"energySource"`
	EnergyReason Reason       `json:"energyReason,omitempty"`
	MeanWatts    *Watts       `json:"meanWatts"`
	// Counter, Samples, Average and Instant are the estimates by signal.
	Counter Estimate `json:"counter"`
	Samples Estimate `json:"samples"`
	Average Estimate `json:"average"`
	Instant Estimate `json:"instant"`
	// SamplesDifference and AverageDifference are (that − Energy)/Energy in
	// per cent.
	SamplesDifference *float64 `json:"samplesDifferencePercent"`
	AverageDifference *float64 `json:"averageDifferencePercent"`
	// PeakWatts is the highest ring-buffer sample, else the highest instant
	// gauge; it may exceed the power limit, which regulates a mean.
	PeakWatts *Watts `json:"peakWatts"`
	// PeakSource is the signal's column name.
	PeakSource string `json:"peakSource,omitempty"`
	// IdleWatts is the mean in the caller's idle span.
	IdleWatts *Watts `json:"idleWatts,omitempty"`
	// PowerLimit is the enforced limit.
	PowerLimit *Watts `json:"powerLimitWatts,omitempty"`
	// MemoryUsedPeak and MemoryReserved are in bytes.
	MemoryUsedPeak *float64 `json:"memoryUsedPeakBytes,omitempty"`
	MemoryReserved *float64 `json:"memoryReservedBytes,omitempty"`
	// Clocks and the rest are over the gauges inside the window.
	ClockSM       *Spread `json:"smClockMHz,omitempty"`
	ClockMemory   *Spread `json:"memoryClockMHz,omitempty"`
	Temperature   *Spread `json:"temperatureC,omitempty"`
	Utilization   *Spread `json:"utilizationPercent,omitempty"`
	MemoryWatts   *Spread `json:"memoryWatts,omitempty"`
	DRAMActive    *Spread `json:"dramActivePercent,omitempty"`
	SMActive      *Spread `json:"smActivePercent,omitempty"`
	GaugeReadings int     `json:"gaugeReadings"`
	// Throttle says how the clocks were held back.
	Throttle Throttle `json:"throttle"`
}

// Spread describes a gauge over a window.
type Spread struct {
	Mean  float64 `json:"mean"`
	Min   float64 `json:"min"`
	Max   float64 `json:"max"`
	First float64 `json:"first"`
	Last  float64 `json:"last"`
}

// surroundings is how far around a window its figures look: the trailing mean
// needs its past, and the power beside an edge a second or two.
const surroundings = 10 * time.Second

// window computes the device's share and its doubts.
func (t *Track) window(req WindowRequest) (GPUWindow, []Finding) {
	from, to := req.From, req.To
	whole := t
	t = t.around(from, to)
	g := GPUWindow{
		UUID: t.Device.UUID, Name: t.Device.Name, Scope: t.Device.Scope,
		PowerLimit: t.Device.PowerLimit, EnergySource: EnergyNone,
	}
	var curve counterCurve
	g.Counter, curve = t.byCounter(from, to)
	g.Samples = t.byRing(from, to)
	g.Average = t.byAverage(from, to)
	g.Instant = t.byInstant(from, to)
	g.choose(t.unusable())
	if g.Energy != nil {
		g.MeanWatts = ptr(Watts(float64(*g.Energy) / (to - from).Seconds()))
		g.SamplesDifference = difference(g.Samples, *g.Energy)
		g.AverageDifference = difference(g.Average, *g.Energy)
	}
	if req.IdleTo > req.IdleFrom {
		g.IdleWatts = whole.around(req.IdleFrom, req.IdleTo).meanPower(req.IdleFrom, req.IdleTo)
	}
	t.gaugesInto(&g, from, to)
	g.Throttle = t.throttle(from, to)
	return g, t.findings(req, g, curve)
}

// unusable returns why no energy of this device counts, whatever its signals
// say, or "".
func (t *Track) unusable() Reason {
	for _, f := range t.faults {
		if f.fails(AnySignal) == IdentityChanged {
			return IdentityChanged
		}
	}
	if t.Device.MIG {
		return MIGEnabled
	}
	return ""
}

// choose takes the best estimate there is.
func (g *GPUWindow) choose(unusable Reason) {
	if unusable != "" {
		g.EnergyReason = unusable
		return
	}
	order := []struct {
		Estimate
		source EnergySource
	}{
		{g.Counter, EnergyCounterTicks},
		{g.Samples, EnergySamples},
		{g.Average, EnergyAverage},
		{g.Instant, EnergySamples},
	}
	for _, e := range order {
		if e.Joules == nil {
			if g.EnergyReason == "" || g.EnergyReason == NotSupported || g.EnergyReason == NoData {
				g.EnergyReason = e.Reason
			}
			continue
		}
		g.Energy, g.Uncertainty = e.Joules, e.Uncertainty
		g.EnergySource, g.EnergyReason = e.source, ""
		if g.Scope == ScopeWall {
			g.EnergySource = EnergyExternal
		}
		return
	}
}

// difference returns how far e is from reference, in per cent.
func difference(e Estimate, reference Joules) *float64 {
	if e.Joules == nil || reference <= 0 {
		return nil
	}
	return ptr(100 * float64((*e.Joules-reference)/reference))
}

// meanPower returns the mean power of a span by the best signal, or nil.
func (t *Track) meanPower(from, to time.Duration) *Watts {
	var g GPUWindow
	g.Counter, _ = t.byCounter(from, to)
	g.Samples = t.byRing(from, to)
	g.Average = t.byAverage(from, to)
	g.Instant = t.byInstant(from, to)
	g.choose(t.unusable())
	if g.Energy == nil {
		return nil
	}
	return ptr(Watts(float64(*g.Energy) / (to - from).Seconds()))
}

// gaugesInto fills in what is read off the gauges inside the window.
func (t *Track) gaugesInto(g *GPUWindow, from, to time.Duration) {
	inside := within(t.gauges, from, to)
	g.GaugeReadings = len(inside)
	g.ClockSM = spread(inside, ClockSM)
	g.ClockMemory = spread(inside, ClockMemory)
	g.Temperature = spread(inside, Temperature)
	g.Utilization = spread(inside, Utilization)
	g.MemoryWatts = spread(inside, PowerMemory)
	active := within(t.activity, from, to)
	g.DRAMActive = spread(active, DRAMActive)
	g.SMActive = spread(active, SMActive)
	if m := spread(inside, MemoryUsed); m != nil {
		g.MemoryUsedPeak = &m.Max
	}
	if m := spread(inside, MemoryReserved); m != nil {
		g.MemoryReserved = &m.Max
	}
	if p := spread(within(t.ring, from, to), PowerSample); p != nil {
		g.PeakWatts, g.PeakSource = ptr(Watts(p.Max)), PowerSample.String()
	} else if p := spread(inside, PowerInstant); p != nil {
		g.PeakWatts, g.PeakSource = ptr(Watts(p.Max)), PowerInstant.String()
	}
}

// around returns the part of the track that matters to a window: what a long
// recording holds elsewhere costs nothing. Faults are kept, since a card that
// was exchanged is another card for all of the recording.
func (t *Track) around(from, to time.Duration) *Track {
	cut := func(list []Sample) []Sample {
		return within(list, from-surroundings, to+surroundings)
	}
	return &Track{
		Device: t.Device, faults: t.faults,
		gauges: cut(t.gauges), counter: cut(t.counter), ring: cut(t.ring), activity: cut(t.activity), processes: cut(t.processes),
	}
}

// within returns the samples taken inside [from, to]: a part of list where that
// is in order of time, as it is but for ring buffers over a step of the clock.
func within(list []Sample, from, to time.Duration) []Sample {
	inside := func(s *Sample) bool { m := s.Mid(); return m >= from && m <= to }
	begin := 0
	for begin < len(list) && !inside(&list[begin]) {
		begin++
	}
	end := begin
	for end < len(list) && inside(&list[end]) {
		end++
	}
	part := list[begin:end:end]
	for i := end; i < len(list); i++ {
		if inside(&list[i]) {
			part = append(part, list[i])
		}
	}
	return part
}

// spread summarises one signal; nil when no sample carries it.
func spread(list []Sample, sig Signal) *Spread {
	var s *Spread
	var sum float64
	n := 0
	for i := range list {
		v, ok := list[i].Values.Get(sig)
		if !ok {
			continue
		}
		if s == nil {
			s = &Spread{Min: v, Max: v, First: v}
		}
		s.Min, s.Max, s.Last = min(s.Min, v), max(s.Max, v), v
		sum += v
		n++
	}
	if s != nil {
		s.Mean = sum / float64(n)
	}
	return s
}
