package report

import "encoding/json"

// The evidence of a run: what was planned, what was seen of the server before
// the first batch, what was observed around each batch, and one line for each
// request. [Build] is a pure function of these four, so whoever holds the
// files can recompute every number of run.json.

// Plan is everything decided before the first timed byte. It is stored whole
// in manifest.json. Durations are milliseconds because this is a file edge.
type Plan struct {
	Engine           string `json:"engine"`                  // normalised engine name; lmx's engineName
	EngineVersion    string `json:"engineVersion,omitempty"` // declared by flag, as the site is to show it; the measured one is in Session
	EngineRepository string `json:"engineRepository,omitempty"`
	EngineBuild      string `json:"engineBuild,omitempty"`
	EngineCommit     string `json:"engineCommit,omitempty"`
	Backend          string `json:"backend,omitempty"`
	HFID             string `json:"hfId,omitempty"`
	ModelRevision    string `json:"modelRevision"`
	Quantization     string `json:"quantization,omitempty"`
	Notes            string `json:"notes,omitempty"`

	BaseURL           string `json:"baseUrl"`
	ServedModel       string `json:"servedModel"`
	ServedModelSource string `json:"servedModelSource"` // explicit, v1_models, hf_id_fallback

	Prompt               string `json:"prompt"` // without the nonce line
	PromptSource         string `json:"promptSource"`
	PromptFile           string `json:"promptFile"`
	PromptSHA256         string `json:"promptSha256"`
	PromptName           string `json:"promptName,omitempty"`           // canonical name, when the hash is a canonical one
	DeclaredPromptTokens int    `json:"declaredPromptTokens,omitempty"` // --prompt-tokens beside a prompt text

	Concurrency       int `json:"concurrency"`
	Iterations        int `json:"iterations"`
	Warmup            int `json:"warmup"`
	WarmupConcurrency int `json:"warmupConcurrency"`

	MaxTokens   int             `json:"maxTokens"`
	MinTokens   *int            `json:"minTokens,omitempty"`
	IgnoreEOS   *bool           `json:"ignoreEos,omitempty"`
	Temperature float64         `json:"temperature"`
	TopP        *float64        `json:"topP,omitempty"`
	Seed        *int64          `json:"seed,omitempty"`
	ExtraBody   json.RawMessage `json:"extraBody,omitempty"`
	Stream      bool            `json:"stream"`
	// Adaptations lists what the server made us drop or rename in the body,
	// for example "dropped stream_options" (streams.md calls it negotiation).
	Adaptations []string `json:"adaptations,omitempty"`

	TimeoutMs        int64 `json:"timeoutMs"`        // whole request
	ConnectTimeoutMs int64 `json:"connectTimeoutMs"` // dial and TLS
	StallTimeoutMs   int64 `json:"stallTimeoutMs"`   // silence between tokens

	PrefillTokens int             `json:"prefillTokens"`
	ContextLength int             `json:"contextLength,omitempty"` // declared; a measured one wins
	GPUPowerWatts []float64       `json:"gpuPowerWatts,omitempty"` // declared
	Hardware      json.RawMessage `json:"hardware,omitempty"`      // hardware.json verbatim (an object)
	HardwareCost  json.RawMessage `json:"hardwareCost,omitempty"`
	ServeCommand  string          `json:"serveCommand,omitempty"`
	ServeFlags    map[string]any  `json:"serveFlags,omitempty"` // lmx engineFlags read from the serve command
	Spec          *Speculation    `json:"speculation,omitempty"`
	Prices        *Prices         `json:"prices,omitempty"` // declared; nil: none

	AllowFailures bool   `json:"allowFailures,omitempty"`
	Simulated     string `json:"simulated,omitempty"` // profile of the simulated engine; "" for a real server
}

// DemandedTokens is the number of output tokens each request must reach, or 0
// when the run demands none: the cap under --ignore-eos, else --min-tokens.
func (p *Plan) DemandedTokens() int {
	if p.IgnoreEOS != nil && *p.IgnoreEOS {
		return p.MaxTokens
	}
	if p.MinTokens != nil {
		return *p.MinTokens
	}
	return 0
}

// Speculation is what the flags --spec-* declare (lmx's names).
type Speculation struct {
	Method          string `json:"method,omitempty"`
	DraftModel      string `json:"draftModel,omitempty"`
	NumTokens       int    `json:"numTokens,omitempty"`
	DraftTP         int    `json:"draftTp,omitempty"`
	DraftWindowSize int    `json:"draftWindowSize,omitempty"`
}

// Session is what was learned once, before the first batch: the first line of
// observations.jsonl.
type Session struct {
	OriginUnixNs  int64  `json:"originUnixNs"` // wall clock at the run's monotonic origin
	CreatedAt     string `json:"createdAt"`    // RFC 3339, UTC, seconds
	Peer          string `json:"peer"`         // address the connections went to
	EngineKind    string `json:"engineKind"`   // vllm, llama.cpp, sglang, ollama, unknown
	EngineVersion string `json:"engineVersion,omitempty"`
	ContextLength int    `json:"contextLength,omitempty"` // 0: the server does not say
	Slots         int    `json:"slots,omitempty"`         // 0: the server does not say
	ModelPath     string `json:"modelPath,omitempty"`
	// Quantization is lmx's quantizationResolution, an object, as made from
	// what the server shows. Without it only the declared value is known.
	Quantization json.RawMessage `json:"quantizationResolution,omitempty"`
	Models       []string        `json:"models,omitempty"`
	MetricsKind  string          `json:"metricsKind,omitempty"` // "" without /metrics
	TemplateHead int             `json:"templateHead"`          // cached tokens two prompts with different nonces share
	Environment  Environment     `json:"environment"`
	Calibration  *Calibrated     `json:"calibration,omitempty"`
}

// Environment is the machine the client runs on; each value says how it is
// known.
type Environment map[string]Known

// Known is a value with its standing: "measured", "declared" or "unknown".
type Known struct {
	Value  any    `json:"value,omitempty"`
	Unit   string `json:"unit,omitempty"` // of a number; "" for a plain count or a text
	Source string `json:"source"`
}

// Calibrated is the error bar a calibration of this machine and version gives
// the client at a load at least as high as this run's. Microseconds.
type Calibrated struct {
	File       string  `json:"file"`
	Streams    int     `json:"streams"`
	StampP50Us float64 `json:"stampP50Us"`
	StampP99Us float64 `json:"stampP99Us"`
	TTFTErrUs  float64 `json:"ttftErrUs"`
	ITLErrUs   float64 `json:"itlErrUs"`
}

// Batch is what was observed around one batch of requests: one line of
// observations.jsonl. Times are ns from the run's origin.
type Batch struct {
	Phase       string `json:"phase"` // warmup or timed
	Iteration   int    `json:"iteration"`
	Concurrency int    `json:"concurrency"`
	StartNs     int64  `json:"startNs"` // barrier release
	EndNs       int64  `json:"endNs"`   // last request ended

	TimestampSource string `json:"timestampSource"` // kernel, user, or mixed
	Reader          string `json:"reader"`          // epoll or goroutine
	Loops           int    `json:"loops,omitempty"`
	Dialled         int    `json:"dialled"` // connections opened anew for this batch
	Reads           int64  `json:"reads"`
	UnstampedReads  int64  `json:"unstampedReads"` // reads that carried no kernel stamp though asked for
	CPUUserNs       int64  `json:"cpuUserNs"`      // whole process, barrier to the last end
	CPUSystemNs     int64  `json:"cpuSystemNs"`
	Cores           int    `json:"cores"`
	GCCycles        int    `json:"gcCycles"`            // collections that ran inside the batch
	ClockSteps      int    `json:"clockSteps"`          // steps of the wall clock seen by the readers
	StallNs         int64  `json:"stallNs"`             // longest time the watchdog goroutine was late
	ConnectNs       int64  `json:"connectNs,omitempty"` // median time it took to open the connections it used, TLS included, whenever that was; 0: it had none
	StealTicks      int64  `json:"stealTicks"`          // /proc/stat, all cores, over the batch
	CPUTicks        int64  `json:"cpuTicks"`            // all states, same span; 0: not readable

	MetricsBefore *Metrics `json:"metricsBefore,omitempty"`
	MetricsAfter  *Metrics `json:"metricsAfter,omitempty"`
	Interrupted   bool     `json:"interrupted,omitempty"`
}

// Metrics are the server's own counters at one scrape, summed over engines and
// labels. A nil field is a counter the server does not have.
type Metrics struct {
	GenerationTokens *float64   `json:"generationTokens,omitempty"`
	PromptTokens     *float64   `json:"promptTokens,omitempty"`
	Requests         *float64   `json:"requests,omitempty"` // finished requests
	Running          *float64   `json:"running,omitempty"`
	Waiting          *float64   `json:"waiting,omitempty"`
	Drafts           *float64   `json:"drafts,omitempty"`
	DraftTokens      *float64   `json:"draftTokens,omitempty"`
	AcceptedTokens   *float64   `json:"acceptedTokens,omitempty"`
	ITL              *Histogram `json:"itl,omitempty"`  // engine's inter-token latency, seconds
	TTFT             *Histogram `json:"ttft,omitempty"` // engine's time to first token, seconds
}

// Histogram is a cumulative Prometheus histogram. Bounds are upper bounds in
// the metric's unit; the +Inf bucket is Count.
type Histogram struct {
	Bounds []float64 `json:"bounds,omitempty"`
	Counts []float64 `json:"counts,omitempty"`
	Sum    float64   `json:"sum"`
	Count  float64   `json:"count"`
}

// Request is one line of requests.jsonl.
type Request struct {
	Phase        string          `json:"phase"`     // probe, warmup, timed
	Iteration    int             `json:"iteration"` // from 1 within the phase
	Request      int             `json:"request"`   // from 1 within the iteration
	Outcome      string          `json:"outcome"`   // a class of docs/outcomes.md
	Status       int             `json:"status,omitempty"`
	FinishReason *string         `json:"finishReason"`
	Nonce        string          `json:"nonce,omitempty"`
	PromptTokens *int64          `json:"promptTokens"` // nil: the server did not say
	OutputTokens *int64          `json:"outputTokens"`
	CachedTokens *int64          `json:"cachedTokens,omitempty"`
	UsageInvalid bool            `json:"usageInvalid,omitempty"` // a usage that is no count was dropped
	Error        string          `json:"error,omitempty"`
	ErrorPhase   string          `json:"errorPhase,omitempty"`
	RetryAfter   string          `json:"retryAfter,omitempty"`
	Location     string          `json:"location,omitempty"` // target of a redirect that was not followed
	BodyExcerpt  string          `json:"bodyExcerpt,omitempty"`
	AbruptEnd    bool            `json:"abruptEnd,omitempty"`
	Reconnected  bool            `json:"reconnected,omitempty"`
	CodedBody    string          `json:"codedBody,omitempty"`
	Usage        json.RawMessage `json:"usage,omitempty"`
	Timings      json.RawMessage `json:"timings,omitempty"`
	OutputSHA256 string          `json:"outputSha256,omitempty"`
	OutputText   *string         `json:"outputText,omitempty"` // kept for the request whose text run.json prints
	OtherEvents  int             `json:"otherEvents"`          // events without a token
	LateMerged   int             `json:"lateMerged,omitempty"` // token events read together with an earlier one because the client was late
	T            Stamps          `json:"t"`
	Events       *Events         `json:"events,omitempty"`
}

// Stamps are the moments of one request, ns from the run's origin; 0 is
// "did not happen" (the origin lies before the first connection).
type Stamps struct {
	Connect      int64 `json:"connect,omitempty"` // connection ready, TLS included
	Send         int64 `json:"send,omitempty"`    // just before the write of the first byte
	FirstByte    int64 `json:"firstByte,omitempty"`
	FirstEvent   int64 `json:"firstEvent,omitempty"`
	FirstToken   int64 `json:"firstToken,omitempty"`
	FirstContent int64 `json:"firstContent,omitempty"`
	LastToken    int64 `json:"lastToken,omitempty"`
	Finish       int64 `json:"finish,omitempty"`
	End          int64 `json:"end,omitempty"`
	// lmx counts reasoning and content of the first choice only. These two are
	// written when that rule gives other moments than FirstToken and LastToken.
	LmxFirst int64 `json:"lmxFirst,omitempty"`
	LmxLast  int64 `json:"lmxLast,omitempty"`
	LmxNone  bool  `json:"lmxNone,omitempty"` // no event counts under lmx's rule
}

// Evidence is all that a run leaves behind, and all that its result is made
// from.
type Evidence struct {
	Tool     Tool
	Plan     Plan
	Session  Session
	Batches  []Batch   // in the order they ran
	Requests []Request // in the order of requests.jsonl
	Attached Attached
	// Unfinished marks a run that was cut off: its manifest was never
	// completed. Its result is partial, as after an interrupt.
	Unfinished bool
}

// Tool is the program that measured.
type Tool struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // VCS revision of its source
	Modified bool   `json:"modified,omitempty"` // built from a tree with changes
}

// Attached is what other packages say about the run: the last line of
// observations.jsonl. Each value is absent where it is not known.
type Attached struct {
	Power    json.RawMessage `json:"power,omitempty"`
	Ceiling  json.RawMessage `json:"ceiling,omitempty"`
	Findings []Finding       `json:"findings,omitempty"` // of the codes that package power and the ceiling own
}

// Observation is one line of observations.jsonl: exactly one field is set.
type Observation struct {
	Session  *Session  `json:"session,omitempty"`
	Batch    *Batch    `json:"batch,omitempty"`
	Attached *Attached `json:"attached,omitempty"`
}
