package main

import (
	"bytes"
	"fmt"
	"io"

	"lmxbench/bench/report/study"
	"lmxbench/internal/ceiling"
)

// ceilingResult is what ceiling prints, and its --json.
type ceilingResult struct {
	SchemaVersion int           `json:"schemaVersion"`
	Kind          string        `json:"kind"` // decode_ceiling
	BandwidthGBps float64       `json:"bandwidthGbps"`
	Bandwidth     string        `json:"bandwidthSource"`
	PeakTFLOPS    float64       `json:"peakTflops,omitempty"`
	Model         string        `json:"model,omitempty"`
	TotalParams   int64         `json:"totalParams,omitempty"`
	ActiveParams  int64         `json:"activeParams,omitempty"`
	WeightBits    float64       `json:"weightBits"`
	Batch         int           `json:"batch"`
	Context       float64       `json:"readContext"`
	TokensPerStep float64       `json:"tokensPerStep"`
	Hard          *ceilingStep  `json:"hard,omitempty"` // absent where the model's shape is not known
	ModelCeiling  *ceilingStep  `json:"modelCeiling,omitempty"`
	Rate          *float64      `json:"rate,omitempty"`
	Impossible    *bool         `json:"aboveHardCeiling,omitempty"`
	LMX           ceilingLMX    `json:"lmx"`
	Site          []ceilingSite `json:"site"`
	Notes         []string      `json:"notes,omitempty"`
	constraint    *ceiling.LMXConstraint
}

// ceilingStep is a ceiling and the step behind it.
type ceilingStep struct {
	TokensPerSecond float64            `json:"tokensPerSecond"`
	PerSession      float64            `json:"perSession"`
	StepMs          float64            `json:"stepMs"`
	Bound           string             `json:"bound"`
	StepGB          map[string]float64 `json:"stepGb"`
}

// ceilingLMX is lmx's document, and its rule at the batch that was asked for.
type ceilingLMX struct {
	ceiling.LMXCalculation
	AtBatch *ceiling.LMXPoint `json:"atBatch"` // null where the model does not fit
}

// ceilingSite is one reading of the leaderboard's undisclosed rule.
type ceilingSite struct {
	Rule    string  `json:"rule"`
	Ceiling float64 `json:"ceiling"`
	Limit   float64 `json:"limit"` // × 1.15
	Passes  *bool   `json:"passes,omitempty"`
}

// work computes everything.
func (in *ceilingInput) work() (*ceilingResult, error) {
	out := &ceilingResult{
		SchemaVersion: 1, Kind: "decode_ceiling",
		BandwidthGBps: in.machine.BandwidthGBps, Bandwidth: in.hardware, PeakTFLOPS: in.machine.PeakTFLOPS,
		Model: in.name, WeightBits: in.lmx.Model.WeightBits,
		Batch: in.load.Batch, Context: in.load.Context, TokensPerStep: in.load.TokensPerStep,
	}
	document, err := ceiling.LMXDocument(in.lmx)
	if err != nil {
		return nil, err
	}
	out.LMX.LMXCalculation, out.constraint = document, document.Constraint
	out.LMX.AtBatch = lmxAt(in.lmx, document.Result, in.load.Batch)
	if in.rate > 0 {
		out.Rate = &in.rate
	}
	out.Site = in.site(out)
	if in.architecture == nil {
		out.Notes = append(out.Notes, "no hard and no model ceiling: they take the model's shape, give its config.json with --config")
		return out, nil
	}
	return out, in.ceilings(out)
}

// ceilings computes the two of package ceiling.
func (in *ceilingInput) ceilings(out *ceilingResult) error {
	a := *in.architecture
	out.TotalParams, out.ActiveParams = a.TotalParams(), a.ActiveParams()
	model, err := ceiling.Model(a, in.widths, in.load, in.machine)
	if err != nil {
		return err
	}
	// What was not declared may be smaller in a server than by default.
	least := overrideWidths(ceiling.Widths{Weight: in.widths.Weight, Expert: in.widths.Expert}, in.declared)
	hard, err := ceiling.Hard(a, least, in.load, in.machine)
	if err != nil {
		return err
	}
	out.Hard, out.ModelCeiling = newCeilingStep(hard, in.load.Batch), newCeilingStep(model, in.load.Batch)
	if out.Rate != nil {
		impossible := ceiling.Impossible(*out.Rate, hard)
		out.Impossible = &impossible
	}
	for _, c := range a.Caches {
		if c.ElementsPerToken != a.Caches[0].ElementsPerToken {
			out.Notes = append(out.Notes, "lmx's rule knows one kind of cache; the widest of this model stands for all")
			break
		}
	}
	if len(a.Caches) > 0 && a.StateElements > 0 {
		out.Notes = append(out.Notes, "for lmx's rule the recurrent state counts as fixed state, read and written for every token")
	}
	return nil
}

func newCeilingStep(c ceiling.Ceiling, batch int) *ceilingStep {
	s := &ceilingStep{
		TokensPerSecond: c.TokensPerSecond, PerSession: c.TokensPerSecond / float64(batch), StepMs: c.Seconds * 1e3,
		Bound: string(c.Bound), StepGB: map[string]float64{},
	}
	for name, b := range map[string]float64{"fixed": c.Traffic.Fixed, "experts": c.Traffic.Experts, "cache": c.Traffic.Cache, "state": c.Traffic.State, "draft": c.Traffic.Draft} {
		if b > 0 {
			s.StepGB[name] = b / 1e9
		}
	}
	return s
}

// lmxAt is lmx's rule at a batch: its optimum on a machine that has room for
// just that many sessions and wants no rate of them. nil where one session does
// not fit into the machine that was given.
func lmxAt(in ceiling.LMXInput, r ceiling.LMXResult, batch int) *ceiling.LMXPoint {
	if r.State == ceiling.LMXResidentFail || r.State == ceiling.LMXSessionFail {
		return nil
	}
	in.Hardware.CapacityGB = r.ResidentWeightGB + in.Hardware.OverheadGB + (float64(batch)+0.5)*r.KVAllocPerSessionGB
	in.Workload.MinPerSessionTokps = 1e-9
	at, err := ceiling.CalculateLMX(in)
	if err != nil {
		return nil
	}
	return at.Optimum
}

// site lists what the leaderboard's rule may mean, for one stream.
func (in *ceilingInput) site(out *ceilingResult) (all []ceilingSite) {
	m := in.lmx.Model
	active := 0.0
	if m.Architecture == "moe" {
		active = m.ActiveParamsB * 1e9 * m.WeightBits / 8
	}
	accepted := in.accepted
	if accepted == 0 {
		accepted = in.load.TokensPerStep
	}
	variants, ok := ceiling.SiteVariants(in.rate, in.machine, m.TotalParamsB*1e9*m.WeightBits/8, active, accepted)
	if !ok {
		return []ceilingSite{}
	}
	for _, v := range variants {
		s := ceilingSite{Rule: "active weights", Ceiling: v.Ceiling, Limit: v.Limit}
		if v.Dense {
			s.Rule = "all weights"
		}
		if v.Accepted {
			s.Rule += fmt.Sprintf(" × %.3g tokens a step", accepted)
		}
		if out.Rate != nil && in.load.Batch == 1 {
			passes := v.Passes
			s.Passes = &passes
		}
		all = append(all, s)
	}
	return all
}

// write prints the result for a person.
func (r *ceilingResult) write(w io.Writer) error {
	var b bytes.Buffer
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-18s%s\n", name, fmt.Sprintf(format, args...))
	}
	b.WriteString(r.title() + "\n\n")
	if r.ModelCeiling != nil {
		line("hard ceiling", "%s tok/s%s: fewest bytes possible; a result above it × %g is wrong", study.Number(r.Hard.TokensPerSecond), r.each(r.Hard), ceiling.Margin)
		line("model ceiling", "%s tok/s%s: what a step is expected to read, bound by %s", study.Number(r.ModelCeiling.TokensPerSecond), r.each(r.ModelCeiling), r.ModelCeiling.Bound)
		line("a step", "%s, %s", study.Millis(r.ModelCeiling.StepMs), traffic(r.ModelCeiling.StepGB))
	}
	if r.Rate != nil && r.ModelCeiling != nil {
		words := "possible"
		if *r.Impossible {
			words = "IMPOSSIBLE: something declared is wrong"
		}
		line("measured", "%s tok/s: %s of the model ceiling, %s", study.Number(*r.Rate), study.Percent(*r.Rate/r.ModelCeiling.TokensPerSecond), words)
	}
	r.writeLMX(line)
	b.WriteString("\n  The leaderboard's rule for one stream is not public. What it may be, × 1.15:\n")
	for _, s := range r.Site {
		verdict := ""
		if s.Passes != nil {
			verdict = "  passes"
			if !*s.Passes {
				verdict = "  above it"
			}
		}
		fmt.Fprintf(&b, "    %-34s ceiling %8s  limit %8s tok/s%s\n", s.Rule, study.Number(s.Ceiling), study.Number(s.Limit), verdict)
	}
	if len(r.Notes) > 0 {
		b.WriteString("\n")
	}
	for _, n := range r.Notes {
		line("note", "%s", n)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (r *ceilingResult) title() string {
	name := r.Model
	if name == "" {
		name = "model by its numbers"
	}
	text := fmt.Sprintf("%s at %s bits · %s GB/s (%s) · %s, context %s", name, trim(r.WeightBits), study.Number(r.BandwidthGBps), r.Bandwidth,
		study.Plural(r.Batch, "sequence"), study.Fixed(r.Context, 0))
	if r.TotalParams > 0 {
		text = fmt.Sprintf("%s (%.3g B parameters, %.3g B active)", name, float64(r.TotalParams)/1e9, float64(r.ActiveParams)/1e9) + text[len(name):]
	}
	if r.TokensPerStep != 1 {
		text += fmt.Sprintf(", %.4g tokens a step", r.TokensPerStep)
	}
	return text
}

func (r *ceilingResult) each(s *ceilingStep) string {
	if r.Batch == 1 {
		return ""
	}
	return fmt.Sprintf(" (%s each)", study.Number(s.PerSession))
}

func (r *ceilingResult) writeLMX(line func(name, format string, args ...any)) {
	x := r.LMX.Result
	if r.LMX.AtBatch != nil {
		p := r.LMX.AtBatch
		line("lmx's rule", "%s tok/s at %s: %s GB for a token", study.Fixed(p.AggregateTokps, 1), study.Plural(p.Batch, "session"), study.Number(p.BytesPerOutputTokenGB))
	}
	switch {
	case r.constraint != nil:
		line("", "%s: %s", x.State, r.constraint.Description)
	case x.Optimum != nil:
		line("", "%s: %s fit into memory, %s reach %s tok/s each, together %s tok/s", x.State,
			study.Plural(x.MemoryFitBatch, "session"), study.Fixed(float64(x.UsableBatch), 0), study.Number(r.LMX.Input.Workload.MinPerSessionTokps), study.Fixed(x.Optimum.AggregateTokps, 1))
	}
}

func traffic(gb map[string]float64) (text string) {
	words := []struct{ key, name string }{
		{"fixed", "weights read whatever the batch"}, {"experts", "experts"}, {"cache", "cache"}, {"state", "recurrent state"}, {"draft", "drafting"},
	}
	total := 0.0
	for _, w := range words {
		total += gb[w.key]
	}
	text = study.Number(total) + " GB:"
	separator := " "
	for _, w := range words {
		if gb[w.key] > 0 {
			text += separator + study.Number(gb[w.key]) + " " + w.name
			separator = ", "
		}
	}
	return text
}

// trim writes a declared number without needless zeros.
func trim(x float64) string { return fmt.Sprintf("%.6g", x) }
