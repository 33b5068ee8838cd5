package power_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lmxbench/power"
)

// openSMI opens the meter over a stand-in.
func openSMI(t *testing.T, mode string) (power.Meter, power.Clock) {
	t.Helper()
	clock := power.NewClock(time.Now())
	m, err := power.OpenNvidiaSMI(context.Background(), power.SMIConfig{Clock: clock, Path: program("nvidia-smi/" + mode)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m, clock
}

// drain reads a device until enough says so; a stand-in that does not get
// there in ten seconds fails the test.
func drain(t *testing.T, m power.Meter, device int, enough func([]power.Sample) bool) []power.Sample {
	t.Helper()
	var all []power.Sample
	deadline := time.NewTimer(10 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !enough(all) {
		select {
		case <-deadline.C:
			t.Fatalf("only %d samples came, from %+v", len(all), all[:min(1, len(all))])
		case <-tick.C:
			all = append(all, m.Read(context.Background(), power.ClassRing, device)...)
		}
	}
	return all
}

func TestNvidiaSMIChild(t *testing.T) {
	t.Setenv("LMXBENCH_API_KEY", "secret") // the stand-in refuses to work if it sees it
	m, clock := openSMI(t, "")
	d := m.Describe()
	if d.Source != power.SourceSMI || d.Version != "580.159.04" || len(d.Devices) != 2 {
		t.Fatalf("description %+v", d)
	}
	dev := d.Devices[1]
	if dev.UUID != "GPU-b" || dev.Index != 1 || dev.Name != "NVIDIA H200" || *dev.PowerLimit != 700 || dev.AverageWindow != time.Second || dev.MIG {
		t.Errorf("device %+v", dev)
	}
	want := map[string]power.Reason{"energy_counter_j": power.NotSupported, "power_sample_w": power.NotSupported}
	if diff := cmp.Diff(want, dev.Unavailable); diff != "" {
		t.Errorf("unavailable (-want +got):\n%s", diff)
	}
	list := drain(t, m, 1, func(l []power.Sample) bool { return len(l) >= 5 })
	for i, x := range list {
		v, _ := x.Values.Get(power.PowerAverage)
		capped, _ := x.Values.Get(power.PowerCappedTime)
		if x.GPU != "GPU-b" || x.Kind != power.KindGauge || v < 500 || capped != 113.7e9 || x.Stamp == 0 {
			t.Errorf("sample %d: %+v", i, x)
		}
		if x.Before > x.After || x.After > clock.Now() || (i > 0 && x.Before < list[i-1].Before) {
			t.Errorf("sample %d: between %v and %v", i, x.Before, x.After)
		}
	}
	if got := m.Read(context.Background(), power.ClassGauges, 0); got != nil {
		t.Errorf("a class it does not offer: %+v", got)
	}
}

// TestNvidiaSMIOld: a program without the newer fields still works.
func TestNvidiaSMIOld(t *testing.T) {
	t.Parallel()
	m, _ := openSMI(t, "old")
	want := map[string]power.Reason{
		"energy_counter_j": power.NotSupported, "power_sample_w": power.NotSupported, "power_instant_w": power.FieldMissing,
	}
	if diff := cmp.Diff(want, m.Describe().Devices[0].Unavailable); diff != "" {
		t.Errorf("unavailable (-want +got):\n%s", diff)
	}
	x := drain(t, m, 0, func(l []power.Sample) bool { return len(l) > 0 })[0]
	if v, ok := x.Values.Get(power.PowerAverage); !ok || v < 500 {
		t.Errorf("power %v, %v", v, ok)
	}
	if v, ok := x.Values.Get(power.ThrottleReasons); !ok || v != 4 {
		t.Errorf("reasons under the old name: %v, %v", v, ok)
	}
}

func TestNvidiaSMIEnds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		mode string
		want power.Reason
	}{
		{"dies", power.SourceEnded},
		{"stranger", power.IdentityChanged},
		{"lost", power.GPULost},
	}
	for _, tt := range tests {
		t.Run(tt.mode, func(t *testing.T) {
			t.Parallel()
			m, _ := openSMI(t, tt.mode)
			isFault := func(x power.Sample) bool { return x.Kind == power.KindFault }
			list := drain(t, m, 0, func(l []power.Sample) bool { return slices.ContainsFunc(l, isFault) })
			fault := list[slices.IndexFunc(list, isFault)]
			want := []power.Missing{{Signal: power.AnySignal, Reason: tt.want}}
			if diff := cmp.Diff(want, fault.Missing); diff != "" || fault.Note == "" {
				t.Errorf("fault %q (-want +got):\n%s", fault.Note, diff)
			}
		})
	}
}

func TestNvidiaSMIDoesNotOpen(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]power.Reason{
		"no-driver": power.NoDriver, "mismatch": power.DriverMismatch, "silent": power.Unreadable, "garbage": power.Unreadable,
	} {
		m, err := power.OpenNvidiaSMI(context.Background(), power.SMIConfig{Clock: power.NewClock(time.Now()), Path: program("nvidia-smi/" + mode)})
		var e *power.Error
		if !errors.As(err, &e) || e.Reason != want || m != nil {
			t.Errorf("%s: got %v, %v, want reason %q", mode, m, err, want)
		}
	}
	_, err := power.OpenNvidiaSMI(context.Background(), power.SMIConfig{Path: filepath.Join(t.TempDir(), "nvidia-smi")})
	if power.ReasonOf(err) != power.NoDriver {
		t.Errorf("no program: %v", err)
	}
}

func TestAMDSMI(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"", "new"} {
		clock := power.NewClock(time.Now())
		m, err := power.OpenAMDSMI(context.Background(), power.AMDSMIConfig{Clock: clock, Path: program("amd-smi/" + mode)})
		if err != nil {
			t.Fatal(err)
		}
		d := m.Describe()
		if len(d.Devices) != 2 || d.Devices[0].UUID != "71ff74a1-0000-1000-80d4-e6d4e0a3a4b2" || d.Devices[1].UUID != "amd-smi-1" {
			t.Fatalf("devices %+v", d.Devices)
		}
		read := func(class power.Class, i int) power.Sample {
			list := m.Read(context.Background(), class, i)
			if len(list) != 1 {
				t.Fatalf("class %s of %d: %+v", class, i, list)
			}
			return list[0]
		}
		gauge, counter := read(power.ClassGauges, 0), read(power.ClassCounter, 0)
		if v, ok := gauge.Values.Get(power.PowerInstant); !ok || v != 431 {
			t.Errorf("power %v, %v", v, ok)
		}
		if v, ok := counter.Values.Get(power.EnergyCounter); !ok || v != 3434152.331 || counter.After <= counter.Before {
			t.Errorf("energy %v, %v between %v and %v", v, ok, counter.Before, counter.After)
		}
		want := []power.Missing{{Signal: power.PowerInstant, Reason: power.FieldMissing}}
		second := read(power.ClassGauges, 1)
		if diff := cmp.Diff(want, second.Missing); diff != "" || !second.Values.Empty() {
			t.Errorf("N/A (-want +got):\n%s", diff)
		}
		if list := m.Read(context.Background(), power.ClassCounter, 1); list != nil || d.Devices[1].Unavailable["energy_counter_j"] != power.FieldMissing {
			t.Errorf("a card without a counter: %+v, %v", list, d.Devices[1].Unavailable)
		}
	}
	_, err := power.OpenAMDSMI(context.Background(), power.AMDSMIConfig{Path: program("amd-smi/broken")})
	if power.ReasonOf(err) != power.Unreadable {
		t.Errorf("no JSON: %v", err)
	}
}
