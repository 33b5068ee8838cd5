package bench

import (
	"encoding/json"
	"fmt"

	"lmxbench/bench/report"
	"lmxbench/bench/report/study"
)

// Ceiling is lmxbench.ceiling of run.json: what the memory of the stated
// hardware can deliver for the stated model, tokens per second. It is absent
// where model or hardware is not known.
type Ceiling struct {
	Hard   float64  `json:"hard"`            // above it a rate is impossible
	Model  *float64 `json:"model"`           // expected when memory traffic is all that counts
	Share  *float64 `json:"share"`           // of the model ceiling that was reached
	Rate   float64  `json:"rate"`            // what is compared
	Basis  string   `json:"rateBasis"`       // plateau, where there is one
	Bound  string   `json:"bound,omitempty"` // what a step waits for
	Inputs []string `json:"inputs"`          // the numbers behind it, in words
}

// aboveHardCeiling is the verdict code of an impossible rate.
const aboveHardCeiling = "above_hard_ceiling"

// limits computes the ceilings of a result and, where its rate is impossible,
// the finding. Both are nil where they cannot be known. It is pure: verify
// calls it again.
func limits(d *report.Document) (json.RawMessage, []report.Finding, error) {
	roof, err := study.CeilingOf(d)
	if err != nil || roof.Missing != "" || roof.Hard == nil || roof.Rate == nil {
		return nil, nil, err
	}
	c := Ceiling{
		Hard: roundTo(*roof.Hard, 1), Rate: roundTo(*roof.Rate, 1), Basis: string(roof.RateBasis),
		Bound: roof.Bound, Inputs: roof.Inputs,
	}
	if roof.Model != nil {
		model := roundTo(*roof.Model, 1)
		c.Model = &model
	}
	if share := roof.Share(); share != nil {
		rounded := roundTo(*share, 4)
		c.Share = &rounded
	}
	text, err := json.Marshal(c)
	if err != nil {
		return nil, nil, fmt.Errorf("encode ceiling: %w", err)
	}
	if !roof.Impossible {
		return text, nil, nil
	}
	return text, []report.Finding{{
		Code: aboveHardCeiling, Level: report.Invalid,
		Detail: fmt.Sprintf("%.0f tok/s (%s) is above the hard ceiling of %.0f tok/s", *roof.Rate, roof.RateBasis, *roof.Hard),
	}}, nil
}

// Line is the ceiling in one line for a person.
func (c Ceiling) Line() string {
	if c.Share == nil || c.Model == nil {
		return fmt.Sprintf("hard ceiling %.0f tok/s", c.Hard)
	}
	return fmt.Sprintf("%.0f %% of the model ceiling of %.0f tok/s; hard ceiling %.0f tok/s", 100**c.Share, *c.Model, c.Hard)
}

// verifyCeiling computes the ceilings again from the result without them.
func verifyCeiling(run *report.Run) []report.Difference {
	const what = "observations.jsonl attached.ceiling"
	if len(run.Evidence.Attached.Ceiling) == 0 {
		return nil
	}
	text, _, err := ceilingOf(run.Evidence)
	if err != nil {
		return []report.Difference{{Path: what, File: "present", Computed: "nothing: " + err.Error()}}
	}
	return report.CompareJSON(what, run.Evidence.Attached.Ceiling, text)
}

// ceilingOf builds the result without ceilings and computes them from it.
func ceilingOf(e report.Evidence) (json.RawMessage, []report.Finding, error) {
	e.Attached.Ceiling = nil
	e.Attached.Findings = nil
	doc, err := report.Build(e)
	if err != nil {
		return nil, nil, err
	}
	return limits(doc)
}
