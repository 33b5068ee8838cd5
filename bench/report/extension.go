package report

import "encoding/json"

// Schema is the version of the lmxbench key, of the manifest and of the two
// evidence files. It changes when a key changes its meaning.
const Schema = 1

// Extension is the lmxbench key of run.json. Undefined values are null or
// absent. Units are in the names: TokS is tokens per second, Ms milliseconds,
// Us microseconds, Ns nanoseconds from the run's origin.
type Extension struct {
	Schema    int        `json:"schema"`
	Version   string     `json:"version"`            // of the tool
	Revision  string     `json:"revision,omitempty"` // of its source
	Simulated bool       `json:"simulated,omitempty"`
	Partial   bool       `json:"partial,omitempty"` // interrupted
	Origin    Origin     `json:"origin"`
	Plan      PlanRecord `json:"plan"`
	Verdict   Verdict    `json:"verdict"`

	Throughput      Throughput       `json:"throughput"`
	Latency         Latency          `json:"latency"`
	StreamTokS      *Summary         `json:"streamTokS"` // (n − 1)/(last − first) of each stream
	Outcomes        map[string]int   `json:"outcomes"`   // of the timed requests
	Warmup          WarmupRecord     `json:"warmup"`
	Iterations      []Iteration      `json:"iterations"`
	MedianIteration *MedianIteration `json:"medianIteration"`

	Client      Client          `json:"client"`
	Engine      Engine          `json:"engine"`
	Power       json.RawMessage `json:"power,omitempty"`
	Ceiling     json.RawMessage `json:"ceiling,omitempty"`
	Cost        *Cost           `json:"cost,omitempty"` // nil: no price was declared
	Environment Environment     `json:"environment"`
}

// Origin is the wall clock at the moment from which all Ns values count.
type Origin struct {
	UnixNs int64 `json:"unixNs"`
}

// PlanRecord is the plan without what stands elsewhere in the document: prompt,
// hardware and hardware cost.
type PlanRecord struct {
	Plan
	Prompt       *struct{} `json:"prompt,omitempty"` // always nil: hides the plan's own
	Hardware     *struct{} `json:"hardware,omitempty"`
	HardwareCost *struct{} `json:"hardwareCost,omitempty"`
}

// Throughput holds every rate under the name of its formula, summarised over
// the counted iterations. A formula that does not apply, or is not defined, is
// null.
type Throughput struct {
	// Headline is the name of the formula behind tokSOut.
	Headline string `json:"headline"`
	// Basis is "ok_requests" when failures were allowed and no iteration was
	// free of them: the iterations then count with the requests that were ok.
	Basis string `json:"basis,omitempty"`

	InterToken              *Rates        `json:"interToken"`
	ConcurrentRequestWindow *Rates        `json:"concurrentRequestWindow"`
	BatchWall               *Rates        `json:"batchWall"`
	Plateau                 *PlateauRates `json:"plateau"`
	SumOfStreamRates        *Rates        `json:"sumOfStreamRates"`
}

// Rates summarises a rate over the counted iterations, in tokens per second.
type Rates struct {
	Count          int       `json:"count"`
	Min            float64   `json:"min"`
	P50            float64   `json:"p50"`
	Mean           float64   `json:"mean"`
	Max            float64   `json:"max"`
	StdDev         *float64  `json:"stddev"`         // of the sample, null for one iteration
	MedianInterval *Interval `json:"medianInterval"` // null below 6 iterations
}

// Interval encloses the median with at least the stated confidence.
type Interval struct {
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"`
}

// PlateauRates is the decode rate while all streams decode, with how much of
// the batch that was.
type PlateauRates struct {
	Rates
	Seconds         float64 `json:"seconds"`         // median length
	OverlapFraction float64 `json:"overlapFraction"` // median share of lmx's window
}

// Latency pools the counted requests. Each metric has one population, whose
// size is its count.
type Latency struct {
	TTFTMs         *Summary `json:"ttftMs"`         // send to first token of any channel
	FirstContentMs *Summary `json:"firstContentMs"` // send to first token of the content channel
	InterChunkMs   *Summary `json:"interChunkMs"`   // gaps between token events
	TokenITLMs     *Summary `json:"tokenItlMs"`     // gaps per token, each token one sample
	// TokenITLBasis is "counted" where the server counts the tokens of each
	// event and "spread" where only totals are known and each event is taken
	// to hold an equal share.
	TokenITLBasis string   `json:"tokenItlBasis,omitempty"`
	TPOTMs        *Summary `json:"tpotMs"` // (last − first token)/(n − 1) of each request
	E2EMs         *Summary `json:"e2eMs"`  // send to end of body
}

// Summary describes a pooled sample. Quantiles are type 7; StdDev is the
// sample's, null for one value.
type Summary struct {
	Count  int      `json:"count"`
	Min    float64  `json:"min"`
	Mean   float64  `json:"mean"`
	P50    float64  `json:"p50"`
	P90    float64  `json:"p90"`
	P99    float64  `json:"p99"`
	Max    float64  `json:"max"`
	StdDev *float64 `json:"stddev"`
}

// WarmupRecord counts the requests that were sent before the first iteration.
type WarmupRecord struct {
	Requests int `json:"requests"`
	OK       int `json:"ok"`
}

// Iteration is one timed batch.
type Iteration struct {
	Iteration    int    `json:"iteration"`
	Counted      bool   `json:"counted"` // enters the statistics
	Requests     int    `json:"requests"`
	OK           int    `json:"ok"`
	PromptTokens *int64 `json:"promptTokens"` // of the ok requests
	OutputTokens *int64 `json:"outputTokens"` // of the ok requests
	TokenEvents  int64  `json:"tokenEvents"`  // of the ok requests

	TokSOut                 *float64 `json:"tokSOut"` // lmx's, 1 decimal
	TokSOutSource           string   `json:"tokSOutSource,omitempty"`
	TokSTotal               *float64 `json:"tokSTotal"` // lmx's, 1 decimal
	InterToken              *float64 `json:"interToken"`
	ConcurrentRequestWindow *float64 `json:"concurrentRequestWindow"`
	BatchWall               *float64 `json:"batchWall"`
	Plateau                 *float64 `json:"plateau"`
	SumOfStreamRates        *float64 `json:"sumOfStreamRates"`

	Windows         Windows  `json:"windows"`
	OverlapFraction *float64 `json:"overlapFraction"`
	TTFTMs          *float64 `json:"ttftMs"` // median of the ok requests
	SendSpreadMs    *float64 `json:"sendSpreadMs"`
}

// Windows are the spans of an iteration over which rates and energy are taken.
type Windows struct {
	LMX     *Window `json:"lmx"`     // first token of any stream to last completion
	Request *Window `json:"request"` // first send to last completion
	Plateau *Window `json:"plateau"` // all streams decoding
}

// Window is a span of time.
type Window struct {
	StartNs int64   `json:"startNs"`
	EndNs   int64   `json:"endNs"`
	Seconds float64 `json:"seconds"`
}

// MedianIteration is the counted iteration whose headline rate is nearest to
// the median: medians of different metrics come from different iterations, and
// these numbers belong together.
type MedianIteration struct {
	Iteration    int      `json:"iteration"`
	PromptTokens *int64   `json:"promptTokens"` // of all its requests
	OutputTokens *int64   `json:"outputTokens"`
	TokSOut      *float64 `json:"tokSOut"`
	TokSTotal    *float64 `json:"tokSTotal"`
	TTFTMs       *float64 `json:"ttftMs"`
}

// Client is the instrument's own error and cost over the timed batches.
type Client struct {
	TimestampSource    string      `json:"timestampSource"` // kernel, user or mixed
	Reader             string      `json:"reader,omitempty"`
	ReadLagUs          *ReadLag    `json:"readLagUs"`          // kernel's stamp to the read, per token event
	CoalescedShare     *float64    `json:"coalescedShare"`     // events that share a read with an earlier one
	LateCoalescedShare *float64    `json:"lateCoalescedShare"` // those of them that do so because the client was late
	CPUSeconds         *float64    `json:"cpuSeconds"`         // user and system, whole process
	CPUPerEventUs      *float64    `json:"cpuPerEventUs"`
	CPUShare           *float64    `json:"cpuShare"` // of Cores
	Cores              int         `json:"cores,omitempty"`
	SendSpreadMs       *float64    `json:"sendSpreadMs"` // widest of the iterations
	ConnectMs          *float64    `json:"connectMs"`    // median to open a connection; null: not measured
	Connections        int         `json:"connections"`  // opened during the run
	Reads              int64       `json:"reads"`
	UnstampedReads     int64       `json:"unstampedReads"`
	GCCycles           int         `json:"gcCycles"`
	ClockSteps         int         `json:"clockSteps"`
	StallMs            float64     `json:"stallMs"` // longest time the watchdog was late
	StealShare         *float64    `json:"stealShare"`
	Calibration        *Calibrated `json:"calibration,omitempty"`
	Uncalibrated       bool        `json:"uncalibrated,omitempty"`
}

// ReadLag is the time between a read's kernel stamp and the read. The quantiles
// are good to 0.1 %, the maximum is exact.
type ReadLag struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// Engine is what the server says about itself and about the timed batches.
type Engine struct {
	Kind         string            `json:"kind"`
	Version      string            `json:"version,omitempty"`
	Slots        int               `json:"slots,omitempty"`
	MetricsDelta *MetricsDelta     `json:"metricsDelta"` // null without counters
	Speculation  *SpeculationCount `json:"speculation"`  // null when nothing was drafted
	DecodeMs     *DecodeTime       `json:"decodeMs"`     // null without a histogram
}

// MetricsDelta is how far the server's counters moved over the timed batches,
// with what the responses say beside it.
type MetricsDelta struct {
	GenerationTokens *float64 `json:"generationTokens"`
	PromptTokens     *float64 `json:"promptTokens"`
	Requests         *float64 `json:"requests"`
	UsageTokens      *int64   `json:"usageTokens"` // Σ output tokens of the same batches
}

// SpeculationCount is what speculative decoding drafted and kept over the
// timed batches.
type SpeculationCount struct {
	Source             string   `json:"source"` // metrics or timings
	DraftTokens        float64  `json:"draftTokens"`
	AcceptedTokens     float64  `json:"acceptedTokens"`
	Drafts             *float64 `json:"drafts"`
	AcceptanceRate     *float64 `json:"acceptanceRate"`
	MeanAcceptedLength *float64 `json:"meanAcceptedLength"` // tokens per verification, 1 + accepted/drafts
}

// DecodeTime compares how long streams decoded inside the engine, by its own
// histogram of inter-token latency, with how long their tokens took to arrive:
// means per stream in milliseconds.
type DecodeTime struct {
	Engine    float64  `json:"engine"`
	Arrival   float64  `json:"arrival"`
	ITLMeanMs *float64 `json:"itlMeanMs"` // mean of the engine's histogram
}
