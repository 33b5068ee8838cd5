package hardware

import (
	"fmt"
	"strconv"
	"strings"
)

// Processor is what /proc/cpuinfo tells. Zero fields are not there.
type Processor struct {
	// Model is the name of the processor.
	Model string
	// Threads counts the logical processors, Sockets the packages.
	Threads, Sockets int
	// Hypervisor is set in a virtual machine.
	Hypervisor bool
}

// armParts names the cores of ARM servers, which /proc/cpuinfo gives as
// numbers only. From Arm's published part numbers.
var armParts = map[string]string{
	"0x41/0xd0c": "Arm Neoverse-N1",
	"0x41/0xd40": "Arm Neoverse-V1",
	"0x41/0xd49": "Arm Neoverse-N2",
	"0x41/0xd4f": "Arm Neoverse-V2",
	"0x41/0xd83": "Arm Neoverse-V3",
	"0x41/0xd84": "Arm Neoverse-V3",
	"0x41/0xd8e": "Arm Neoverse-N3",
	"0xc0/0xac3": "Ampere-1",
	"0xc0/0xac4": "Ampere-1a",
}

// ParseCPUInfo reads the text of /proc/cpuinfo. It takes what it knows and
// never fails.
func ParseCPUInfo(text string) Processor {
	var p Processor
	sockets := map[string]bool{}
	var implementer, part string
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		key, value = strings.TrimSpace(key), strings.Join(strings.Fields(value), " ")
		switch key {
		case "processor":
			if _, err := strconv.Atoi(value); err == nil {
				p.Threads++
			} else if p.Model == "" { // old ARM kernels name the processor here
				p.Model = value
			}
		case "model name", "Model Name", "cpu model":
			if p.Model == "" {
				p.Model = value
			}
		case "physical id":
			sockets[value] = true
		case "CPU implementer":
			implementer = value
		case "CPU part":
			part = value
		case "flags", "Features":
			p.Hypervisor = p.Hypervisor || strings.Contains(" "+value+" ", " hypervisor ")
		}
	}
	p.Sockets = len(sockets)
	if p.Model == "" && implementer != "" {
		p.Model = armName(implementer, part)
	}
	return p
}

func armName(implementer, part string) string {
	if name, ok := armParts[implementer+"/"+part]; ok {
		return name
	}
	return fmt.Sprintf("Arm implementer %s part %s", implementer, part)
}

// ParseMemTotal returns MemTotal of /proc/meminfo in bytes.
func ParseMemTotal(text string) (float64, bool) {
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, "MemTotal:")
		if !ok {
			continue
		}
		fields := strings.Fields(rest)
		if len(fields) != 2 || fields[1] != "kB" {
			return 0, false
		}
		kb, err := strconv.ParseUint(fields[0], 10, 50)
		return float64(kb) * 1024, err == nil && kb > 0
	}
	return 0, false
}

// ParseOSName returns PRETTY_NAME of /etc/os-release, "" when there is none.
func ParseOSName(text string) string {
	for line := range strings.Lines(text) {
		value, ok := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME=")
		if !ok {
			continue
		}
		return strings.TrimSpace(strings.Trim(value, `"'`))
	}
	return ""
}
