package ceiling

import "math"

// LMXState is the outcome of the calculation.
type LMXState string

// The outcomes.
const (
	// LMXUsable: at least one session reaches the wanted rate.
	LMXUsable LMXState = "usable"
	// LMXResidentFail: the weights do not fit.
	LMXResidentFail LMXState = "resident-fail"
	// LMXSessionFail: the weights fit, the cache of one session does not.
	LMXSessionFail LMXState = "session-fail"
	// LMXFloorFail: one session alone is slower than wanted.
	LMXFloorFail LMXState = "floor-fail"
)

// LMXPoint is the calculator's ceiling at one batch.
type LMXPoint struct {
	Batch                 int     `json:"batch"`
	WeightTrafficGB       float64 `json:"weightTrafficGb"`
	KVReadGB              float64 `json:"kvReadGb"`
	BytesPerOutputTokenGB float64 `json:"bytesPerOutputTokenGb"`
	AggregateTokps        float64 `json:"aggregateTokps"`
	PerSessionTokps       float64 `json:"perSessionTokps"`
}

// LMXResult is the calculator's output. SingleSession and Optimum are nil where
// the state says that there is none, the bounds where the weights do not fit.
type LMXResult struct {
	State                  LMXState  `json:"state"`
	ResidentWeightGB       float64   `json:"residentWeightGb"`
	ActiveWeightGB         float64   `json:"activeWeightGb"`
	ResidentMarginGB       float64   `json:"residentMarginGb"`
	KVAllocPerSessionGB    float64   `json:"kvAllocPerSessionGb"`
	KVReadPerTokenGB       float64   `json:"kvReadPerTokenGb"`
	MemoryFitBatch         int       `json:"memoryFitBatch"`
	RateLimitedBatch       int       `json:"rateLimitedBatch"`
	UsableBatch            int       `json:"usableBatch"`
	SingleSession          *LMXPoint `json:"singleSession"`
	Optimum                *LMXPoint `json:"optimum"`
	MemoryPowerGB2PerSec   float64   `json:"memoryPowerGb2PerSec"`
	MemoryPowerBoundTokps  *float64  `json:"memoryPowerBoundTokps"`
	LargeMemoryBoundTokps  *float64  `json:"largeMemoryBoundTokps"`
	UsesExpectedMoERouting bool      `json:"usesExpectedMoeRouting"`
}

// CalculateLMX is lmx's "calculate decode":
//
//	aggregate(b) = bandwidth / (W(b)/(b·T) + KV read)    per session: ÷ b
//
// with W(b) the weights a step reads (experts by b·T routings) and T the tokens
// per iteration. It charges the whole cache to every output token, also under
// speculation where T of them share one read, and rounds no differently than
// lmx; it is therefore no strict upper bound and kept apart from [Model].
//
// The error says which input is out of range.
func CalculateLMX(in LMXInput) (LMXResult, error) {
	if err := in.check(); err != nil {
		return LMXResult{}, err
	}
	w := in.Workload
	bandwidth := in.Hardware.BandwidthGBps
	r := LMXResult{
		ResidentWeightGB:       in.Model.TotalParamsB*in.Model.WeightBits/8 + in.Model.DraftResidentGB,
		ActiveWeightGB:         in.activeWeightGB(),
		KVAllocPerSessionGB:    in.Cache.gigabytes(w.AllocatedContext, in.Cache.StoreBits) + in.Cache.FixedStateStoreGB,
		KVReadPerTokenGB:       in.Cache.gigabytes(w.ReadContext, in.Cache.ReadBits) + in.Cache.FixedStateReadGB,
		MemoryPowerGB2PerSec:   in.Hardware.CapacityGB * bandwidth,
		UsesExpectedMoERouting: in.Model.Architecture == "moe" && in.Model.MoERouting == "expected",
	}
	r.ResidentMarginGB = in.Hardware.CapacityGB - r.ResidentWeightGB - in.Hardware.OverheadGB
	if r.ResidentMarginGB < 0 {
		r.State = LMXResidentFail
		return r, nil
	}
	r.MemoryFitBatch = wholeBatch(r.ResidentMarginGB / r.KVAllocPerSessionGB)
	perGB := w.TokensPerIteration * bandwidth / (r.KVAllocPerSessionGB * r.ActiveWeightGB)
	margin, capacity := perGB*r.ResidentMarginGB, perGB*in.Hardware.CapacityGB
	r.MemoryPowerBoundTokps, r.LargeMemoryBoundTokps = &margin, &capacity
	if r.MemoryFitBatch < 1 {
		r.State = LMXSessionFail
		return r, nil
	}
	single := in.point(1, r.KVReadPerTokenGB)
	r.SingleSession = &single
	r.RateLimitedBatch = wholeBatch((w.TokensPerIteration*bandwidth/w.MinPerSessionTokps - r.ActiveWeightGB) /
		(w.TokensPerIteration * r.KVReadPerTokenGB))
	if single.PerSessionTokps < w.MinPerSessionTokps {
		r.State = LMXFloorFail
		return r, nil
	}
	r.State = LMXUsable
	r.UsableBatch = in.largestBatch(r.MemoryFitBatch, r.KVReadPerTokenGB)
	optimum := in.point(r.UsableBatch, r.KVReadPerTokenGB)
	r.Optimum = &optimum
	return r, nil
}

// largestBatch is the largest batch up to limit whose sessions reach the wanted
// rate, by bisection: the rate per session falls with the batch. One session is
// known to reach it.
func (in LMXInput) largestBatch(limit int, kvReadGB float64) int {
	low, high := 1, limit
	for low < high {
		mid := low + (high-low+1)/2
		if in.point(mid, kvReadGB).PerSessionTokps >= in.Workload.MinPerSessionTokps {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}

func (in LMXInput) point(batch int, kvReadGB float64) LMXPoint {
	traffic := in.weightTrafficGB(batch)
	perToken := traffic/(float64(batch)*in.Workload.TokensPerIteration) + kvReadGB
	aggregate := in.Hardware.BandwidthGBps / perToken
	return LMXPoint{
		Batch: batch, WeightTrafficGB: traffic, KVReadGB: kvReadGB,
		BytesPerOutputTokenGB: perToken, AggregateTokps: aggregate, PerSessionTokps: aggregate / float64(batch),
	}
}

func (in LMXInput) activeWeightGB() float64 {
	params := in.Model.TotalParamsB
	if in.Model.Architecture == "moe" {
		params = in.Model.ActiveParamsB
	}
	return params*in.Model.WeightBits/8 + in.Model.DraftTrafficGB
}

func (in LMXInput) weightTrafficGB(batch int) float64 {
	m := in.Model
	if m.Architecture != "moe" || m.MoERouting == "minimum" {
		return in.activeWeightGB()
	}
	expert, trunk := m.split()
	distinct := DistinctExperts(m.ExpertCount, m.ExpertsPerToken, float64(batch)*in.Workload.TokensPerIteration)
	return (trunk+expert*distinct)*m.WeightBits/8 + m.DraftTrafficGB
}

// split divides the parameters (10⁹) into one expert and what every token uses.
func (m LMXModel) split() (expert, trunk float64) {
	expert = (m.TotalParamsB - m.ActiveParamsB) / float64(m.ExpertCount-m.ExpertsPerToken)
	return expert, m.ActiveParamsB - float64(m.ExpertsPerToken)*expert
}

func (c LMXCache) gigabytes(context int, bits float64) float64 {
	attended := float64(c.GlobalLayers)*float64(context) + float64(c.LocalLayers)*float64(min(context, c.SlidingWindow))
	return 2 * float64(c.KVHeads) * float64(c.HeadDim) * bits / 8 * attended / 1e9
}

// wholeBatch rounds down, within what an int holds.
func wholeBatch(x float64) int {
	return int(math.Floor(min(max(x, 0), math.MaxInt32)))
}
