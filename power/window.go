package power

import (
	"fmt"
	"time"
)

// WindowRequest names a span of a recording and what is known about it.
type WindowRequest struct {
	// Name is the window's name: plateau, lmx, request, warmup, idle.
	Name string
	// Iteration counts from 1 within its phase; 0 for none.
	Iteration int
	// From and To bound the window on the recording's axis. Required.
	From, To time.Duration
	// Tokens is the number of output tokens stamped inside the window; nil
	// when it is not known, and then no figure per token is given.
	Tokens *int64
	// GPUs are the UUIDs in use. Empty: see [Series.InUse].
	GPUs []string
	// OwnPIDs are the server's processes. Empty: processes are not judged.
	OwnPIDs []int
	// StepPeriod is the median time between decode steps, for the alias
	// check. 0: not known, not checked.
	StepPeriod time.Duration
	// IdleFrom and IdleTo bound a span before the load whose mean power is
	// reported beside the window's and never subtracted. Equal: none.
	IdleFrom, IdleTo time.Duration
}

// Window is what a span of time cost. A nil figure was not measured; the
// reason stands beside it or in Findings.
type Window struct {
	Name      string        `json:"name"`
	Iteration int           `json:"iteration,omitempty"`
	From      time.Duration `json:"fromNs"`
	To        time.Duration `json:"toNs"`
	Seconds   float64       `json:"seconds"`
	// Tokens is the caller's count.
	Tokens *int64 `json:"tokens,omitempty"`
	// GPUs holds one entry per device in use.
	GPUs []GPUWindow `json:"perGpu"`
	// GPUBasis says how they were chosen: declared, pid, memory or all.
	GPUBasis string `json:"gpuBasis"`
	// Energy is the sum over the devices, nil unless each has one.
	Energy *Joules `json:"energyJoules"`
	// Uncertainty bounds the timing error of Energy, not the sensor's gain.
	Uncertainty *Joules `json:"uncertaintyJoules,omitempty"`
	// EnergySource is the weakest source among the devices.
	EnergySource EnergySource `json:"energySource"`
	// EnergyReason says why Energy is nil.
	EnergyReason Reason `json:"energyReason,omitempty"`
	// MeanWatts is Energy over the window's length.
	MeanWatts *Watts `json:"meanWatts"`
	// IdleWatts is the mean before the load, summed over the devices.
	IdleWatts *Watts `json:"idleWatts,omitempty"`
	// MemoryUsedPeak is the sum of the devices' peaks, in bytes.
	MemoryUsedPeak *float64 `json:"memoryUsedPeakBytes,omitempty"`
	// JoulesPerToken is Energy / Tokens.
	JoulesPerToken *float64 `json:"joulesPerToken"`
	// TokensPerJoule is Tokens / Energy.
	TokensPerJoule *float64 `json:"tokensPerJoule"`
	// Findings lists the doubts.
	Findings []Finding `json:"codes"`
}

// Window computes one window. It never fails: what could not be computed is
// nil, with a reason and a code.
func (s *Series) Window(req WindowRequest) Window {
	w := Window{
		Name: req.Name, Iteration: req.Iteration, From: req.From, To: req.To,
		Seconds: (req.To - req.From).Seconds(), Tokens: req.Tokens,
		GPUs: []GPUWindow{}, Findings: []Finding{}, EnergySource: EnergyNone,
	}
	uuids := req.GPUs
	w.GPUBasis = BasisDeclared
	if len(uuids) == 0 {
		uuids, w.GPUBasis = s.InUse(req.From, req.To, req.OwnPIDs)
	}
	if req.To <= req.From {
		w.EnergyReason = EmptyWindow
		w.find(CodeNotBracketed, LevelWarn, "", "the window is empty: it ends before it begins")
		return w
	}
	for _, id := range uuids {
		t := s.tracks[id]
		if t == nil {
			w.EnergyReason = NoData
			w.find(CodeUnavailable, LevelWarn, id, "the recording has no device of this UUID")
			continue
		}
		g, findings := t.window(req)
		w.GPUs = append(w.GPUs, g)
		w.Findings = append(w.Findings, findings...)
	}
	if step := s.clockSteps(req.From, req.To); step.Abs() > clockStepLimit {
		w.find(CodeClockStep, LevelInvalid, "",
			fmt.Sprintf("the wall clock moved by %v against the monotonic clock: ring-buffer samples may be misplaced; repeat without clock changes", step))
	}
	w.total()
	return w
}

// clockStepLimit is the change between the clocks that counts as a step; slew
// by a time daemon stays far below it in the second between two clock rows.
const clockStepLimit = 50 * time.Millisecond

func (w *Window) find(code Code, level Level, gpu, detail string) {
	w.Findings = append(w.Findings, Finding{Code: code, Level: level, GPU: gpu, Detail: detail})
}

// total adds the devices up: energy only when every device has one.
func (w *Window) total() {
	if len(w.GPUs) == 0 && w.EnergyReason == "" {
		w.EnergyReason = NoData
		w.find(CodeUnavailable, LevelWarn, "", "the recording has no device")
	}
	for i, g := range w.GPUs {
		w.EnergySource = weaker(w.EnergySource, g.EnergySource, i == 0)
		if g.Scope != w.GPUs[0].Scope {
			w.EnergyReason = MixedScope
		}
		if w.EnergyReason == "" {
			w.EnergyReason = g.EnergyReason
		}
	}
	w.IdleWatts = sum(w.GPUs, func(g GPUWindow) *Watts { return g.IdleWatts })
	w.MemoryUsedPeak = sum(w.GPUs, func(g GPUWindow) *float64 { return g.MemoryUsedPeak })
	if w.EnergyReason != "" {
		w.EnergySource = EnergyNone
		return
	}
	w.Energy = sum(w.GPUs, func(g GPUWindow) *Joules { return g.Energy })
	w.Uncertainty = sum(w.GPUs, func(g GPUWindow) *Joules { return g.Uncertainty })
	energy := float64(*w.Energy)
	w.MeanWatts = ptr(Watts(energy / w.Seconds))
	if w.Tokens != nil && *w.Tokens > 0 && energy > 0 {
		w.JoulesPerToken = ptr(energy / float64(*w.Tokens))
		w.TokensPerJoule = ptr(float64(*w.Tokens) / energy)
	}
}

// sum adds a figure of every device; it is nil when one of them has none.
func sum[T ~float64](gpus []GPUWindow, of func(GPUWindow) *T) *T {
	if len(gpus) == 0 {
		return nil
	}
	var total T
	for _, g := range gpus {
		v := of(g)
		if v == nil {
			return nil
		}
		total += *v
	}
	return &total
}
