//go:build linux && cgo

package power

import (
	"context"
	"encoding/binary"
	"testing"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/google/go-cmp/cmp"
)

// open opens the meter over a scripted library.
func open(t *testing.T, lib nvml.Interface) *nvmlMeter {
	t.Helper()
	m, err := newNVMLMeter(lib, NewClock(time.Now()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// read reads one class of the first card.
func read(t *testing.T, m Meter, class Class) Sample {
	t.Helper()
	list := m.Read(context.Background(), class, 0)
	if len(list) != 1 {
		t.Fatalf("class %s: %d samples, want 1: %+v", class, len(list), list)
	}
	if list[0].After < list[0].Before {
		t.Errorf("class %s: the call ends before it begins", class)
	}
	return list[0]
}

// numbers returns the values of a sample by column name.
func numbers(s Sample) map[string]float64 {
	out := map[string]float64{}
	for sig := range signalCount {
		if v, ok := s.Values.Get(sig); ok {
			out[sig.String()] = v
		}
	}
	return out
}

func TestNVMLReadsACard(t *testing.T) {
	t.Parallel()
	lib, c := h200(t)
	held := scriptGPM(lib, c)
	m, err := newNVMLMeter(lib, NewClock(time.Now()))
	if err != nil {
		t.Fatal(err)
	}
	d := m.Describe()
	if d.Source != SourceNVML || d.Version != "550.54.15" || len(d.Devices) != 1 {
		t.Fatalf("description %+v", d)
	}
	dev := d.Devices[0]
	if dev.Scope != ScopeGPU || dev.MIG || *dev.PowerLimit != 700 || dev.AverageWindow != time.Second || len(dev.Unavailable) != 0 {
		t.Errorf("device %+v", dev)
	}
	wantFacts := map[string]string{
		"index": "0", "uuid": c.dev.UUID, "name": "NVIDIA H200 141GB HBM3e", "driver_version": "550.54.15",
		"vbios_version": "96.00.A5.00.01", "memory.total": "143771", "power.limit": "700", "enforced.power.limit": "700",
		"power.default_limit": "700", "power.min_limit": "200", "power.max_limit": "700", "clocks.max.sm": "1980",
		"clocks.max.memory": "3201", "memory.bus_width": "6016", "ecc.mode.current": "Enabled", "mig.mode.current": "Disabled",
		"persistence_mode": "Enabled", "compute_cap": "9.0", "pcie.link.gen.current": "5", "pcie.link.gen.max": "5",
		"pcie.link.width.current": "16", "pcie.link.width.max": "16", "virtualization_mode": "Pass-Through",
	}
	if diff := cmp.Diff(wantFacts, dev.Facts); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	g := read(t, m, ClassGauges)
	want := map[string]float64{
		"power_average_w": 561.07, "power_instant_w": 583.49, "power_memory_w": 155, "utilization_pct": 98,
		"memory_used_bytes": 140 << 30, "memory_reserved_bytes": 644_900_000, "sm_clock_mhz": 1980, "memory_clock_mhz": 3201,
		"temperature_c": 47, "throttle_reasons_mask": 4, "power_capped_ns": 113.7e9, "sync_boost_ns": 0,
		"sw_thermal_ns": 1, "hw_thermal_ns": 2, "power_brake_ns": 3,
	}
	if diff := cmp.Diff(want, numbers(g)); diff != "" {
		t.Errorf("gauges (-want +got):\n%s", diff)
	}
	if e := numbers(read(t, m, ClassCounter)); e["energy_counter_j"] != 7000.123 {
		t.Errorf("counter %v, want 7000.123 J out of 7000123 mJ", e)
	}
	if p := read(t, m, ClassProcesses); p.Note != "4242=150323855360 4243=-1" {
		t.Errorf("processes %q", p.Note)
	}
	if first := m.Read(context.Background(), ClassActivity, 0); first != nil {
		t.Errorf("the first reading of the activity only begins, got %+v", first)
	}
	a := read(t, m, ClassActivity)
	if diff := cmp.Diff(map[string]float64{"dram_active_pct": 88.8}, numbers(a)); diff != "" || a.fails(SMActive) != NotSupported {
		t.Errorf("activity (-want +got):\n%s missing %v", diff, a.Missing)
	}
	if err := m.Close(); err != nil || *held != 0 {
		t.Errorf("close: %v, %d samples not freed", err, *held)
	}
	if list := m.Read(context.Background(), ClassGauges, 0); list != nil {
		t.Errorf("after Close: %+v", list)
	}
	if list := m.Read(context.Background(), ClassCounter, 0); list != nil {
		t.Errorf("counter after Close: %+v", list)
	}
	if err := m.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}

func TestNVMLRing(t *testing.T) {
	t.Parallel()
	lib, c := h200(t)
	lib.LookupSymbolFunc = without(symGPMSupport)
	m := open(t, lib)
	entry := func(ago time.Duration, mw uint64) nvml.Sample {
		s := nvml.Sample{TimeStamp: uint64(time.Now().Add(-ago).UnixMicro())}
		binary.LittleEndian.PutUint64(s.SampleValue[:], mw)
		return s
	}
	if list := m.Read(context.Background(), ClassRing, 0); list != nil {
		t.Errorf("an empty buffer: %+v; the zeros beside NOT_FOUND are no samples", list)
	}
	c.ring = []nvml.Sample{{}, entry(20*time.Millisecond, 600_000), entry(40*time.Millisecond, 971_999), entry(0, 0)}
	list := m.Read(context.Background(), ClassRing, 0)
	if len(list) != 3 {
		t.Fatalf("got %d samples, want 3: an entry without a stamp is none", len(list))
	}
	if w, _ := list[0].Values.Get(PowerSample); w != 971.999 || list[1].Before-list[0].Before < 15*time.Millisecond {
		t.Errorf("in order of time: %+v", list)
	}
	if list[2].fails(PowerSample) != Implausible || !list[2].Values.Empty() {
		t.Errorf("0 W: %+v, want it missing", list[2])
	}
	if list := m.Read(context.Background(), ClassRing, 0); list != nil {
		t.Errorf("drained twice: %+v", list)
	}
	c.ringRet = nvml.ERROR_GPU_IS_LOST
	if s := read(t, m, ClassRing); s.fails(PowerSample) != GPULost {
		t.Errorf("lost: %+v", s)
	}
	c.ringRet, c.ringKind = nvml.SUCCESS, nvml.VALUE_TYPE_COUNT
	c.ring = append(c.ring, entry(-time.Second, 1))
	if s := read(t, m, ClassRing); s.fails(PowerSample) != Unreadable {
		t.Errorf("an unknown type: %+v", s)
	}
}
