package power

import (
	"math"
	"time"
)

// Kind says what a [Sample] is.
type Kind string

// The kinds, as written in power.csv.
const (
	// KindGauge is one reading of the fast sensors together.
	KindGauge Kind = "gauge"
	// KindCounter is one reading of the energy counter.
	KindCounter Kind = "counter"
	// KindRing is one entry of the driver's ring buffer, placed by its stamp.
	KindRing Kind = "ring"
	// KindActivity is a mean over the time since the previous one.
	KindActivity Kind = "activity"
	// KindProcess lists the processes on a device, in Note.
	KindProcess Kind = "process"
	// KindClock pairs the monotonic clock with the wall clock.
	KindClock Kind = "clock"
	// KindFault reports an event, such as a device that fell off its bus.
	KindFault Kind = "fault"
)

// Sample is one answer of a source. Times count from the recording's origin
// on the monotonic clock.
type Sample struct {
	// Kind says which fields carry something.
	Kind Kind
	// GPU is the UUID of the device; empty for KindClock.
	GPU string
	// Before and After are the clock before and after the call. The value was
	// taken somewhere in between. For KindRing both are the entry's own time.
	Before, After time.Duration
	// Stamp is the source's own wall-clock stamp in ns since 1970, 0 if none.
	Stamp int64
	// Values holds what was read.
	Values Values
	// Missing lists what should have been read and was not. Signals a device
	// never has are in [Device.Unavailable] instead.
	Missing []Missing
	// Note is free text: the process list, or what happened.
	Note string
}

// Missing is one value that could not be read.
type Missing struct {
	Signal Signal
	Reason Reason
}

// Mid returns the middle of the call.
func (s Sample) Mid() time.Duration { return s.Before + (s.After-s.Before)/2 }

// fails returns the reason when the sample reports sig as missing.
func (s Sample) fails(sig Signal) Reason {
	for _, m := range s.Missing {
		if m.Signal == sig || m.Signal == AnySignal {
			return m.Reason
		}
	}
	return ""
}

// miss notes that sig could not be read.
func (s *Sample) miss(sig Signal, why Reason) {
	s.Missing = append(s.Missing, Missing{Signal: sig, Reason: why})
}

// put stores x. A power of zero or less is no reading of a live device, and what
// is no number is none of any: drivers answer so for a span in which they have
// nothing to divide by. Both are noted as missing, so that they can never become
// a mean.
func (s *Sample) put(sig Signal, x float64) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		s.miss(sig, NoData)
		return
	}
	if sig.isPower() && !(x > 0) {
		s.miss(sig, Implausible)
		return
	}
	s.Values.Set(sig, x)
}

// Values holds at most one number per [Signal]. The zero value is empty.
type Values struct {
	has uint32
	v   [signalCount]float64
}

// Set stores x for sig.
func (v *Values) Set(sig Signal, x float64) {
	v.has |= 1 << sig
	v.v[sig] = x
}

// Get returns the number for sig, and false when there is none.
func (v Values) Get(sig Signal) (float64, bool) {
	if sig >= signalCount || v.has&(1<<sig) == 0 {
		return 0, false
	}
	return v.v[sig], true
}

// Empty reports whether no number is stored.
func (v Values) Empty() bool { return v.has == 0 }

// Equal reports whether both hold the same numbers for the same signals.
func (v Values) Equal(o Values) bool { return v == o }
