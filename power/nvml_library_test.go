//go:build linux && cgo

package power

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestNVMLLibrary loads real shared libraries: one that is not there, one that
// is too old, one without a driver behind it, and one that works. The library
// belongs to the process, so these run one after the other.
func TestNVMLLibrary(t *testing.T) {
	clock := NewClock(time.Now())
	refused := func(path string, want Reason) {
		t.Helper()
		m, err := OpenNVML(NVMLConfig{Clock: clock, LibraryPath: path})
		var e *Error
		if !errors.As(err, &e) || e.Reason != want || m != nil {
			t.Errorf("%s: got %v, %v, want reason %q", path, m, err, want)
		}
	}
	refused("/nonexistent/libnvidia-ml.so.1", NoDriver)
	refused(build(t, "-DNO_INIT"), SymbolMissing)

	// The first library that answers a call stays bound to it for the life of
	// the process, so there is one, and its driver comes and goes.
	path := build(t)
	t.Setenv("FAKE_NVML_NO_DRIVER", "1")
	refused(path, NoDriver)
	if err := os.Unsetenv("FAKE_NVML_NO_DRIVER"); err != nil {
		t.Fatal(err)
	}
	for range 2 { // opened again after it was closed
		m, err := OpenNVML(NVMLConfig{Clock: clock, LibraryPath: path})
		if err != nil {
			t.Fatal(err)
		}
		refused(path, Busy)
		checkFake(t, m)
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// checkFake reads the library of testdata/fakenvml.c.
func checkFake(t *testing.T, m Meter) {
	t.Helper()
	d := m.Describe()
	if d.Version != "999.1" || len(d.Devices) != 1 || d.Devices[0].UUID != "GPU-fake" || *d.Devices[0].PowerLimit != 700 {
		t.Fatalf("description %+v", d)
	}
	want := map[string]float64{
		"power_average_w": 500.123, "power_capped_ns": 1 << 40, "sm_clock_mhz": 1980, "memory_clock_mhz": 3201,
		"temperature_c": 47, "memory_used_bytes": 1 << 36, "memory_reserved_bytes": 1 << 20, "utilization_pct": 98,
	}
	if diff := cmp.Diff(want, numbers(read(t, m, ClassGauges))); diff != "" {
		t.Errorf("gauges (-want +got):\n%s", diff)
	}
	if e, ok := read(t, m, ClassCounter).Values.Get(EnergyCounter); !ok || e < 1e9 {
		t.Errorf("counter %v, %v", e, ok)
	}
	list := m.Read(context.Background(), ClassRing, 0)
	if len(list) < 20 {
		t.Fatalf("%d ring samples, want the 21 of 400 ms", len(list))
	}
	for i, s := range list {
		if w, _ := s.Values.Get(PowerSample); w != 501 || (i > 0 && s.Before <= list[i-1].Before) {
			t.Errorf("ring sample %d: %+v", i, s)
		}
	}
}

// build compiles the stand-in for the library.
func build(t *testing.T, flags ...string) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler: loading a real library is not tested")
	}
	path := filepath.Join(t.TempDir(), "libnvidia-ml.so.1")
	args := append([]string{"-shared", "-fPIC", "-o", path, "testdata/fakenvml.c"}, flags...)
	if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		t.Fatalf("build the stand-in: %v\n%s", err, out)
	}
	return path
}
