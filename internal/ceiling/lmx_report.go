package ceiling

import (
	"fmt"
	"math"
)

// LMXCalculation is the document that lmx prints with --json.
type LMXCalculation struct {
	SchemaVersion int            `json:"schemaVersion"`
	Kind          string         `json:"kind"`
	Input         LMXInput       `json:"input"`
	Result        LMXResult      `json:"result"`
	Constraint    *LMXConstraint `json:"constraint"`
}

// LMXConstraint says what stands in the way: Kind is "memory", "kv-cache" or
// "speed". The prose is ours.
type LMXConstraint struct {
	Kind        string             `json:"kind"`
	Title       string             `json:"title"`
	Description string             `json:"description"`
	Metrics     map[string]float64 `json:"metrics"`
	Suggestions []string           `json:"suggestions"`
}

// LMXDocument runs [CalculateLMX] and explains a state other than usable.
func LMXDocument(in LMXInput) (LMXCalculation, error) {
	r, err := CalculateLMX(in)
	if err != nil {
		return LMXCalculation{}, err
	}
	return LMXCalculation{
		SchemaVersion: 1, Kind: "decode_upper_bound",
		Input: in, Result: r, Constraint: explain(in, r),
	}, nil
}

func explain(in LMXInput, r LMXResult) *LMXConstraint {
	switch r.State {
	case LMXResidentFail:
		needed, have := r.ResidentWeightGB+in.Hardware.OverheadGB, in.Hardware.CapacityGB
		return &LMXConstraint{
			Kind: "memory", Title: "Weights do not fit",
			Description: fmt.Sprintf("Weights and overhead take %.2f GB of %.2f GB.", needed, have),
			Metrics:     map[string]float64{"availableGb": have, "requiredGb": needed, "shortfallGb": needed - have},
			Suggestions: []string{
				"Fewer bits per weight or a smaller model (--weight-bits, --total-params-b).",
				"A smaller reserve, if it is generous (--overhead-gb).",
				fmt.Sprintf("At least %.2f GB of memory (--capacity-gb).", needed),
			},
		}
	case LMXSessionFail:
		left, session := max(0, r.ResidentMarginGB), r.KVAllocPerSessionGB
		return &LMXConstraint{
			Kind: "kv-cache", Title: "No room for one session",
			Description: fmt.Sprintf("Weights leave %.2f GB, and the cache of one session takes %.2f GB.", left, session),
			Metrics:     map[string]float64{"remainingGb": left, "sessionGb": session, "shortfallGb": session - left},
			Suggestions: []string{
				"A shorter context (--allocated-context).",
				"Fewer bits per cache element or fewer attention layers (--kv-store-bits, --global-layers).",
				"More memory (--capacity-gb).",
			},
		}
	case LMXFloorFail:
		best, wanted := r.SingleSession.PerSessionTokps, in.Workload.MinPerSessionTokps
		return &LMXConstraint{
			Kind: "speed", Title: "One session is too slow",
			Description: fmt.Sprintf("A single session reaches at most %.2f tok/s; %.2f are wanted.", best, wanted),
			Metrics:     map[string]float64{"bestTokps": best, "minimumTokps": wanted, "gapTokps": math.Max(0, wanted-best)},
			Suggestions: []string{
				"A lower wish (--min-tok-s).",
				"More bandwidth or fewer active weights (--bandwidth-gbps, --active-params-b).",
				"A shorter context to read (--read-context).",
			},
		}
	}
	return nil
}
