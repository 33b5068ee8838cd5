package cost

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/interp"
)

// Rung is one measured step of a sweep.
type Rung struct {
	// Streams run at once.
	Streams int
	// TokensPerSecond of all of them, by the basis of the comparison.
	TokensPerSecond float64
}

// BreakEvenRate is the rate from which a machine costs no more than a hosted
// service: $/h ÷ $/M · 10⁶ ÷ 3600, tokens per second. ok is false when either
// price is not above zero.
func BreakEvenRate(usdPerHour, apiUSDPerMillion float64) (tokensPerSecond float64, ok bool) {
	if !positive(usdPerHour) || !positive(apiUSDPerMillion) {
		return 0, false
	}
	return usdPerHour / apiUSDPerMillion * 1e6 / 3600, true
}

// Where says where the break-even lies in a sweep.
type Where string

// The places.
const (
	// Between two rungs: the bracket is given.
	Between Where = "between"
	// AtRung: a rung meets the rate exactly.
	AtRung Where = "at rung"
	// BelowFirst: already the smallest rung is above it ("below c1").
	BelowFirst Where = "below first rung"
	// NotReached: no rung reaches it.
	NotReached Where = "not reached"
)

// BreakEven is the number of streams from which a machine costs no more than a
// service. All stream counts are 0 unless Where is Between or AtRung.
type BreakEven struct {
	Where Where
	// Lower and Upper are the measured neighbours; one of them alone is set
	// when the point lies outside the sweep, both are the rung when it is met.
	Lower, Upper Rung
	// Streams is the estimate: step time linear between the neighbours.
	Streams float64
	// Lo and Hi bracket the truth if both rate and step time are concave in the
	// number of streams, as they are where expert loads saturate.
	Lo, Hi float64
	// Methods are other readings of the same sweep, for comparison.
	Methods Methods
	// Missing are the rungs to measure when the bracket is wider than 20 % of
	// its lower end: powers of two around it.
	Missing []int
}

// Methods are ways to interpolate the number of streams at a rate.
type Methods struct {
	// StepTime: streams ÷ rate is linear in the streams. The lower bound.
	StepTime float64
	// Rate: the rate is linear in the streams. The upper bound.
	Rate float64
	// LogLog: the rate is a power of the streams.
	LogLog float64
	// Cubic: a monotone cubic through all rungs (slopes after Fritsch and
	// Butland, at the two ends those of the chords). nil where rates do not
	// ascend throughout or there are fewer than three.
	Cubic *float64
}

// FindBreakEven finds where a sweep first reaches a rate. The rungs may come in
// any order. The error names rungs that are no measurements: a stream count
// below one or given twice, or a rate that is not above zero.
func FindBreakEven(rungs []Rung, tokensPerSecond float64) (BreakEven, error) {
	sorted, err := ascending(rungs)
	if err != nil {
		return BreakEven{}, err
	}
	if !positive(tokensPerSecond) {
		return BreakEven{}, fmt.Errorf("break-even rate %v is not above zero", tokensPerSecond)
	}
	i := slices.IndexFunc(sorted, func(r Rung) bool { return r.TokensPerSecond >= tokensPerSecond })
	switch {
	case i < 0:
		return BreakEven{Where: NotReached, Lower: sorted[len(sorted)-1]}, nil
	case sorted[i].TokensPerSecond == tokensPerSecond:
		at := float64(sorted[i].Streams)
		return BreakEven{
			Where: AtRung, Lower: sorted[i], Upper: sorted[i], Streams: at, Lo: at, Hi: at,
			Methods: Methods{StepTime: at, Rate: at, LogLog: at},
		}, nil
	case i == 0:
		return BreakEven{Where: BelowFirst, Upper: sorted[0]}, nil
	}
	b := BreakEven{Where: Between, Lower: sorted[i-1], Upper: sorted[i]}
	b.Methods = Methods{
		StepTime: b.byStepTime(tokensPerSecond),
		Rate:     b.byRate(tokensPerSecond),
		LogLog:   b.byPower(tokensPerSecond),
		Cubic:    cubic(sorted, tokensPerSecond),
	}
	b.Streams = b.Methods.StepTime
	b.Lo, b.Hi = min(b.Methods.StepTime, b.Methods.Rate), max(b.Methods.StepTime, b.Methods.Rate)
	b.Missing = missingRungs(b)
	return b, nil
}

func ascending(rungs []Rung) ([]Rung, error) {
	if len(rungs) == 0 {
		return nil, fmt.Errorf("no rungs to find a break-even in")
	}
	sorted := slices.SortedFunc(slices.Values(rungs), func(a, b Rung) int { return a.Streams - b.Streams })
	for i, r := range sorted {
		switch {
		case r.Streams < 1 || !positive(r.TokensPerSecond):
			return nil, fmt.Errorf("rung of %d streams at %v tok/s is no measurement", r.Streams, r.TokensPerSecond)
		case i > 0 && r.Streams == sorted[i-1].Streams:
			return nil, fmt.Errorf("%d streams are given twice", r.Streams)
		}
	}
	return sorted, nil
}

// byStepTime solves c / (s₁ + (c − c₁)·m) = rate for c, where s = c ÷ rate is
// the step time and m its slope between the neighbours.
func (b BreakEven) byStepTime(rate float64) float64 {
	c1, c2 := float64(b.Lower.Streams), float64(b.Upper.Streams)
	s1, s2 := c1/b.Lower.TokensPerSecond, c2/b.Upper.TokensPerSecond
	m := (s2 - s1) / (c2 - c1)
	return rate * (s1 - m*c1) / (1 - rate*m)
}

func (b BreakEven) byRate(rate float64) float64 {
	c1, c2 := float64(b.Lower.Streams), float64(b.Upper.Streams)
	return c1 + (rate-b.Lower.TokensPerSecond)/(b.Upper.TokensPerSecond-b.Lower.TokensPerSecond)*(c2-c1)
}

func (b BreakEven) byPower(rate float64) float64 {
	c1, c2 := float64(b.Lower.Streams), float64(b.Upper.Streams)
	share := math.Log(rate/b.Lower.TokensPerSecond) / math.Log(b.Upper.TokensPerSecond/b.Lower.TokensPerSecond)
	return c1 * math.Pow(c2/c1, share)
}

// cubic inverts a monotone cubic through the rungs by bisection.
func cubic(sorted []Rung, rate float64) *float64 {
	if len(sorted) < 3 {
		return nil
	}
	xs, ys := make([]float64, len(sorted)), make([]float64, len(sorted))
	for i, r := range sorted {
		xs[i], ys[i] = float64(r.Streams), r.TokensPerSecond
		if i > 0 && ys[i] <= ys[i-1] {
			return nil
		}
	}
	var curve interp.PiecewiseCubic
	curve.FitWithDerivatives(xs, ys, monotoneSlopes(xs, ys))
	low, high := xs[0], xs[len(xs)-1]
	for range 100 {
		if mid := (low + high) / 2; curve.Predict(mid) < rate {
			low = mid
		} else {
			high = mid
		}
	}
	return &high
}

// monotoneSlopes are weighted harmonic means of the chords on both sides, which
// keep a cubic through ascending points ascending. The ends take their only
// chord: the usual three-point formula there presumes more curvature than a
// sweep's first and last rung can show (it puts the published break-even at
// 19.4 instead of 21.1 streams).
func monotoneSlopes(xs, ys []float64) []float64 {
	n := len(xs)
	chord := func(i int) float64 { return (ys[i+1] - ys[i]) / (xs[i+1] - xs[i]) }
	slopes := make([]float64, n)
	slopes[0], slopes[n-1] = chord(0), chord(n-2)
	for i := 1; i < n-1; i++ {
		before, after := xs[i]-xs[i-1], xs[i+1]-xs[i]
		w1, w2 := 2*after+before, after+2*before
		slopes[i] = (w1 + w2) / (w1/chord(i-1) + w2/chord(i))
	}
	return slopes
}

// missingRungs are the powers of two that lie in the bracket or next to it, and
// strictly between the neighbours.
func missingRungs(b BreakEven) []int {
	if b.Hi-b.Lo <= 0.2*b.Lo {
		return nil
	}
	var missing []int
	for c := 1; c < b.Upper.Streams; c *= 2 {
		around := float64(2*c) > b.Lo && float64(c) < 2*b.Hi
		if c > b.Lower.Streams && around {
			missing = append(missing, c)
		}
	}
	return missing
}

// StreamsAtRungRate is the break-even by a popular short cut: the rate ÷ the
// rate of one stream at some rung. Taken at a rung far above the answer, where
// each stream is slower, it lies outside the bracket. For comparison only; ok
// is false without a rung or a rate.
func StreamsAtRungRate(rung Rung, tokensPerSecond float64) (streams float64, ok bool) {
	if rung.Streams < 1 || !positive(rung.TokensPerSecond) || !positive(tokensPerSecond) {
		return 0, false
	}
	return tokensPerSecond * float64(rung.Streams) / rung.TokensPerSecond, true
}
