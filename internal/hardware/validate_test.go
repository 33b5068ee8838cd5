package hardware_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lmxbench/internal/hardware"
)

func fields(t *testing.T, text string) map[string]any {
	t.Helper()
	var f map[string]any
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestNormalize(t *testing.T) {
	t.Parallel()
	tests := []struct{ about, in, want string }{
		{
			"complete by hand", `{"hwClass":"DISCRETE_GPU","gpuName":"NVIDIA B200","gpuCount":1,"vramGb":179.1,"cpu":"Intel Xeon","ramGb":354,"powerWatts":1000,"os":"Ubuntu 24.04.4 LTS"}`,
			`{"hwClass":"DISCRETE_GPU","gpuName":"NVIDIA B200","gpuCount":1,"vramGb":179.1,"cpu":"Intel Xeon","ramGb":354,"os":"Ubuntu 24.04.4 LTS","powerWatts":1000}`,
		},
		{
			"as lmx detects it: one slot becomes flat, its own fields go", `{"hwClass":"DISCRETE_GPU","gpuName":"NVIDIA GeForce RTX 5090","gpuCount":1,"gpus":[{"name":"NVIDIA GeForce RTX 5090","vramGb":31.8}],"vramGb":31.8,"totalVramGb":31.8,"cpu":"AMD Ryzen 9 5900X","cpuThreads":24,"os":"linux"}`,
			`{"hwClass":"DISCRETE_GPU","gpuName":"NVIDIA GeForce RTX 5090","gpuCount":1,"vramGb":31.8,"cpu":"AMD Ryzen 9 5900X","os":"linux"}`,
		},
		{
			"several slots stay, equal ones are not merged, flat fields go", `{"gpuName":"x","gpuCount":3,"gpus":[{"name":"A","vramGb":24},{"gpuName":"A","count":2,"vramGb":24}]}`,
			`{"hwClass":"DISCRETE_GPU","gpus":[{"gpuName":"A","vramGb":24},{"gpuName":"A","count":2,"vramGb":24}]}`,
		},
		{
			"other names of fields", `{"name":"A","totalVramGb":24,"cpuName":"C","systemMemoryGb":64,"systemOs":"linux"}`,
			`{"hwClass":"DISCRETE_GPU","gpuName":"A","vramGb":24,"cpu":"C","ramGb":64,"os":"linux"}`,
		},
		{"a card's memory before the sum", `{"gpuName":"A","gpuVramGb":24,"totalVramGb":48}`, `{"hwClass":"DISCRETE_GPU","gpuName":"A","vramGb":24}`},
		{"the class follows from the fields", `{"hwClass":"CPU_ONLY","gpuName":"A","vramGb":24}`, `{"hwClass":"DISCRETE_GPU","gpuName":"A","vramGb":24}`},
		{
			"a chip", `{"chipVendor":"Apple","chipFamily":"M4","chipVariant":"Max","unifiedMemoryGb":128,"npuTops":38}`,
			`{"hwClass":"UNIFIED","chipVendor":"Apple","chipFamily":"M4","chipVariant":"Max","unifiedMemoryGb":128}`,
		},
		{"an old class name", `{"hwClass":"apple_silicon","chipVariant":"Max"}`, `{"hwClass":"UNIFIED","chipVariant":"Max"}`},
		{"a processor", `{"cpu":"C","ramGb":64}`, `{"hwClass":"CPU_ONLY","cpu":"C","ramGb":64}`},
		{"no name", `{"gpus":[{"vramGb":24}]}`, `{"hwClass":"DISCRETE_GPU","gpuName":"Unknown GPU","vramGb":24}`},
		{"an empty list of cards is none", `{"gpus":[],"cpu":"C"}`, `{"hwClass":"CPU_ONLY","cpu":"C"}`},
		{"null is absent", `{"gpuName":null,"vramGb":null,"cpu":"C"}`, `{"hwClass":"CPU_ONLY","cpu":"C"}`},
	}
	for _, tt := range tests {
		t.Run(tt.about, func(t *testing.T) {
			t.Parallel()
			d, issues := hardware.Normalize(fields(t, tt.in))
			got, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want || len(issues) != 0 {
				t.Errorf("got  %s %v\nwant %s", got, issues, tt.want)
			}
			// Normalised again it stays what it is.
			again, _ := hardware.Normalize(fields(t, string(got)))
			if diff := cmp.Diff(d, again); diff != "" {
				t.Errorf("a second time (-first +second):\n%s", diff)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	list := hardware.Lists{GPUNames: []string{"NVIDIA B200", "NVIDIA H200 SXM", "NVIDIA GeForce RTX 5090"}, ChipVendors: []string{"Apple", "NVIDIA"}}
	type issues map[string]string // field: code, level and message
	tests := []struct {
		about, in string
		lists     hardware.Lists
		want      issues
	}{
		{"good, by the leaderboard's list", `{"gpuName":"NVIDIA H200 SXM","vramGb":140.4}`, list, issues{}},
		{"good, by the table", `{"gpuName":"NVIDIA H200 SXM","vramGb":140.4}`, hardware.Lists{}, issues{}},
		{"empty", `{}`, list, issues{"": `missing_hardware refused: the object is empty: describe the machine`}},
		{"the driver's name", `{"gpuName":"NVIDIA H200","vramGb":140.4}`, list, issues{
			"gpuName": `unsupported_hardware refused: "NVIDIA H200" is not among the leaderboard's list: use "NVIDIA H200 SXM"`,
		}},
		{"a slip of the pen", `{"gpuName":"NVIDIA GeForce RTX 5080","vramGb":16}`, list, issues{
			"gpuName": `unsupported_hardware refused: "NVIDIA GeForce RTX 5080" is not among the leaderboard's list: the nearest is "NVIDIA GeForce RTX 5090"`,
		}},
		{"a name the table does not know", `{"gpuName":"NVIDIA GH200 480GB","vramGb":95.6}`, hardware.Lists{}, issues{
			"gpuName": `unsupported_hardware doubtful: "NVIDIA GH200 480GB" is not among the names known here; the leaderboard's own list decides: the nearest is "NVIDIA H200 SXM"`,
		}},
		{"nothing like it", `{"gpuName":"Voodoo","vramGb":1}`, list, issues{
			"gpuName": `unsupported_hardware refused: "Voodoo" is not among the leaderboard's list`,
		}},
		{"no memory", `{"gpuName":"NVIDIA B200"}`, list, issues{"vramGb": `invalid_hardware refused: missing: give one card's memory in GB`}},
		{"memory of zero", `{"gpuName":"NVIDIA B200","vramGb":0}`, list, issues{"vramGb": `invalid_hardware refused: want a number above 0`}},
		{"memory in words", `{"gpuName":"NVIDIA B200","vramGb":"179"}`, list, issues{"vramGb": `invalid_hardware refused: want a number above 0`}},
		{"no name in the second slot, no memory in the third", `{"gpus":[{"name":"NVIDIA B200","vramGb":179},{"vramGb":179},{"name":"NVIDIA B200"}]}`, list, issues{
			"gpus[1].gpuName": `invalid_hardware refused: missing: name the card`, "gpus[2].vramGb": `invalid_hardware refused: missing: give one card's memory in GB`,
		}},
		{"slots that are none", `{"gpus":["NVIDIA B200",{"name":"NVIDIA B200","vramGb":179}]}`, list, issues{
			"gpus[0]": `invalid_hardware refused: want an object with gpuName and vramGb`,
		}},
		{"a list that is none", `{"gpus":"NVIDIA B200","cpu":"C","ramGb":4}`, list, issues{"gpus": `invalid_hardware refused: want a list of cards`}},
		{"half a card", `{"gpuName":"NVIDIA B200","vramGb":179,"gpuCount":1.5}`, list, issues{"gpuCount": `invalid_hardware refused: want a whole number`}},
		{"seventeen cards", `{"gpuName":"NVIDIA B200","vramGb":179,"gpuCount":17}`, list, issues{"gpuCount": `invalid_hardware refused: 17 cards, the limit is 16`}},
		{"seventeen cards in slots", `{"gpus":[{"name":"NVIDIA B200","count":16,"vramGb":179},{"name":"NVIDIA B200","vramGb":179}]}`, list, issues{
			"gpuCount": `invalid_hardware refused: 17 cards, the limit is 16`,
		}},
		{"a name that is a number", `{"gpuName":5090,"vramGb":31.8,"cpu":"C","ramGb":1}`, list, issues{"gpuName": `invalid_hardware refused: want a text`}},
		{"a chip in parts", `{"chipVendor":"Apple"}`, list, issues{
			"chipFamily":      `invalid_hardware refused: missing: name the chip's family, such as M4`,
			"chipVariant":     `invalid_hardware refused: missing: name the chip's variant, such as Max, or base`,
			"unifiedMemoryGb": `invalid_hardware refused: missing: give the shared memory in GB`,
		}},
		{"a chip of another maker", `{"chipVendor":"Aple","chipFamily":"M4","chipVariant":"Max","unifiedMemoryGb":128}`, list, issues{
			"chipVendor": `unsupported_hardware refused: "Aple" is not among the leaderboard's list: the nearest is "Apple"`,
		}},
		{"a processor without memory, as lmx detects it", `{"hwClass":"CPU_ONLY","cpu":"C","cpuThreads":8,"os":"linux"}`, list, issues{
			"ramGb": `invalid_hardware refused: missing: give the main memory in GB`,
		}},
		{"negative power, a long name of the system", `{"cpu":"C","ramGb":4,"powerWatts":-1,"os":"0123456789012345678901234567890123456789012345678901234567890123456789"}`, list, issues{
			"powerWatts": `invalid_hardware refused: want a number above 0`, "os": `invalid_hardware refused: 70 characters, the limit is 64`,
		}},
		{"a power station", `{"cpu":"C","ramGb":4,"powerWatts":10001}`, list, issues{"powerWatts": `invalid_hardware refused: 10001 W, the limit is 10000`}},
	}
	for _, tt := range tests {
		t.Run(tt.about, func(t *testing.T) {
			t.Parallel()
			_, found := hardware.Validate(fields(t, tt.in), tt.lists)
			got := issues{}
			for _, i := range found {
				got[i.Field] = i.Code + " " + string(i.Level) + ": " + i.Message
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || len(found) != len(got) {
				t.Errorf("(-want +got):\n%s %v", diff, found)
			}
		})
	}
	if i := hardware.ValidateDocument(hardware.Document{Class: "TOASTER"}, list); len(i) != 1 || i[0].Field != "hwClass" {
		t.Errorf("an unknown class: %v", i)
	}
}

func TestCanonical(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"NVIDIA H200": "NVIDIA H200 SXM", "NVIDIA H100 80GB HBM3": "NVIDIA H100 80GB SXM", "nvidia  b200": "NVIDIA B200",
		"NVIDIA H200 SXM": "NVIDIA H200 SXM", "NVIDIA RTX PRO 6000 Blackwell Server Edition": "NVIDIA RTX PRO 6000 Blackwell",
		"AMD Radeon AI PRO R9700": "AMD Radeon AI Pro R9700",
		// close to a name and another card: not translated
		"NVIDIA H200 NVL": "", "NVIDIA H100 PCIe": "", "NVIDIA GeForce RTX 5090 D": "", "": "",
	} {
		a, ok := hardware.Canonical(name)
		if a.Canonical != want || ok != (want != "") || (ok && a.Source == "") {
			t.Errorf("%q: got %+v, %v, want %q", name, a, ok, want)
		}
	}
	names := hardware.CanonicalNames()
	for i := 1; i < len(names); i++ {
		if names[i-1] >= names[i] {
			t.Errorf("names not sorted or double: %q, %q", names[i-1], names[i])
		}
	}
}

func TestTemplate(t *testing.T) {
	t.Parallel()
	tests := []struct {
		about    string
		in, want hardware.Document
	}{
		{"a card", hardware.Document{GPUName: "NVIDIA B200", VRAMGb: 179.1}, hardware.Document{Class: "DISCRETE_GPU", GPUName: "NVIDIA B200", GPUCount: 1, VRAMGb: 179.1, OS: "linux"}},
		{"a chip", hardware.Document{ChipVendor: "Apple", ChipFamily: "M4", OS: "darwin"}, hardware.Document{Class: "UNIFIED", ChipVendor: "Apple", ChipFamily: "M4", OS: "darwin"}},
		{"nothing", hardware.Document{}, hardware.Document{Class: "CPU_ONLY", OS: "linux"}},
		{"a class of one's own", hardware.Document{Class: "UNIFIED"}, hardware.Document{Class: "UNIFIED", OS: "linux"}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, hardware.Template(tt.in, "linux")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.about, diff)
		}
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]hardware.Document{
		"1 × NVIDIA B200 (179.1 GB), Xeon":             {Class: hardware.ClassDiscreteGPU, GPUName: "NVIDIA B200", VRAMGb: 179.1, CPU: "Xeon"},
		"2 × A (24 GB) + 1 × B (80 GB), Xeon":          {Class: hardware.ClassDiscreteGPU, GPUs: []hardware.Slot{{GPUName: "A", Count: 2, VRAMGb: 24}, {GPUName: "B", VRAMGb: 80}}, CPU: "Xeon"},
		"Apple M4 Max (128 GB)":                        {Class: hardware.ClassUnified, ChipVendor: "Apple", ChipFamily: "M4", ChipVariant: "Max", UnifiedMemoryGb: 128},
		"AMD Ryzen 9 5900X 12-Core Processor, 31.2 GB": {Class: hardware.ClassCPUOnly, CPU: "AMD Ryzen 9 5900X 12-Core Processor", RAMGb: 31.2},
	} {
		if got := d.Summary(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
