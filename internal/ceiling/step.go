package ceiling

import (
	"errors"
	"fmt"
	"math"
)

// Routing says how many distinct experts a step loads.
type Routing int

const (
	// ExpectedRouting: every position chooses independently and uniformly.
	// Real routing is skewed, and sequences that decode the same text share
	// experts, so reality reads less.
	ExpectedRouting Routing = iota
	// MinimumRouting: all positions choose the same experts.
	MinimumRouting
)

// Load is one decode step.
type Load struct {
	// Batch is the number of sequences. Required, at least 1.
	Batch int
	// Context is the mean number of tokens each sequence attends to.
	Context float64
	// Positions is the number of positions each sequence verifies: 1 + drafted
	// tokens. Zero means 1, no speculation.
	Positions int
	// TokensPerStep is the number of tokens each sequence gains: 1 + accepted
	// ones, see [TokensPerPass]. Zero means 1.
	TokensPerStep float64
	// DraftBytes are what drafting reads per step, all passes together.
	DraftBytes float64
	// Routing of experts.
	Routing Routing
}

func (l Load) withDefaults() (Load, error) {
	if l.Positions == 0 {
		l.Positions = 1
	}
	if l.TokensPerStep == 0 {
		l.TokensPerStep = 1
	}
	switch {
	case l.Batch < 1:
		return l, errors.New("batch must be at least 1")
	case !(l.Context >= 0) || math.IsInf(l.Context, 0):
		return l, fmt.Errorf("context %v is not a number of tokens", l.Context)
	case l.Positions < 1 || !(l.TokensPerStep > 0):
		return l, errors.New("positions and tokens per step must be above zero")
	case l.TokensPerStep > float64(l.Positions):
		return l, fmt.Errorf("%v tokens per step cannot come out of %d verified positions", l.TokensPerStep, l.Positions)
	case !(l.DraftBytes >= 0) || math.IsInf(l.DraftBytes, 0):
		return l, errors.New("draft traffic must not be negative")
	}
	return l, nil
}

// Traffic is what one step moves, in bytes.
type Traffic struct {
	// Fixed is read whatever the batch: mixers, dense layers, routers, head.
	Fixed float64
	// Experts are the distinct routed experts.
	Experts float64
	// Cache is the key and value cache of all sequences.
	Cache float64
	// State is the recurrent state of all sequences, read and written.
	State float64
	// Draft is the drafting model or head.
	Draft float64
}

// Bytes is the sum.
func (t Traffic) Bytes() float64 { return t.Fixed + t.Experts + t.Cache + t.State + t.Draft }

// traffic needs a load with defaults and widths without zeros.
//
//	experts per layer: k (minimum) or E·(1 − (1 − k/E)^(B·v)) (expected)
//	cache:             Σ layers · elements · min(context, window) · B
//	state:             2 · elements · B
func (a Architecture) traffic(w Widths, l Load) Traffic {
	batch := float64(l.Batch)
	distinct := float64(a.Experts.Chosen)
	if l.Routing == ExpectedRouting {
		distinct = DistinctExperts(a.Experts.PerLayer, a.Experts.Chosen, batch*float64(l.Positions))
	}
	return Traffic{
		Fixed:   (float64(a.Mixers+a.Dense)*w.Weight + float64(a.Routers)*w.Router + float64(a.Head)*w.Head) / 8,
		Experts: float64(a.Experts.Layers) * distinct * float64(a.Experts.Params) * w.Expert / 8,
		Cache:   batch * a.CacheElements(l.Context) * w.Cache / 8,
		State:   batch * 2 * float64(a.StateElements) * w.State / 8,
		Draft:   l.DraftBytes,
	}
}

// DistinctExperts is the expected number of different experts in one layer that
// some positions visit, each choosing k of E independently:
//
//	E·(1 − (1 − k/E)^positions)
//
// It is 0 without experts.
func DistinctExperts(perLayer, chosen int, positions float64) float64 {
	if perLayer <= 0 || chosen <= 0 || positions <= 0 {
		return 0
	}
	if chosen >= perLayer {
		return float64(perLayer)
	}
	e := float64(perLayer)
	return e * (1 - math.Pow(1-float64(chosen)/e, positions))
}

// TokensPerPass is the mean number of tokens a pass yields when each of k
// drafted tokens is accepted with probability a after its predecessor was:
//
//	(1 − a^(k+1)) / (1 − a)      k + 1 at a = 1
//
// Where acceptance was measured, [AcceptedLength] is better. ok is false for
// k < 0 and a outside [0, 1].
func TokensPerPass(a float64, k int) (tokens float64, ok bool) {
	if k < 0 || !(a >= 0 && a <= 1) {
		return 0, false
	}
	if a == 1 {
		return float64(k + 1), true
	}
	return (1 - math.Pow(a, float64(k+1))) / (1 - a), true
}

// AcceptedLength is the measured mean number of tokens per pass:
// 1 + accepted ÷ passes, with passes = drafted ÷ k when the engine counts only
// tokens. ok is false without passes.
func AcceptedLength(drafted, accepted int64, k int) (tokens float64, ok bool) {
	if drafted <= 0 || accepted < 0 || accepted > drafted || k < 1 {
		return 0, false
	}
	return 1 + float64(accepted)*float64(k)/float64(drafted), true
}
