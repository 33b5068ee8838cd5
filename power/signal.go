package power

import (
	"fmt"
	"math"
)

// Signal names one quantity of a [Sample].
type Signal uint8

// The signals, in the order of their columns in power.csv. A cumulative signal
// only grows; the others are gauges.
const (
	// EnergyCounter is the cumulative energy in joules.
	EnergyCounter Signal = iota
	// PowerAverage is the trailing mean of [Device.AverageWindow], in watts.
	PowerAverage
	// PowerInstant is a short sample of the present power, in watts. Loads
	// locked to the sensor's own clock alias in it.
	PowerInstant
	// PowerSample is an entry of the driver's ring buffer, in watts.
	PowerSample
	// PowerMemory is the trailing mean of the memory rail, in watts.
	PowerMemory
	// Utilization is the share of the last period with a kernel resident, in
	// per cent. It tells presence, not effort.
	Utilization
	// MemoryUsed is allocated device memory in bytes, all processes.
	MemoryUsed
	// MemoryReserved is device memory the driver keeps, in bytes.
	MemoryReserved
	// ClockSM is the compute clock in MHz.
	ClockSM
	// ClockMemory is the memory clock in MHz.
	ClockMemory
	// Temperature is the core temperature in °C.
	Temperature
	// ThrottleReasons is NVML's bit mask of clock event reasons.
	ThrottleReasons
	// PowerCappedTime is cumulative time under the software power cap, in ns.
	PowerCappedTime
	// SyncBoostTime is cumulative time limited by sync boost, in ns.
	SyncBoostTime
	// ThermalSWTime is cumulative time in software thermal slowdown, in ns.
	ThermalSWTime
	// ThermalHWTime is cumulative time in hardware thermal slowdown, in ns.
	ThermalHWTime
	// PowerBrakeTime is cumulative time in external power brake, in ns.
	PowerBrakeTime
	// DRAMActive is the share of peak memory bandwidth in use, in per cent.
	DRAMActive
	// SMActive is the share of compute units busy, in per cent.
	SMActive

	signalCount

	// AnySignal stands for all signals of a device, in [Missing] only.
	AnySignal Signal = math.MaxUint8
)

// signalNames are the column names, with their units.
var signalNames = [signalCount]string{
	EnergyCounter:   "energy_counter_j",
	PowerAverage:    "power_average_w",
	PowerInstant:    "power_instant_w",
	PowerSample:     "power_sample_w",
	PowerMemory:     "power_memory_w",
	Utilization:     "utilization_pct",
	MemoryUsed:      "memory_used_bytes",
	MemoryReserved:  "memory_reserved_bytes",
	ClockSM:         "sm_clock_mhz",
	ClockMemory:     "memory_clock_mhz",
	Temperature:     "temperature_c",
	ThrottleReasons: "throttle_reasons_mask",
	PowerCappedTime: "power_capped_ns",
	SyncBoostTime:   "sync_boost_ns",
	ThermalSWTime:   "sw_thermal_ns",
	ThermalHWTime:   "hw_thermal_ns",
	PowerBrakeTime:  "power_brake_ns",
	DRAMActive:      "dram_active_pct",
	SMActive:        "sm_active_pct",
}

// String returns the signal's column name in power.csv, unit included, or
// "all" for [AnySignal].
func (s Signal) String() string {
	switch {
	case s < signalCount:
		return signalNames[s]
	case s == AnySignal:
		return "all"
	default:
		return fmt.Sprintf("signal_%d", uint8(s))
	}
}

// parseSignal is the inverse of [Signal.String].
func parseSignal(name string) (Signal, bool) {
	if name == AnySignal.String() {
		return AnySignal, true
	}
	for i, n := range signalNames {
		if n == name {
			return Signal(i), true
		}
	}
	return 0, false
}

// isPower tells the signals that no working device reports as zero.
func (s Signal) isPower() bool {
	switch s {
	case PowerAverage, PowerInstant, PowerSample:
		return true
	default:
		return false
	}
}
