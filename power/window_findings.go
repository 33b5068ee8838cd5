package power

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// findings lists the doubts about one device's share of a window.
func (t *Track) findings(req WindowRequest, g GPUWindow, curve counterCurve) []Finding {
	f := doubts{gpu: t.Device.UUID}
	f.device(t, req.From, req.To)
	f.counter(g.Counter, curve, req.From, req.To)
	f.holes(t, g, req.From, req.To)
	f.unavailable(g)
	f.disagreement(g)
	f.throttled(g.Throttle)
	f.foreign(t, req)
	sampler := t.Device.RingPeriod
	if sampler == 0 {
		sampler = DefaultSamplerPeriod
	}
	if b, risk := AliasRisk(req.StepPeriod, sampler, req.To-req.From); risk {
		f.warn(CodeAlias, "%s", aliasDetail(req.StepPeriod, sampler, req.To-req.From, b))
	}
	return f.list
}

// doubts collects findings of one device.
type doubts struct {
	gpu  string
	list []Finding
}

func (f *doubts) add(code Code, level Level, format string, args ...any) {
	f.list = append(f.list, Finding{Code: code, Level: level, GPU: f.gpu, Detail: fmt.Sprintf(format, args...)})
}

func (f *doubts) warn(code Code, format string, args ...any) {
	f.add(code, LevelWarn, format, args...)
}

// device looks at what the device is.
func (f *doubts) device(t *Track, from, to time.Duration) {
	for _, x := range t.faults {
		if x.fails(AnySignal) == IdentityChanged {
			f.add(CodeIdentityChanged, LevelInvalid, "%s; no energy is given", x.Note)
			break
		}
		if x.After >= from && x.Before <= to {
			f.warn(CodeUnavailable, "%s (%s)", x.Note, x.fails(AnySignal))
			break
		}
	}
	if t.Device.MIG {
		f.warn(CodeMIG, "the card is partitioned (MIG): its energy covers every partition, so none is given for this one")
	}
	if t.Device.Scope == ScopeModule {
		f.warn(CodeScopeModule, "the figure covers the whole module (CPU, GPU, memory): do not compare it with a GPU's")
	}
}

// counter looks at the energy counter inside the window.
func (f *doubts) counter(e Estimate, c counterCurve, from, to time.Duration) {
	switch e.Reason {
	case CounterBackwards:
		f.warn(CodeNonMonotonic, "the energy counter fell inside the window (driver reload?): other signals are used")
	case CounterStuck:
		for _, s := range c.stuck {
			if s.meets(from, to) {
				f.warn(CodeStuck, "the energy counter stood still for %.1f s while it was read: other signals are used", (s.to - s.from).Seconds())
				break
			}
		}
	}
}

// holes looks for signals that do not reach over the window, or have gaps.
func (f *doubts) holes(t *Track, g GPUWindow, from, to time.Duration) {
	signals := []struct {
		name string
		Estimate
	}{{"energy counter", g.Counter}, {"ring buffer", g.Samples}, {"mean power", g.Average}, {"instant power", g.Instant}}
	var open, holed []string
	for _, s := range signals {
		switch s.Reason {
		case NotBracketed:
			open = append(open, s.name)
		case Gap:
			holed = append(holed, s.name)
		}
	}
	if len(open) > 0 {
		f.warn(CodeNotBracketed, "the recording does not reach over both ends of the window for: %s; start it 3 s before and stop it 2 s after", strings.Join(open, ", "))
	}
	gauges := newPowerCurve(t.gauges, PowerAverage)
	if len(gauges) == 0 {
		gauges = newPowerCurve(t.gauges, PowerInstant)
	}
	limit := max(3*gauges.spacing(), 500*time.Millisecond)
	if gap := gauges.widestGap(from, to); gap > limit {
		holed = append(holed, fmt.Sprintf("gauges (%.2f s)", gap.Seconds()))
	}
	if len(holed) > 0 {
		f.warn(CodeGap, "the recording has a hole in or at the window for: %s", strings.Join(holed, ", "))
	}
}

// unavailable reports a missing energy, and a counter that failed where the
// device has one.
func (f *doubts) unavailable(g GPUWindow) {
	explained := g.EnergyReason == MIGEnabled || g.EnergyReason == IdentityChanged
	switch {
	case g.Energy == nil && !explained && g.EnergyReason != NotBracketed && g.EnergyReason != Gap:
		f.warn(CodeUnavailable, "no energy: counter %s, ring buffer %s, mean power %s, instant power %s",
			g.Counter.Reason, g.Samples.Reason, g.Average.Reason, g.Instant.Reason)
	case g.Energy != nil && failed(g.Counter.Reason):
		f.warn(CodeUnavailable, "the energy counter could not be read (%s): %s is used", g.Counter.Reason, g.EnergySource)
	}
}

// failed tells reasons that no other code reports.
func failed(why Reason) bool {
	switch why {
	case "", NotSupported, NoData, NotBracketed, Gap, CounterStuck, CounterBackwards, FieldMissing:
		return false
	default:
		return true
	}
}

// disagreement compares the signals. A difference within the timing error of
// the two estimates says nothing and is left alone.
func (f *doubts) disagreement(g GPUWindow) {
	if g.Energy == nil {
		return
	}
	var worst float64
	var parts []string
	compare := func(name string, percent *float64, e Estimate) {
		if percent == nil || e.Joules == g.Energy {
			return
		}
		parts = append(parts, fmt.Sprintf("%s %+.1f %%", name, *percent))
		if beyond := abs(float64(*e.Joules - *g.Energy)); beyond > float64(*e.Uncertainty+*g.Uncertainty) {
			worst = max(worst, abs(*percent))
		}
	}
	compare("ring buffer", g.SamplesDifference, g.Samples)
	compare("mean power", g.AverageDifference, g.Average)
	level := LevelWarn
	if worst > DisagreeInvalid {
		level = LevelInvalid
	}
	if worst > DisagreeWarn {
		f.add(CodeDisagree, level, "against the %s: %s; one of the sensors is wrong for this load", g.EnergySource, strings.Join(parts, ", "))
	}
}

// throttled looks at what held the clocks back.
func (f *doubts) throttled(t Throttle) {
	if t.PowerCapped != nil && *t.PowerCapped > CappedShare {
		f.warn(CodeCapped, "held at the power limit for %.0f %% of the window: a faster card of this kind would not be faster here", 100**t.PowerCapped)
	}
	heat := []struct {
		name  string
		share *float64
	}{{"software thermal slowdown", t.ThermalSW}, {"hardware thermal slowdown", t.ThermalHW}, {"power brake", t.PowerBrake}}
	var parts []string
	for _, h := range heat {
		if h.share != nil && *h.share > ThermalShare {
			parts = append(parts, fmt.Sprintf("%s %.0f %%", h.name, 100**h.share))
		}
	}
	if len(parts) > 0 {
		f.warn(CodeThermal, "slowed down for a part of the window: %s; mind the cooling", strings.Join(parts, ", "))
	}
}

// foreign looks for processes that are not the caller's.
func (f *doubts) foreign(t *Track, req WindowRequest) {
	if len(req.OwnPIDs) == 0 {
		return
	}
	own := map[int]bool{}
	for _, p := range req.OwnPIDs {
		own[p] = true
	}
	var strangers []string
	seen := map[int]bool{}
	for _, s := range t.processes {
		if s.After < req.From || s.Before > req.To {
			continue
		}
		for _, p := range parseProcesses(s.Note) {
			if !own[p.PID] && !seen[p.PID] {
				seen[p.PID] = true
				strangers = append(strangers, strconv.Itoa(p.PID))
			}
		}
	}
	if len(strangers) > 0 {
		f.warn(CodeForeign, "processes that are not the server's were on the card: %s; their energy is in the figure", strings.Join(strangers, ", "))
	}
}
