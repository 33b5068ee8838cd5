package power

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// PCI vendors, as in sysfs.
const (
	vendorAMD   = "0x1002"
	vendorIntel = "0x8086"
)

// OpenHwmon reads AMD and Intel cards through the files of their kernel
// drivers: power, an energy counter where there is one, memory, clocks and
// temperature. Without such a card the [*Error] has Reason [NoDriver].
func OpenHwmon(cfg SysfsConfig) (Meter, error) {
	root := cfg.Root
	if root == "" {
		root = "/sys"
	}
	cards, _ := filepath.Glob(filepath.Join(root, "class/drm/card*/device"))
	slices.Sort(cards)
	var devices []fileDevice
	for _, dir := range cards {
		if strings.Contains(filepath.Base(filepath.Dir(dir)), "-") {
			continue // card0-DP-1 is a connector
		}
		if d, ok := hwmonDevice(dir, len(devices)); ok {
			devices = append(devices, d)
		}
	}
	return newFileMeter("open hwmon", SourceHwmon, cfg.Clock, devices, nil)
}

// hwmonDevice looks at one card; ok is false when it has no power sensor.
func hwmonDevice(dir string, index int) (fileDevice, bool) {
	vendor := readText(dir, "vendor")
	if vendor != vendorAMD && vendor != vendorIntel {
		return fileDevice{}, false
	}
	monitors, _ := filepath.Glob(filepath.Join(dir, "hwmon/hwmon*"))
	slices.Sort(monitors)
	d := fileDevice{desc: Device{
		UUID: cardID(dir), Name: cardName(dir, vendor), Index: index, Source: SourceHwmon, Scope: ScopeGPU,
		Facts: cardFacts(dir),
	}}
	for _, mon := range monitors {
		d.add(mon, PowerAverage, "power1_average", micro)
		d.add(mon, PowerInstant, "power1_input", micro)
		d.add(mon, Temperature, "temp1_input", milli)
		d.add(mon, ClockSM, "freq1_input", micro)
		d.add(mon, ClockMemory, "freq2_input", micro)
		if f := filepath.Join(mon, "energy1_input"); exists(f) && len(d.counter) == 0 {
			d.counter = append(d.counter, sensorFile{EnergyCounter, f, micro})
		}
		for _, limit := range []string{"power1_cap", "power1_max"} {
			if v, why := readNumber(filepath.Join(mon, limit)); why == "" && v > 0 && d.desc.PowerLimit == nil {
				d.desc.PowerLimit = ptr(Watts(v / micro))
			}
		}
	}
	powered := len(d.gauges) > 0 && slices.ContainsFunc(d.gauges, func(f sensorFile) bool { return f.signal.isPower() })
	if !powered && len(d.counter) == 0 {
		return fileDevice{}, false
	}
	d.add(dir, Utilization, "gpu_busy_percent", one)
	d.add(dir, MemoryUsed, "mem_info_vram_used", one)
	return d, true
}

// add takes a sensor file if it is there and its signal is not taken.
func (d *fileDevice) add(dir string, sig Signal, name string, per float64) {
	path := filepath.Join(dir, name)
	taken := slices.ContainsFunc(d.gauges, func(f sensorFile) bool { return f.signal == sig })
	if !taken && exists(path) {
		d.gauges = append(d.gauges, sensorFile{sig, path, per})
	}
}

// cardID identifies a card by its serial-like id where the driver shows one,
// else by its place on the bus.
func cardID(dir string) string {
	if id := readText(dir, "unique_id"); id != "" {
		return "amd-" + id
	}
	for line := range strings.SplitSeq(readText(dir, "uevent"), "\n") {
		if slot, ok := strings.CutPrefix(line, "PCI_SLOT_NAME="); ok {
			return "pci-" + slot
		}
	}
	return filepath.Base(filepath.Dir(dir))
}

func cardName(dir, vendor string) string {
	if name := readText(dir, "product_name"); name != "" {
		return name
	}
	maker := map[string]string{vendorAMD: "AMD", vendorIntel: "Intel"}[vendor]
	return maker + " GPU " + readText(dir, "device")
}

// cardFacts gives the properties that sysfs has under nvidia-smi's names.
func cardFacts(dir string) map[string]string {
	f := map[string]string{"name": cardName(dir, readText(dir, "vendor")), "uuid": cardID(dir)}
	put := func(key, value string) {
		if value != "" {
			f[key] = value
		}
	}
	if total, why := readNumber(filepath.Join(dir, "mem_info_vram_total")); why == "" {
		put("memory.total", strconv.FormatFloat(total/mebi, 'f', -1, 64))
	}
	put("vbios_version", readText(dir, "vbios_version"))
	put("pcie.link.width.current", readText(dir, "current_link_width"))
	put("pcie.link.width.max", readText(dir, "max_link_width"))
	return f
}
