package hardware_test

import (
	"errors"
	"io/fs"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lmxbench/internal/hardware"
)

func TestCPUTime(t *testing.T) {
	t.Parallel()
	before, err := hardware.ReadCPUTime("testdata/epyc-h200")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(hardware.CPUTime{User: 1000, Nice: 50, System: 300, Idle: 90000, IOWait: 200, SoftIRQ: 30, Steal: 400}, before); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	after := before
	after.User, after.Idle, after.Steal, after.IOWait = before.User+300, before.Idle+600, before.Steal+50, before.IOWait+50
	got, ok := after.Since(before)
	if !ok || math.Abs(got.Busy-0.3) > 1e-12 || math.Abs(got.Steal-0.05) > 1e-12 {
		t.Errorf("got %+v, %v, want 30 %% busy and 5 %% stolen", got, ok)
	}
	for about, pair := range map[string][2]hardware.CPUTime{
		"no time passed":       {before, before},
		"time ran backwards":   {before, after},
		"steal ran backwards":  {{User: 900, Steal: 1}, {User: 10, Steal: 2}},
		"idle ran backwards":   {{User: 900, Idle: 1}, {User: 10, Idle: 2}},
		"iowait ran backwards": {{User: 900, IOWait: 1}, {User: 10, IOWait: 2}},
		"more idle than all":   {{User: 5, Idle: 20}, {User: 10, Idle: 10}},
	} {
		if share, ok := pair[0].Since(pair[1]); ok {
			t.Errorf("%s: got %+v", about, share)
		}
	}
	if _, err := hardware.ReadCPUTime("testdata/cpu-only"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestParseCPUTime(t *testing.T) {
	t.Parallel()
	tests := []struct {
		about, text, err string
		want             hardware.CPUTime
	}{
		{"an old kernel without steal", "cpu  1 2 3 4\n", "", hardware.CPUTime{User: 1, Nice: 2, System: 3, Idle: 4}},
		{"columns of the future", "cpu  1 2 3 4 5 6 7 8 9 10 11\n", "", hardware.CPUTime{User: 1, Nice: 2, System: 3, Idle: 4, IOWait: 5, IRQ: 6, SoftIRQ: 7, Steal: 8, Guest: 9, GuestNice: 10}},
		{"not the first line", "intr 1\ncpu0 9 9 9 9\ncpu  1 2 3 4\n", "", hardware.CPUTime{User: 1, Nice: 2, System: 3, Idle: 4}},
		{"no line", "intr 1\n", "no cpu line", hardware.CPUTime{}},
		{"too short", "cpu  1 2 3\n", "cpu line of 3 columns, want at least 4", hardware.CPUTime{}},
		{"negative", "cpu  1 -2 3 4\n", `cpu line, column 2: strconv.ParseUint: parsing "-2": invalid syntax`, hardware.CPUTime{User: 1}},
	}
	for _, tt := range tests {
		got, err := hardware.ParseCPUTime(tt.text)
		msg := ""
		if err != nil {
			msg = err.Error()
		}
		if got != tt.want || msg != tt.err {
			t.Errorf("%s: got %+v, %q, want %+v, %q", tt.about, got, msg, tt.want, tt.err)
		}
	}
}

func TestParseCPUInfo(t *testing.T) {
	t.Parallel()
	tests := []struct {
		about, text string
		want        hardware.Processor
	}{
		{"two sockets in a guest", "processor : 0\nmodel name : X  Y\nphysical id : 0\nflags : a hypervisor b\n\nprocessor : 1\nmodel name : X Y\nphysical id : 1\n", hardware.Processor{Model: "X Y", Threads: 2, Sockets: 2, Hypervisor: true}},
		{"a flag that only sounds like it", "processor : 0\nflags : nohypervisor hypervisors\n", hardware.Processor{Threads: 1}},
		{"Arm's numbers", "processor : 0\nCPU implementer : 0x41\nCPU part : 0xd0c\n", hardware.Processor{Model: "Arm Neoverse-N1", Threads: 1}},
		{"numbers that nobody knows", "processor : 0\nCPU implementer : 0x99\nCPU part : 0x001\n", hardware.Processor{Model: "Arm implementer 0x99 part 0x001", Threads: 1}},
		{"an old Arm kernel", "Processor : ARMv7\nprocessor : ARMv7 rev 1\nprocessor : 0\n", hardware.Processor{Model: "ARMv7 rev 1", Threads: 1}},
		{"nothing", "", hardware.Processor{}},
	}
	for _, tt := range tests {
		if got := hardware.ParseCPUInfo(tt.text); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.about, got, tt.want)
		}
	}
}

func TestParseMemTotal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"MemTotal:       131821568 kB\n": 131821568 * 1024, "MemFree: 1 kB\nMemTotal: 2 kB": 2048,
		"": 0, "MemTotal: many kB": 0, "MemTotal: 5 MB": 0, "MemTotal: 5": 0, "MemTotal: 0 kB": 0,
	} {
		if got, ok := hardware.ParseMemTotal(text); (ok && got != want) || ok != (want > 0) {
			t.Errorf("%q: got %v, %v, want %v", text, got, ok, want)
		}
	}
}

func FuzzProc(f *testing.F) {
	f.Add("processor : 0\nmodel name : X\nphysical id : 0\nflags : hypervisor\n")
	f.Add("cpu  1 2 3 4 5 6 7 8 9 10\n")
	f.Add("MemTotal: 5 kB\nPRETTY_NAME=\"x\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		if p := hardware.ParseCPUInfo(text); p.Threads < 0 || p.Sockets < 0 {
			t.Fatalf("%+v", p)
		}
		if v, ok := hardware.ParseMemTotal(text); ok && !(v > 0) {
			t.Fatal(v)
		}
		hardware.ParseOSName(text)
		if now, err := hardware.ParseCPUTime(text); err == nil {
			if s, ok := now.Since(hardware.CPUTime{}); ok && (s.Busy < 0 || s.Busy > 1 || s.Steal < 0 || s.Steal > 1) {
				t.Fatalf("%+v", s)
			}
		}
	})
}
