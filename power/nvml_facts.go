//go:build linux && cgo

package power

import (
	"fmt"
	"strconv"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// facts collects the static properties under nvidia-smi's names and units.
// What the card does not report is left out.
func (m *nvmlMeter) facts(d *nvmlDevice, name string) map[string]string {
	f := map[string]string{
		"index": strconv.Itoa(d.index), "uuid": d.uuid, "name": name, "driver_version": m.desc.Version,
	}
	number := func(key, symbol string, per float64, get func() (uint32, nvml.Return)) {
		var v uint32
		if m.ask(symbol, func() (ret nvml.Return) { v, ret = get(); return ret }) == "" {
			f[key] = strconv.FormatFloat(float64(v)/per, 'f', -1, 64)
		}
	}
	count := func(key, symbol string, get func() (int, nvml.Return)) {
		number(key, symbol, one, func() (uint32, nvml.Return) { v, ret := get(); return uint32(v), ret })
	}
	number("power.limit", symLimit, milli, d.handle.GetPowerManagementLimit)
	number("enforced.power.limit", symEnforced, milli, d.handle.GetEnforcedPowerLimit)
	number("power.default_limit", symDefault, milli, d.handle.GetPowerManagementDefaultLimit)
	number("clocks.max.sm", symMaxClock, one, func() (uint32, nvml.Return) { return d.handle.GetMaxClockInfo(nvml.CLOCK_SM) })
	number("clocks.max.memory", symMaxClock, one, func() (uint32, nvml.Return) { return d.handle.GetMaxClockInfo(nvml.CLOCK_MEM) })
	number("memory.bus_width", symBusWidth, one, d.handle.GetMemoryBusWidth)
	count("pcie.link.gen.current", symLinkGen, d.handle.GetCurrPcieLinkGeneration)
	count("pcie.link.gen.max", symLinkGenMax, d.handle.GetMaxPcieLinkGeneration)
	count("pcie.link.width.current", symLinkWidth, d.handle.GetCurrPcieLinkWidth)
	count("pcie.link.width.max", symLinkWideMax, d.handle.GetMaxPcieLinkWidth)
	m.moreFacts(d, f)
	return f
}

// moreFacts adds those that need more than one number.
func (m *nvmlMeter) moreFacts(d *nvmlDevice, f map[string]string) {
	var lowest, highest uint32
	if m.ask(symConstraints, func() (ret nvml.Return) {
		lowest, highest, ret = d.handle.GetPowerManagementLimitConstraints()
		return ret
	}) == "" {
		f["power.min_limit"] = strconv.FormatFloat(float64(lowest)/milli, 'f', -1, 64)
		f["power.max_limit"] = strconv.FormatFloat(float64(highest)/milli, 'f', -1, 64)
	}
	var memory nvml.Memory
	if m.ask(symMemory, func() (ret nvml.Return) { memory, ret = d.handle.GetMemoryInfo(); return ret }) == "" {
		f["memory.total"] = strconv.FormatUint(memory.Total/mebi, 10)
	}
	var major, minor int
	if m.ask(symCapability, func() (ret nvml.Return) { major, minor, ret = d.handle.GetCudaComputeCapability(); return ret }) == "" {
		f["compute_cap"] = fmt.Sprintf("%d.%d", major, minor)
	}
	var on nvml.EnableState
	if m.ask(symECC, func() (ret nvml.Return) { on, _, ret = d.handle.GetEccMode(); return ret }) == "" {
		f["ecc.mode.current"] = enabled(on == nvml.FEATURE_ENABLED)
	}
	if m.ask(symPersistence, func() (ret nvml.Return) { on, ret = d.handle.GetPersistenceMode(); return ret }) == "" {
		f["persistence_mode"] = enabled(on == nvml.FEATURE_ENABLED)
	}
	var mig int
	if m.ask(symMIG, func() (ret nvml.Return) { mig, _, ret = d.handle.GetMigMode(); return ret }) == "" {
		f["mig.mode.current"] = enabled(mig == nvml.DEVICE_MIG_ENABLE)
	}
	var text string
	if m.ask(symVBIOS, func() (ret nvml.Return) { text, ret = d.handle.GetVbiosVersion(); return ret }) == "" {
		f["vbios_version"] = text
	}
	var pci nvml.PciInfo
	if m.ask(symPCI, func() (ret nvml.Return) { pci, ret = d.handle.GetPciInfo(); return ret }) == "" {
		if id := cString(pci.BusId[:]); id != "" {
			f["pci.bus_id"] = id
		}
	}
	var virtual nvml.GpuVirtualizationMode
	if m.ask(symVirtual, func() (ret nvml.Return) { virtual, ret = d.handle.GetVirtualizationMode(); return ret }) == "" {
		f["virtualization_mode"] = virtualMode(virtual)
	}
}

func enabled(on bool) string {
	if on {
		return "Enabled"
	}
	return "Disabled"
}

func virtualMode(mode nvml.GpuVirtualizationMode) string {
	switch mode {
	case nvml.GPU_VIRTUALIZATION_MODE_NONE:
		return "None"
	case nvml.GPU_VIRTUALIZATION_MODE_PASSTHROUGH:
		return "Pass-Through"
	case nvml.GPU_VIRTUALIZATION_MODE_VGPU:
		return "VGPU"
	case nvml.GPU_VIRTUALIZATION_MODE_HOST_VGPU, nvml.GPU_VIRTUALIZATION_MODE_HOST_VSGA:
		return "Host VGPU"
	default:
		return fmt.Sprintf("mode %d", int32(mode))
	}
}

// cString reads a NUL-terminated array.
func cString(b []int8) string {
	text := make([]byte, 0, len(b))
	for _, c := range b {
		if c == 0 {
			break
		}
		text = append(text, byte(c))
	}
	return string(text)
}
