package power

import (
	"errors"
	"fmt"
)

// Reason is a stable code that says why a value is missing. The empty Reason
// means that nothing is missing.
type Reason string

// The reasons. Their text is part of the file formats and does not change.
const (
	// NoDriver: the vendor's library, program or kernel driver is not on this
	// machine, or this binary was built without it. An ordinary case.
	NoDriver Reason = "no_driver"
	// DriverMismatch: the user-space library and the kernel driver differ in
	// version, as after an upgrade without a reboot.
	DriverMismatch Reason = "driver_mismatch"
	// NoPermission: the sensor is there and this user may not read it.
	NoPermission Reason = "no_permission"
	// NotSupported: this device does not have the sensor.
	NotSupported Reason = "not_supported"
	// SymbolMissing: the loaded library is older than the function asked for.
	SymbolMissing Reason = "symbol_missing"
	// Busy: another meter of this process owns the library.
	Busy Reason = "busy"
	// GPULost: the device fell off its bus or needs a reset.
	GPULost Reason = "gpu_lost"
	// IdentityChanged: the device behind an index is not the one described.
	IdentityChanged Reason = "gpu_identity_changed"
	// MIGEnabled: the device is partitioned and has no energy of a partition.
	MIGEnabled Reason = "mig"
	// ModuleScope: the figure covers CPU, GPU and memory of a module.
	ModuleScope Reason = "scope_module"
	// CounterBackwards: the energy counter fell and its wrap is not known.
	CounterBackwards Reason = "counter_non_monotonic"
	// CounterStuck: the energy counter was read and did not move.
	CounterStuck Reason = "counter_stuck"
	// NotBracketed: the recording does not reach over both ends of the window.
	NotBracketed Reason = "not_bracketed"
	// Gap: the recording has a hole in or at the window.
	Gap Reason = "gap"
	// TooShort: the window is shorter than the sensor can resolve.
	TooShort Reason = "too_short"
	// MixedScope: the devices asked for cover different things.
	MixedScope Reason = "mixed_scope"
	// EmptyWindow: the window ends before it begins.
	EmptyWindow Reason = "empty_window"
	// FieldMissing: the source printed "[N/A]" or left the field out.
	FieldMissing Reason = "field_missing"
	// NoData: the call succeeded and carried nothing.
	NoData Reason = "no_data"
	// Implausible: a value no working device can have, such as 0 W.
	Implausible Reason = "implausible"
	// Unreadable: the source answered with something that is not its format.
	Unreadable Reason = "unreadable"
	// Timeout: the call did not come back in time.
	Timeout Reason = "timeout"
	// SourceEnded: the child process or the replayed file is at its end.
	SourceEnded Reason = "source_ended"
	// Closed: the meter was closed.
	Closed Reason = "closed"
	// OtherError: anything else; the text beside it says what.
	OtherError Reason = "error"
)

// Error is a failure to open or read a source.
type Error struct {
	// Op is what was being done, such as "open nvml".
	Op string
	// Reason is the stable code.
	Reason Reason
	// Err is the cause, or nil.
	Err error
}

// Error implements error.
func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("%s: %s", e.Op, e.Reason)
	}
	return fmt.Sprintf("%s: %s: %v", e.Op, e.Reason, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ReasonOf returns the reason carried by err, [OtherError] for an error
// without one, and "" for nil.
func ReasonOf(err error) Reason {
	var e *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Reason
	default:
		return OtherError
	}
}
