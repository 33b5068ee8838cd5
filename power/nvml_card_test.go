//go:build linux && cgo

package power

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/dgxh200"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/gpus"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/server"
)

// card scripts one mocked card after an H200's answers. Each field may be
// changed before the meter is opened or while it is read.
type card struct {
	dev      *server.Device
	energyMJ func() (uint64, nvml.Return)
	fields   map[[2]uint32]fieldAnswer
	batch    nvml.Return // of the whole batch call
	ring     []nvml.Sample
	ringRet  nvml.Return
	ringKind nvml.ValueType
	powerMW  uint32
	memory2  nvml.Return
	pids     []nvml.ProcessInfo
	pidsRet  nvml.Return
	gpm      nvml.Return
	dram     float64
}

type fieldAnswer struct {
	value uint64
	kind  nvml.ValueType
	ret   nvml.Return
}

func milliwatts(w float64) fieldAnswer {
	return fieldAnswer{value: uint64(w * 1000), kind: nvml.VALUE_TYPE_UNSIGNED_INT}
}

func nanoseconds(d time.Duration) fieldAnswer {
	return fieldAnswer{value: uint64(d), kind: nvml.VALUE_TYPE_UNSIGNED_LONG_LONG}
}

// h200 returns a driver with one H200 whose every call that we make answers:
// the mock panics on a call without a function.
func h200(t *testing.T) (*server.Server, *card) {
	t.Helper()
	lib := dgxh200.NewWithGPUs(gpus.H200_SXM5_141GB)
	c := &card{
		dev:      lib.Devices[0].(*server.Device),
		energyMJ: func() (uint64, nvml.Return) { return 7_000_123, nvml.SUCCESS },
		ringKind: nvml.VALUE_TYPE_UNSIGNED_INT,
		powerMW:  561_070, dram: 88.8,
		pids: []nvml.ProcessInfo{{Pid: 4242, UsedGpuMemory: 140 << 30}, {Pid: 4243, UsedGpuMemory: ^uint64(0)}},
	}
	c.fields = map[[2]uint32]fieldAnswer{
		{nvml.FI_DEV_POWER_AVERAGE, nvml.POWER_SCOPE_GPU}:            milliwatts(561.07),
		{nvml.FI_DEV_POWER_INSTANT, nvml.POWER_SCOPE_GPU}:            milliwatts(583.49),
		{nvml.FI_DEV_POWER_AVERAGE, nvml.POWER_SCOPE_MEMORY}:         milliwatts(155),
		{nvml.FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP, 0}:            nanoseconds(113_700 * time.Millisecond),
		{nvml.FI_DEV_CLOCKS_EVENT_REASON_SYNC_BOOST, 0}:              nanoseconds(0),
		{nvml.FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN, 0}:       nanoseconds(1),
		{nvml.FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN, 0}:       nanoseconds(2),
		{nvml.FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN, 0}: nanoseconds(3),
	}
	c.script()
	return lib, c
}

func (c *card) script() {
	d := c.dev
	ok := nvml.SUCCESS
	d.GetFieldValuesFunc = func(v []nvml.FieldValue) nvml.Return {
		if c.batch != ok {
			return c.batch
		}
		for i := range v {
			a, known := c.fields[[2]uint32{v[i].FieldId, v[i].ScopeId}]
			if !known {
				a.ret = nvml.ERROR_NOT_SUPPORTED
			}
			v[i].NvmlReturn, v[i].ValueType = uint32(a.ret), uint32(a.kind)
			binary.LittleEndian.PutUint64(v[i].Value[:], a.value)
		}
		return ok
	}
	d.GetTotalEnergyConsumptionFunc = func() (uint64, nvml.Return) { return c.energyMJ() }
	d.GetPowerUsageFunc = func() (uint32, nvml.Return) { return c.powerMW, ok }
	d.GetSamplesFunc = func(kind nvml.SamplingType, since uint64) (nvml.ValueType, []nvml.Sample, nvml.Return) {
		if c.ringRet != ok {
			// the library hands out a slice of zeros beside an error
			return c.ringKind, make([]nvml.Sample, 100), c.ringRet
		}
		var list []nvml.Sample
		for _, s := range c.ring {
			if s.TimeStamp > since {
				list = append(list, s)
			}
		}
		if len(list) == 0 {
			return c.ringKind, make([]nvml.Sample, 100), nvml.ERROR_NOT_FOUND
		}
		return c.ringKind, list, ok
	}
	d.GetCurrentClocksEventReasonsFunc = func() (uint64, nvml.Return) { return 0x4, ok }
	d.GetCurrentClocksThrottleReasonsFunc = func() (uint64, nvml.Return) { return 0x20, ok }
	d.GetClockInfoFunc = func(k nvml.ClockType) (uint32, nvml.Return) {
		return map[nvml.ClockType]uint32{nvml.CLOCK_SM: 1980, nvml.CLOCK_MEM: 3201}[k], ok
	}
	d.GetMaxClockInfoFunc = d.GetClockInfoFunc
	d.GetTemperatureFunc = func(nvml.TemperatureSensors) (uint32, nvml.Return) { return 47, ok }
	d.GetMemoryInfo_v2Func = func() (nvml.Memory_v2, nvml.Return) {
		return nvml.Memory_v2{Used: 140 << 30, Reserved: 644_900_000}, c.memory2
	}
	d.GetMemoryInfoFunc = func() (nvml.Memory, nvml.Return) {
		return nvml.Memory{Total: 143771 << 20, Used: 140<<30 + 644_900_000}, ok
	}
	d.GetUtilizationRatesFunc = func() (nvml.Utilization, nvml.Return) { return nvml.Utilization{Gpu: 98}, ok }
	d.GetComputeRunningProcessesFunc = func() ([]nvml.ProcessInfo, nvml.Return) { return c.pids, c.pidsRet }
	d.GetEnforcedPowerLimitFunc = func() (uint32, nvml.Return) { return 700_000, ok }
	d.GetPowerManagementLimitFunc = d.GetEnforcedPowerLimitFunc
	d.GetPowerManagementDefaultLimitFunc = d.GetEnforcedPowerLimitFunc
	d.GetPowerManagementLimitConstraintsFunc = func() (uint32, uint32, nvml.Return) { return 200_000, 700_000, ok }
	d.GetEccModeFunc = func() (nvml.EnableState, nvml.EnableState, nvml.Return) {
		return nvml.FEATURE_ENABLED, nvml.FEATURE_ENABLED, ok
	}
	d.GetPersistenceModeFunc = func() (nvml.EnableState, nvml.Return) { return nvml.FEATURE_ENABLED, ok }
	d.GetVbiosVersionFunc = func() (string, nvml.Return) { return "96.00.A5.00.01", ok }
	d.GetMemoryBusWidthFunc = func() (uint32, nvml.Return) { return 6016, ok }
	four := func() (int, nvml.Return) { return 5, ok }
	d.GetCurrPcieLinkGenerationFunc, d.GetMaxPcieLinkGenerationFunc = four, four
	wide := func() (int, nvml.Return) { return 16, ok }
	d.GetCurrPcieLinkWidthFunc, d.GetMaxPcieLinkWidthFunc = wide, wide
	d.GetVirtualizationModeFunc = func() (nvml.GpuVirtualizationMode, nvml.Return) {
		return nvml.GPU_VIRTUALIZATION_MODE_PASSTHROUGH, ok
	}
	d.GpmQueryDeviceSupportFunc = func() (nvml.GpmSupport, nvml.Return) {
		return nvml.GpmSupport{IsSupportedDevice: 1}, c.gpm
	}
	d.GpmSampleGetFunc = func(nvml.GpmSample) nvml.Return { return c.gpm }
}

// scriptGPM gives the library its part of the performance metrics.
func scriptGPM(lib *server.Server, c *card) *int {
	held := new(int)
	lib.GpmSampleAllocFunc = func() (nvml.GpmSample, nvml.Return) {
		*held++
		return &mock.GpmSample{FreeFunc: func() nvml.Return { *held--; return nvml.SUCCESS }}, nvml.SUCCESS
	}
	lib.GpmMetricsGetFunc = func(g *nvml.GpmMetricsGetType) nvml.Return {
		g.Metrics[0].Value, g.Metrics[1].Value = c.dram, 97.5
		g.Metrics[1].NvmlReturn = uint32(nvml.ERROR_NOT_SUPPORTED)
		return nvml.SUCCESS
	}
	return held
}
