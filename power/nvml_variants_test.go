//go:build linux && cgo

package power

import (
	"context"
	"errors"
	"testing"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/google/go-cmp/cmp"
)

// without is a LookupSymbol that lacks some functions.
func without(names ...string) func(string) error {
	return func(s string) error {
		for _, n := range names {
			if s == n {
				return errors.New("not found")
			}
		}
		return nil
	}
}

// TestNVMLMissingSymbols: an old library lacks functions; none of them may be
// called, and each missing value says so.
func TestNVMLMissingSymbols(t *testing.T) {
	t.Parallel()
	lib, c := h200(t)
	lib.LookupSymbolFunc = without(symFields, symMemory2, symEvent, symGPMSupport, symGPMAlloc, symSamples, symVirtual, symMIG)
	c.dev.GetFieldValuesFunc, c.dev.GetMemoryInfo_v2Func, c.dev.GetCurrentClocksEventReasonsFunc = nil, nil, nil
	c.dev.GetSamplesFunc, c.dev.GpmQueryDeviceSupportFunc, c.dev.GetVirtualizationModeFunc, c.dev.GetMigModeFunc = nil, nil, nil, nil
	m := open(t, lib)
	dev := m.Describe().Devices[0]
	want := map[string]Reason{
		"power_sample_w": SymbolMissing, "power_instant_w": SymbolMissing, "power_memory_w": SymbolMissing,
		"power_capped_ns": SymbolMissing, "sync_boost_ns": SymbolMissing, "sw_thermal_ns": SymbolMissing,
		"hw_thermal_ns": SymbolMissing, "power_brake_ns": SymbolMissing, "memory_reserved_bytes": SymbolMissing,
		"dram_active_pct": SymbolMissing, "sm_active_pct": SymbolMissing,
	}
	if diff := cmp.Diff(want, dev.Unavailable); diff != "" {
		t.Errorf("unavailable (-want +got):\n%s", diff)
	}
	g := read(t, m, ClassGauges)
	got := numbers(g)
	if got["power_average_w"] != 561.07 || got["throttle_reasons_mask"] != 0x20 || got["memory_used_bytes"] != 140<<30+644_900_000 {
		t.Errorf("by the old functions: %v", got)
	}
	if len(g.Missing) != 0 {
		t.Errorf("what the card never has is not repeated: %v", g.Missing)
	}
	if list := m.Read(context.Background(), ClassRing, 0); list != nil {
		t.Errorf("ring: %+v", list)
	}
}

// TestNVMLOneFieldNotSupported: the batch succeeds and one element does not.
func TestNVMLOneFieldNotSupported(t *testing.T) {
	t.Parallel()
	lib, c := h200(t)
	lib.LookupSymbolFunc = without(symGPMSupport)
	delete(c.fields, [2]uint32{nvml.FI_DEV_POWER_AVERAGE, nvml.POWER_SCOPE_MEMORY})
	m := open(t, lib)
	if why := m.Describe().Devices[0].Unavailable["power_memory_w"]; why != NotSupported {
		t.Errorf("memory rail: %q", why)
	}
	// Later another one fails for a moment, then one comes with a strange type.
	capped := [2]uint32{nvml.FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP, 0}
	c.fields[capped] = fieldAnswer{ret: nvml.ERROR_TIMEOUT}
	g := read(t, m, ClassGauges)
	if diff := cmp.Diff([]Missing{{PowerCappedTime, Timeout}}, g.Missing); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
	if v, _ := g.Values.Get(PowerAverage); v != 561.07 {
		t.Errorf("the others are read: %v", numbers(g))
	}
	c.fields[capped] = fieldAnswer{kind: nvml.VALUE_TYPE_COUNT}
	if g = read(t, m, ClassGauges); g.fails(PowerCappedTime) != Unreadable {
		t.Errorf("missing %v", g.Missing)
	}
	c.batch = nvml.ERROR_NO_PERMISSION
	if g = read(t, m, ClassGauges); g.fails(PowerAverage) != NoPermission || g.fails(PowerCappedTime) != NoPermission {
		t.Errorf("missing %v", g.Missing)
	}
}

// TestNVMLA100: its power gauge is the present power, not a mean.
func TestNVMLA100(t *testing.T) {
	t.Parallel()
	lib, c := h200(t)
	lib.LookupSymbolFunc = without(symFields, symGPMSupport)
	c.dev.GetCudaComputeCapabilityFunc = func() (int, int, nvml.Return) { return 8, 0, nvml.SUCCESS }
	m := open(t, lib)
	dev := m.Describe().Devices[0]
	g := numbers(read(t, m, ClassGauges))
	if _, mean := g["power_average_w"]; mean || g["power_instant_w"] != 561.07 || dev.AverageWindow != 0 {
		t.Errorf("gauges %v, averaging window %v", g, dev.AverageWindow)
	}
}

// TestNVMLModule: on a module with a CPU the plain counter covers all of it.
func TestNVMLModule(t *testing.T) {
	t.Parallel()
	energy := func(v uint64) fieldAnswer {
		return fieldAnswer{value: v, kind: nvml.VALUE_TYPE_UNSIGNED_LONG_LONG}
	}
	const gpu, module = uint32(nvml.POWER_SCOPE_GPU), uint32(nvml.POWER_SCOPE_MODULE)
	tests := []struct {
		about  string
		fields map[[2]uint32]fieldAnswer
		scope  Scope
		joules float64
		watts  float64
	}{
		{"the scoped counter of the GPU is there", map[[2]uint32]fieldAnswer{
			{nvml.FI_DEV_ENERGY, gpu}: energy(5_000), {nvml.FI_DEV_ENERGY, module}: energy(9_000),
		}, ScopeGPU, 5, 561.07},
		{"only the module's", map[[2]uint32]fieldAnswer{{nvml.FI_DEV_ENERGY, module}: energy(9_000)}, ScopeModule, 9, 900},
		{"only the plain one", nil, ScopeModule, 7000.123, 900},
	}
	for _, tt := range tests {
		t.Run(tt.about, func(t *testing.T) {
			t.Parallel()
			lib, c := h200(t)
			lib.LookupSymbolFunc = without(symGPMSupport)
			c.fields[[2]uint32{nvml.FI_DEV_POWER_AVERAGE, module}] = milliwatts(900)
			for k, v := range tt.fields {
				c.fields[k] = v
			}
			m := open(t, lib)
			if got := m.Describe().Devices[0].Scope; got != tt.scope {
				t.Errorf("scope %q, want %q", got, tt.scope)
			}
			if got := numbers(read(t, m, ClassCounter))["energy_counter_j"]; got != tt.joules {
				t.Errorf("counter %v J, want %v", got, tt.joules)
			}
			if got := numbers(read(t, m, ClassGauges))["power_average_w"]; got != tt.watts {
				t.Errorf("power %v W, want %v: of the counter's scope", got, tt.watts)
			}
		})
	}
}

func TestNVMLNoEnergyCounter(t *testing.T) {
	t.Parallel()
	lib, c := h200(t)
	lib.LookupSymbolFunc = without(symGPMSupport)
	c.energyMJ = func() (uint64, nvml.Return) { return 0, nvml.ERROR_NOT_SUPPORTED }
	m := open(t, lib)
	dev := m.Describe().Devices[0]
	if dev.offers(ClassCounter) || dev.Unavailable["energy_counter_j"] != NotSupported {
		t.Errorf("device %+v", dev)
	}
	if list := m.Read(context.Background(), ClassCounter, 0); list != nil {
		t.Errorf("got %+v", list)
	}
}

func TestNVMLMIG(t *testing.T) {
	t.Parallel()
	lib, c := h200(t)
	lib.LookupSymbolFunc = without(symGPMSupport)
	c.dev.MigMode = nvml.DEVICE_MIG_ENABLE
	c.dev.GetUtilizationRatesFunc = func() (nvml.Utilization, nvml.Return) { return nvml.Utilization{}, nvml.ERROR_NOT_SUPPORTED }
	dev := open(t, lib).Describe().Devices[0]
	if !dev.MIG || dev.Unavailable["utilization_pct"] != NotSupported {
		t.Errorf("device %+v", dev)
	}
}
