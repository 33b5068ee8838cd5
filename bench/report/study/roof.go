package study

import (
	"fmt"

	"lmxbench/bench/report"
	"lmxbench/internal/ceiling"
	"lmxbench/internal/cost"
)

// RoofInput is what the caller knows about model and memory. Zero values are
// looked for in the result and in the tables of package ceiling.
type RoofInput struct {
	// BandwidthGBps is the nominal memory bandwidth of all cards together, 10⁹
	// bytes per second.
	BandwidthGBps float64
	// PeakTFLOPS is the dense peak of all cards together; 0 leaves arithmetic
	// out unless the table of cards has it.
	PeakTFLOPS float64
	// Architecture is the model's, from its config.json; nil: not given.
	Architecture *ceiling.Architecture
	// WeightsGB is the size of the checkpoint: all that is needed for the
	// fallback that takes the model as dense.
	WeightsGB float64
	// Widths are declared bits per element; a zero is taken from the
	// quantisation or by default.
	Widths ceiling.Widths
}

// Roof says how near a subject came to what its memory can deliver.
type Roof struct {
	Subject int `json:"subject"` // index
	// Missing says what was not known, and then there are no ceilings.
	Missing string `json:"missing,omitempty"`
	// Hard is the rate above which a measurement is impossible, Model what is
	// expected when memory traffic is all that counts, tokens per second.
	Hard  *float64 `json:"hard,omitempty"`
	Model *float64 `json:"model,omitempty"`
	// Bound is what the model's step waits for.
	Bound string `json:"bound,omitempty"`
	// Dense is bandwidth ÷ checkpoint, for one stream of a dense model.
	Dense *float64 `json:"denseFallback,omitempty"`
	// Rate is what is compared: the plateau where there is one.
	Rate      *float64   `json:"rate,omitempty"`
	RateBasis cost.Basis `json:"rateBasis,omitempty"`
	// Impossible says that the rate is above the hard ceiling.
	Impossible bool `json:"aboveHardCeiling,omitempty"`
	// StepGB is what a step moves, by kind, 10⁹ bytes.
	StepGB map[string]float64 `json:"stepGb,omitempty"`
	// Inputs are the numbers behind it and where they come from, in words.
	Inputs []string `json:"inputs,omitempty"`
}

// Share is the rate as a share of the model ceiling, nil without both.
func (r *Roof) Share() *float64 {
	if r.Rate == nil || r.Model == nil || !(*r.Model > 0) {
		return nil
	}
	share := *r.Rate / *r.Model
	return &share
}

// raise works out the ceilings of every subject.
func (st *Study) raise(in RoofInput) error {
	for i, s := range st.Subjects {
		r, err := newRoof(s, in)
		if err != nil {
			return fmt.Errorf("ceiling of %s: %w", s.Label, err)
		}
		r.Subject = i
		st.Roofs = append(st.Roofs, r)
	}
	return nil
}

// newRoof computes the ceilings of a subject. The error is for input that the
// caller declared and that cannot be; what is unknown is no error.
func newRoof(s *Subject, in RoofInput) (Roof, error) {
	var r Roof
	r.compared(s)
	m := r.machine(s, in)
	if m.BandwidthGBps == 0 {
		r.Missing = "the memory bandwidth is not known: give --bandwidth-gbps, or measure with --hardware"
		return r, nil
	}
	if in.WeightsGB > 0 {
		if dense, ok := ceiling.DenseFallback(m, in.WeightsGB*1e9); ok {
			r.Dense = &dense
			r.Inputs = append(r.Inputs, fmt.Sprintf("%s GB of weights, as declared", Number(in.WeightsGB)))
		}
	}
	a, w, ok, err := r.model(s, in)
	if err != nil {
		return r, err
	}
	if !ok {
		if r.Dense == nil {
			r.Missing = "the model's shape is not known: give its config.json with --model-config, or the size of its files with --weights-gb"
		}
		return r, nil
	}
	l, ok := r.load(s)
	if !ok {
		r.Missing = "the number of tokens per request is not known, and with it the size of the cache"
		return r, nil
	}
	// What the caller did not declare himself may be smaller in this server than
	// by default: a limit that is too low would call a true run impossible.
	hardest := override(ceiling.Widths{Weight: w.Weight, Expert: w.Expert}, in.Widths)
	first := l
	first.Context = float64(*s.PromptTokens)
	hard, err := ceiling.Hard(a, hardest, first, m)
	if err != nil {
		return r, err
	}
	model, err := ceiling.Model(a, w, l, m)
	if err != nil {
		return r, err
	}
	r.set(hard, model)
	return r, nil
}

// compared picks the rate: the plateau, else the answer, whose window includes
// prefill.
func (r *Roof) compared(s *Subject) {
	rate := s.Rate(cost.Plateau)
	if rate == nil {
		rate = s.Answer()
	}
	if rate != nil {
		r.Rate, r.RateBasis = &rate.TokensPerSecond, rate.Basis
	}
}

func (r *Roof) machine(s *Subject, in RoofInput) ceiling.Machine {
	m := ceiling.Machine{BandwidthGBps: in.BandwidthGBps, PeakTFLOPS: in.PeakTFLOPS}
	if m.BandwidthGBps > 0 {
		r.Inputs = append(r.Inputs, fmt.Sprintf("%s GB/s, as declared", Number(m.BandwidthGBps)))
		return m
	}
	gpu, ok := ceiling.FindGPU(s.GPU)
	if !ok {
		return m
	}
	n := max(1, s.GPUs)
	m.BandwidthGBps = gpu.BandwidthGBps * float64(n)
	r.Inputs = append(r.Inputs, fmt.Sprintf("%s GB/s: %d × %s, nominal (%s)", Number(m.BandwidthGBps), n, gpu.Name, gpu.Source))
	if in.PeakTFLOPS == 0 {
		if bits, err := ceiling.WeightBits(s.Quantization); err == nil {
			m.PeakTFLOPS = gpu.PeakTFLOPS(bits) * float64(n)
		}
	}
	return m
}

// model finds shape and widths: declared, else by the model's name.
func (r *Roof) model(s *Subject, in RoofInput) (a ceiling.Architecture, w ceiling.Widths, ok bool, err error) {
	switch {
	case in.Architecture != nil:
		a = *in.Architecture
		if in.Widths.Weight == 0 {
			w, err = ceiling.WidthsFor(a, s.Quantization)
			if err != nil { // the checkpoint's own word is better than none
				w, err = ceiling.WidthsFor(a, "")
			}
		}
		r.Inputs = append(r.Inputs, fmt.Sprintf("model %s: %s parameters, %s active", a.Name, billions(a.TotalParams()), billions(a.ActiveParams())))
	default:
		a, w, ok = ceiling.KnownModel(s.Model)
		if !ok {
			return a, w, false, nil
		}
		r.Inputs = append(r.Inputs, fmt.Sprintf("%s: %s parameters, %s active (shape kept in this program)", s.Model, billions(a.TotalParams()), billions(a.ActiveParams())))
	}
	w = override(w, in.Widths)
	r.Inputs = append(r.Inputs, fmt.Sprintf("%s bits per weight", trimmed(w.Weight)))
	return a, w, err == nil, err
}

func override(w, by ceiling.Widths) ceiling.Widths {
	for _, f := range []struct {
		to   *float64
		from float64
	}{{&w.Weight, by.Weight}, {&w.Expert, by.Expert}, {&w.Head, by.Head}, {&w.Router, by.Router}, {&w.Cache, by.Cache}, {&w.State, by.State}} {
		if f.from > 0 {
			*f.to = f.from
		}
	}
	return w
}

// load is a decode step in the middle of the answer.
func (r *Roof) load(s *Subject) (ceiling.Load, bool) {
	if s.PromptTokens == nil || s.OutputTokens == nil {
		return ceiling.Load{}, false
	}
	l := ceiling.Load{Batch: s.Streams, Context: float64(*s.PromptTokens) + float64(*s.OutputTokens)/2}
	r.Inputs = append(r.Inputs, fmt.Sprintf("%s, a context of %s tokens (prompt and half the answer)", Plural(s.Streams, "sequence"), Fixed(l.Context, 0)))
	drafted, perStep, ok := s.drafting()
	if ok {
		l.Positions, l.TokensPerStep = drafted+1, min(perStep, float64(drafted+1))
		r.Inputs = append(r.Inputs, fmt.Sprintf("speculation: %d drafted, %.3g tokens per step (measured)", drafted, perStep))
	}
	return l, true
}

// drafting is what speculation did: tokens drafted for a step and gained by it.
func (s *Subject) drafting() (drafted int, perStep float64, ok bool) {
	if s.Document == nil || s.Document.Bench == nil {
		return 0, 0, false
	}
	c := s.Document.Bench.Engine.Speculation
	if c == nil || c.MeanAcceptedLength == nil || c.Drafts == nil || !(*c.Drafts > 0) {
		return 0, 0, false
	}
	drafted = int(c.DraftTokens / *c.Drafts + 0.5)
	return drafted, *c.MeanAcceptedLength, drafted > 0 && *c.MeanAcceptedLength >= 1
}

func (r *Roof) set(hard, model ceiling.Ceiling) {
	r.Hard, r.Model, r.Bound = &hard.TokensPerSecond, &model.TokensPerSecond, string(model.Bound)
	r.Impossible = r.Rate != nil && ceiling.Impossible(*r.Rate, hard)
	t := model.Traffic
	r.StepGB = map[string]float64{}
	for name, bytes := range map[string]float64{"fixed": t.Fixed, "experts": t.Experts, "cache": t.Cache, "state": t.State, "draft": t.Draft} {
		if bytes > 0 {
			r.StepGB[name] = bytes / 1e9
		}
	}
}

func billions(n int64) string { return fmt.Sprintf("%.3g B", float64(n)/1e9) }

// CeilingOf works out the ceilings of one result from what it says itself: its
// hardware, model and quantization. Missing says what is not known.
func CeilingOf(d *report.Document) (Roof, error) {
	return newRoof(fromDocument("", d), RoofInput{})
}
