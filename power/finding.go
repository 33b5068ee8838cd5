package power

import "slices"

// Code is a stable name for a doubt about a power figure.
type Code string

// The codes. What fires each is said here; the levels are the ones of a
// verdict.
const (
	// CodeNotBracketed: the recording does not reach over an end of the window.
	CodeNotBracketed Code = "power_not_bracketed"
	// CodeGap: a signal has a hole at or in the window.
	CodeGap Code = "power_gap"
	// CodeIdentityChanged: the device behind the index was exchanged.
	CodeIdentityChanged Code = "gpu_identity_changed"
	// CodeNonMonotonic: the energy counter fell.
	CodeNonMonotonic Code = "counter_non_monotonic"
	// CodeStuck: the energy counter stood still while it was read.
	CodeStuck Code = "counter_stuck"
	// CodeDisagree: the signals disagree by more than [DisagreeWarn] per cent;
	// beyond [DisagreeInvalid] the energy is not to be used.
	CodeDisagree Code = "counter_vs_samples"
	// CodeAlias: the decode step beats slowly against the power sensor.
	CodeAlias Code = "alias_risk"
	// CodeCapped: the card was held at its power limit for more than
	// [CappedShare] of the window.
	CodeCapped Code = "power_capped"
	// CodeThermal: the card was slowed by heat or by the power brake.
	CodeThermal Code = "thermal"
	// CodeForeign: a process that is not the server's was on the card.
	CodeForeign Code = "foreign_process"
	// CodeScopeModule: the figure covers a whole module, not the GPU.
	CodeScopeModule Code = "scope_module"
	// CodeMIG: the card is partitioned, its energy is not the partition's.
	CodeMIG Code = "mig_no_energy"
	// CodeClockStep: the wall clock was set during the window; what is placed
	// by wall-clock stamps is in doubt.
	CodeClockStep Code = "clock_step"
	// CodeUnavailable: a sensor that the figure needs gave nothing.
	CodeUnavailable Code = "sensor_unavailable"
)

// The thresholds of the codes.
const (
	DisagreeWarn    = 2.0  // per cent
	DisagreeInvalid = 5.0  // per cent
	CappedShare     = 0.05 // of the window
	ThermalShare    = 0.01 // of the window
)

// Level is how much a finding matters.
type Level string

// The levels.
const (
	LevelInfo    Level = "INFO"
	LevelWarn    Level = "WARN"
	LevelInvalid Level = "INVALID"
)

// Finding is one doubt.
type Finding struct {
	// Code names it.
	Code Code `json:"code"`
	// Level says how much it matters.
	Level Level `json:"level"`
	// GPU is the device, empty when it concerns the recording.
	GPU string `json:"gpu,omitempty"`
	// Detail says what was found and what to do, on one line.
	Detail string `json:"detail"`
}

// Codes returns every code, for documentation and its test.
func Codes() []Code {
	return slices.Clone([]Code{
		CodeNotBracketed, CodeGap, CodeIdentityChanged, CodeNonMonotonic, CodeStuck,
		CodeDisagree, CodeAlias, CodeCapped, CodeThermal, CodeForeign, CodeScopeModule,
		CodeMIG, CodeClockStep, CodeUnavailable,
	})
}
