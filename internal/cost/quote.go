package cost

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Basis names the throughput a price rests on.
type Basis string

// The bases, under the names of the result document.
const (
	BatchWall               Basis = "batchWall"
	ConcurrentRequestWindow Basis = "concurrentRequestWindow"
	InterToken              Basis = "interToken"
	Plateau                 Basis = "plateau"
)

// DefaultBasis is what a burst costs its customer.
const DefaultBasis = BatchWall

// Quote is a price per token and what it rests on.
type Quote struct {
	Basis Basis
	// TokensPerSecond is the rate by that formula.
	TokensPerSecond float64
	// USDPerHour is what the machine costs while it runs.
	USDPerHour float64
	// USDPerMillion is the price of a million output tokens at full load.
	// Input tokens are counted as free.
	USDPerMillion float64
}

// NewQuote prices output tokens:
//
//	$/M = $/h ÷ (tokens per second × 0.0036)
//
// The error says which number is missing. A price of zero is a price.
func NewQuote(basis Basis, tokensPerSecond, usdPerHour float64) (Quote, error) {
	switch {
	case basis == "":
		return Quote{}, errors.New("a price needs the name of its throughput")
	case !positive(tokensPerSecond):
		return Quote{}, fmt.Errorf("rate %v is not above zero", tokensPerSecond)
	case !(usdPerHour >= 0) || math.IsInf(usdPerHour, 0):
		return Quote{}, fmt.Errorf("price %v per hour is not a price", usdPerHour)
	}
	return Quote{
		Basis: basis, TokensPerSecond: tokensPerSecond, USDPerHour: usdPerHour,
		USDPerMillion: usdPerHour / (tokensPerSecond * 3600 / 1e6),
	}, nil
}

// AtUtilisation is the price when the machine is paid for all the time and busy
// for a share of it: $/M ÷ share. ok is false unless 0 < share ≤ 1.
func (q Quote) AtUtilisation(share float64) (usdPerMillion float64, ok bool) {
	if !(share > 0 && share <= 1) {
		return 0, false
	}
	return q.USDPerMillion / share, true
}

// BreakEvenDuty is the share of the time the machine must be busy at this rate
// to cost no more than a hosted service. Above 1 it never does. ok is false
// without a price to compare with.
func (q Quote) BreakEvenDuty(apiUSDPerMillion float64) (share float64, ok bool) {
	if !positive(apiUSDPerMillion) {
		return 0, false
	}
	return q.USDPerMillion / apiUSDPerMillion, true
}

// CheaperBy is the hosted price ÷ ours: 6.5 reads "6.5 times cheaper", below 1
// the service is cheaper. ok is false when either price is not above zero.
func (q Quote) CheaperBy(apiUSDPerMillion float64) (factor float64, ok bool) {
	if !positive(apiUSDPerMillion) || !positive(q.USDPerMillion) {
		return 0, false
	}
	return apiUSDPerMillion / q.USDPerMillion, true
}

// Rent is what a machine costs for a time.
func Rent(usdPerHour float64, d time.Duration) float64 { return usdPerHour * d.Hours() }

// Request compares one whole request, its prompt included.
type Request struct {
	// OwnUSD is the machine's time: $/h ÷ 3600 ÷ requests per second.
	OwnUSD float64
	// APIUSD is prompt × input price + output × output price.
	APIUSD float64
	// Factor is APIUSD ÷ OwnUSD.
	Factor float64
}

// PerRequest prices a request of some prompt and output tokens on our machine
// and at a service that charges for both. Comparing output alone ignores what
// the service takes for the prompt. ok is false when a count or price is
// missing; an input price of zero is one.
func PerRequest(q Quote, promptTokens, outputTokens int, apiInputPerMillion, apiOutputPerMillion float64) (r Request, ok bool) {
	if promptTokens < 0 || outputTokens <= 0 || !(apiInputPerMillion >= 0) ||
		!positive(apiOutputPerMillion) || math.IsInf(apiInputPerMillion, 0) || !positive(q.USDPerMillion) {
		return Request{}, false
	}
	r = Request{
		OwnUSD: q.USDPerMillion * float64(outputTokens) / 1e6,
		APIUSD: (float64(promptTokens)*apiInputPerMillion + float64(outputTokens)*apiOutputPerMillion) / 1e6,
	}
	r.Factor = r.APIUSD / r.OwnUSD
	return r, true
}

// FormatUSD prints a price per million tokens: two decimals from $0.15, three
// below, and two significant digits where three decimals would read zero.
func FormatUSD(usd float64) string {
	switch {
	case math.Abs(usd) >= 0.15:
		return fmt.Sprintf("$%.2f", usd)
	case math.Abs(usd) >= 0.0005 || usd == 0:
		return fmt.Sprintf("$%.3f", usd)
	}
	return fmt.Sprintf("$%.2g", usd)
}

func positive(x float64) bool { return x > 0 && !math.IsInf(x, 0) }
