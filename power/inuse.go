package power

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// How the devices of a window were chosen.
const (
	// BasisDeclared: the caller named them.
	BasisDeclared = "declared"
	// BasisPID: the server's processes were listed on them.
	BasisPID = "pid"
	// BasisMemory: they were the ones with memory allocated.
	BasisMemory = "memory"
	// BasisAll: nothing told them apart, so every GPU counts.
	BasisAll = "all"
)

// memoryInUse is the allocation from which a device counts as in use: a bare
// context takes less, a model more.
const memoryInUse = 1 << 30

// processSlack is how far outside a window a process list still tells who was
// at work: lists are taken once a second, windows may be shorter.
const processSlack = 2 * time.Second

// Process is one process on a device.
type Process struct {
	PID int
	// Bytes is its device memory; negative when the driver does not say.
	Bytes int64
}

// formatProcesses is the note of a KindProcess sample: "pid=bytes pid=bytes".
func formatProcesses(list []Process) string {
	parts := make([]string, len(list))
	for i, p := range list {
		parts[i] = fmt.Sprintf("%d=%d", p.PID, p.Bytes)
	}
	return strings.Join(parts, " ")
}

// parseProcesses is its inverse; entries it cannot read are left out.
func parseProcesses(note string) []Process {
	var list []Process
	for entry := range strings.FieldsSeq(note) {
		pid, size, ok := strings.Cut(entry, "=")
		p, err1 := strconv.Atoi(pid)
		b, err2 := strconv.ParseInt(size, 10, 64)
		if ok && err1 == nil && err2 == nil {
			list = append(list, Process{PID: p, Bytes: b})
		}
	}
	return list
}

// InUse returns the devices that did the work between from and to, and how
// that is known: those with one of the processes pids; else those with memory
// allocated (inside a container the driver's process numbers mean nothing);
// else all. CPU packages and external meters are only returned when there is
// no GPU.
func (s *Series) InUse(from, to time.Duration, pids []int) (uuids []string, basis string) {
	gpus := s.candidates()
	if byPID := pick(gpus, func(t *Track) bool { return t.hasProcess(from, to, pids) }); len(byPID) > 0 {
		return byPID, BasisPID
	}
	byMemory := pick(gpus, func(t *Track) bool {
		m := spread(within(t.gauges, from, to), MemoryUsed)
		return m != nil && m.Max >= memoryInUse
	})
	if len(byMemory) > 0 {
		return byMemory, BasisMemory
	}
	return pick(gpus, func(*Track) bool { return true }), BasisAll
}

// candidates returns the GPUs, or every device when there is no GPU.
func (s *Series) candidates() []*Track {
	var gpus, all []*Track
	for _, d := range s.Description.Devices {
		t := s.tracks[d.UUID]
		all = append(all, t)
		if d.Scope == ScopeGPU || d.Scope == ScopeModule {
			gpus = append(gpus, t)
		}
	}
	if len(gpus) > 0 {
		return gpus
	}
	return all
}

func pick(tracks []*Track, keep func(*Track) bool) []string {
	var ids []string
	for _, t := range tracks {
		if keep(t) {
			ids = append(ids, t.Device.UUID)
		}
	}
	return ids
}

func (t *Track) hasProcess(from, to time.Duration, pids []int) bool {
	for _, s := range t.processes {
		if s.After < from-processSlack || s.Before > to+processSlack {
			continue
		}
		for _, p := range parseProcesses(s.Note) {
			if slices.Contains(pids, p.PID) {
				return true
			}
		}
	}
	return false
}
