package cost

import (
	"fmt"
	"math"
)

// HoursPerYear is 365 days.
const HoursPerYear = 365 * 24

// Owned is hardware that was bought.
type Owned struct {
	// USD is the purchase price. Required.
	USD float64
	// LifeYears is the time it is written off over. Required.
	LifeYears float64
	// BusyWatts and IdleWatts are the measured draw under load and when ready
	// but idle (hot idle: weights loaded). Zero leaves the energy out.
	BusyWatts, IdleWatts float64
	// USDPerKWh is the price of electricity.
	USDPerKWh float64
	// PUE multiplies device energy up to the building's meter: cooling, and the
	// host where only the GPU was measured. Zero means 1, "GPU only".
	PUE float64
	// Utilisation is the share of its life it is busy. Zero means 1.
	Utilisation float64
}

// OwnedHour is what a busy hour of owned hardware costs, in dollars.
type OwnedHour struct {
	// Capital is the purchase spread over the busy hours.
	Capital float64
	// Energy is drawn in the busy hour, Idle in the idle time that goes with it.
	Energy, Idle float64
}

// USD is the sum: put it where a rent would go.
func (h OwnedHour) USD() float64 { return h.Capital + h.Energy + h.Idle }

// BusyHour is the cost of an hour of work:
//
//	capital  $ ÷ (years · 8,760 · u)
//	energy   W_busy · PUE · $/kWh ÷ 1000
//	idle     W_idle · PUE · $/kWh ÷ 1000 · (1 − u)/u
//
// The error names the number that is missing or out of range.
func (o Owned) BusyHour() (OwnedHour, error) {
	if o.PUE == 0 {
		o.PUE = 1
	}
	if o.Utilisation == 0 {
		o.Utilisation = 1
	}
	switch {
	case !positive(o.USD):
		return OwnedHour{}, fmt.Errorf("purchase price %v is not above zero", o.USD)
	case !positive(o.LifeYears):
		return OwnedHour{}, fmt.Errorf("life of %v years is not above zero", o.LifeYears)
	case !(o.PUE >= 1) || math.IsInf(o.PUE, 0):
		return OwnedHour{}, fmt.Errorf("PUE %v is below 1: a building draws at least what its devices do", o.PUE)
	case !(o.Utilisation > 0 && o.Utilisation <= 1):
		return OwnedHour{}, fmt.Errorf("utilisation %v is not a share above zero", o.Utilisation)
	case !(o.BusyWatts >= 0) || !(o.IdleWatts >= 0) || !(o.USDPerKWh >= 0) ||
		math.IsInf(o.BusyWatts+o.IdleWatts+o.USDPerKWh, 0):
		return OwnedHour{}, fmt.Errorf("powers %v and %v W at %v $/kWh: none may be negative", o.BusyWatts, o.IdleWatts, o.USDPerKWh)
	}
	perWatt := o.PUE * o.USDPerKWh / 1000
	return OwnedHour{
		Capital: o.USD / (o.LifeYears * HoursPerYear * o.Utilisation),
		Energy:  o.BusyWatts * perWatt,
		Idle:    o.IdleWatts * perWatt * (1 - o.Utilisation) / o.Utilisation,
	}, nil
}

// Energy is what a million output tokens draw and cost.
type Energy struct {
	// JoulesPerToken is the input: joules ÷ tokens of one and the same window.
	JoulesPerToken float64
	// WattHoursPerMillion at the device: J ÷ 0.0036.
	WattHoursPerMillion float64
	// USDPerMillion at the meter of the building.
	USDPerMillion float64
}

// NewEnergy prices energy: J/token × PUE × $/kWh. hostShare is what the host
// draws as a share of the device (0 where it was measured too, or left out:
// then the result is "GPU only"); pue of zero means 1. ok is false without
// joules and for factors out of range.
func NewEnergy(joulesPerToken, usdPerKWh, hostShare, pue float64) (e Energy, ok bool) {
	if pue == 0 {
		pue = 1
	}
	if !positive(joulesPerToken) || !(usdPerKWh >= 0) || !(hostShare >= 0) || !(pue >= 1) ||
		math.IsInf(usdPerKWh+hostShare+pue, 0) {
		return Energy{}, false
	}
	wh := joulesPerToken / 0.0036
	return Energy{
		JoulesPerToken: joulesPerToken, WattHoursPerMillion: wh,
		USDPerMillion: wh / 1000 * (1 + hostShare) * pue * usdPerKWh,
	}, true
}
