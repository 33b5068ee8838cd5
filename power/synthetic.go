package power

import (
	"context"
	"fmt"
	"math"
	"time"
)

// SyntheticConfig describes a machine that does not exist.
type SyntheticConfig struct {
	// Clock is the recording's. Required.
	Clock Clock
	// Devices are its cards.
	Devices []SyntheticDevice
}

// SyntheticDevice is a card with a known load and a sensor with known habits,
// after those of a current NVIDIA card where a field is zero.
type SyntheticDevice struct {
	// UUID and Name identify it; "" gives synthetic-0, synthetic-1 and so on.
	UUID, Name string
	// Load is what it draws. Required.
	Load Load
	// Tick is the time between updates of counter and gauges; 0 means 100 ms.
	Tick time.Duration
	// TickPhase shifts the updates.
	TickPhase time.Duration
	// Average is the span of the trailing mean; 0 means 1 s.
	Average time.Duration
	// RingPeriod and RingDepth describe the ring buffer; 0 means 20 ms and
	// 2.4 s. A negative RingPeriod: no ring buffer.
	RingPeriod, RingDepth time.Duration
	// CounterStart is the counter's value at time zero.
	CounterStart Joules
	// CounterWrap is the value at which it starts again; 0 means never.
	CounterWrap Joules
	// CounterLatency is how long a read of the counter takes.
	CounterLatency time.Duration
	// Gain multiplies what the counter counts, 1 when zero: a sensor that is off.
	Gain float64
	// Scope and MIG are as in [Device]; "" means ScopeGPU.
	Scope Scope
	MIG   bool
	// PowerLimit is the limit it reports; 0: none.
	PowerLimit Watts
	// Gauges are further values that every gauge reading carries.
	Gauges map[Signal]float64
	// Processes are what it reports as running on it.
	Processes []Process
	// Faults are what goes wrong, and when.
	Faults []Fault
}

// Fault is something that goes wrong with a synthetic card between two times.
type Fault struct {
	// Kind says what.
	Kind FaultKind
	// From and To bound it; To 0 means for ever.
	From, To time.Duration
	// Signal is the signal that is missing, for FaultMissing.
	Signal Signal
}

// FaultKind names a fault.
type FaultKind string

// The faults.
const (
	// FaultStuck: the counter stands still.
	FaultStuck FaultKind = "counter_stuck"
	// FaultReset: the counter starts again from zero at From.
	FaultReset FaultKind = "counter_reset"
	// FaultLost: the card does not answer.
	FaultLost FaultKind = "gpu_lost"
	// FaultIdentity: another card answers.
	FaultIdentity FaultKind = "identity"
	// FaultMissing: one signal is not supported.
	FaultMissing FaultKind = "missing"
	// FaultRingLost: the ring buffer loses its entries.
	FaultRingLost FaultKind = "ring_lost"
)

func (f Fault) holds(t time.Duration) bool { return t >= f.From && (f.To == 0 || t < f.To) }

// synthetic is the meter.
type synthetic struct {
	clock   Clock
	desc    Description
	devices []SyntheticDevice
	drained []time.Duration // per device: up to when the ring was read
}

// NewSynthetic returns a meter over invented cards. It is for demonstrations
// and tests; its source says what it is.
func NewSynthetic(cfg SyntheticConfig) Meter {
	m := &synthetic{clock: cfg.Clock, desc: Description{Source: SourceSynthetic}}
	for i, d := range cfg.Devices {
		d.defaults(i)
		m.devices = append(m.devices, d)
		m.desc.Devices = append(m.desc.Devices, d.device(i))
		m.drained = append(m.drained, cfg.Clock.Now()-d.RingDepth)
	}
	return m
}

func (d *SyntheticDevice) defaults(i int) {
	if d.UUID == "" {
		d.UUID = fmt.Sprintf("synthetic-%d", i)
	}
	if d.Name == "" {
		d.Name = "Synthetic GPU"
	}
	if d.Tick == 0 {
		d.Tick = nvidiaUpdate
	}
	if d.Average == 0 {
		d.Average = nvidiaAverage
	}
	if d.RingPeriod == 0 {
		d.RingPeriod = DefaultSamplerPeriod
	}
	if d.RingDepth == 0 {
		d.RingDepth = 2400 * time.Millisecond
	}
	if d.Gain == 0 {
		d.Gain = 1
	}
	if d.Scope == "" {
		d.Scope = ScopeGPU
	}
}

func (d *SyntheticDevice) device(index int) Device {
	dev := Device{
		UUID: d.UUID, Name: d.Name, Index: index, Source: SourceSynthetic, Scope: d.Scope, MIG: d.MIG,
		AverageWindow: d.Average, GaugePeriod: d.Tick, CounterPeriod: d.Tick, CounterWrap: d.CounterWrap,
		RingPeriod: max(0, d.RingPeriod),
		Classes:    []Class{ClassGauges, ClassCounter, ClassProcesses},
	}
	if d.RingPeriod > 0 {
		dev.Classes = append(dev.Classes, ClassRing)
	} else {
		dev.lacks(PowerSample, NotSupported)
	}
	if d.PowerLimit > 0 {
		dev.PowerLimit = &d.PowerLimit
	}
	return dev
}

// Describe implements [Meter].
func (m *synthetic) Describe() Description { return m.desc }

// Close implements [Meter].
func (m *synthetic) Close() error { return nil }

// Read implements [Meter].
func (m *synthetic) Read(ctx context.Context, class Class, device int) []Sample {
	if device < 0 || device >= len(m.devices) || !m.desc.Devices[device].offers(class) {
		return nil
	}
	d := &m.devices[device]
	now := m.clock.Now()
	switch class {
	case ClassGauges:
		return []Sample{d.gauges(now)}
	case ClassCounter:
		return []Sample{m.counter(ctx, d, now)}
	case ClassRing:
		return m.ring(d, device, now)
	case ClassProcesses:
		return d.processes(now)
	default:
		return nil
	}
}

// thousandths rounds as a sensor does that speaks mW and mJ.
func thousandths(x float64) float64 { return math.Round(x*1000) / 1000 }

// fault returns the first fault of a kind that holds at t.
func (d *SyntheticDevice) fault(kind FaultKind, t time.Duration) (Fault, bool) {
	for _, f := range d.Faults {
		if f.Kind == kind && f.holds(t) {
			return f, true
		}
	}
	return Fault{}, false
}

// lastTick returns the last update at or before t.
func (d *SyntheticDevice) lastTick(t time.Duration) time.Duration {
	since := t - d.TickPhase
	n := since / d.Tick
	if since%d.Tick < 0 {
		n--
	}
	return n*d.Tick + d.TickPhase
}

// gauges reads the mean and the present power as of the last update.
func (d *SyntheticDevice) gauges(now time.Duration) Sample {
	s := Sample{Kind: KindGauge, GPU: d.UUID, Before: now, After: now}
	if _, lost := d.fault(FaultLost, now); lost {
		s.miss(AnySignal, GPULost)
		return s
	}
	at := d.lastTick(now)
	set := func(sig Signal, v float64) {
		for _, f := range d.Faults {
			if f.Kind == FaultMissing && f.Signal == sig && f.holds(now) {
				s.miss(sig, NotSupported)
				return
			}
		}
		s.put(sig, v)
	}
	set(PowerAverage, thousandths(float64(d.Load.Energy(at)-d.Load.Energy(at-d.Average))/d.Average.Seconds()))
	set(PowerInstant, thousandths(float64(d.Load.Power(at))))
	for sig, v := range d.Gauges {
		set(sig, v)
	}
	return s
}

// counter reads the energy counter as of the last update.
func (m *synthetic) counter(ctx context.Context, d *SyntheticDevice, now time.Duration) Sample {
	s := Sample{Kind: KindCounter, GPU: d.UUID, Before: now}
	if d.CounterLatency > 0 {
		wait := time.NewTimer(d.CounterLatency)
		defer wait.Stop()
		select {
		case <-wait.C:
		case <-ctx.Done():
		}
	}
	s.After = m.clock.Now()
	if _, lost := d.fault(FaultLost, now); lost {
		s.miss(EnergyCounter, GPULost)
		return s
	}
	at := d.lastTick(s.Mid())
	if f, stuck := d.fault(FaultStuck, at); stuck {
		at = d.lastTick(f.From)
	}
	e := d.CounterStart + Joules(d.Gain)*d.Load.Energy(at)
	if f, reset := d.fault(FaultReset, at); reset {
		e = Joules(d.Gain) * (d.Load.Energy(at) - d.Load.Energy(f.From))
	}
	for d.CounterWrap > 0 && e >= d.CounterWrap {
		e -= d.CounterWrap
	}
	s.Values.Set(EnergyCounter, thousandths(float64(e)))
	return s
}

// ring returns the entries since the last drain that the buffer still holds.
func (m *synthetic) ring(d *SyntheticDevice, device int, now time.Duration) []Sample {
	from := max(m.drained[device], now-d.RingDepth)
	m.drained[device] = now
	var list []Sample
	for t := (from/d.RingPeriod + 1) * d.RingPeriod; t <= now; t += d.RingPeriod {
		_, gone := d.fault(FaultRingLost, t)
		_, lost := d.fault(FaultLost, t)
		if gone || lost || t <= from {
			continue
		}
		s := Sample{Kind: KindRing, GPU: d.UUID, Before: t, After: t, Stamp: m.clock.Origin().Add(t).UnixNano()}
		s.put(PowerSample, thousandths(float64(d.Load.Power(t))))
		list = append(list, s)
	}
	return list
}

func (d *SyntheticDevice) processes(now time.Duration) []Sample {
	s := Sample{Kind: KindProcess, GPU: d.UUID, Before: now, After: now, Note: formatProcesses(d.Processes)}
	if _, lost := d.fault(FaultLost, now); lost {
		s.Note = ""
		s.miss(AnySignal, GPULost)
	}
	if _, other := d.fault(FaultIdentity, now); other {
		f := Sample{Kind: KindFault, GPU: d.UUID, Before: now, After: now, Note: "index 0 was " + d.UUID + " and is another card"}
		f.miss(AnySignal, IdentityChanged)
		return []Sample{s, f}
	}
	return []Sample{s}
}
