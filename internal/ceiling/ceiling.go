package ceiling

import (
	"errors"
	"math"
)

// Margin is how far above [Hard] a measurement may lie before it is called
// impossible: nominal bandwidths and clocks are good to about two per cent.
const Margin = 1.02

// Machine is the hardware that decodes, all cards of the server together.
type Machine struct {
	// BandwidthGBps is the nominal memory bandwidth, 10⁹ bytes per second.
	// Required. Prefer [BandwidthFromClock] over the table.
	BandwidthGBps float64
	// PeakTFLOPS is the dense peak at the width of the weights. Zero leaves
	// arithmetic out.
	PeakTFLOPS float64
	// Kernels × LaunchSeconds is the least time of a step that launches that
	// many dependent kernels. [Hard] leaves it out.
	Kernels       int
	LaunchSeconds float64
}

// Bound names what limits a step.
type Bound string

// The limits of a step.
const (
	Bandwidth Bound = "bandwidth"
	Compute   Bound = "compute"
	Launch    Bound = "launch"
)

// Ceiling is the shortest possible step and what follows from it.
type Ceiling struct {
	Traffic Traffic
	// Seconds of one step.
	Seconds float64
	// TokensPerSecond over all sequences.
	TokensPerSecond float64
	// Bound is what the step waits for.
	Bound Bound
}

// Model is the ceiling that explains: expected routing unless the load says
// otherwise, declared widths, launch floor where the machine has one.
func Model(a Architecture, w Widths, l Load, m Machine) (Ceiling, error) {
	return ceiling(a, w.declared(), l, m)
}

// Hard is the ceiling that rejects: minimum routing, the smallest plausible
// width where none is declared, no launch floor. With speculation give the
// load's measured TokensPerStep, or Positions where it is unknown, and the
// smallest context; a limit that is too low would call a true run impossible.
func Hard(a Architecture, w Widths, l Load, m Machine) (Ceiling, error) {
	l.Routing = MinimumRouting
	m.Kernels = 0
	return ceiling(a, w.smallest(), l, m)
}

// Impossible reports whether a measured rate is above a hard ceiling by more
// than [Margin].
func Impossible(tokensPerSecond float64, hard Ceiling) bool {
	return tokensPerSecond > hard.TokensPerSecond*Margin
}

// ceiling is max(bytes ÷ bandwidth, FLOPs ÷ peak, kernels × launch) and
// B·τ ÷ that. A token costs two operations per active parameter; the
// arithmetic of attention is left out.
func ceiling(a Architecture, w Widths, l Load, m Machine) (Ceiling, error) {
	l, err := l.withDefaults()
	if err != nil {
		return Ceiling{}, err
	}
	switch {
	case a.ActiveParams() <= 0:
		return Ceiling{}, errors.New("architecture has no parameters")
	case !(w.Weight > 0):
		return Ceiling{}, errors.New("width of the weights is not known")
	case !(m.BandwidthGBps > 0) || math.IsInf(m.BandwidthGBps, 0):
		return Ceiling{}, errors.New("memory bandwidth is not known")
	}
	c := Ceiling{Traffic: a.traffic(w, l), Bound: Bandwidth}
	c.Seconds = c.Traffic.Bytes() / (m.BandwidthGBps * 1e9)
	if m.PeakTFLOPS > 0 {
		flops := 2 * float64(a.ActiveParams()) * float64(l.Batch) * float64(l.Positions)
		c.raise(flops/(m.PeakTFLOPS*1e12), Compute)
	}
	c.raise(float64(m.Kernels)*m.LaunchSeconds, Launch)
	c.TokensPerSecond = float64(l.Batch) * l.TokensPerStep / c.Seconds
	return c, nil
}

func (c *Ceiling) raise(seconds float64, bound Bound) {
	if seconds > c.Seconds {
		c.Seconds, c.Bound = seconds, bound
	}
}

// ComputeCrossover is the number of positions per step from which arithmetic
// and no longer memory bounds a model that reads all its weights:
//
//	peak FLOP/s × bytes per parameter / (2 × bandwidth)
//
// About 206 on an H200, 281 on a B200 at FP8. ok is false when a number is
// missing.
func ComputeCrossover(m Machine, weightBits float64) (positions float64, ok bool) {
	if !(m.PeakTFLOPS > 0) || !(m.BandwidthGBps > 0) || !(weightBits > 0) {
		return 0, false
	}
	return m.PeakTFLOPS * 1e12 * weightBits / 8 / (2 * m.BandwidthGBps * 1e9), true
}

// DenseFallback is bandwidth ÷ file size in tokens per second: all that can be
// said about one stream of a model whose architecture is not known. A mixture
// of experts exceeds it by far.
func DenseFallback(m Machine, fileBytes float64) (tokensPerSecond float64, ok bool) {
	if !(m.BandwidthGBps > 0) || !(fileBytes > 0) {
		return 0, false
	}
	return m.BandwidthGBps * 1e9 / fileBytes, true
}
