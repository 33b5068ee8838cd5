package ceiling

import (
	"errors"
	"fmt"
	"math"
)

// LMXInput is the input of lmx's offline calculator, under its names.
type LMXInput struct {
	Hardware LMXHardware `json:"hardware"`
	Model    LMXModel    `json:"model"`
	Cache    LMXCache    `json:"cache"`
	Workload LMXWorkload `json:"workload"`
}

// LMXHardware is the machine; GB are 10⁹ bytes.
type LMXHardware struct {
	CapacityGB    float64 `json:"capacityGb"`
	BandwidthGBps float64 `json:"bandwidthGbps"`
	OverheadGB    float64 `json:"overheadGb"`
}

// LMXModel is the model; parameters in 10⁹. Architecture is "dense" or "moe",
// MoERouting "expected" or "minimum".
type LMXModel struct {
	Architecture    string  `json:"architecture"`
	TotalParamsB    float64 `json:"totalParamsB"`
	ActiveParamsB   float64 `json:"activeParamsB,omitempty"`
	WeightBits      float64 `json:"weightBits"`
	DraftResidentGB float64 `json:"draftResidentGb"`
	DraftTrafficGB  float64 `json:"draftTrafficGb"`
	ExpertCount     int     `json:"expertCount,omitempty"`
	ExpertsPerToken int     `json:"expertsPerToken,omitempty"`
	MoERouting      string  `json:"moeRouting"`
}

// LMXCache is the cache of one session.
type LMXCache struct {
	GlobalLayers      int     `json:"globalLayers"`
	LocalLayers       int     `json:"localLayers"`
	KVHeads           int     `json:"kvHeads"`
	HeadDim           int     `json:"headDim"`
	StoreBits         float64 `json:"storeBits"`
	ReadBits          float64 `json:"readBits"`
	SlidingWindow     int     `json:"slidingWindow"`
	FixedStateStoreGB float64 `json:"fixedStateStoreGb"`
	FixedStateReadGB  float64 `json:"fixedStateReadGb"`
}

// LMXWorkload is what is asked for. TokensPerIteration is [TokensPerPass], 1
// without speculation.
type LMXWorkload struct {
	AllocatedContext   int     `json:"allocatedContext"`
	ReadContext        int     `json:"readContext"`
	TokensPerIteration float64 `json:"tokensPerIteration"`
	MinPerSessionTokps float64 `json:"minPerSessionTokps"`
}

// LMXDefaults are lmx's defaults: a dense 32 B model at 4.5 bits on 128 GB and
// 800 GB/s, 20 tokens per second wanted.
func LMXDefaults() LMXInput {
	return LMXInput{
		Hardware: LMXHardware{CapacityGB: 128, BandwidthGBps: 800, OverheadGB: 6},
		Model: LMXModel{
			Architecture: "dense", TotalParamsB: 32, ActiveParamsB: 32, WeightBits: 4.5,
			ExpertCount: 256, ExpertsPerToken: 8, MoERouting: "expected",
		},
		Cache: LMXCache{
			GlobalLayers: 64, KVHeads: 8, HeadDim: 128, StoreBits: 16, ReadBits: 16, SlidingWindow: 4096,
		},
		Workload: LMXWorkload{AllocatedContext: 32768, ReadContext: 16000, TokensPerIteration: 1, MinPerSessionTokps: 20},
	}
}

// The defaults of lmx's speculative decoding.
const (
	LMXDraftTokens       = 4
	LMXAcceptancePercent = 80
)

func (in LMXInput) check() error {
	for _, f := range []struct {
		name    string
		value   float64
		orEqual bool
	}{
		{"capacity-gb", in.Hardware.CapacityGB, false},
		{"bandwidth-gbps", in.Hardware.BandwidthGBps, false},
		{"overhead-gb", in.Hardware.OverheadGB, true},
		{"total-params-b", in.Model.TotalParamsB, false},
		{"active-params-b", in.Model.ActiveParamsB, in.Model.Architecture == "dense"},
		{"weight-bits", in.Model.WeightBits, false},
		{"draft-resident-gb", in.Model.DraftResidentGB, true},
		{"draft-traffic-gb", in.Model.DraftTrafficGB, true},
		{"global-layers", float64(in.Cache.GlobalLayers), true},
		{"local-layers", float64(in.Cache.LocalLayers), true},
		{"kv-heads", float64(in.Cache.KVHeads), false},
		{"head-dim", float64(in.Cache.HeadDim), false},
		{"kv-store-bits", in.Cache.StoreBits, false},
		{"kv-read-bits", in.Cache.ReadBits, false},
		{"sliding-window", float64(in.Cache.SlidingWindow), false},
		{"fixed-state-store-gb", in.Cache.FixedStateStoreGB, true},
		{"fixed-state-read-gb", in.Cache.FixedStateReadGB, true},
		{"allocated-context", float64(in.Workload.AllocatedContext), false},
		{"read-context", float64(in.Workload.ReadContext), false},
		{"tokens per iteration", in.Workload.TokensPerIteration, false},
		{"min-tok-s", in.Workload.MinPerSessionTokps, false},
	} {
		if !(f.value > 0 || f.orEqual && f.value == 0) || math.IsInf(f.value, 0) {
			return fmt.Errorf("%s is %v, which is too small or no number", f.name, f.value)
		}
	}
	if in.Cache.GlobalLayers+in.Cache.LocalLayers < 1 {
		return errors.New("at least one attention layer is needed: global-layers or local-layers")
	}
	if in.Workload.ReadContext > in.Workload.AllocatedContext {
		return errors.New("read-context is larger than allocated-context")
	}
	return in.Model.check()
}

func (m LMXModel) check() error {
	switch {
	case m.Architecture == "dense":
		return nil
	case m.Architecture != "moe":
		return fmt.Errorf("architecture %q is neither dense nor moe", m.Architecture)
	case m.MoERouting != "expected" && m.MoERouting != "minimum":
		return fmt.Errorf("moe-routing %q is neither expected nor minimum", m.MoERouting)
	case m.ExpertsPerToken < 1 || m.ExpertsPerToken >= m.ExpertCount:
		return fmt.Errorf("experts-per-token must lie between 1 and expert-count (%d), exclusive", m.ExpertCount)
	case m.ActiveParamsB > m.TotalParamsB:
		return errors.New("active-params-b is larger than total-params-b")
	}
	if _, trunk := m.split(); trunk < 0 {
		return errors.New("the experts would be larger than all active parameters: check active-params-b and the expert counts")
	}
	return nil
}
