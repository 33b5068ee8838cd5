package power

import "time"

// Throttle says for how much of a window the clocks were held back. A nil
// share was not measured.
type Throttle struct {
	// The shares come from the driver's cumulative times, 0 to 1.
	PowerCapped *float64 `json:"powerCappedShare"`
	SyncBoost   *float64 `json:"syncBoostShare,omitempty"`
	ThermalSW   *float64 `json:"swThermalShare,omitempty"`
	ThermalHW   *float64 `json:"hwThermalShare,omitempty"`
	PowerBrake  *float64 `json:"powerBrakeShare,omitempty"`
	// Reasons holds, by NVML's names, the share of readings in which each
	// reason was set.
	Reasons map[string]float64 `json:"reasonShares,omitempty"`
}

// throttleBits are NVML's clock event reasons.
var throttleBits = []struct {
	bit  uint64
	name string
}{
	{0x1, "gpu_idle"},
	{0x2, "applications_clocks"},
	{0x4, "sw_power_cap"},
	{0x8, "hw_slowdown"},
	{0x10, "sync_boost"},
	{0x20, "sw_thermal_slowdown"},
	{0x40, "hw_thermal_slowdown"},
	{0x80, "hw_power_brake"},
	{0x100, "display_clock"},
	{0x200, "board_limit"},
	{0x400, "reliability"},
}

// throttle computes the shares of [from, to].
func (t *Track) throttle(from, to time.Duration) Throttle {
	inside := within(t.gauges, from, to)
	return Throttle{
		PowerCapped: t.share(PowerCappedTime, from, to),
		SyncBoost:   t.share(SyncBoostTime, from, to),
		ThermalSW:   t.share(ThermalSWTime, from, to),
		ThermalHW:   t.share(ThermalHWTime, from, to),
		PowerBrake:  t.share(PowerBrakeTime, from, to),
		Reasons:     reasonShares(inside),
	}
}

// share returns the growth of a cumulative time in ns over the window's
// length, read at its ends by interpolation between gauge readings.
func (t *Track) share(sig Signal, from, to time.Duration) *float64 {
	c := newPowerCurve(t.gauges, sig)
	if !c.covers(from, to) {
		return nil
	}
	grown := c.at(to) - c.at(from)
	if grown < 0 {
		return nil // the driver was reloaded: no telling
	}
	return ptr(min(1, grown/float64(to-from)))
}

// reasonShares counts each reason over the readings that carry the mask.
func reasonShares(inside []Sample) map[string]float64 {
	counts := map[string]float64{}
	n := 0
	for i := range inside {
		v, ok := inside[i].Values.Get(ThrottleReasons)
		if !ok {
			continue
		}
		n++
		for _, b := range throttleBits {
			if uint64(v)&b.bit != 0 {
				counts[b.name]++
			}
		}
	}
	if n == 0 {
		return nil
	}
	for name := range counts {
		counts[name] /= float64(n)
	}
	return counts
}
