package report

import (
	"encoding/json"

	"lmxbench/stats"
)

// Document is run.json: lmx's result of a remote speed test, and under
// lmxbench what lmx has no place for. A nil or empty optional field is absent
// from the file. Rates are tokens per second.
type Document struct {
	EngineName       string `json:"engineName"`
	EngineVersion    string `json:"engineVersion,omitempty"`
	EngineRepository string `json:"engineRepository,omitempty"`
	EngineBuild      string `json:"engineBuild,omitempty"`
	EngineCommit     string `json:"engineCommit,omitempty"`
	Backend          string `json:"backend,omitempty"`
	HFID             string `json:"hfId,omitempty"`
	ModelRevision    string `json:"modelRevision"`
	Quantization     string `json:"quantization,omitempty"`
	Notes            string `json:"notes,omitempty"`

	BenchmarkMode   string            `json:"benchmarkMode"`
	DetectedEngines []json.RawMessage `json:"detectedEngines"` // engines on the client: we do not look, so []
	Hardware        json.RawMessage   `json:"hardware,omitempty"`
	HardwareSource  string            `json:"hardwareSource"`
	HardwareCost    json.RawMessage   `json:"hardwareCost,omitempty"`
	GPUPowerWatts   []float64         `json:"gpuPowerWatts,omitempty"`
	PeakVRAMGB      *float64          `json:"peakVramGb,omitempty"` // only in files of lmx

	Prompt        string `json:"prompt"` // without the nonce line
	OutputText    string `json:"outputText"`
	PromptTokens  *int64 `json:"promptTokens,omitempty"`  // median of the requests
	OutputTokens  *int64 `json:"outputTokens,omitempty"`  // median of the requests
	PrefillTokens int    `json:"prefillTokens"`           // declared
	BatchSize     int    `json:"batchSize"`               // the streams that ran side by side
	ContextLength int    `json:"contextLength,omitempty"` // tokens

	TokSOut           *float64 `json:"tokSOut,omitempty"`
	TokSOutSource     string   `json:"tokSOutSource,omitempty"`
	TokSTotal         *float64 `json:"tokSTotal,omitempty"`
	TokSPrefill       *float64 `json:"tokSPrefill,omitempty"`
	TokSPrefillSource string   `json:"tokSPrefillSource,omitempty"`
	TTFTMs            *float64 `json:"ttftMs,omitempty"`
	TTFTSource        string   `json:"ttftSource"`
	TimingSource      string   `json:"timingSource"`
	MetricSource      string   `json:"metricSource"`

	TokenSources TokenSources `json:"tokenSources"`
	Samples      []Sample     `json:"samples,omitempty"`
	SampleStats  *SampleStats `json:"sampleStats,omitempty"`
	Warnings     []string     `json:"warnings,omitempty"`

	ModelResolution        *ModelResolution `json:"modelResolution,omitempty"`
	QuantizationResolution json.RawMessage  `json:"quantizationResolution,omitempty"`
	EngineFlags            map[string]any   `json:"engineFlags"`
	Provenance             Provenance       `json:"provenance"`

	Bench *Extension `json:"lmxbench,omitempty"` // absent from files of lmx
}

// TokenSources says where the token counts come from: endpoint_usage,
// explicit_flag, or nothing when there are none.
type TokenSources struct {
	Output string `json:"output,omitempty"`
	Prompt string `json:"prompt,omitempty"`
}

// Sample is one counted request as lmx prints it.
type Sample struct {
	Iteration    int      `json:"iteration"`
	Request      int      `json:"request"`
	PromptTokens *int64   `json:"promptTokens,omitempty"`
	OutputTokens *int64   `json:"outputTokens,omitempty"`
	TokSOut      *float64 `json:"tokSOut,omitempty"`     // of the stream alone, 1 decimal
	TTFTMs       *float64 `json:"ttftMs,omitempty"`      // 2 decimals
	TokSPrefill  *float64 `json:"tokSPrefill,omitempty"` // 1 decimal
}

// SampleStats are lmx's summaries: rates over the iterations, TTFT over all
// requests.
type SampleStats struct {
	TokSOut   stats.MetricSummary `json:"tokSOut"`
	TokSTotal stats.MetricSummary `json:"tokSTotal"`
	TTFTMs    stats.MetricSummary `json:"ttftMs"`
}

// ModelResolution says how the served name and the hf-id go together. lmx also
// searches its site for candidates; we ask nobody.
type ModelResolution struct {
	HFID              string `json:"hfId"`
	LoadedFilename    string `json:"loadedFilename,omitempty"`
	SearchCommand     string `json:"searchCommand"`
	SearchQuery       string `json:"searchQuery"`
	SearchQuerySource string `json:"searchQuerySource"`
	ServedModel       string `json:"servedModel"`
	ServedModelSource string `json:"servedModelSource"`
	Status            string `json:"status"`
}

// Provenance says who measured, how and when.
type Provenance struct {
	BenchmarkMode string `json:"benchmarkMode"`
	CLI           string `json:"cli"`
	CreatedAt     string `json:"createdAt"`
	MetricSource  string `json:"metricSource"`
	TimingSource  string `json:"timingSource"`
	TTFTSource    string `json:"ttftSource"`
}
