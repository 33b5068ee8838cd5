package simserver

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Flavor is the dialect a simulated engine speaks: stream shape, metric names
// and side endpoints.
type Flavor string

// The dialects.
const (
	// VLLM follows vLLM 0.25: an HTTP chunk per event, the finish reason on the
	// last content event, then usage with empty choices.
	VLLM Flavor = "vllm"
	// LlamaCPP follows llama.cpp's server: null content in the first delta, an
	// empty last delta with the finish reason, usage beside timings.
	LlamaCPP Flavor = "llamacpp"
)

// Phase says how the tokens of concurrent streams lie in time.
type Phase string

// The phases.
const (
	// StepPhase is continuous batching: all running streams get their tokens in
	// one burst at the end of each step.
	StepPhase Phase = "step"
	// StreamPhase gives each stream its own clock: first token TTFT after the
	// request, then one event every ITL. No slots, no queue, no prefill.
	StreamPhase Phase = "stream"
)

// StepPoint is one point of the step-time curve: a decode step with Batch
// running sequences takes Time.
type StepPoint struct {
	Batch int
	Time  time.Duration
}

// Profile is an engine in numbers. The zero value is not usable; start from
// [LookupProfile] and change fields.
type Profile struct {
	// Name is what the command line calls it, About one sentence for a list.
	Name, About string
	// Source says where the numbers come from.
	Source string
	// Model is the served model name; Root the hub id behind it.
	Model, Root string
	// File is the model file that llama.cpp's /props shows; empty means Root.
	File string
	// Flavor is the dialect; Version what the engine calls itself.
	Flavor  Flavor
	Version string
	// MaxModelLen is the context length in tokens, prompt and output together.
	MaxModelLen int

	// Phase selects the clock; empty means StepPhase.
	Phase Phase
	// TTFT and ITL are used by StreamPhase only.
	TTFT, ITL time.Duration
	// Tick, if positive, replaces the step-time curve: every step ends on the
	// grid of Tick, whatever the batch, and prefill costs nothing. It is the
	// fixed-rate setting for calibration.
	Tick time.Duration

	// Slots is the most sequences that run at once; the rest wait in order of
	// arrival. 0 means no limit.
	Slots int
	// PrefillBudget is the most tokens one step may process, decode included
	// (vLLM's max_num_batched_tokens). 0 means no limit.
	PrefillBudget int
	// PrefillRate is the speed of prompt processing in tokens per second, added
	// to the step it happens in. 0 means free.
	PrefillRate float64
	// StepCurve is the time of a step by the number of sequences in it, linear
	// between points and beyond the last two, constant below the first. Batches
	// must rise.
	StepCurve []StepPoint
	// Jitter is the relative standard deviation of the step time (0.02 = 2 %),
	// cut off at three of them. 0 means none.
	Jitter float64
	// Gather is how long an idle engine waits after the first arrival before it
	// starts a step, so that a burst of requests meets in one.
	Gather time.Duration

	// Draft is the number of speculated tokens per decode step, 0 for none.
	// Acceptance is accepted ÷ drafted tokens, 0…1.
	Draft      int
	Acceptance float64
}

// StepTime returns the time of a decode step with n sequences, without jitter.
func (p Profile) StepTime(n int) time.Duration {
	curve := p.StepCurve
	if len(curve) == 0 {
		return 0
	}
	if len(curve) == 1 || n <= curve[0].Batch {
		return curve[0].Time
	}
	i := 1
	for i < len(curve)-1 && n > curve[i].Batch {
		i++
	}
	a, b := curve[i-1], curve[i]
	share := float64(n-a.Batch) / float64(b.Batch-a.Batch)
	return a.Time + time.Duration(share*float64(b.Time-a.Time))
}

// Validate reports the first field that makes no sense.
func (p Profile) Validate() error {
	switch {
	case p.Model == "":
		return fmt.Errorf("profile %q: model name is empty", p.Name)
	case p.Flavor != VLLM && p.Flavor != LlamaCPP:
		return fmt.Errorf("profile %q: flavor %q is neither %q nor %q", p.Name, p.Flavor, VLLM, LlamaCPP)
	case p.Phase != "" && p.Phase != StepPhase && p.Phase != StreamPhase:
		return fmt.Errorf("profile %q: phase %q is neither %q nor %q", p.Name, p.Phase, StepPhase, StreamPhase)
	case p.Phase == StreamPhase && p.ITL <= 0:
		return fmt.Errorf("profile %q: phase %q needs a positive ITL", p.Name, StreamPhase)
	case p.Phase != StreamPhase && p.Tick <= 0 && p.StepTime(1) <= 0:
		return fmt.Errorf("profile %q: needs a tick or a step-time curve", p.Name)
	case p.MaxModelLen < 2:
		return fmt.Errorf("profile %q: context length %d is below 2 tokens", p.Name, p.MaxModelLen)
	case p.Slots < 0 || p.PrefillBudget < 0 || p.PrefillRate < 0 || p.Gather < 0 || p.TTFT < 0 || p.Tick < 0:
		return fmt.Errorf("profile %q: a limit, rate or time is negative", p.Name)
	case p.Jitter < 0 || p.Jitter > 0.3:
		return fmt.Errorf("profile %q: jitter %g is outside 0…0.3", p.Name, p.Jitter)
	case p.Draft < 0 || p.Draft > 15:
		return fmt.Errorf("profile %q: %d draft tokens are outside 0…15", p.Name, p.Draft)
	case p.Acceptance < 0 || p.Acceptance > 1:
		return fmt.Errorf("profile %q: acceptance %g is outside 0…1", p.Name, p.Acceptance)
	}
	return p.validateCurve()
}

func (p Profile) validateCurve() error {
	for i, pt := range p.StepCurve {
		if pt.Batch < 1 || pt.Time <= 0 {
			return fmt.Errorf("profile %q: step point %d needs a batch ≥ 1 and a positive time", p.Name, i+1)
		}
		if i > 0 && (pt.Batch <= p.StepCurve[i-1].Batch || pt.Time < p.StepCurve[i-1].Time) {
			return fmt.Errorf("profile %q: step points must rise", p.Name)
		}
	}
	return nil
}

// LookupProfile returns the profile of that name, or an error that lists the
// names there are. An empty name means the default profile.
func LookupProfile(name string) (Profile, error) {
	if name == "" {
		name = "default"
	}
	all := Profiles()
	if i := slices.IndexFunc(all, func(p Profile) bool { return p.Name == name }); i >= 0 {
		return all[i], nil
	}
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.Name
	}
	return Profile{}, fmt.Errorf("unknown profile %q (known: %s)", name, strings.Join(names, ", "))
}
