package hardware

import (
	"fmt"
	"math"
	"strings"
)

// normalizer turns free fields into a Document and notes what it refuses.
type normalizer struct{ issues []Issue }

// Normalize gives fields the shape that is submitted, by lmx's rules: the
// class follows from the fields and not from hwClass; other tools' names of
// fields are taken; one slot becomes flat fields, several stay slots; fields
// the leaderboard does not take are dropped. The issues name fields whose
// value has the wrong type or range.
func Normalize(fields map[string]any) (Document, []Issue) {
	var n normalizer
	slots := n.slots(fields)
	flatName := n.text(fields, "gpuName", "name")
	gpu := flatName != "" || len(slots) > 0
	class := strings.ToUpper(n.text(fields, "hwClass"))
	chip := n.text(fields, "chipVendor") != "" || n.text(fields, "chipFamily") != "" || class == ClassUnified || class == "APPLE_SILICON"

	d := Document{
		Class:      classOf(gpu, chip),
		CPU:        n.text(fields, "cpu", "cpuName"),
		RAMGb:      n.positive(fields, "", "ramGb", "systemMemoryGb"),
		OS:         n.text(fields, "os", "systemOs"),
		PowerWatts: n.positive(fields, "", "powerWatts"),
	}
	switch d.Class {
	case ClassDiscreteGPU:
		n.gpu(&d, fields, slots, flatName)
	case ClassUnified:
		d.ChipVendor = n.text(fields, "chipVendor")
		d.ChipFamily = n.text(fields, "chipFamily")
		d.ChipVariant = n.text(fields, "chipVariant")
		d.UnifiedMemoryGb = n.positive(fields, "", "unifiedMemoryGb")
	}
	return d, n.issues
}

// unknownGPU is what lmx writes for a card without a name.
const unknownGPU = "Unknown GPU"

// gpu fills in the cards.
func (n *normalizer) gpu(d *Document, fields map[string]any, slots []Slot, flatName string) {
	if len(slots) > 1 {
		d.GPUs = slots
		return
	}
	d.GPUName = flatName
	d.GPUCount = n.count(fields, "", "gpuCount")
	d.VRAMGb = n.positive(fields, "", "vramGb", "gpuVramGb", "totalVramGb")
	if len(slots) == 1 {
		s := slots[0]
		if s.GPUName != unknownGPU || d.GPUName == "" {
			d.GPUName = s.GPUName
		}
		if s.VRAMGb > 0 {
			d.VRAMGb = s.VRAMGb
		}
		if s.Count > 0 {
			d.GPUCount = s.Count
		}
	}
	if d.GPUName == "" {
		d.GPUName = unknownGPU
	}
}

// slots reads gpus[].
func (n *normalizer) slots(fields map[string]any) []Slot {
	raw, present := fields["gpus"]
	if !present || raw == nil {
		return nil
	}
	list, ok := raw.([]any)
	if !ok {
		n.refuse("gpus", InvalidHardware, "want a list of cards")
		return nil
	}
	var slots []Slot
	for i, item := range list {
		prefix := fmt.Sprintf("gpus[%d].", i)
		slot, ok := item.(map[string]any)
		if !ok {
			n.refuse(strings.TrimSuffix(prefix, "."), InvalidHardware, "want an object with gpuName and vramGb")
			continue
		}
		s := Slot{GPUName: n.text(slot, "gpuName", "name"), Count: n.count(slot, prefix, "count"), VRAMGb: n.positive(slot, prefix, "vramGb")}
		if s.GPUName == "" {
			s.GPUName = unknownGPU
		}
		slots = append(slots, s)
	}
	return slots
}

// text returns the first of the keys that holds a text that is not blank.
func (n *normalizer) text(fields map[string]any, keys ...string) string {
	for _, k := range keys {
		switch v := fields[k].(type) {
		case nil:
		case string:
			if v = strings.TrimSpace(v); v != "" {
				return v
			}
		default:
			n.refuse(k, InvalidHardware, "want a text")
		}
	}
	return ""
}

// positive returns the first of the keys that is there, a number above zero.
func (n *normalizer) positive(fields map[string]any, prefix string, keys ...string) float64 {
	for _, k := range keys {
		raw, present := fields[k]
		if !present || raw == nil {
			continue
		}
		v, ok := raw.(float64)
		if !ok || !(v > 0) || math.IsInf(v, 0) {
			n.refuse(prefix+k, InvalidHardware, "want a number above 0")
			continue
		}
		return v
	}
	return 0
}

// count returns a whole number above zero.
func (n *normalizer) count(fields map[string]any, prefix, key string) int {
	v := n.positive(fields, prefix, key)
	if v != math.Trunc(v) || v > math.MaxInt32 {
		n.refuse(prefix+key, InvalidHardware, "want a whole number")
		return 0
	}
	return int(v)
}

// refuse notes an issue once.
func (n *normalizer) refuse(field, code, what string) {
	for _, i := range n.issues {
		if i.Field == field && i.Message == what {
			return
		}
	}
	n.issues = append(n.issues, Issue{Field: field, Code: code, Level: Refused, Message: what})
}
