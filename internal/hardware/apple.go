package hardware

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
)

// apple asks system_profiler for the chip and its memory.
func (d *detector) apple(ctx context.Context) {
	const source = "system_profiler SPHardwareDataType"
	d.doc.OS = "darwin"
	d.fields["os"] = measured("darwin", "", "platform of this program")
	out, err := d.cfg.Run(ctx, "system_profiler", "SPHardwareDataType", "-json")
	if err != nil {
		d.noChip(source + ": " + err.Error())
		return
	}
	chip, memory, ok := parseProfiler(out)
	if !ok {
		d.noChip(source + " names no chip")
		return
	}
	d.doc.CPU = chip
	d.fields["cpu"] = measured(chip, "", source)
	if vendor, rest, found := strings.Cut(chip, " "); found && vendor == "Apple" {
		family, variant, _ := strings.Cut(rest, " ")
		if variant == "" {
			variant = "base"
		}
		d.doc.ChipVendor, d.doc.ChipFamily, d.doc.ChipVariant = vendor, family, variant
		d.fields["chipVendor"] = measured(vendor, "", source)
		d.fields["chipFamily"] = measured(family, "", source)
		d.fields["chipVariant"] = measured(variant, "", source)
	}
	d.fields["ramGb"] = unknown(source + " gives no memory size")
	if memory > 0 {
		d.doc.RAMGb = memory
		d.fields["ramGb"] = measured(memory, "GiB", source)
		if d.doc.ChipVendor != "" {
			d.doc.UnifiedMemoryGb = memory
			d.fields["unifiedMemoryGb"] = d.fields["ramGb"]
		}
	}
}

func (d *detector) noChip(why string) {
	d.doc.CPU = d.cfg.GOARCH
	d.fields["cpu"] = measured(d.cfg.GOARCH, "", "architecture of this program; "+why)
	for _, f := range []string{"ramGb", "chipVendor", "chipFamily", "chipVariant", "unifiedMemoryGb"} {
		d.fields[f] = unknown(why)
	}
}

// parseProfiler reads chip and memory in GB; Intel machines name a cpu_type.
func parseProfiler(out []byte) (chip string, memoryGb float64, ok bool) {
	var answer struct {
		Hardware []struct {
			Chip   string `json:"chip_type"`
			CPU    string `json:"cpu_type"`
			Memory string `json:"physical_memory"`
		} `json:"SPHardwareDataType"`
	}
	if json.Unmarshal(out, &answer) != nil || len(answer.Hardware) == 0 {
		return "", 0, false
	}
	h := answer.Hardware[0]
	if h.Chip == "" {
		h.Chip = h.CPU
	}
	size, unit, _ := strings.Cut(h.Memory, " ")
	v, err := strconv.ParseFloat(size, 64)
	if err != nil || v <= 0 {
		v = 0
	}
	if unit == "TB" {
		v *= 1024
	}
	return h.Chip, v, h.Chip != ""
}
