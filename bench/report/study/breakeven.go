package study

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"lmxbench/internal/cost"
)

// BreakEven is where a curve reaches a service's price.
type BreakEven struct {
	Series int        `json:"series"` // index
	Tariff Tariff     `json:"tariff"`
	Basis  cost.Basis `json:"basis"`
	API    API        `json:"api"`
	// TokensPerSecond is the rate from which the machine costs no more.
	TokensPerSecond float64 `json:"tokensPerSecond"`
	// Statement is the result in one sentence, with its bracket.
	Statement string     `json:"statement"`
	Where     cost.Where `json:"where"`
	// Low and High bracket the number of streams; nil outside the sweep.
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
	// Methods are other readings of the same sweep, by name.
	Methods map[string]float64 `json:"methods,omitempty"`
	// Missing are the concurrencies to measure to narrow the bracket.
	Missing []int `json:"missing,omitempty"`
}

// breakEvens finds where a curve meets each service's price, for each tariff
// and each of the two bases that all its points have.
func (p Prices) breakEvens(index int, s *Series) (all []BreakEven) {
	usable := slices.DeleteFunc(slices.Clone(s.subjects), func(x *Subject) bool { return !x.usable() })
	if len(usable) < 2 || len(p.APIs) == 0 {
		return nil
	}
	tariffs, _, err := p.tariffs(usable[0])
	if err != nil {
		return nil
	}
	for _, t := range tariffs {
		if t.Name == "own" && usable[0].watts() > 0 {
			t.Basis += fmt.Sprintf(" (at the %s W of %s)", Number(usable[0].watts()), usable[0].Label)
		}
		for _, basis := range []cost.Basis{cost.BatchWall, ""} {
			rungs := curve(usable, basis)
			if len(rungs) != len(usable) {
				continue
			}
			for _, api := range p.APIs {
				if b, ok := newBreakEven(index, t, basis, api, rungs); ok {
					all = append(all, b)
				}
			}
		}
	}
	return all
}

// basisAnswer names the rate that each result is known by, lmx's tokSOut: one
// formula at one stream, another above.
const basisAnswer cost.Basis = "tokSOut"

// curve is the rates of a series by one basis; the empty one is that of each
// subject's answer.
func curve(subjects []*Subject, basis cost.Basis) (rungs []cost.Rung) {
	for _, x := range subjects {
		r := x.Rate(basis)
		if basis == "" {
			r = x.Answer()
		}
		if r != nil {
			rungs = append(rungs, cost.Rung{Streams: x.Streams, TokensPerSecond: r.TokensPerSecond})
		}
	}
	return rungs
}

func newBreakEven(series int, t Tariff, basis cost.Basis, api API, rungs []cost.Rung) (BreakEven, bool) {
	rate, ok := cost.BreakEvenRate(t.USDPerHour, api.USDPerMillion)
	if !ok {
		return BreakEven{}, false
	}
	b := BreakEven{Series: series, Tariff: t, Basis: basis, API: api, TokensPerSecond: rate}
	if basis == "" {
		b.Basis = basisAnswer
	}
	f, err := cost.FindBreakEven(rungs, rate)
	if err != nil {
		return BreakEven{}, false
	}
	b.Where, b.Missing = f.Where, f.Missing
	if f.Where == cost.Between || f.Where == cost.AtRung {
		b.Low, b.High = &f.Lo, &f.Hi
	}
	if f.Where == cost.Between {
		b.Methods = map[string]float64{"stepTimeLinear": f.Methods.StepTime, "rateLinear": f.Methods.Rate, "logLog": f.Methods.LogLog}
		if f.Methods.Cubic != nil {
			b.Methods["monotoneCubic"] = *f.Methods.Cubic
		}
	}
	b.Statement = b.words(f, rungs)
	return b, true
}

// Bracket is the range of streams in words: between two bounds, or at one
// where these read alike. It is empty outside the sweep.
func (b *BreakEven) Bracket() string {
	if b.Low == nil || b.High == nil {
		return ""
	}
	low, high := Fixed(*b.Low, 1), Fixed(*b.High, 1)
	if low == high {
		return "at about " + low
	}
	return "between " + low + " and " + high
}

// words says where the break-even is and how sure that is.
func (b *BreakEven) words(f cost.BreakEven, rungs []cost.Rung) string {
	head := fmt.Sprintf("break-even with %s at %s/M is %s tok/s (%s)", b.API.Name, declared(b.API.USDPerMillion), Number(b.TokensPerSecond), b.Basis)
	switch f.Where {
	case cost.AtRung:
		return fmt.Sprintf("%s: exactly at %s", head, Plural(f.Lower.Streams, "stream"))
	case cost.BelowFirst:
		return fmt.Sprintf("%s: already passed at %s (%s tok/s); fewer were not measured", head, Plural(f.Upper.Streams, "stream"), Number(f.Upper.TokensPerSecond))
	case cost.NotReached:
		return fmt.Sprintf("%s: not reached; the most measured is %s tok/s", head, Number(fastest(rungs)))
	}
	text := fmt.Sprintf("%s: %s streams", head, b.Bracket())
	if len(f.Missing) > 0 {
		list := strings.Trim(strings.ReplaceAll(fmt.Sprint(f.Missing), " ", ", "), "[]")
		text += "; measure " + list + " to narrow it"
	}
	return text
}

func fastest(rungs []cost.Rung) (most float64) {
	for _, r := range rungs {
		most = math.Max(most, r.TokensPerSecond)
	}
	return most
}
