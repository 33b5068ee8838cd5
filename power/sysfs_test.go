package power_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lmxbench/power"
)

// tree writes files under a new root.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// values reads one class of one device as a map.
func values(t *testing.T, m power.Meter, class power.Class, device int) (map[string]float64, []power.Missing) {
	t.Helper()
	list := m.Read(context.Background(), class, device)
	if len(list) != 1 {
		t.Fatalf("class %s of device %d: %d samples", class, device, len(list))
	}
	out := map[string]float64{}
	for sig := range power.SMActive + 1 {
		if v, ok := list[0].Values.Get(sig); ok {
			out[sig.String()] = v
		}
	}
	return out, list[0].Missing
}

func TestHwmon(t *testing.T) {
	t.Parallel()
	const amd, odd, intel = "class/drm/card0/device/", "class/drm/card1/device/", "class/drm/card2/device/"
	root := tree(t, map[string]string{
		amd + "vendor": "0x1002", amd + "device": "0x74a1", amd + "unique_id": "deadbeefcafe0001", amd + "product_name": "AMD Instinct MI300X OAM",
		amd + "mem_info_vram_used": "137438953472", amd + "mem_info_vram_total": "206141652992", amd + "gpu_busy_percent": "99",
		amd + "hwmon/hwmon4/power1_average": "431000000", amd + "hwmon/hwmon4/power1_cap": "750000000",
		amd + "hwmon/hwmon4/temp1_input": "58000", amd + "hwmon/hwmon4/freq1_input": "2100000000", amd + "hwmon/hwmon4/freq2_input": "1300000000",
		// the second half of a double card has a sensor that reads nothing
		odd + "vendor": "0x1002", odd + "device": "0x740c", odd + "uevent": "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:c5:00.0", odd + "hwmon/hwmon5/power1_input": "0",
		intel + "vendor": "0x8086", intel + "device": "0xe20b", intel + "uevent": "PCI_SLOT_NAME=0000:03:00.0",
		intel + "hwmon/hwmon6/energy1_input": "123456789", intel + "hwmon/hwmon6/power1_max": "190000000",
		"class/drm/card0-DP-1/device/vendor": "0x1002", "class/drm/card0-DP-1/device/hwmon/hwmon9/power1_input": "1000000",
		"class/drm/card3/device/vendor": "0x10de", "class/drm/card3/device/hwmon/hwmon7/power1_input": "1000000",
		"class/drm/card4/device/vendor": "0x1002",
	})
	m, err := power.OpenHwmon(power.SysfsConfig{Clock: power.NewClock(time.Now()), Root: root})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	d := m.Describe().Devices
	var ids []string
	for _, dev := range d {
		ids = append(ids, dev.UUID+" "+dev.Name)
	}
	if diff := cmp.Diff([]string{"amd-deadbeefcafe0001 AMD Instinct MI300X OAM", "pci-0000:c5:00.0 AMD GPU 0x740c", "pci-0000:03:00.0 Intel GPU 0xe20b"}, ids); diff != "" {
		t.Fatalf("devices (-want +got):\n%s", diff)
	}
	if *d[0].PowerLimit != 750 || d[0].Facts["memory.total"] != "196592" || d[0].AverageWindow != 0 {
		t.Errorf("first device %+v", d[0])
	}
	got, miss := values(t, m, power.ClassGauges, 0)
	want := map[string]float64{
		"power_average_w": 431, "utilization_pct": 99, "memory_used_bytes": 1 << 37, "sm_clock_mhz": 2100, "memory_clock_mhz": 1300, "temperature_c": 58,
	}
	if diff := cmp.Diff(want, got); diff != "" || miss != nil {
		t.Errorf("gauges (-want +got):\n%s %v", diff, miss)
	}
	got, miss = values(t, m, power.ClassGauges, 1)
	if diff := cmp.Diff([]power.Missing{{Signal: power.PowerInstant, Reason: power.Implausible}}, miss); diff != "" || len(got) != 0 {
		t.Errorf("0 W (-want +got):\n%s %v", diff, got)
	}
	if got, _ = values(t, m, power.ClassCounter, 2); got["energy_counter_j"] != 123.456789 {
		t.Errorf("counter %v", got)
	}
	// A file that goes away or turns to rubbish is missing, with a reason.
	file := filepath.Join(root, amd, "hwmon/hwmon4/power1_average")
	for text, reason := range map[string]power.Reason{"busy": power.Unreadable, "": power.Unreadable} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, miss = values(t, m, power.ClassGauges, 0); len(miss) != 1 || miss[0].Reason != reason {
			t.Errorf("%q: missing %v", text, miss)
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, miss = values(t, m, power.ClassGauges, 0); len(miss) != 1 || miss[0].Reason != power.NotSupported {
		t.Errorf("gone: missing %v", miss)
	}
}

func TestRAPL(t *testing.T) {
	t.Parallel()
	const zone = "class/powercap/"
	root := tree(t, map[string]string{
		zone + "intel-rapl:0/name": "package-0", zone + "intel-rapl:0/energy_uj": "262143000001", zone + "intel-rapl:0/max_energy_range_uj": "262143328850",
		zone + "intel-rapl:0:0/name": "core", zone + "intel-rapl:0:0/energy_uj": "1",
		zone + "intel-rapl:1/name": "package-1", zone + "intel-rapl:1/energy_uj": "2000000",
		zone + "intel-rapl:2/name": "psys", zone + "intel-rapl:2/energy_uj": "3",
	})
	m, err := power.OpenRAPL(power.SysfsConfig{Clock: power.NewClock(time.Now()), Root: root})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	d := m.Describe().Devices
	if len(d) != 2 || d[0].UUID != "rapl-package-0" || d[0].Scope != power.ScopePackage || d[0].CounterWrap != 262143.32885 || d[1].CounterWrap != 0 {
		t.Fatalf("devices %+v", d)
	}
	if got, _ := values(t, m, power.ClassCounter, 0); got["energy_counter_j"] != 262143.000001 {
		t.Errorf("counter %v", got)
	}
}

func TestSysfsDoesNotOpen(t *testing.T) {
	t.Parallel()
	empty := power.SysfsConfig{Root: t.TempDir()}
	if _, err := power.OpenHwmon(empty); power.ReasonOf(err) != power.NoDriver {
		t.Errorf("hwmon: %v", err)
	}
	if _, err := power.OpenRAPL(empty); power.ReasonOf(err) != power.NoDriver {
		t.Errorf("rapl: %v", err)
	}
	rubbish := tree(t, map[string]string{"class/powercap/intel-rapl:0/name": "package-0", "class/powercap/intel-rapl:0/energy_uj": "much"})
	if _, err := power.OpenRAPL(power.SysfsConfig{Root: rubbish}); power.ReasonOf(err) != power.Unreadable {
		t.Errorf("rubbish: %v", err)
	}
}

// TestOpenFallsThrough: the first source that answers is taken, and the others
// say why they were not.
func TestOpenFallsThrough(t *testing.T) {
	t.Parallel()
	clock := power.NewClock(time.Now())
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	root := tree(t, map[string]string{
		"class/drm/card0/device/vendor": "0x1002", "class/drm/card0/device/hwmon/hwmon0/power1_input": "90000000",
		"class/powercap/intel-rapl:0/name": "package-0", "class/powercap/intel-rapl:0/energy_uj": "5",
	})
	cfg := power.OpenConfig{Clock: clock, NVMLLibrary: nowhere, NvidiaSMI: nowhere, AMDSMI: nowhere, SysRoot: root, CPUPackages: true}
	m, tried, err := power.Open(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	d := m.Describe()
	if d.Source != power.SourceHwmon || len(d.Devices) != 2 || d.Devices[1].Source != power.SourceRAPL {
		t.Errorf("description %+v", d)
	}
	if len(tried) != 2 || tried[0].Source != power.SourceNVML || tried[0].Reason != power.NoDriver || tried[1].Reason != power.NoDriver {
		t.Errorf("tried %+v", tried)
	}
	if got, _ := values(t, m, power.ClassCounter, 1); got["energy_counter_j"] != 5e-6 {
		t.Errorf("the second meter's device: %v", got)
	}

	cfg.SysRoot = t.TempDir()
	_, tried, err = power.Open(context.Background(), cfg)
	if power.ReasonOf(err) != power.NoDriver || len(tried) != 4 || !strings.Contains(err.Error(), "amd-smi: no_driver") {
		t.Errorf("nothing there: %v, tried %+v", err, tried)
	}
	cfg.Source = "wishes"
	if _, _, err = power.Open(context.Background(), cfg); power.ReasonOf(err) != power.NotSupported {
		t.Errorf("an unknown source: %v", err)
	}
}
