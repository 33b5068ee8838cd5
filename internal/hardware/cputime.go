package hardware

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// CPUTime is the first line of /proc/stat: cumulative time of all processors
// since the machine started, in clock ticks. User holds Guest too, as the
// kernel counts it.
type CPUTime struct {
	User, Nice, System, Idle, IOWait, IRQ, SoftIRQ, Steal, Guest, GuestNice uint64
}

// ReadCPUTime reads /proc/stat below dir; "" means /.
func ReadCPUTime(dir string) (CPUTime, error) {
	if dir == "" {
		dir = "/"
	}
	text, err := os.ReadFile(filepath.Join(dir, "proc/stat"))
	if err != nil {
		return CPUTime{}, fmt.Errorf("read cpu time: %w", err)
	}
	t, err := ParseCPUTime(string(text))
	if err != nil {
		return CPUTime{}, fmt.Errorf("read cpu time: %w", err)
	}
	return t, nil
}

// ParseCPUTime reads the text of /proc/stat. Kernels without the later columns
// leave them zero.
func ParseCPUTime(text string) (CPUTime, error) {
	var t CPUTime
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, "cpu ")
		if !ok {
			continue
		}
		fields := strings.Fields(rest)
		if len(fields) < 4 {
			return t, fmt.Errorf("cpu line of %d columns, want at least 4", len(fields))
		}
		to := []*uint64{&t.User, &t.Nice, &t.System, &t.Idle, &t.IOWait, &t.IRQ, &t.SoftIRQ, &t.Steal, &t.Guest, &t.GuestNice}
		for i := range min(len(fields), len(to)) {
			v, err := strconv.ParseUint(fields[i], 10, 60)
			if err != nil {
				return t, fmt.Errorf("cpu line, column %d: %w", i+1, err)
			}
			*to[i] = v
		}
		return t, nil
	}
	return t, errors.New("no cpu line")
}

// total is all time; Guest is part of User.
func (t CPUTime) total() uint64 {
	return t.User + t.Nice + t.System + t.Idle + t.IOWait + t.IRQ + t.SoftIRQ + t.Steal
}

// CPUShare says where the processors' time went between two readings, as
// shares of all of it.
type CPUShare struct {
	// Busy is time spent working, ours and others'.
	Busy float64 `json:"busy"`
	// Steal is time the hypervisor gave to other guests while we wanted it.
	Steal float64 `json:"steal"`
}

// Since returns the shares between an earlier reading and this one. ok is
// false when no time passed or a counter ran backwards, as some kernels let
// idle and steal do.
func (t CPUTime) Since(earlier CPUTime) (share CPUShare, ok bool) {
	if t.total() <= earlier.total() || t.Steal < earlier.Steal || t.Idle < earlier.Idle || t.IOWait < earlier.IOWait {
		return CPUShare{}, false
	}
	all := float64(t.total() - earlier.total())
	steal := float64(t.Steal - earlier.Steal)
	idle := float64(t.Idle - earlier.Idle + t.IOWait - earlier.IOWait)
	if steal+idle > all {
		return CPUShare{}, false
	}
	return CPUShare{Busy: (all - idle - steal) / all, Steal: steal / all}, true
}
