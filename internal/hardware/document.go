package hardware

import (
	"encoding/json"
	"fmt"
)

// The classes of hardware that the leaderboard knows.
const (
	ClassDiscreteGPU = "DISCRETE_GPU"
	ClassUnified     = "UNIFIED"
	ClassCPUOnly     = "CPU_ONLY"
)

// Document is hardware.json as the leaderboard takes it. A zero field is
// absent. Sizes are in GiB with one decimal, under the leaderboard's "Gb".
type Document struct {
	// Class is one of the Class constants.
	Class string `json:"hwClass"`
	// GPUName, GPUCount and VRAMGb describe equal cards; VRAMGb is one card's.
	GPUName  string  `json:"gpuName,omitempty"`
	GPUCount int     `json:"gpuCount,omitempty"`
	VRAMGb   float64 `json:"vramGb,omitempty"`
	// GPUs describes cards that differ; the flat fields are then empty.
	GPUs []Slot `json:"gpus,omitempty"`
	// ChipVendor to UnifiedMemoryGb describe a chip with shared memory.
	ChipVendor      string  `json:"chipVendor,omitempty"`
	ChipFamily      string  `json:"chipFamily,omitempty"`
	ChipVariant     string  `json:"chipVariant,omitempty"`
	UnifiedMemoryGb float64 `json:"unifiedMemoryGb,omitempty"`
	// CPU, RAMGb, OS and PowerWatts are common to all classes.
	CPU        string  `json:"cpu,omitempty"`
	RAMGb      float64 `json:"ramGb,omitempty"`
	OS         string  `json:"os,omitempty"`
	PowerWatts float64 `json:"powerWatts,omitempty"`
}

// Slot is one kind of card among several.
type Slot struct {
	GPUName string  `json:"gpuName"`
	Count   int     `json:"count,omitempty"`
	VRAMGb  float64 `json:"vramGb,omitempty"`
}

// Encode returns the text of hardware.json, indented by two spaces.
func (d Document) Encode() ([]byte, error) {
	out, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode hardware: %w", err)
	}
	return append(out, '\n'), nil
}

// Template completes what the user declared: the class follows from the
// fields, a GPU's count is 1, and the OS is goos when none is given.
func Template(declared Document, goos string) Document {
	d := declared
	if d.Class == "" {
		d.Class = classOf(d.GPUName != "" || len(d.GPUs) > 0, d.ChipVendor != "" || d.ChipFamily != "")
	}
	if d.GPUName != "" && d.GPUCount == 0 {
		d.GPUCount = 1
	}
	if d.OS == "" {
		d.OS = goos
	}
	return d
}

func classOf(gpu, chip bool) string {
	switch {
	case gpu:
		return ClassDiscreteGPU
	case chip:
		return ClassUnified
	default:
		return ClassCPUOnly
	}
}
