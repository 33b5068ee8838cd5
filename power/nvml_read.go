//go:build linux && cgo

package power

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// gauges reads the fast sensors, power first.
func (m *nvmlMeter) gauges(d *nvmlDevice) Sample {
	s := Sample{Kind: KindGauge, GPU: d.uuid, Before: m.clock.Now()}
	m.readFields(d, &s)
	d.read(&s, d.plain, func() (float64, Reason) {
		var mw uint32
		why := m.ask(symPower, func() (ret nvml.Return) { mw, ret = d.handle.GetPowerUsage(); return ret })
		return float64(mw) / milli, why
	})
	d.read(&s, ThrottleReasons, func() (float64, Reason) { return m.eventReasons(d) })
	d.read(&s, ClockSM, func() (float64, Reason) { return m.clockMHz(d, nvml.CLOCK_SM) })
	d.read(&s, ClockMemory, func() (float64, Reason) { return m.clockMHz(d, nvml.CLOCK_MEM) })
	d.read(&s, Temperature, func() (float64, Reason) {
		var c uint32
		why := m.ask(symTemperature, func() (ret nvml.Return) {
			c, ret = d.handle.GetTemperature(nvml.TEMPERATURE_GPU)
			return ret
		})
		return float64(c), why
	})
	m.memory(d, &s)
	d.read(&s, Utilization, func() (float64, Reason) {
		var u nvml.Utilization
		why := m.ask(symUtilization, func() (ret nvml.Return) { u, ret = d.handle.GetUtilizationRates(); return ret })
		return float64(u.Gpu), why
	})
	s.After = m.clock.Now()
	return lostAsOne(s)
}

// read asks for one signal unless the card does not have it.
func (d *nvmlDevice) read(s *Sample, sig Signal, f func() (float64, Reason)) {
	if sig == AnySignal || d.absent[sig] {
		return
	}
	v, why := f()
	if why != "" {
		s.miss(sig, why)
		return
	}
	s.put(sig, v)
}

// readFields reads the batch; the call may succeed while an element does not.
func (m *nvmlMeter) readFields(d *nvmlDevice, s *Sample) {
	if len(d.fields) == 0 {
		return
	}
	batch := make([]nvml.FieldValue, len(d.fields))
	for i, f := range d.fields {
		batch[i].FieldId, batch[i].ScopeId = f.id, f.scope
	}
	whole := m.ask(symFields, func() nvml.Return { return d.handle.GetFieldValues(batch) })
	for i, f := range d.fields {
		d.read(s, f.signal, func() (float64, Reason) {
			if whole != "" {
				return 0, whole
			}
			if why := nvmlReason(nvml.Return(batch[i].NvmlReturn)); why != "" {
				return 0, why
			}
			v, ok := nvmlValue(nvml.ValueType(batch[i].ValueType), batch[i].Value)
			if !ok {
				return 0, Unreadable
			}
			return v / f.per, ""
		})
	}
}

// eventReasons reads the mask of what holds the clocks back, under the
// function's new or its old name.
func (m *nvmlMeter) eventReasons(d *nvmlDevice) (float64, Reason) {
	var mask uint64
	why := m.ask(symEvent, func() (ret nvml.Return) { mask, ret = d.handle.GetCurrentClocksEventReasons(); return ret })
	if why == SymbolMissing {
		why = m.ask(symThrottle, func() (ret nvml.Return) { mask, ret = d.handle.GetCurrentClocksThrottleReasons(); return ret })
	}
	return float64(mask), why
}

func (m *nvmlMeter) clockMHz(d *nvmlDevice, kind nvml.ClockType) (float64, Reason) {
	var mhz uint32
	why := m.ask(symClock, func() (ret nvml.Return) { mhz, ret = d.handle.GetClockInfo(kind); return ret })
	return float64(mhz), why
}

// memory reads allocated and reserved memory apart; an older driver gives
// their sum, which is then the used one.
func (m *nvmlMeter) memory(d *nvmlDevice, s *Sample) {
	var v2 nvml.Memory_v2
	why := m.ask(symMemory2, func() (ret nvml.Return) { v2, ret = d.handle.GetMemoryInfo_v2(); return ret })
	if why == "" {
		s.put(MemoryUsed, float64(v2.Used))
		s.put(MemoryReserved, float64(v2.Reserved))
		return
	}
	d.read(s, MemoryReserved, func() (float64, Reason) { return 0, why })
	d.read(s, MemoryUsed, func() (float64, Reason) {
		var v1 nvml.Memory
		why := m.ask(symMemory, func() (ret nvml.Return) { v1, ret = d.handle.GetMemoryInfo(); return ret })
		return float64(v1.Used), why
	})
}

// lostAsOne reports a card that fell off its bus once instead of per signal.
func lostAsOne(s Sample) Sample {
	if !s.Values.Empty() || len(s.Missing) == 0 {
		return s
	}
	for _, miss := range s.Missing {
		if miss.Reason != s.Missing[0].Reason {
			return s
		}
	}
	s.Missing = []Missing{{Signal: AnySignal, Reason: s.Missing[0].Reason}}
	return s
}

// countEnergy serves energy reads of one card, on a thread of its own.
func (m *nvmlMeter) countEnergy(d *nvmlDevice) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		select {
		case <-m.closing:
			return
		case reply := <-d.jobs:
			if !m.calls.enter() {
				return
			}
			s := Sample{Kind: KindCounter, GPU: d.uuid, Before: m.clock.Now()}
			e, why := d.energy()
			s.After = m.clock.Now()
			m.calls.leave()
			if why != "" {
				s.miss(EnergyCounter, why)
			} else {
				s.Values.Set(EnergyCounter, float64(e))
			}
			reply <- s
		}
	}
}

// askEnergy hands one read to the card's own goroutine.
func (m *nvmlMeter) askEnergy(ctx context.Context, d *nvmlDevice) []Sample {
	reply := make(chan Sample, 1) // the answer must not wait for a caller who left
	select {
	case d.jobs <- reply:
	case <-m.closing:
		return nil
	case <-ctx.Done():
		return nil
	}
	select {
	case s := <-reply:
		return []Sample{s}
	case <-m.closing:
		return nil
	case <-ctx.Done():
		return nil
	}
}

// ring drains the driver's buffer of power samples.
func (m *nvmlMeter) ring(d *nvmlDevice) []Sample {
	var kind nvml.ValueType
	var entries []nvml.Sample
	now := m.clock.Now()
	why := m.ask(symSamples, func() (ret nvml.Return) {
		kind, entries, ret = d.handle.GetSamples(d.ringOf, d.seen)
		return ret
	})
	if why == NoData {
		return nil // nothing new; the slice that comes with this code is not to be read
	}
	if why != "" {
		s := Sample{Kind: KindRing, GPU: d.uuid, Before: now, After: now}
		s.miss(PowerSample, why)
		return []Sample{s}
	}
	return d.placed(m.clock, kind, entries)
}

// placed turns the new entries into samples on the recording's axis.
func (d *nvmlDevice) placed(clock Clock, kind nvml.ValueType, entries []nvml.Sample) []Sample {
	list := make([]Sample, 0, len(entries))
	seen := d.seen
	for _, e := range entries {
		if e.TimeStamp <= seen || e.TimeStamp > math.MaxInt64/1000 {
			continue
		}
		stamp := int64(e.TimeStamp) * 1000
		at := clock.place(stamp)
		s := Sample{Kind: KindRing, GPU: d.uuid, Before: at, After: at, Stamp: stamp}
		if mw, ok := nvmlValue(kind, e.SampleValue); ok {
			s.put(PowerSample, mw/milli)
		} else {
			s.miss(PowerSample, Unreadable)
		}
		d.seen = max(d.seen, e.TimeStamp)
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b Sample) int { return cmp.Compare(a.Before, b.Before) })
	return list
}

// processes lists the processes on the card and checks that it is still the
// card that was described.
func (m *nvmlMeter) processes(d *nvmlDevice) []Sample {
	s := Sample{Kind: KindProcess, GPU: d.uuid, Before: m.clock.Now()}
	var infos []nvml.ProcessInfo
	why := m.ask(symProcesses, func() (ret nvml.Return) { infos, ret = d.handle.GetComputeRunningProcesses(); return ret })
	s.After = m.clock.Now()
	if why != "" {
		s.miss(AnySignal, why)
	} else {
		s.Note = formatProcesses(nvmlProcesses(infos))
	}
	if fault, changed := m.identity(d); changed {
		return []Sample{s, fault}
	}
	return []Sample{s}
}

func nvmlProcesses(infos []nvml.ProcessInfo) []Process {
	list := make([]Process, len(infos))
	for i, p := range infos {
		list[i] = Process{PID: int(p.Pid), Bytes: -1}
		if p.UsedGpuMemory <= math.MaxInt64 { // all ones: the driver does not say
			list[i].Bytes = int64(p.UsedGpuMemory)
		}
	}
	return list
}

// identity reports that another card answers at this one's index.
func (m *nvmlMeter) identity(d *nvmlDevice) (Sample, bool) {
	now := m.clock.Now()
	fault := Sample{Kind: KindFault, GPU: d.uuid, Before: now, After: now}
	handle, ret := m.lib.DeviceGetHandleByIndex(d.index)
	var uuid string
	if ret == nvml.SUCCESS {
		uuid, ret = handle.GetUUID()
	}
	switch {
	case ret != nvml.SUCCESS:
		why := nvmlReason(ret)
		fault.miss(AnySignal, why)
		fault.Note = fmt.Sprintf("the card at index %d does not answer", d.index)
	case uuid != d.uuid:
		fault.miss(AnySignal, IdentityChanged)
		fault.Note = fmt.Sprintf("index %d was %s and is %s", d.index, d.uuid, uuid)
	default:
		return Sample{}, false
	}
	return fault, true
}
