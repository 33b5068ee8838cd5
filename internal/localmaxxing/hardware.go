package localmaxxing

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Hardware is what a row ran on. Name is one device, or several joined by "+"
// where the machine is mixed.
type Hardware struct {
	Name  string
	Count *int
}

// String is for people: "2 × NVIDIA H200 SXM", or empty where nothing is known.
func (h Hardware) String() string {
	if h.Count == nil || h.Name == "" {
		return h.Name
	}
	return fmt.Sprintf("%d × %s", *h.Count, h.Name)
}

// hardware reads the site's union of discrete cards, unified chips and CPUs,
// and the one name of a scoreboard.
func (f fields) hardware() Hardware {
	var h Hardware
	switch {
	case kind(f.members["hardware"]) == "an object":
		inner, err := newFields(f.members["hardware"], f.note)
		if err != nil {
			return h
		}
		h = inner.device()
	default:
		h.Name = f.text("hardware", "hw")
	}
	if n := f.whole("gpuCount"); n != nil && h.Count == nil && h.Name != "" {
		h.Count = n
	}
	return h
}

// ParseHardware reads the hardware object of a result or of hardware.json. What
// is not known stays empty.
func ParseHardware(object json.RawMessage) Hardware {
	f, err := newFields(object, func(string) {})
	if err != nil {
		return Hardware{}
	}
	return f.device()
}

func (f fields) device() Hardware {
	slots := f.list("gpuSlots")
	if len(slots) == 0 {
		slots = f.list("gpus")
	}
	name := f.text("gpuName", "name")
	if mixed := slotNames(slots); len(mixed) > 1 || name == "" && len(mixed) == 1 {
		h := Hardware{Name: strings.Join(mixed, " + ")}
		if n := slotCount(slots); n > 0 {
			h.Count = &n
		}
		return h
	}
	if name != "" {
		return Hardware{Name: name, Count: f.whole("gpuCount")}
	}
	if chip := strings.Join(strings.Fields(f.text("chipVendor")+" "+f.text("chipFamily")+" "+f.text("chipVariant")), " "); chip != "" {
		if gb := f.number("unifiedMemoryGb"); gb != nil {
			chip += " " + strconv.FormatFloat(*gb, 'f', -1, 64) + " GB"
		}
		return Hardware{Name: oneLine(chip, maxText)}
	}
	return Hardware{Name: f.text("cpu", "cpuName")}
}

// slotNames are the different names in a machine's slots, in their order.
func slotNames(slots []fields) (names []string) {
	seen := map[string]bool{}
	for _, s := range slots {
		if name := s.text("gpuName", "name"); name != "" && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

func slotCount(slots []fields) (n int) {
	for _, s := range slots {
		if c := s.whole("count"); c != nil {
			n += *c
		} else {
			n++
		}
	}
	return min(n, maxWhole)
}
