package power

import "time"

// Source names where readings come from.
type Source string

// The sources.
const (
	SourceNVML      Source = "nvml"
	SourceSMI       Source = "nvidia-smi"
	SourceHwmon     Source = "hwmon"
	SourceRAPL      Source = "rapl"
	SourceAMDSMI    Source = "amd-smi"
	SourceExternal  Source = "external"
	SourceSynthetic Source = "synthetic"
	SourceSeedLog   Source = "seed-log"
	SourceNone      Source = "none"
)

// Scope says what a device's power and energy cover. Figures of different
// scope are never added.
type Scope string

// The scopes.
const (
	ScopeGPU     Scope = "gpu"     // the card, memory included
	ScopeModule  Scope = "module"  // CPU, GPU and memory of one module
	ScopePackage Scope = "package" // a CPU package
	ScopeWall    Scope = "wall"    // everything behind an external meter
)

// Description is what a meter knows about itself.
type Description struct {
	// Source names the meter.
	Source Source `json:"source"`
	// Version is the driver's or the program's version; empty if unknown.
	Version string `json:"version,omitempty"`
	// Devices lists the devices; the index is what [Meter.Read] takes.
	Devices []Device `json:"devices"`
	// Skipped lists devices that are there and cannot be read.
	Skipped []Skipped `json:"skipped,omitempty"`
}

// Skipped is a device that cannot be read.
type Skipped struct {
	// Index is the driver's index.
	Index int `json:"index"`
	// Reason says why.
	Reason Reason `json:"reason"`
}

// Device describes one sensor board. Durations and limits that are not known
// are zero or nil.
type Device struct {
	// UUID identifies the device over reboots and index changes.
	UUID string `json:"uuid"`
	// Name is the driver's name for it.
	Name string `json:"name"`
	// Index is the driver's index, for people.
	Index int `json:"index"`
	// Source is where its readings come from.
	Source Source `json:"source"`
	// Scope says what its power covers.
	Scope Scope `json:"scope"`
	// MIG tells a partitioned device, whose energy belongs to all partitions.
	MIG bool `json:"mig,omitempty"`
	// PowerLimit is the enforced limit.
	PowerLimit *Watts `json:"powerLimitWatts,omitempty"`
	// AverageWindow is the span of PowerAverage; 0 when it is not known, and
	// the gauge is then integrated as it stands.
	AverageWindow time.Duration `json:"averageWindowNs,omitempty"`
	// GaugePeriod is the time between updates of the power gauges.
	GaugePeriod time.Duration `json:"gaugePeriodNs,omitempty"`
	// CounterPeriod is the time between ticks of the energy counter; 0 means
	// that the counter is current whenever it is read.
	CounterPeriod time.Duration `json:"counterPeriodNs,omitempty"`
	// CounterWrap is the value at which the counter starts again from zero; 0
	// when it never does.
	CounterWrap Joules `json:"counterWrapJoules,omitempty"`
	// RingPeriod is the time between entries of the ring buffer.
	RingPeriod time.Duration `json:"ringPeriodNs,omitempty"`
	// ReadPeriod is the least time between two reads of a class, where a read
	// is dear; 0: none.
	ReadPeriod time.Duration `json:"readPeriodNs,omitempty"`
	// Classes lists what [Meter.Read] can be asked for.
	Classes []Class `json:"classes"`
	// Unavailable names the signals this device does not have, by column name.
	Unavailable map[string]Reason `json:"unavailable,omitempty"`
	// Facts are static properties under the names and units of nvidia-smi's
	// --query-gpu, such as "power.limit" in watts.
	Facts map[string]string `json:"facts,omitempty"`
}

// Facts returns the static properties of every device, by nvidia-smi's names.
func (d Description) Facts() []map[string]string {
	facts := make([]map[string]string, 0, len(d.Devices))
	for _, dev := range d.Devices {
		facts = append(facts, dev.Facts)
	}
	return facts
}

// offers reports whether the device can be asked for class c.
func (d Device) offers(c Class) bool {
	for _, have := range d.Classes {
		if have == c {
			return true
		}
	}
	return false
}

// lacks notes that the device does not have sig.
func (d *Device) lacks(sig Signal, why Reason) {
	if d.Unavailable == nil {
		d.Unavailable = map[string]Reason{}
	}
	d.Unavailable[sig.String()] = why
}

// leastAverage is the shortest averaging window of a gauge that is believed.
const leastAverage = 10 * time.Millisecond

// implausible says what no sensor has, or "".
func (d Device) implausible() string {
	for _, p := range []time.Duration{d.AverageWindow, d.GaugePeriod, d.CounterPeriod, d.RingPeriod, d.ReadPeriod} {
		if p < 0 || p > time.Hour {
			return "a period is negative or longer than an hour"
		}
	}
	if d.AverageWindow > 0 && d.AverageWindow < leastAverage {
		return "averageWindowNs is shorter than 10 ms"
	}
	if d.CounterWrap < 0 {
		return "counterWrapJoules is negative"
	}
	return ""
}
