//go:build linux && cgo

package power

import (
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// nvmlDevice is one card and how it has to be asked.
type nvmlDevice struct {
	handle nvml.Device
	index  int
	uuid   string
	absent map[Signal]bool // not asked for again

	fields  []nvmlField // one batch
	plain   Signal      // signal of GetPowerUsage; AnySignal: not used
	ringOf  nvml.SamplingType
	seen    uint64 // stamp of the last ring entry, µs
	energy  func() (Joules, Reason)
	jobs    chan chan Sample
	gpm     [2]nvml.GpmSample
	gpmHeld bool
	gpmAt   time.Duration // when gpm[0] was taken
}

// nvmlField is one element of a batch of field values.
type nvmlField struct {
	id, scope uint32
	signal    Signal
	per       float64 // units per unit of the signal
}

// nvmlFields are the fields read at the gauges' cadence. Energy is not among
// them: a batch costs as much as its slowest member.
func nvmlFields(scope uint32) []nvmlField {
	return []nvmlField{
		{nvml.FI_DEV_POWER_AVERAGE, scope, PowerAverage, milli},
		{nvml.FI_DEV_POWER_INSTANT, scope, PowerInstant, milli},
		{nvml.FI_DEV_POWER_AVERAGE, nvml.POWER_SCOPE_MEMORY, PowerMemory, milli},
		{nvml.FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP, 0, PowerCappedTime, one},
		{nvml.FI_DEV_CLOCKS_EVENT_REASON_SYNC_BOOST, 0, SyncBoostTime, one},
		{nvml.FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN, 0, ThermalSWTime, one},
		{nvml.FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN, 0, ThermalHWTime, one},
		{nvml.FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN, 0, PowerBrakeTime, one},
	}
}

// openDevice finds out what a card can be asked.
func (m *nvmlMeter) openDevice(index int) (*nvmlDevice, Device, Reason) {
	handle, ret := m.lib.DeviceGetHandleByIndex(index)
	if ret != nvml.SUCCESS {
		return nil, Device{}, nvmlReason(ret)
	}
	uuid, ret := handle.GetUUID()
	if ret != nvml.SUCCESS {
		return nil, Device{}, nvmlReason(ret)
	}
	d := &nvmlDevice{
		handle: handle, index: index, uuid: uuid,
		absent: map[Signal]bool{}, plain: AnySignal, jobs: make(chan chan Sample),
	}
	desc := Device{
		UUID: uuid, Index: index, Source: SourceNVML, Scope: ScopeGPU,
		CounterPeriod: nvidiaUpdate, GaugePeriod: nvidiaUpdate,
	}
	if name, ret := handle.GetName(); ret == nvml.SUCCESS {
		desc.Name = name
	}
	desc.Facts = m.facts(d, desc.Name)
	desc.MIG = desc.Facts["mig.mode.current"] == "Enabled"
	desc.PowerLimit = m.limit(d)

	m.chooseEnergy(d, &desc)
	m.choosePower(d, &desc)
	m.chooseRing(d, &desc)
	m.chooseGauges(d, &desc)
	m.chooseActivity(d, &desc)
	desc.Classes = append(desc.Classes, ClassProcesses)
	return d, desc, ""
}

// limit returns the enforced power limit.
func (m *nvmlMeter) limit(d *nvmlDevice) *Watts {
	var mw uint32
	why := m.ask(symEnforced, func() (ret nvml.Return) { mw, ret = d.handle.GetEnforcedPowerLimit(); return ret })
	if why != "" || mw == 0 {
		return nil
	}
	return ptr(Watts(float64(mw) / milli))
}

// fieldValue reads one field by itself.
func (m *nvmlMeter) fieldValue(d *nvmlDevice, id, scope uint32) (float64, Reason) {
	v := []nvml.FieldValue{{FieldId: id, ScopeId: scope}}
	if why := m.ask(symFields, func() nvml.Return { return d.handle.GetFieldValues(v) }); why != "" {
		return 0, why
	}
	if why := nvmlReason(nvml.Return(v[0].NvmlReturn)); why != "" {
		return 0, why
	}
	x, ok := nvmlValue(nvml.ValueType(v[0].ValueType), v[0].Value)
	if !ok {
		return 0, Unreadable
	}
	return x, ""
}

// chooseEnergy picks the energy call. On a module with a CPU the plain call
// covers the module, so there the scoped field is tried first; which one it
// was stands in the device's scope.
func (m *nvmlMeter) chooseEnergy(d *nvmlDevice, desc *Device) {
	plain := func() (e Joules, why Reason) {
		var mj uint64
		why = m.ask(symEnergy, func() (ret nvml.Return) { mj, ret = d.handle.GetTotalEnergyConsumption(); return ret })
		return Joules(float64(mj) / milli), why
	}
	field := func(scope uint32) func() (Joules, Reason) {
		return func() (Joules, Reason) {
			mj, why := m.fieldValue(d, nvml.FI_DEV_ENERGY, scope)
			return Joules(mj / milli), why
		}
	}
	type choice struct {
		read  func() (Joules, Reason)
		scope Scope
	}
	choices := []choice{{plain, ScopeGPU}, {field(nvml.POWER_SCOPE_GPU), ScopeGPU}}
	if _, why := m.fieldValue(d, nvml.FI_DEV_POWER_AVERAGE, nvml.POWER_SCOPE_MODULE); why == "" {
		choices = []choice{{field(nvml.POWER_SCOPE_GPU), ScopeGPU}, {field(nvml.POWER_SCOPE_MODULE), ScopeModule}, {plain, ScopeModule}}
	}
	var why Reason
	for _, c := range choices {
		if _, why = c.read(); why == "" {
			d.energy, desc.Scope = c.read, c.scope
			desc.Classes = append(desc.Classes, ClassCounter)
			return
		}
	}
	desc.lacks(EnergyCounter, why)
}

// choosePower picks the power fields, of the same scope as the energy.
func (m *nvmlMeter) choosePower(d *nvmlDevice, desc *Device) {
	scope := uint32(nvml.POWER_SCOPE_GPU)
	if desc.Scope == ScopeModule {
		scope = nvml.POWER_SCOPE_MODULE
	}
	have := map[Signal]bool{}
	for _, f := range nvmlFields(scope) {
		_, why := m.fieldValue(d, f.id, f.scope)
		if permanent(why) {
			d.absent[f.signal] = true
			desc.lacks(f.signal, why)
			continue
		}
		have[f.signal] = true
		d.fields = append(d.fields, f)
	}
	if have[PowerAverage] {
		desc.AverageWindow = nvidiaAverage
		return
	}
	// An older driver has GetPowerUsage alone: a mean of one second from
	// compute capability 8.6 on, the present power before.
	if desc.Scope == ScopeModule || !m.symbols[symPower] {
		return
	}
	signal := PowerInstant
	if averagesPower(desc.Facts["compute_cap"]) {
		signal = PowerAverage
		desc.AverageWindow = nvidiaAverage
	}
	if have[signal] {
		return
	}
	d.plain = signal
	delete(desc.Unavailable, signal.String())
	d.absent[signal] = false
}

// chooseRing looks whether the driver keeps power samples.
func (m *nvmlMeter) chooseRing(d *nvmlDevice, desc *Device) {
	d.ringOf = nvml.TOTAL_POWER_SAMPLES
	if desc.Scope == ScopeModule {
		d.ringOf = nvml.MODULE_POWER_SAMPLES
	}
	why := m.ask(symSamples, func() nvml.Return {
		_, _, ret := d.handle.GetSamples(d.ringOf, 0)
		return ret
	})
	if permanent(why) {
		desc.lacks(PowerSample, why)
		return
	}
	desc.RingPeriod = DefaultSamplerPeriod
	desc.Classes = append(desc.Classes, ClassRing)
}

// chooseGauges reads the gauges once: what this card never has is not asked
// for again.
func (m *nvmlMeter) chooseGauges(d *nvmlDevice, desc *Device) {
	for _, miss := range m.gauges(d).Missing {
		if permanent(miss.Reason) && miss.Signal != AnySignal {
			d.absent[miss.Signal] = true
			desc.lacks(miss.Signal, miss.Reason)
		}
	}
	desc.Classes = append(desc.Classes, ClassGauges)
}
