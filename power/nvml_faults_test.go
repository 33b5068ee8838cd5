//go:build linux && cgo

package power

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/server"
	"github.com/google/go-cmp/cmp"
)

// TestNVMLLosesTheCard: every value is missing with one reason, none is zero.
func TestNVMLLosesTheCard(t *testing.T) {
	t.Parallel()
	lib, c := h200(t)
	scriptGPM(lib, c)
	m := open(t, lib)
	lost := nvml.ERROR_GPU_IS_LOST
	c.batch, c.memory2, c.ringRet, c.pidsRet, c.gpm = lost, lost, lost, lost, lost
	c.energyMJ = func() (uint64, nvml.Return) { return 0, lost }
	c.dev.GetCurrentClocksEventReasonsFunc = func() (uint64, nvml.Return) { return 0, lost }
	c.dev.GetClockInfoFunc = func(nvml.ClockType) (uint32, nvml.Return) { return 0, lost }
	c.dev.GetTemperatureFunc = func(nvml.TemperatureSensors) (uint32, nvml.Return) { return 0, lost }
	c.dev.GetMemoryInfoFunc = func() (nvml.Memory, nvml.Return) { return nvml.Memory{}, lost }
	c.dev.GetUtilizationRatesFunc = func() (nvml.Utilization, nvml.Return) { return nvml.Utilization{}, lost }
	lib.DeviceGetHandleByIndexFunc = func(int) (nvml.Device, nvml.Return) { return nil, lost }
	for _, class := range []Class{ClassGauges, ClassCounter, ClassRing, ClassActivity, ClassProcesses} {
		list := m.Read(context.Background(), class, 0)
		if len(list) == 0 {
			t.Fatalf("class %s: nothing", class)
		}
		for _, s := range list {
			if !s.Values.Empty() || len(s.Missing) == 0 || s.Missing[0].Reason != GPULost {
				t.Errorf("class %s: values %v, missing %v", class, numbers(s), s.Missing)
			}
		}
	}
	if g := read(t, m, ClassGauges); len(g.Missing) != 1 || g.Missing[0].Signal != AnySignal {
		t.Errorf("gauges: missing %v, want one entry for all", g.Missing)
	}
}

func TestNVMLIdentityChanges(t *testing.T) {
	t.Parallel()
	lib, c := h200(t)
	lib.LookupSymbolFunc = without(symGPMSupport)
	m := open(t, lib)
	was := c.dev.UUID
	c.dev.GetUUIDFunc = func() (string, nvml.Return) { return "GPU-other", nvml.SUCCESS }
	list := m.Read(context.Background(), ClassProcesses, 0)
	if len(list) != 2 || list[1].Kind != KindFault || list[1].fails(AnySignal) != IdentityChanged || list[1].GPU != was {
		t.Fatalf("got %+v", list)
	}
	if want := "index 0 was " + was + " and is GPU-other"; list[1].Note != want {
		t.Errorf("note %q, want %q", list[1].Note, want)
	}
}

func TestNVMLDoesNotOpen(t *testing.T) {
	t.Parallel()
	tests := []struct {
		about  string
		change func(*server.Server)
		want   Reason
	}{
		{"no library", func(l *server.Server) {
			l.InitFunc = func() nvml.Return { return nvml.ERROR_LIBRARY_NOT_FOUND }
		}, NoDriver},
		{"no kernel driver", func(l *server.Server) {
			l.InitFunc = func() nvml.Return { return nvml.ERROR_DRIVER_NOT_LOADED }
		}, NoDriver},
		{"an upgrade without a reboot", func(l *server.Server) {
			l.InitFunc = func() nvml.Return { return nvml.ERROR_LIB_RM_VERSION_MISMATCH }
		}, DriverMismatch},
		{"no permission", func(l *server.Server) {
			l.InitFunc = func() nvml.Return { return nvml.ERROR_NO_PERMISSION }
		}, NoPermission},
		{"counting fails", func(l *server.Server) {
			l.DeviceGetCountFunc = func() (int, nvml.Return) { return 0, nvml.ERROR_UNKNOWN }
		}, OtherError},
		{"no device", func(l *server.Server) { l.Devices = nil }, NoData},
		{"no device that may be read", func(l *server.Server) {
			l.DeviceGetHandleByIndexFunc = func(int) (nvml.Device, nvml.Return) { return nil, nvml.ERROR_NO_PERMISSION }
		}, NoPermission},
		{"a device without a UUID", func(l *server.Server) {
			l.Devices[0].(*server.Device).GetUUIDFunc = func() (string, nvml.Return) { return "", nvml.ERROR_GPU_IS_LOST }
		}, GPULost},
	}
	for _, tt := range tests {
		t.Run(tt.about, func(t *testing.T) {
			t.Parallel()
			lib, _ := h200(t)
			lib.LookupSymbolFunc = without(symGPMSupport)
			tt.change(lib)
			m, err := newNVMLMeter(lib, NewClock(time.Now()))
			if ReasonOf(err) != tt.want || m != nil {
				t.Errorf("got %v, %v, want reason %q", m, err, tt.want)
			}
		})
	}
}

// TestNVMLSkipsACard: one of two cannot be read, the other can.
func TestNVMLSkipsACard(t *testing.T) {
	t.Parallel()
	lib, c := h200(t)
	lib.LookupSymbolFunc = without(symGPMSupport)
	lib.DeviceGetCountFunc = func() (int, nvml.Return) { return 2, nvml.SUCCESS }
	lib.DeviceGetHandleByIndexFunc = func(i int) (nvml.Device, nvml.Return) {
		if i == 0 {
			return nil, nvml.ERROR_NO_PERMISSION
		}
		return c.dev, nvml.SUCCESS
	}
	d := open(t, lib).Describe()
	if diff := cmp.Diff([]Skipped{{Index: 0, Reason: NoPermission}}, d.Skipped); diff != "" || len(d.Devices) != 1 || d.Devices[0].Index != 1 {
		t.Errorf("skipped (-want +got):\n%s devices %+v", diff, d.Devices)
	}
}

func TestNVMLReasons(t *testing.T) {
	t.Parallel()
	for ret, want := range map[nvml.Return]Reason{
		nvml.SUCCESS: "", nvml.ERROR_UNINITIALIZED: Closed, nvml.ERROR_INVALID_ARGUMENT: NotSupported,
		nvml.ERROR_NOT_SUPPORTED: NotSupported, nvml.ERROR_NO_PERMISSION: NoPermission, nvml.ERROR_ALREADY_INITIALIZED: OtherError,
		nvml.ERROR_NOT_FOUND: NoData, nvml.ERROR_INSUFFICIENT_SIZE: OtherError, nvml.ERROR_INSUFFICIENT_POWER: OtherError,
		nvml.ERROR_DRIVER_NOT_LOADED: NoDriver, nvml.ERROR_TIMEOUT: Timeout, nvml.ERROR_IRQ_ISSUE: OtherError,
		nvml.ERROR_LIBRARY_NOT_FOUND: NoDriver, nvml.ERROR_FUNCTION_NOT_FOUND: SymbolMissing, nvml.ERROR_CORRUPTED_INFOROM: OtherError,
		nvml.ERROR_GPU_IS_LOST: GPULost, nvml.ERROR_RESET_REQUIRED: GPULost, nvml.ERROR_OPERATING_SYSTEM: OtherError,
		nvml.ERROR_LIB_RM_VERSION_MISMATCH: DriverMismatch, nvml.ERROR_IN_USE: OtherError, nvml.ERROR_MEMORY: OtherError,
		nvml.ERROR_NO_DATA: NoData, nvml.ERROR_VGPU_ECC_NOT_SUPPORTED: OtherError, nvml.ERROR_INSUFFICIENT_RESOURCES: OtherError,
		nvml.ERROR_FREQ_NOT_SUPPORTED: OtherError, nvml.ERROR_ARGUMENT_VERSION_MISMATCH: DriverMismatch, nvml.ERROR_DEPRECATED: NotSupported,
		nvml.ERROR_NOT_READY: NoData, nvml.ERROR_GPU_NOT_FOUND: GPULost, nvml.ERROR_INVALID_STATE: OtherError,
		nvml.ERROR_RESET_TYPE_NOT_SUPPORTED: OtherError, nvml.ERROR_UNKNOWN: OtherError,
	} {
		if got := nvmlReason(ret); got != want {
			t.Errorf("return %d: got %q, want %q", int(ret), got, want)
		}
	}
}

func TestNVMLValues(t *testing.T) {
	t.Parallel()
	tests := []struct {
		about string
		kind  nvml.ValueType
		bits  uint64
		want  float64
		ok    bool
	}{
		{"double", nvml.VALUE_TYPE_DOUBLE, 0x3FF8000000000000, 1.5, true},
		{"double that is no number", nvml.VALUE_TYPE_DOUBLE, 0x7FF8000000000001, 0, false},
		{"unsigned int, rubbish above it", nvml.VALUE_TYPE_UNSIGNED_INT, 0xdeadbeef_000001f4, 500, true},
		{"unsigned long", nvml.VALUE_TYPE_UNSIGNED_LONG, 500, 500, true},
		{"unsigned long long", nvml.VALUE_TYPE_UNSIGNED_LONG_LONG, 1 << 40, 1 << 40, true},
		{"signed long long", nvml.VALUE_TYPE_SIGNED_LONG_LONG, ^uint64(0), -1, true},
		{"signed int", nvml.VALUE_TYPE_SIGNED_INT, 0xffffffff, -1, true},
		{"unsigned short", nvml.VALUE_TYPE_UNSIGNED_SHORT, 0x10007, 7, true},
		{"a type of the future", nvml.VALUE_TYPE_COUNT, 1, 0, false},
	}
	for _, tt := range tests {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], tt.bits)
		got, ok := nvmlValue(tt.kind, b)
		if ok != tt.ok || (ok && got != tt.want) {
			t.Errorf("%s: got %v, %v, want %v, %v", tt.about, got, ok, tt.want, tt.ok)
		}
	}
}

// TestNVMLSlowEnergyCall: a call of a quarter of a second blocks neither the
// gauges nor, after it gave up, the caller; Close waits for it and no longer
// than it says.
func TestNVMLSlowEnergyCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		lib, c := h200(t)
		lib.LookupSymbolFunc = without(symGPMSupport)
		m, err := newNVMLMeter(lib, NewClock(time.Now()))
		if err != nil {
			t.Fatal(err)
		}
		hang := make(chan struct{})
		c.energyMJ = func() (uint64, nvml.Return) { <-hang; return 1, nvml.SUCCESS }
		ctx, cancel := context.WithTimeout(context.Background(), 228*time.Millisecond)
		defer cancel()
		start := time.Now()
		if list := m.Read(ctx, ClassCounter, 0); list != nil || time.Since(start) != 228*time.Millisecond {
			t.Errorf("the caller got %v after %v", list, time.Since(start))
		}
		if g := read(t, m, ClassGauges); g.After != g.Before {
			t.Errorf("gauges waited %v", g.After-g.Before)
		}
		closed := time.Now()
		if err := m.Close(); ReasonOf(err) != Timeout || time.Since(closed) != nvmlCloseWait {
			t.Errorf("close: %v after %v", err, time.Since(closed))
		}
		if len(lib.ShutdownCalls()) != 0 {
			t.Error("the library was shut down under a call")
		}
		close(hang)
		synctest.Wait()
	})
}

// A driver that has nothing to divide by answers NaN with success, as an H200
// did once in some thousand samples. It is a value that is missing, and the
// recording stays readable.
func TestNVMLAnswersWithNoNumber(t *testing.T) {
	t.Parallel()
	lib, c := h200(t)
	scriptGPM(lib, c)
	c.dram = math.NaN()
	m := open(t, lib)
	m.Read(context.Background(), ClassActivity, 0) // only begins
	s := read(t, m, ClassActivity)
	if len(numbers(s)) != 0 || s.fails(DRAMActive) != NoData {
		t.Errorf("got %v, missing %v; want no number, and no_data", numbers(s), s.Missing)
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		s.Values.Set(DRAMActive, x) // past put
		var file bytes.Buffer
		w, err := NewWriter(&file, time.Now(), m.Describe())
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Add(s); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		got, err := ReadCSV(&file, "power.csv")
		if err != nil {
			t.Fatalf("%v written: %v", x, err)
		}
		if list := got.Track(c.dev.UUID).activity; len(list) != 1 || list[0].fails(DRAMActive) != NoData || !list[0].Values.Empty() {
			t.Errorf("%v written and read: %+v", x, list)
		}
	}
}
