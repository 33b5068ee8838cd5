package hardware

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// The codes of an issue, as lmx names them.
const (
	MissingHardware     = "missing_hardware"
	InvalidHardware     = "invalid_hardware"
	UnsupportedHardware = "unsupported_hardware"
)

// Level tells what the leaderboard refuses from what only may be.
type Level string

// The levels.
const (
	// Refused: the leaderboard would not take it.
	Refused Level = "refused"
	// Doubtful: only the leaderboard's own list can tell.
	Doubtful Level = "doubtful"
)

// Issue is one thing wrong with a hardware description.
type Issue struct {
	// Field is the path of the field, such as gpus[1].vramGb.
	Field string `json:"field"`
	// Code is one of the codes above.
	Code string `json:"code"`
	// Level says whether it is refused.
	Level Level `json:"level"`
	// Message says what is wrong and what to do.
	Message string `json:"message"`
}

// Lists are the leaderboard's own names, from its live context. An empty list
// accepts every name there; here the table's names are then the measure.
type Lists struct {
	GPUNames    []string
	ChipVendors []string
}

// The leaderboard's limits.
const (
	maxGPUs  = 16
	maxOS    = 64
	maxWatts = 10000
)

// Validate normalises fields and lists what the leaderboard would refuse, by
// field. No issue means that it would take the document.
func Validate(fields map[string]any, lists Lists) (Document, []Issue) {
	if len(fields) == 0 {
		return Document{}, []Issue{{Field: "", Code: MissingHardware, Level: Refused, Message: "the object is empty: describe the machine"}}
	}
	d, issues := Normalize(fields)
	v := validator{issues: issues, lists: lists}
	v.check(d)
	return d, v.issues
}

// ValidateDocument lists what the leaderboard would refuse of a document.
func ValidateDocument(d Document, lists Lists) []Issue {
	v := validator{lists: lists}
	v.check(d)
	return v.issues
}

type validator struct {
	issues []Issue
	lists  Lists
}

// refuse adds an issue unless the field has one already.
func (v *validator) refuse(field, code, format string, args ...any) {
	v.add(field, code, Refused, format, args...)
}

func (v *validator) add(field, code string, level Level, format string, args ...any) {
	if slices.ContainsFunc(v.issues, func(i Issue) bool { return i.Field == field }) {
		return
	}
	v.issues = append(v.issues, Issue{Field: field, Code: code, Level: level, Message: fmt.Sprintf(format, args...)})
}

// check looks at a normalised document.
func (v *validator) check(d Document) {
	switch d.Class {
	case ClassDiscreteGPU:
		v.cards(d)
	case ClassUnified:
		v.chip(d)
	case ClassCPUOnly:
		v.need("cpu", d.CPU != "", "name the processor")
		v.need("ramGb", d.RAMGb > 0, "give the main memory in GB")
	default:
		v.refuse("hwClass", InvalidHardware, "%q is none of %s, %s, %s", d.Class, ClassDiscreteGPU, ClassUnified, ClassCPUOnly)
	}
	if n := utf8.RuneCountInString(d.OS); n > maxOS {
		v.refuse("os", InvalidHardware, "%d characters, the limit is %d", n, maxOS)
	}
	if d.PowerWatts > maxWatts {
		v.refuse("powerWatts", InvalidHardware, "%g W, the limit is %d", d.PowerWatts, maxWatts)
	}
}

func (v *validator) need(field string, ok bool, what string) {
	if !ok {
		v.refuse(field, InvalidHardware, "missing: %s", what)
	}
}

func (v *validator) cards(d Document) {
	total := max(1, d.GPUCount)
	if len(d.GPUs) == 0 {
		v.name("gpuName", d.GPUName)
		v.need("vramGb", d.VRAMGb > 0, "give one card's memory in GB")
	} else {
		total = 0
	}
	for i, s := range d.GPUs {
		prefix := fmt.Sprintf("gpus[%d].", i)
		v.name(prefix+"gpuName", s.GPUName)
		v.need(prefix+"vramGb", s.VRAMGb > 0, "give one card's memory in GB")
		total += max(1, s.Count)
	}
	if total > maxGPUs {
		v.refuse("gpuCount", InvalidHardware, "%d cards, the limit is %d", total, maxGPUs)
	}
}

// name checks a card's name against the leaderboard's list, or, without it,
// against the table.
func (v *validator) name(field, name string) {
	list, level, whose := v.lists.GPUNames, Refused, "the leaderboard's list"
	if len(list) == 0 {
		list, level, whose = CanonicalNames(), Doubtful, "the names known here; the leaderboard's own list decides"
	}
	switch {
	case name == "" || name == unknownGPU:
		v.refuse(field, InvalidHardware, "missing: name the card")
	case slices.Contains(list, name):
	default:
		v.add(field, UnsupportedHardware, level, "%q is not among %s%s", name, whose, suggestion(name, list))
	}
}

// suggestion names the leaderboard's spelling, by the table or by likeness.
func suggestion(name string, list []string) string {
	if a, ok := Canonical(name); ok && slices.Contains(list, a.Canonical) {
		return fmt.Sprintf(": use %q", a.Canonical)
	}
	if near := Nearest(name, list); near != "" {
		return fmt.Sprintf(": the nearest is %q", near)
	}
	return ""
}

func (v *validator) chip(d Document) {
	v.need("chipVendor", d.ChipVendor != "", "name the chip's maker, such as Apple")
	v.need("chipFamily", d.ChipFamily != "", "name the chip's family, such as M4")
	v.need("chipVariant", d.ChipVariant != "", "name the chip's variant, such as Max, or base")
	v.need("unifiedMemoryGb", d.UnifiedMemoryGb > 0, "give the shared memory in GB")
	if list := v.lists.ChipVendors; d.ChipVendor != "" && len(list) > 0 && !slices.Contains(list, d.ChipVendor) {
		v.refuse("chipVendor", UnsupportedHardware, "%q is not among the leaderboard's list%s", d.ChipVendor, suggestion(d.ChipVendor, list))
	}
}
