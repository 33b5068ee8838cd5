package power

import (
	"context"
	"slices"
	"time"
)

// ProbeConfig says how long to watch a card's sensors.
type ProbeConfig struct {
	// Clock must be the meter's. Required.
	Clock Clock
	// Duration is the time spent per device; 0 means 20 s. The averaging
	// window can only be found when the load changes meanwhile.
	Duration time.Duration
	// Poll is the pause between two readings; 0 means 1 ms.
	Poll time.Duration
}

// ProbeResult is how the sensors of a machine behave.
type ProbeResult struct {
	Source  Source        `json:"source"`
	Version string        `json:"version,omitempty"`
	Devices []DeviceProbe `json:"devices"`
}

// DeviceProbe is how one card's sensors behave.
type DeviceProbe struct {
	UUID  string `json:"uuid"`
	Name  string `json:"name"`
	Scope Scope  `json:"scope"`
	// Signals holds, by column name, how often a signal changes.
	Signals map[string]SignalProbe `json:"signals"`
	// Calls holds, by class, how long a read takes.
	Calls map[Class]CallProbe `json:"calls"`
	// Ring describes the driver's ring buffer.
	Ring RingProbe `json:"ring"`
	// AverageWindow is the span of the mean power gauge.
	AverageWindow *time.Duration `json:"averageWindowNs"`
	// AverageReason says why it is nil.
	AverageReason Reason `json:"averageReason,omitempty"`
	// AliasPeriods are the load periods at which the sensor reads wrong.
	AliasPeriods []time.Duration `json:"aliasPeriodsNs"`
	// MeanWatts is the mean of the readings, for orientation.
	MeanWatts *Watts `json:"meanWatts"`
}

// SignalProbe is how often a signal changes.
type SignalProbe struct {
	// Update is the median time between two changes; nil when fewer than three
	// were seen.
	Update *time.Duration `json:"updateNs"`
	// Changes counts them.
	Changes int `json:"changes"`
	// Reason says why Update is nil.
	Reason Reason `json:"reason,omitempty"`
}

// CallProbe is how long a read takes.
type CallProbe struct {
	Count int           `json:"count"`
	P50   time.Duration `json:"p50Ns"`
	P90   time.Duration `json:"p90Ns"`
	P99   time.Duration `json:"p99Ns"`
	Max   time.Duration `json:"maxNs"`
}

// RingProbe describes the driver's ring buffer.
type RingProbe struct {
	// Spacing is the median time between entries, P5 and P95 its range.
	Spacing *time.Duration `json:"spacingNs"`
	P5      time.Duration  `json:"p5Ns,omitempty"`
	P95     time.Duration  `json:"p95Ns,omitempty"`
	// Depth is the span that the first drain held: how far back it reaches.
	Depth time.Duration `json:"depthNs,omitempty"`
	// Entries counts the first drain.
	Entries int `json:"entries"`
	// Reason says why Spacing is nil.
	Reason Reason `json:"reason,omitempty"`
}

// Probe measures how the sensors behave: update periods, averaging window,
// ring buffer and the length of a call. It reads as fast as it may, one device
// after the other, and ends early with ctx. No other reader of the meter may
// be active.
func Probe(ctx context.Context, m Meter, cfg ProbeConfig) ProbeResult {
	if cfg.Duration <= 0 {
		cfg.Duration = 20 * time.Second
	}
	if cfg.Poll <= 0 {
		cfg.Poll = time.Millisecond
	}
	desc := m.Describe()
	res := ProbeResult{Source: desc.Source, Version: desc.Version, Devices: []DeviceProbe{}}
	for i, d := range desc.Devices {
		res.Devices = append(res.Devices, probeDevice(ctx, m, cfg, i, d))
	}
	return res
}

// probeDevice watches one device: gauges and ring buffer for the first two
// thirds of the time, the counter for the rest.
func probeDevice(ctx context.Context, m Meter, cfg ProbeConfig, i int, d Device) DeviceProbe {
	t := &Track{Device: d}
	p := DeviceProbe{UUID: d.UUID, Name: d.Name, Scope: d.Scope, Signals: map[string]SignalProbe{}, Calls: map[Class]CallProbe{}}
	latency := map[Class][]time.Duration{}
	pause := max(cfg.Poll, d.ReadPeriod)
	read := func(class Class) []Sample {
		before := cfg.Clock.Now()
		list := m.Read(ctx, class, i)
		latency[class] = append(latency[class], cfg.Clock.Now()-before)
		return list
	}
	first := read(ClassRing)
	t.ring = ringOf(first)
	p.Ring.Entries = len(t.ring)
	if n := len(t.ring); n > 1 {
		p.Ring.Depth = t.ring[n-1].Before - t.ring[0].Before
	}
	start := cfg.Clock.Now()
	drained := start
	for cfg.Clock.Now()-start < cfg.Duration*2/3 && ctx.Err() == nil {
		t.gauges = append(t.gauges, gaugesOf(read(ClassGauges))...)
		if cfg.Clock.Now()-drained >= time.Second {
			drained = cfg.Clock.Now()
			list := read(ClassRing)
			t.ring = append(t.ring, ringOf(list)...)
			t.gauges = append(t.gauges, gaugesOf(list)...) // an nvidia-smi child drains gauges
		}
		pauseFor(ctx, pause)
	}
	for cfg.Clock.Now()-start < cfg.Duration && d.offers(ClassCounter) && ctx.Err() == nil {
		t.counter = append(t.counter, read(ClassCounter)...)
		pauseFor(ctx, pause)
	}
	p.fill(t)
	for class, times := range latency {
		if d.offers(class) {
			p.Calls[class] = callProbe(times)
		}
	}
	return p
}

// pauseFor sleeps, or less when ctx ends.
func pauseFor(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func ringOf(list []Sample) []Sample   { return ofKind(list, KindRing) }
func gaugesOf(list []Sample) []Sample { return ofKind(list, KindGauge) }

func ofKind(list []Sample, kind Kind) []Sample {
	return slices.DeleteFunc(slices.Clone(list), func(s Sample) bool { return s.Kind != kind })
}

// fill derives the figures from what was seen.
func (p *DeviceProbe) fill(t *Track) {
	for _, sig := range []Signal{PowerAverage, PowerInstant, PowerMemory, Utilization} {
		p.Signals[sig.String()] = signalProbe(t.gauges, sig)
	}
	p.Signals[EnergyCounter.String()] = signalProbe(t.counter, EnergyCounter)

	ring := newPowerCurve(t.ring, PowerSample)
	gaps := make([]time.Duration, 0, len(ring))
	for i := 1; i < len(ring); i++ {
		gaps = append(gaps, ring[i].t-ring[i-1].t)
	}
	if len(gaps) < 3 {
		p.Ring.Reason = firstReason(t.ring, PowerSample, 0, 1<<62, NoData)
	} else {
		slices.Sort(gaps)
		p.Ring.Spacing = ptr(medianDuration(gaps))
		p.Ring.P5, p.Ring.P95 = rank(gaps, 0.05), rank(gaps, 0.95)
	}
	p.AverageWindow, p.AverageReason = fitAverage(ring, newAverageCurve(t.gauges, 0))

	sampler := DefaultSamplerPeriod
	if p.Ring.Spacing != nil {
		sampler = p.Ring.Spacing.Round(time.Millisecond)
	}
	for _, k := range aliasMultiples {
		p.AliasPeriods = append(p.AliasPeriods, time.Duration(k*float64(sampler)))
	}
	if s := spread(t.gauges, PowerAverage); s != nil {
		p.MeanWatts = ptr(Watts(s.Mean))
	} else if s := spread(t.gauges, PowerInstant); s != nil {
		p.MeanWatts = ptr(Watts(s.Mean))
	}
}

// signalProbe times the changes of a signal.
func signalProbe(list []Sample, sig Signal) SignalProbe {
	var p SignalProbe
	var gaps []time.Duration
	var last float64
	var changed time.Duration
	seen := 0
	for i := range list {
		v, ok := list[i].Values.Get(sig)
		if !ok {
			continue
		}
		if seen++; seen > 1 && v != last {
			if p.Changes++; p.Changes > 1 {
				gaps = append(gaps, list[i].Mid()-changed)
			}
			changed = list[i].Mid()
		}
		last = v
	}
	switch {
	case seen == 0:
		p.Reason = firstReason(list, sig, 0, 1<<62, NoData)
	case p.Changes < 3:
		p.Reason = CounterStuck
		if sig != EnergyCounter {
			p.Reason = NoData
		}
	default:
		p.Update = ptr(medianDuration(gaps))
	}
	return p
}

func callProbe(times []time.Duration) CallProbe {
	slices.Sort(times)
	return CallProbe{
		Count: len(times), P50: rank(times, 0.5), P90: rank(times, 0.9), P99: rank(times, 0.99), Max: rank(times, 1),
	}
}

// rank returns the value at a share of a sorted list.
func rank(sorted []time.Duration, share float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}
