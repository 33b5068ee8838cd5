package power

import (
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// raplUpdate is how often the processor renews its energy counters.
const raplUpdate = time.Millisecond

// OpenRAPL reads the energy counters of the CPU packages. Since 2020 kernels
// let only root read them: then the [*Error] has Reason [NoPermission]. The
// packages' energy is not part of a GPU's and is never added to it.
func OpenRAPL(cfg SysfsConfig) (Meter, error) {
	root := cfg.Root
	if root == "" {
		root = "/sys"
	}
	zones, _ := filepath.Glob(filepath.Join(root, "class/powercap/intel-rapl:*"))
	slices.Sort(zones)
	var devices []fileDevice
	var skipped []Skipped
	for _, dir := range zones {
		name := readText(dir, "name")
		if !strings.HasPrefix(name, "package-") {
			continue // core, dram and psys are parts or supersets of a package
		}
		index := len(devices) + len(skipped)
		energy := filepath.Join(dir, "energy_uj")
		if _, why := readNumber(energy); why != "" {
			skipped = append(skipped, Skipped{Index: index, Reason: why})
			continue
		}
		d := fileDevice{
			desc: Device{
				UUID: "rapl-" + name, Name: "CPU " + name, Index: index, Source: SourceRAPL, Scope: ScopePackage,
				CounterPeriod: raplUpdate,
			},
			counter: []sensorFile{{EnergyCounter, energy, micro}},
		}
		if top, why := readNumber(filepath.Join(dir, "max_energy_range_uj")); why == "" {
			d.desc.CounterWrap = Joules(top / micro)
		}
		devices = append(devices, d)
	}
	return newFileMeter("open rapl", SourceRAPL, cfg.Clock, devices, skipped)
}
