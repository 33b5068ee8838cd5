package study

import (
	"fmt"
	"math"
	"slices"

	"lmxbench/internal/cost"
)

// Prices are what the caller declares. The zero value knows none.
type Prices struct {
	// GPUHourUSD is the rent of one card for an hour; nil: none given.
	GPUHourUSD *float64
	// GPUs is the number of cards that are paid for; 0 takes the number that a
	// result states, else 1, and says which.
	GPUs int
	// Own is hardware that was bought: USD and LifeYears are used; nil: none.
	Own *cost.Owned
	// USDPerKWh is the price of electricity; nil leaves energy unpriced.
	USDPerKWh *float64
	// PUE multiplies device energy up to the building's meter; 0 means 1.
	PUE float64
	// APIs are prices of hosted services.
	APIs []API
	// Date says when the prices were true; printed as it is.
	Date string
}

// API is the price of a hosted service in dollars per million output tokens.
type API struct {
	Name          string  `json:"name"`
	USDPerMillion float64 `json:"usdPerMillionOutputTokens"`
}

// Tariff is what a machine costs while it runs.
type Tariff struct {
	Name       string  `json:"name"` // rent or own
	USDPerHour float64 `json:"usdPerHour"`
	// Basis says where the price comes from, in words.
	Basis string `json:"basis"`
}

// Money is what tokens cost.
type Money struct {
	Date       string      `json:"priceDate,omitempty"`
	APIs       []API       `json:"apis,omitempty"`
	Quotes     []Quote     `json:"quotes,omitempty"`
	BreakEvens []BreakEven `json:"breakEven,omitempty"`
	Energy     []Electric  `json:"energy,omitempty"`
	// Assumptions are what the figures rest on, one sentence each.
	Assumptions []string `json:"assumptions"`
}

// Quote is the price of a subject's output tokens by one rate.
type Quote struct {
	Subject         int        `json:"subject"` // index
	Tariff          Tariff     `json:"tariff"`
	Basis           cost.Basis `json:"basis"`
	TokensPerSecond float64    `json:"tokensPerSecond"`
	USDPerMillion   float64    `json:"usdPerMillion"`
	// Against compares with each service, in the order of Money.APIs.
	Against []Against `json:"against,omitempty"`
}

// Against compares a price with a service's.
type Against struct {
	// CheaperBy is the service's price ÷ ours; below 1 the service is cheaper.
	CheaperBy float64 `json:"cheaperBy"`
	// Duty is the share of the time the machine must be busy at this rate to
	// cost no more; above 1 it never does.
	Duty float64 `json:"breakEvenDuty"`
}

// Electric is what a subject's tokens draw.
type Electric struct {
	Subject             int      `json:"subject"` // index
	JoulesPerToken      float64  `json:"joulesPerToken"`
	WattHoursPerMillion float64  `json:"wattHoursPerMillion"`
	USDPerMillion       *float64 `json:"usdPerMillion,omitempty"`
	// How says from what it was computed.
	How string `json:"how"`
}

// price fills in Money. It stays nil where no price and no energy is known.
func (st *Study) price(p Prices) error {
	m := &Money{Date: p.Date, APIs: slices.Clone(p.APIs)}
	gpusAssumed, energyOwned := false, true
	var refused []string
	for i, s := range st.Subjects {
		tariffs, assumed, err := p.tariffs(s)
		if err != nil {
			return fmt.Errorf("price of %s: %w", s.Label, err)
		}
		if why := unusable(s); why != "" {
			if len(tariffs) > 0 || s.Energy != nil {
				refused = append(refused, fmt.Sprintf("No price of %s: %s.", s.Label, why))
			}
			continue
		}
		gpusAssumed = gpusAssumed || assumed
		if p.Own != nil && s.watts() == 0 {
			energyOwned = false
		}
		for _, t := range tariffs {
			for _, r := range moneyRates(s) {
				q, err := cost.NewQuote(r.Basis, r.TokensPerSecond, t.USDPerHour)
				if err != nil {
					return fmt.Errorf("price of %s: %w", s.Label, err)
				}
				m.Quotes = append(m.Quotes, newQuote(i, t, q, p.APIs))
			}
		}
		if e := p.electric(i, s); e != nil {
			m.Energy = append(m.Energy, *e)
		}
	}
	for i := range st.Series {
		m.BreakEvens = append(m.BreakEvens, p.breakEvens(i, &st.Series[i])...)
	}
	if len(m.Quotes) == 0 && len(m.Energy) == 0 {
		st.Notes = append(st.Notes, refused...)
		return nil
	}
	m.Assumptions = refused
	m.assume(p, gpusAssumed, energyOwned)
	st.Money = m
	return nil
}

// moneyRates are the rates that a price is quoted by: the wall rate, which is
// what a burst costs, and the one the run is known by, which flatters.
func moneyRates(s *Subject) (rates []*Rate) {
	if r := s.Rate(cost.BatchWall); r != nil {
		rates = append(rates, r)
	}
	if r := s.Answer(); r != nil && r.Basis != cost.BatchWall {
		rates = append(rates, r)
	}
	return rates
}

func newQuote(subject int, t Tariff, q cost.Quote, apis []API) Quote {
	out := Quote{Subject: subject, Tariff: t, Basis: q.Basis, TokensPerSecond: q.TokensPerSecond, USDPerMillion: q.USDPerMillion}
	for _, api := range apis {
		by, ok := q.CheaperBy(api.USDPerMillion)
		duty, _ := q.BreakEvenDuty(api.USDPerMillion)
		if ok {
			out.Against = append(out.Against, Against{CheaperBy: by, Duty: duty})
		}
	}
	return out
}

// watts is the draw of a subject's cards, 0 where it is not known.
func (s *Subject) watts() float64 {
	if s.Energy == nil || s.Energy.Watts == nil {
		return 0
	}
	return *s.Energy.Watts
}

// tariffs are what a subject's machine costs an hour. assumed says that the
// number of cards was.
func (p Prices) tariffs(s *Subject) (all []Tariff, assumed bool, err error) {
	switch {
	case p.GPUHourUSD != nil:
		n, words := p.GPUs, "--gpus"
		if n == 0 {
			n, words = s.GPUs, "as its hardware says"
		}
		if n == 0 {
			n, words, assumed = 1, "assumed", true
		}
		all = append(all, Tariff{
			Name: "rent", USDPerHour: *p.GPUHourUSD * float64(n),
			Basis: fmt.Sprintf("%s per GPU and hour × %d (%s)", declared(*p.GPUHourUSD), n, words),
		})
	case s.Price != nil:
		all = append(all, *s.Price)
	}
	if p.Own == nil {
		return all, assumed, nil
	}
	own := *p.Own
	own.BusyWatts, own.PUE = s.watts(), p.PUE
	if p.USDPerKWh != nil {
		own.USDPerKWh = *p.USDPerKWh
	}
	hour, err := own.BusyHour()
	if err != nil {
		return nil, assumed, err
	}
	return append(all, Tariff{
		Name: "own", USDPerHour: hour.USD(),
		Basis: fmt.Sprintf("$%s over %s years, always busy: $%s capital and $%s energy an hour",
			Fixed(own.USD, 0), trimmed(own.LifeYears), Fixed(hour.Capital, 3), Fixed(hour.Energy, 3)),
	}), assumed, nil
}

// electric is the energy of a subject. Where watts and rate come from different
// windows it says so.
func (p Prices) electric(i int, s *Subject) *Electric {
	if s.Energy == nil {
		return nil
	}
	e := &Electric{Subject: i}
	a := s.Answer()
	switch {
	case s.Energy.JoulesPerToken != nil:
		e.JoulesPerToken = *s.Energy.JoulesPerToken
		e.How = fmt.Sprintf("energy ÷ tokens of the same window (%s)", s.Energy.Window)
	case s.Energy.Watts != nil && a != nil:
		e.JoulesPerToken = *s.Energy.Watts / a.TokensPerSecond
		e.How = fmt.Sprintf("%s W (%s) ÷ %s tok/s: power and rate are of different windows", Number(*s.Energy.Watts), s.Energy.Window, Number(a.TokensPerSecond))
	default:
		return nil
	}
	price := 0.0
	if p.USDPerKWh != nil {
		price = *p.USDPerKWh
	}
	known, ok := cost.NewEnergy(e.JoulesPerToken, price, 0, p.PUE)
	if !ok {
		return nil
	}
	e.WattHoursPerMillion = known.WattHoursPerMillion
	if p.USDPerKWh != nil {
		e.USDPerMillion = &known.USDPerMillion
	}
	return e
}

func (m *Money) assume(p Prices, gpusAssumed, energyOwned bool) {
	add := func(format string, args ...any) { m.Assumptions = append(m.Assumptions, fmt.Sprintf(format, args...)) }
	if len(m.Quotes) > 0 {
		add("$/M output tokens = $ per hour ÷ (tokens per second × 0.0036), the machine busy all the time; at half the load it is twice that.")
		add("batchWall counts from the first send to the last byte and is what a burst costs; the other basis leaves out the wait for the first token and flatters the machine.")
		add("Input tokens are counted as free on both sides. Starting the server, downloads and warm-up are not in it.")
	}
	if gpusAssumed {
		add("The number of GPUs is not known and taken as one: give --gpus.")
	}
	if p.Own != nil && !energyOwned {
		add("Where no power was measured, the price of owning leaves energy out.")
	}
	if len(m.BreakEvens) > 0 {
		add("A break-even lies between the two bounds if rate and step time are both concave in the number of streams, as they are where expert loads saturate: lower, step time linear between the neighbours; upper, rate linear.")
	}
	if len(m.Energy) > 0 {
		text := "Energy is the GPU's own telemetry, GPU only"
		if p.PUE > 1 {
			text += fmt.Sprintf(", × PUE %s in dollars", trimmed(p.PUE))
		}
		add("%s.", text)
	}
	if m.Date != "" {
		add("Prices as of %s.", m.Date)
	}
}

// declared writes a declared price: in cents, with more decimals where it has
// them.
func declared(usd float64) string {
	if cents := usd * 100; math.Abs(cents-math.Round(cents)) < 1e-9 {
		return "$" + Fixed(usd, 2)
	}
	return "$" + trimmed(usd)
}

// trimmed writes a declared number as it was declared.
func trimmed(x float64) string {
	text := Fixed(x, 6)
	for text[len(text)-1] == '0' {
		text = text[:len(text)-1]
	}
	if text[len(text)-1] == '.' {
		text = text[:len(text)-1]
	}
	return text
}
