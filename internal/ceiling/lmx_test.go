package ceiling_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"lmxbench/internal/ceiling"
)

// denseSeven is lmx's own test case: 7 B at 8 bits on 24 GB and 1,000 GB/s.
func denseSeven() ceiling.LMXInput {
	return ceiling.LMXInput{
		Hardware: ceiling.LMXHardware{CapacityGB: 24, BandwidthGBps: 1000, OverheadGB: 1},
		Model:    ceiling.LMXModel{Architecture: "dense", TotalParamsB: 7, ActiveParamsB: 7, WeightBits: 8, MoERouting: "minimum"},
		Cache: ceiling.LMXCache{
			GlobalLayers: 1, KVHeads: 1, HeadDim: 1, StoreBits: 16, ReadBits: 16,
			SlidingWindow: 4096, FixedStateStoreGB: 1, FixedStateReadGB: 0.1,
		},
		Workload: ceiling.LMXWorkload{AllocatedContext: 1000, ReadContext: 1000, TokensPerIteration: 1, MinPerSessionTokps: 120},
	}
}

func TestLMXDenseVector(t *testing.T) {
	t.Parallel()
	r, err := ceiling.CalculateLMX(denseSeven())
	if err != nil {
		t.Fatal(err)
	}
	if r.State != ceiling.LMXUsable || r.ResidentWeightGB != 7 || r.MemoryFitBatch != 15 || r.UsableBatch != 13 {
		t.Errorf("got %+v, want usable, 7 GB resident, 15 sessions fit, 13 usable", r)
	}
	if got, want := r.SingleSession.PerSessionTokps, 1000/7.100004; math.Abs(got-want) > 1e-9 {
		t.Errorf("one session: got %v, want %v", got, want)
	}
	printed(t, "one session", r.SingleSession.AggregateTokps, 140.845, 0.001)
	if r.Optimum.PerSessionTokps < 120 {
		t.Errorf("optimum: got %+v, want at least 120 per session", r.Optimum)
	}
}

// 35 B with 3 B active at 8 bits, 8 of 256 experts, on an H200. The calculator
// knows no recurrent state: at 256 sessions it is 1.84 times above ours.
func TestLMXMixtureVectors(t *testing.T) {
	t.Parallel()
	in := ceiling.LMXDefaults()
	in.Hardware = ceiling.LMXHardware{CapacityGB: 141, BandwidthGBps: 4800, OverheadGB: 6}
	in.Model = ceiling.LMXModel{
		Architecture: "moe", TotalParamsB: 35, ActiveParamsB: 3, WeightBits: 8,
		ExpertCount: 256, ExpertsPerToken: 8, MoERouting: "expected",
	}
	// A cache of 0.0115 GB whatever the context, so that the batch is free.
	in.Cache = ceiling.LMXCache{
		GlobalLayers: 1, KVHeads: 1, HeadDim: 1, StoreBits: 1e-9, ReadBits: 1e-9, SlidingWindow: 1,
		FixedStateStoreGB: 0.0115, FixedStateReadGB: 0.0115,
	}
	in.Workload = ceiling.LMXWorkload{AllocatedContext: 1, ReadContext: 1, TokensPerIteration: 1, MinPerSessionTokps: 1}
	for _, row := range []struct {
		batch         int
		traffic, want float64
		unit          float64
	}{
		{1, 3.0, 1593.9, 0.1},
		{64, 30.67, 9781.6, 0.1},
		{128, 34.43, 17112, 1},
		{256, 34.99, 32393, 1},
	} {
		t.Run(fmt.Sprintf("batch=%d", row.batch), func(t *testing.T) {
			t.Parallel()
			in := in
			in.Hardware.CapacityGB = 35 + 6 + 0.0115*(float64(row.batch)+0.5) // exactly this many fit
			r, err := ceiling.CalculateLMX(in)
			if err != nil {
				t.Fatal(err)
			}
			if r.UsableBatch != row.batch || !r.UsesExpectedMoERouting {
				t.Fatalf("got %+v, want batch %d", r, row.batch)
			}
			printed(t, "weight traffic, GB", r.Optimum.WeightTrafficGB, row.traffic, 0.01)
			printed(t, "aggregate", r.Optimum.AggregateTokps, row.want, row.unit)
		})
	}
	ours, err := func() (ceiling.Ceiling, error) {
		a, w := model(t, q36)
		return ceiling.Model(a, w, ceiling.Load{Batch: 256, Context: 561}, machine(t, "H200"))
	}()
	if err != nil {
		t.Fatal(err)
	}
	printed(t, "lmx ÷ ours at 256", 32393/ours.TokensPerSecond, 1.84, 0.01)
}

func TestLMXStates(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		why        string
		change     func(*ceiling.LMXInput)
		state      ceiling.LMXState
		constraint string
	}{
		{"the defaults work", func(*ceiling.LMXInput) {}, ceiling.LMXUsable, ""},
		{"10 GB do not hold 18 GB of weights", func(in *ceiling.LMXInput) { in.Hardware.CapacityGB = 10 }, ceiling.LMXResidentFail, "memory"},
		{"25 GB hold the weights and no session", func(in *ceiling.LMXInput) { in.Hardware.CapacityGB = 25 }, ceiling.LMXSessionFail, "kv-cache"},
		{"1,000 tok/s are too much for 800 GB/s", func(in *ceiling.LMXInput) { in.Workload.MinPerSessionTokps = 1000 }, ceiling.LMXFloorFail, "speed"},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			in := ceiling.LMXDefaults()
			row.change(&in)
			doc, err := ceiling.LMXDocument(in)
			if err != nil {
				t.Fatal(err)
			}
			if doc.Result.State != row.state || doc.SchemaVersion != 1 || doc.Kind != "decode_upper_bound" {
				t.Errorf("got state %q in %q, want %q", doc.Result.State, doc.Kind, row.state)
			}
			if row.constraint == "" {
				if doc.Constraint != nil {
					t.Errorf("got constraint %+v, want none", doc.Constraint)
				}
				return
			}
			if doc.Constraint == nil || doc.Constraint.Kind != row.constraint || len(doc.Constraint.Suggestions) == 0 {
				t.Errorf("got constraint %+v, want %q with suggestions", doc.Constraint, row.constraint)
			}
		})
	}
}

func TestLMXDocumentHasItsKeys(t *testing.T) {
	t.Parallel()
	doc, err := ceiling.LMXDocument(ceiling.LMXDefaults())
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(encoded, &keys); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"schemaVersion", "kind", "input", "result", "constraint"} {
		if _, ok := keys[key]; !ok {
			t.Errorf("no %q in %s", key, encoded)
		}
	}
	if string(keys["constraint"]) != "null" {
		t.Errorf("constraint: got %s, want null", keys["constraint"])
	}
}

func TestLMXRefusesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	for why, change := range map[string]func(*ceiling.LMXInput){
		"no attention layer":           func(in *ceiling.LMXInput) { in.Cache.GlobalLayers = 0 },
		"read more than allocated":     func(in *ceiling.LMXInput) { in.Workload.ReadContext = 40000 },
		"NaN bandwidth":                func(in *ceiling.LMXInput) { in.Hardware.BandwidthGBps = math.NaN() },
		"infinite bandwidth":           func(in *ceiling.LMXInput) { in.Hardware.BandwidthGBps = math.Inf(1) },
		"no bits":                      func(in *ceiling.LMXInput) { in.Model.WeightBits = 0 },
		"negative layers":              func(in *ceiling.LMXInput) { in.Cache.LocalLayers = -1 },
		"unknown architecture":         func(in *ceiling.LMXInput) { in.Model.Architecture = "rnn" },
		"unknown routing":              func(in *ceiling.LMXInput) { in.Model.Architecture, in.Model.MoERouting = "moe", "random" },
		"all experts chosen":           func(in *ceiling.LMXInput) { in.Model.Architecture, in.Model.ExpertsPerToken = "moe", 256 },
		"more active than there are":   func(in *ceiling.LMXInput) { in.Model.Architecture, in.Model.ActiveParamsB = "moe", 40 },
		"experts larger than the rest": func(in *ceiling.LMXInput) { in.Model.Architecture, in.Model.ActiveParamsB = "moe", 0.1 },
	} {
		in := ceiling.LMXDefaults()
		change(&in)
		if r, err := ceiling.CalculateLMX(in); err == nil {
			t.Errorf("%s: got %+v, want an error", why, r)
		}
	}
}

// The bisection finds the batch that trying every one finds.
func TestLMXUsableBatchIsTheLargest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := ceiling.LMXDefaults()
		in.Workload.ReadContext = rapid.IntRange(1, 32768).Draw(t, "context")
		in.Workload.MinPerSessionTokps = rapid.Float64Range(1, 60).Draw(t, "minimum")
		in.Hardware.CapacityGB = rapid.Float64Range(30, 800).Draw(t, "capacity")
		if rapid.Bool().Draw(t, "moe") {
			in.Model.Architecture, in.Model.ActiveParamsB = "moe", 3
		}
		r, err := ceiling.CalculateLMX(in)
		if err != nil {
			t.Fatal(err)
		}
		if r.State != ceiling.LMXUsable {
			return
		}
		reaches := func(batch int) bool {
			one := in
			one.Hardware.CapacityGB = r.ResidentWeightGB + in.Hardware.OverheadGB + r.KVAllocPerSessionGB*(float64(batch)+0.5)
			one.Workload.MinPerSessionTokps = 1e-9
			at, err := ceiling.CalculateLMX(one)
			if err != nil || at.Optimum == nil || at.Optimum.Batch != batch {
				t.Fatalf("batch %d: %+v, %v", batch, at, err)
			}
			return at.Optimum.PerSessionTokps >= in.Workload.MinPerSessionTokps
		}
		var good []int
		for b := 1; b <= r.MemoryFitBatch; b++ {
			if reaches(b) {
				good = append(good, b)
			}
		}
		if want := slices.Max(good); r.UsableBatch != want {
			t.Fatalf("got batch %d, want %d", r.UsableBatch, want)
		}
	})
}
