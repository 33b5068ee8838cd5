package calibrate

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Machine is what a calibration holds for. Another processor, another number of
// cores or another kernel needs another calibration.
type Machine struct {
	CPU    string `json:"cpu,omitempty"` // model name; "" where the system does not say
	Cores  int    `json:"cores"`
	Kernel string `json:"kernel,omitempty"` // release
	OS     string `json:"os"`
}

// Detect describes this machine.
func Detect() Machine {
	return Machine{
		CPU: procValue("/proc/cpuinfo", "model name"), Cores: runtime.NumCPU(),
		Kernel: firstLine("/proc/sys/kernel/osrelease"), OS: runtime.GOOS,
	}
}

// String is one line: "AMD EPYC, 2 cores, Linux 6.18".
func (m Machine) String() string {
	cpu := m.CPU
	if cpu == "" {
		cpu = "processor unknown"
	}
	return fmt.Sprintf("%s, %s, %s %s", cpu, counted(m.Cores, "core"), m.OS, m.Kernel)
}

// Limits are what bounds the ladder. Zero means not known: no bound.
type Limits struct {
	Cores  int
	Files  uint64 // open files this process can have
	Memory uint64 // bytes available
}

// DetectLimits reads this machine's limits.
func DetectLimits() Limits {
	return Limits{Cores: runtime.NumCPU(), Files: fileLimit(), Memory: freeMemory()}
}

func freeMemory() uint64 {
	kib, _, _ := strings.Cut(procValue("/proc/meminfo", "MemAvailable"), " ")
	n, err := strconv.ParseUint(kib, 10, 64)
	if err != nil {
		return 0
	}
	return n << 10
}

// loadAverage is the system's load over the last minute, nil where unknown.
func loadAverage() *float64 {
	first, _, _ := strings.Cut(firstLine("/proc/loadavg"), " ")
	v, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return nil
	}
	return &v
}

// residentMemory is what the process has in memory now, 0 where unknown.
func residentMemory() uint64 {
	fields := strings.Fields(firstLine("/proc/self/statm"))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseUint(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * uint64(os.Getpagesize())
}

// procValue is the value behind "name :" in a file of lines, "" without one.
func procValue(path, name string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func firstLine(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(line)
}
