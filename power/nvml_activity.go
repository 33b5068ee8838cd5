//go:build linux && cgo

package power

import "github.com/NVIDIA/go-nvml/pkg/nvml"

// chooseActivity looks whether the card has performance metrics (Hopper and
// newer) and prepares the two samples they are the difference of.
func (m *nvmlMeter) chooseActivity(d *nvmlDevice, desc *Device) {
	why := SymbolMissing
	if m.symbols[symGPMAlloc] && m.symbols[symGPMFree] && m.symbols[symGPMGet] && m.symbols[symGPMMetrics] {
		var support nvml.GpmSupport
		why = m.ask(symGPMSupport, func() (ret nvml.Return) { support, ret = d.handle.GpmQueryDeviceSupport(); return ret })
		if why == "" && support.IsSupportedDevice == 0 {
			why = NotSupported
		}
	}
	for i := range d.gpm {
		if why == "" {
			var ret nvml.Return
			d.gpm[i], ret = m.lib.GpmSampleAlloc()
			why = nvmlReason(ret)
		}
	}
	if why != "" {
		d.freeActivity()
		desc.lacks(DRAMActive, why)
		desc.lacks(SMActive, why)
		return
	}
	desc.Classes = append(desc.Classes, ClassActivity)
}

// freeActivity gives the samples back.
func (d *nvmlDevice) freeActivity() {
	for i, s := range d.gpm {
		if s != nil {
			s.Free()
		}
		d.gpm[i] = nil
	}
}

// activity returns the mean activity since the last call; the first call only
// begins. Its bracket is the span of the mean.
func (m *nvmlMeter) activity(d *nvmlDevice) []Sample {
	now := m.clock.Now()
	s := Sample{Kind: KindActivity, GPU: d.uuid, Before: d.gpmAt, After: now}
	fail := func(why Reason) []Sample {
		d.gpmHeld = false
		s.Before = now
		s.miss(DRAMActive, why)
		s.miss(SMActive, why)
		return []Sample{s}
	}
	if why := nvmlReason(d.handle.GpmSampleGet(d.gpm[1])); why != "" {
		return fail(why)
	}
	begun := d.gpmHeld
	d.gpm[0], d.gpm[1] = d.gpm[1], d.gpm[0]
	d.gpmHeld, d.gpmAt = true, now
	if !begun {
		return nil
	}
	get := nvml.GpmMetricsGetType{NumMetrics: 2, Sample1: d.gpm[1], Sample2: d.gpm[0]}
	get.Metrics[0].MetricId = uint32(nvml.GPM_METRIC_DRAM_BW_UTIL)
	get.Metrics[1].MetricId = uint32(nvml.GPM_METRIC_SM_UTIL)
	if why := nvmlReason(m.lib.GpmMetricsGet(&get)); why != "" {
		return fail(why)
	}
	for i, sig := range []Signal{DRAMActive, SMActive} {
		if why := nvmlReason(nvml.Return(get.Metrics[i].NvmlReturn)); why != "" {
			s.miss(sig, why)
			continue
		}
		s.put(sig, get.Metrics[i].Value)
	}
	return []Sample{s}
}
