package hardware_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lmxbench/internal/hardware"
)

// cards returns a source of GPUs.
func cards(list ...map[string]string) func(context.Context) ([]map[string]string, string, error) {
	return func(context.Context) ([]map[string]string, string, error) { return list, "nvml", nil }
}

func h200(uuid string) map[string]string {
	return map[string]string{
		"name": "NVIDIA H200", "uuid": uuid, "driver_version": "580.159.04", "vbios_version": "96.00.A5.00.01", "memory.total": "143771",
		"enforced.power.limit": "700", "power.default_limit": "700.00", "clocks.max.sm": "1980", "ecc.mode.current": "Enabled",
		"mig.mode.current": "Disabled", "pcie.link.gen.current": "5", "pcie.link.width.current": "16", "memory.bus_width": "6016",
	}
}

func TestDetect(t *testing.T) {
	t.Parallel()
	rtx := map[string]string{"name": "NVIDIA GeForce RTX 4090", "memory.total": "24564", "power.limit": "450.00"}
	tests := []struct {
		about string
		cfg   hardware.Config
		want  hardware.Document
	}{
		{"an H200 in a virtual machine: the leaderboard's name, not the driver's", hardware.Config{
			Root: "testdata/epyc-h200", GOARCH: "amd64", GPUs: cards(h200("GPU-a")),
		}, hardware.Document{
			Class: "DISCRETE_GPU", GPUName: "NVIDIA H200 SXM", GPUCount: 1, VRAMGb: 140.4,
			CPU: "AMD EPYC 9654 96-Core Processor", RAMGb: 125.7, OS: "Ubuntu 24.04.4 LTS", PowerWatts: 700,
		}},
		{"eight equal cards are counted; whose power the field means is not known", hardware.Config{
			Root: "testdata/epyc-h200", GPUs: cards(h200("a"), h200("b"), h200("c"), h200("d"), h200("e"), h200("f"), h200("g"), h200("h")),
		}, hardware.Document{
			Class: "DISCRETE_GPU", GPUName: "NVIDIA H200 SXM", GPUCount: 8, VRAMGb: 140.4,
			CPU: "AMD EPYC 9654 96-Core Processor", RAMGb: 125.7, OS: "Ubuntu 24.04.4 LTS",
		}},
		{"cards that differ become slots", hardware.Config{
			Root: "testdata/intel-4090", GPUs: cards(rtx, h200("a"), rtx),
		}, hardware.Document{
			Class: "DISCRETE_GPU",
			GPUs:  []hardware.Slot{{GPUName: "NVIDIA GeForce RTX 4090", Count: 2, VRAMGb: 24}, {GPUName: "NVIDIA H200 SXM", Count: 1, VRAMGb: 140.4}},
			CPU:   "13th Gen Intel(R) Core(TM) i9-13900K", RAMGb: 62.6, OS: "Debian GNU/Linux 12 (bookworm)",
		}},
		{"a gaming card on bare metal", hardware.Config{Root: "testdata/intel-4090", GPUs: cards(rtx)}, hardware.Document{
			Class: "DISCRETE_GPU", GPUName: "NVIDIA GeForce RTX 4090", GPUCount: 1, VRAMGb: 24,
			CPU: "13th Gen Intel(R) Core(TM) i9-13900K", RAMGb: 62.6, OS: "Debian GNU/Linux 12 (bookworm)", PowerWatts: 450,
		}},
		{"a Grace module: the processor gives numbers only, the card is not in the table", hardware.Config{
			Root: "testdata/grace-gh200", GOARCH: "arm64", GPUs: cards(map[string]string{"name": "NVIDIA GH200 480GB", "memory.total": "97871"}),
		}, hardware.Document{
			Class: "DISCRETE_GPU", GPUName: "NVIDIA GH200 480GB", GPUCount: 1, VRAMGb: 95.6,
			CPU: "Arm Neoverse-V2", RAMGb: 573, OS: "Ubuntu 22.04.5 LTS",
		}},
		{"no GPU", hardware.Config{Root: "testdata/cpu-only", GOOS: "linux"}, hardware.Document{
			Class: "CPU_ONLY", CPU: "Intel(R) Xeon(R) Platinum 8592+", RAMGb: 31.2, OS: "linux",
		}},
		{"nothing to read at all", hardware.Config{Root: "testdata/nowhere", GOOS: "linux", GOARCH: "riscv64"}, hardware.Document{
			Class: "CPU_ONLY", CPU: "riscv64", OS: "linux",
		}},
		{"what the user says wins", hardware.Config{
			Root: "testdata/cpu-only", GPUs: cards(rtx),
			Declared: hardware.Document{GPUName: "NVIDIA B200", GPUCount: 2, VRAMGb: 179.1, CPU: "Intel Xeon Platinum 8592+ (26 vCPU)", RAMGb: 354, OS: "Ubuntu 24.04.4 LTS", PowerWatts: 1000},
		}, hardware.Document{
			Class: "DISCRETE_GPU", GPUName: "NVIDIA B200", GPUCount: 2, VRAMGb: 179.1,
			CPU: "Intel Xeon Platinum 8592+ (26 vCPU)", RAMGb: 354, OS: "Ubuntu 24.04.4 LTS", PowerWatts: 1000,
		}},
		{"a Mac", hardware.Config{GOOS: "darwin", GOARCH: "arm64", Run: profiler(`{"SPHardwareDataType":[{"chip_type":"Apple M4 Max","physical_memory":"128 GB","serial_number":"C02XYZ"}]}`)}, hardware.Document{
			Class: "UNIFIED", ChipVendor: "Apple", ChipFamily: "M4", ChipVariant: "Max", UnifiedMemoryGb: 128, CPU: "Apple M4 Max", RAMGb: 128, OS: "darwin",
		}},
		{"the smallest Mac of its kind", hardware.Config{GOOS: "darwin", Run: profiler(`{"SPHardwareDataType":[{"chip_type":"Apple M2","physical_memory":"16 GB"}]}`)}, hardware.Document{
			Class: "UNIFIED", ChipVendor: "Apple", ChipFamily: "M2", ChipVariant: "base", UnifiedMemoryGb: 16, CPU: "Apple M2", RAMGb: 16, OS: "darwin",
		}},
		{"an old Mac", hardware.Config{GOOS: "darwin", Run: profiler(`{"SPHardwareDataType":[{"cpu_type":"6-Core Intel Core i7","physical_memory":"1 TB"}]}`)}, hardware.Document{
			Class: "CPU_ONLY", CPU: "6-Core Intel Core i7", RAMGb: 1024, OS: "darwin",
		}},
		{"a Mac that does not answer", hardware.Config{GOOS: "darwin", GOARCH: "arm64", Run: profiler("")}, hardware.Document{Class: "CPU_ONLY", CPU: "arm64", OS: "darwin"}},
	}
	for _, tt := range tests {
		t.Run(tt.about, func(t *testing.T) {
			t.Parallel()
			if tt.cfg.GOOS == "" {
				tt.cfg.GOOS = "linux"
			}
			got := hardware.Detect(context.Background(), tt.cfg)
			if diff := cmp.Diff(tt.want, got.Document); diff != "" {
				t.Errorf("document (-want +got):\n%s", diff)
			}
			everyFieldIsAccountedFor(t, got)
		})
	}
}

// profiler answers as system_profiler; "" is a failure.
func profiler(out string) func(context.Context, string, ...string) ([]byte, error) {
	return func(context.Context, string, ...string) ([]byte, error) {
		if out == "" {
			return nil, errors.New("exit status 1")
		}
		return []byte(out), nil
	}
}

// everyFieldIsAccountedFor: a value in the document has an origin, and a fact
// without a value says why.
func everyFieldIsAccountedFor(t *testing.T, r hardware.Report) {
	t.Helper()
	text, err := r.Document.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	for name := range fields {
		f := r.Fields[name]
		if name != "hwClass" && (f.Origin == hardware.Unknown || f.Origin == "" || f.Source == "") {
			t.Errorf("%s is in the document and its origin is %+v", name, f)
		}
	}
	for _, facts := range append([]map[string]hardware.Fact{r.Fields, r.Environment}, r.GPUs...) {
		for name, f := range facts {
			if (f.Value == nil) != (f.Origin == hardware.Unknown) || f.Source == "" {
				t.Errorf("%s: %+v: a value and its origin do not fit", name, f)
			}
		}
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	tests := []struct {
		root, arch string
		want       map[string]any
	}{
		{"testdata/epyc-h200", "amd64", map[string]any{
			"os": "Ubuntu 24.04.4 LTS", "architecture": "amd64", "cpuModel": "AMD EPYC 9654 96-Core Processor", "memory": 125.7,
			"kernel": "6.18.44-fc-v657-gpu", "cpuThreads": 16, "cpuSockets": 2, "numaNodes": 2, "cpuGovernor": nil,
			"container": "docker", "virtualMachine": "Amazon EC2", "cpuQuota": 14.0, "memoryLimit": 96.0,
		}},
		{"testdata/intel-4090", "amd64", map[string]any{
			"os": "Debian GNU/Linux 12 (bookworm)", "architecture": "amd64", "cpuModel": "13th Gen Intel(R) Core(TM) i9-13900K", "memory": 62.6,
			"kernel": "6.8.0-60-generic", "cpuThreads": 24, "cpuSockets": 1, "numaNodes": 1, "cpuGovernor": "performance,powersave",
			"container": "none", "virtualMachine": "none", "cpuQuota": "none", "memoryLimit": "none",
		}},
		{"testdata/grace-gh200", "arm64", map[string]any{
			"os": "Ubuntu 22.04.5 LTS", "architecture": "arm64", "cpuModel": "Arm Neoverse-V2", "memory": 573.0,
			"kernel": "6.8.0-1021-nvidia-64k", "cpuThreads": 72, "cpuSockets": nil, "numaNodes": nil, "cpuGovernor": "performance",
			"container": "kubernetes", "virtualMachine": nil, "cpuQuota": nil, "memoryLimit": nil,
		}},
		{"testdata/cpu-only", "amd64", map[string]any{
			"os": "linux", "architecture": "amd64", "cpuModel": "Intel(R) Xeon(R) Platinum 8592+", "memory": 31.2,
			"kernel": nil, "cpuThreads": 8, "cpuSockets": 1, "numaNodes": nil, "cpuGovernor": nil,
			"container": nil, "virtualMachine": "none", "cpuQuota": nil, "memoryLimit": nil,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.root, func(t *testing.T) {
			t.Parallel()
			r := hardware.Detect(context.Background(), hardware.Config{Root: tt.root, GOOS: "linux", GOARCH: tt.arch})
			got := map[string]any{}
			for name, f := range r.Environment {
				got[name] = f.Value
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestNothingPrivateIsPublished: host name, serial numbers and identifiers are
// lying about in the fixture and come out nowhere.
func TestNothingPrivateIsPublished(t *testing.T) {
	t.Parallel()
	r := hardware.Detect(context.Background(), hardware.Config{Root: "testdata/epyc-h200", GOOS: "linux", GPUs: cards(h200("GPU-0123-4567"))})
	all, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"gpu-node-17", "secret.example", "SERIAL-0815", "GPU-0123-4567"} {
		if bytes.Contains(all, []byte(secret)) {
			t.Errorf("%q is in the report", secret)
		}
	}
	if got := r.GPUs[0]["uuidHash"].Value; got != hardware.HashID("GPU-0123-4567") || len(hardware.HashID("x")) != 16 {
		t.Errorf("uuidHash %v", got)
	}
}

func TestCardEvidence(t *testing.T) {
	t.Parallel()
	r := hardware.Detect(context.Background(), hardware.Config{Root: "testdata/epyc-h200", GOOS: "linux", GPUs: cards(h200("GPU-a"))})
	g := r.GPUs[0]
	if f := g["powerLimit"]; f.Value != 700.0 || f.Unit != "W" || f.Origin != hardware.Measured || f.Source != "nvml" {
		t.Errorf("power limit %+v", f)
	}
	if f := g["ecc"]; f.Value != "Enabled" {
		t.Errorf("ECC %+v", f)
	}
	if f := g["persistence"]; f.Origin != hardware.Unknown || f.Source != "nvml does not report persistence_mode" {
		t.Errorf("persistence %+v", f)
	}
	if f := r.Fields["gpuName"]; !strings.Contains(f.Source, `the driver says "NVIDIA H200"`) {
		t.Errorf("the translated name does not say so: %+v", f)
	}
}

func TestCardsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	none := func(context.Context) ([]map[string]string, string, error) { return nil, "nvml", nil }
	fails := func(context.Context) ([]map[string]string, string, error) {
		return nil, "", errors.New("open nvml: driver_mismatch")
	}
	for want, f := range map[string]func(context.Context) ([]map[string]string, string, error){
		"nvml lists no card": none, "open nvml: driver_mismatch": fails,
	} {
		r := hardware.Detect(context.Background(), hardware.Config{Root: "testdata/cpu-only", GOOS: "linux", GPUs: f})
		if r.Document.Class != hardware.ClassCPUOnly || r.Fields["gpuName"].Source != want || r.Fields["gpuName"].Value != nil {
			t.Errorf("class %s, gpuName %+v, want unknown: %s", r.Document.Class, r.Fields["gpuName"], want)
		}
	}
}
