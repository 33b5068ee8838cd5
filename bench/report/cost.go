package report

import (
	"encoding/json"
	"fmt"

	"lmxbench/internal/cost"
)

// Prices are what the user declares to pay. Nil and zero are not declared.
type Prices struct {
	GPUHourUSD *float64 `json:"gpuHourUsd,omitempty"` // rent of one GPU for an hour
	GPUs       int      `json:"gpus,omitempty"`       // GPUs that are paid for; 0: as the hardware says, else 1
	USDPerKWh  *float64 `json:"usdPerKwh,omitempty"`  // electricity
	PUE        float64  `json:"pue,omitempty"`        // power of the building ÷ power of its devices; 0 means 1
	ValidOn    string   `json:"validOn,omitempty"`    // day the prices were true
}

// Cost is what the tokens of a run cost at the declared prices, the machine busy
// all the time and input tokens counted as free. A part without a price, or
// without the figure it rests on, is null.
type Cost struct {
	USDPerHour *float64 `json:"usdPerHour"` // rent of all GPUs together
	GPUs       int      `json:"gpus"`
	GPUsSource string   `json:"gpusSource"` // declared, hardware or assumed
	ValidOn    string   `json:"pricesValidOn,omitempty"`

	// By the throughputs of these names, medians. BatchWall is what a burst
	// costs; the others leave out the wait for the first token.
	BatchWall               *Price `json:"batchWall"`
	ConcurrentRequestWindow *Price `json:"concurrentRequestWindow,omitempty"`
	InterToken              *Price `json:"interToken,omitempty"`

	Energy *EnergyPrice `json:"energy,omitempty"`
}

// Price is the price of output tokens by one throughput:
// $/M = $/h ÷ (tokens per second × 0.0036).
type Price struct {
	TokensPerSecond float64 `json:"tokensPerSecond"`
	USDPerMillion   float64 `json:"usdPerMillion"`
}

// EnergyPrice is the price of the GPUs' energy, multiplied up by the PUE.
type EnergyPrice struct {
	JoulesPerToken float64 `json:"joulesPerToken"`
	USDPerMillion  float64 `json:"usdPerMillion"`
}

// usdDecimals are those of a price in a result.
const usdDecimals = 6

// cost prices the result; nil where nothing was declared.
func (a *analysis) cost(t *Throughput) (*Cost, error) {
	p := a.Plan.Prices
	if p == nil {
		return nil, nil
	}
	c := &Cost{ValidOn: p.ValidOn, GPUs: p.GPUs, GPUsSource: "declared"}
	if c.GPUs == 0 {
		_, c.GPUs = Cards(a.Plan.Hardware)
		c.GPUsSource = "hardware"
	}
	if c.GPUs == 0 {
		c.GPUs, c.GPUsSource = 1, "assumed"
	}
	if p.GPUHourUSD != nil {
		hour := *p.GPUHourUSD * float64(c.GPUs)
		c.USDPerHour = &hour
		for _, q := range []struct {
			basis cost.Basis
			rates *Rates
			to    **Price
		}{
			{cost.BatchWall, t.BatchWall, &c.BatchWall},
			{cost.ConcurrentRequestWindow, t.ConcurrentRequestWindow, &c.ConcurrentRequestWindow},
			{cost.InterToken, t.InterToken, &c.InterToken},
		} {
			if q.rates == nil || q.rates.P50 <= 0 {
				continue
			}
			quote, err := cost.NewQuote(q.basis, q.rates.P50, hour)
			if err != nil {
				return nil, fmt.Errorf("price of the tokens: %w", err)
			}
			*q.to = &Price{q.rates.P50, rounded(quote.USDPerMillion, usdDecimals)}
		}
	}
	if joules := joulesPerToken(a.Attached.Power); p.USDPerKWh != nil && joules > 0 {
		if e, ok := cost.NewEnergy(joules, *p.USDPerKWh, 0, p.PUE); ok {
			c.Energy = &EnergyPrice{joules, rounded(e.USDPerMillion, usdDecimals)}
		}
	}
	return c, nil
}

// joulesPerToken is that of the lmx window, 0 where it was not measured.
func joulesPerToken(power json.RawMessage) float64 {
	var p struct {
		JoulesPerToken *float64 `json:"joulesPerToken"`
	}
	if len(power) == 0 || json.Unmarshal(power, &p) != nil || p.JoulesPerToken == nil {
		return 0
	}
	return *p.JoulesPerToken
}

// costTitle is the price in words.
func costTitle(c *Cost) string {
	text := "no price of the machine"
	if c.USDPerHour != nil {
		text = "no rate to price"
		if c.BatchWall != nil {
			text = fmt.Sprintf("%s per million output tokens at $%.2f an hour, by batchWall", cost.FormatUSD(c.BatchWall.USDPerMillion), *c.USDPerHour)
		}
	}
	if c.Energy != nil {
		text += fmt.Sprintf("; energy %s", cost.FormatUSD(c.Energy.USDPerMillion))
	}
	if c.GPUsSource == "assumed" && c.USDPerHour != nil {
		text += "; one GPU assumed"
	}
	return text
}
