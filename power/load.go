package power

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Load is a known power over time, for synthetic meters and tests. Times count
// from the recording's origin and may be negative.
type Load interface {
	// Power returns the power at t.
	Power(t time.Duration) Watts
	// Energy returns the integral from time zero to t, negative before zero.
	Energy(t time.Duration) Joules
}

// Constant is a load that never changes.
type Constant Watts

// Power implements [Load].
func (c Constant) Power(time.Duration) Watts { return Watts(c) }

// Energy implements [Load].
func (c Constant) Energy(t time.Duration) Joules { return Joules(float64(c) * t.Seconds()) }

// Square is a load that alternates between two powers.
type Square struct {
	// High and Low are the two powers; a period starts with High.
	High, Low Watts
	// Period is the length of a cycle. Required.
	Period time.Duration
	// Duty is the share of High, 0 to 1.
	Duty float64
	// Phase shifts the start of a cycle to later.
	Phase time.Duration
}

// Power implements [Load].
func (s Square) Power(t time.Duration) Watts {
	if _, into := s.cycle(t); into < s.Duty*s.Period.Seconds() {
		return s.High
	}
	return s.Low
}

// Energy implements [Load].
func (s Square) Energy(t time.Duration) Joules { return s.since(t) - s.since(0) }

func (s Square) since(t time.Duration) Joules {
	n, into := s.cycle(t)
	high := s.Duty * s.Period.Seconds()
	whole := float64(s.High)*high + float64(s.Low)*(s.Period.Seconds()-high)
	part := float64(s.High)*min(into, high) + float64(s.Low)*max(0, into-high)
	return Joules(n*whole + part)
}

// cycle returns the number of whole cycles before t and the seconds into the
// present one.
func (s Square) cycle(t time.Duration) (n, into float64) {
	x := (t - s.Phase).Seconds()
	n = math.Floor(x / s.Period.Seconds())
	return n, x - n*s.Period.Seconds()
}

// Step is a change of power at a time.
type Step struct {
	At    time.Duration
	Power Watts
}

// Steps is a load given by its changes, in order of time; before the first the
// power is the first's.
type Steps []Step

// Power implements [Load].
func (s Steps) Power(t time.Duration) Watts {
	i, found := slices.BinarySearchFunc(s, t, func(x Step, t time.Duration) int { return cmp.Compare(x.At, t) })
	if !found {
		i--
	}
	return s[max(i, 0)].Power
}

// Energy implements [Load].
func (s Steps) Energy(t time.Duration) Joules {
	if t < 0 {
		return -s.area(t, 0)
	}
	return s.area(0, t)
}

func (s Steps) area(from, to time.Duration) Joules {
	var sum Joules
	at := from
	for _, x := range s {
		if x.At <= at || x.At >= to {
			continue
		}
		sum += Joules(float64(s.Power(at)) * (x.At - at).Seconds())
		at = x.At
	}
	return sum + Joules(float64(s.Power(at))*(to-at).Seconds())
}
