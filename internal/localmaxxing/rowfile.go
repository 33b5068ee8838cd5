package localmaxxing

import (
	"encoding/json"
	"time"
)

// rowJSON is a row in a file. The names are the site's where it has one.
type rowJSON struct {
	ID            string        `json:"id,omitempty"`
	Name          string        `json:"name,omitempty"`
	URL           string        `json:"url,omitempty"`
	Board         string        `json:"board,omitempty"`
	HFID          string        `json:"hfId,omitempty"`
	BaseHFID      string        `json:"baseHfId,omitempty"`
	Engine        string        `json:"engineName,omitempty"`
	EngineVersion string        `json:"engineVersion,omitempty"`
	Backend       string        `json:"backend,omitempty"`
	Quantization  string        `json:"quantization,omitempty"`
	Speculation   string        `json:"speculation,omitempty"`
	Hardware      *hardwareJSON `json:"hardware,omitempty"`
	Streams       *int          `json:"concurrency,omitempty"`
	PromptTokens  *int          `json:"promptTokens,omitempty"`
	OutputTokens  *int          `json:"outputTokens,omitempty"`
	MaxTokens     *int          `json:"maxTokens,omitempty"`
	ContextLength *int          `json:"contextLength,omitempty"`
	TokSOut       *float64      `json:"tokSOut,omitempty"`
	TokSPrefill   *float64      `json:"tokSPrefill,omitempty"`
	TokSTotal     *float64      `json:"tokSTotal,omitempty"`
	TTFTMs        *float64      `json:"ttftMs,omitempty"`
	PromptSHA256  string        `json:"promptSha256,omitempty"`
	Verified      *bool         `json:"verifiedRun,omitempty"`
	PowerWatts    *float64      `json:"totalPowerWatts,omitempty"`
	PeakVRAMGB    *float64      `json:"peakVramGb,omitempty"`
	USDPerHour    *float64      `json:"usdPerHour,omitempty"`
	User          string        `json:"user,omitempty"`
	Status        string        `json:"status,omitempty"`
	SubmittedAt   *time.Time    `json:"createdAt,omitempty"`
	Rank          int           `json:"rank,omitempty"`
	Of            int           `json:"total,omitempty"`
	RankSingle    int           `json:"rank_c1,omitempty"`
	OfSingle      int           `json:"total_c1,omitempty"`
}

type hardwareJSON struct {
	Name  string `json:"gpuName"`
	Count *int   `json:"gpuCount,omitempty"`
}

// MarshalJSON writes the row as one flat object, which [ParseRow] reads back.
// Times to a first token are milliseconds.
func (r Row) MarshalJSON() ([]byte, error) {
	j := rowJSON{
		ID: r.ID, Name: r.Name, URL: r.URL, Board: r.Board, HFID: r.HFID, BaseHFID: r.BaseHFID,
		Engine: r.Engine, EngineVersion: r.EngineVersion, Backend: r.Backend,
		Quantization: r.Quantization, Speculation: r.Speculation,
		Streams: r.Streams, PromptTokens: r.PromptTokens, OutputTokens: r.OutputTokens,
		MaxTokens: r.MaxTokens, ContextLength: r.ContextLength,
		TokSOut: r.TokSOut, TokSPrefill: r.TokSPrefill, TokSTotal: r.TokSTotal,
		PromptSHA256: r.PromptSHA256, Verified: r.Verified,
		PowerWatts: r.PowerWatts, PeakVRAMGB: r.PeakVRAMGB, USDPerHour: r.USDPerHour,
		User: r.User, Status: r.Status,
		Rank: r.All.Rank, Of: r.All.Of, RankSingle: r.Single.Rank, OfSingle: r.Single.Of,
	}
	if r.Hardware.Name != "" {
		j.Hardware = &hardwareJSON{Name: r.Hardware.Name, Count: r.Hardware.Count}
	}
	if r.TTFT != nil {
		ms := float64(*r.TTFT) / 1e6
		j.TTFTMs = &ms
	}
	if !r.SubmittedAt.IsZero() {
		j.SubmittedAt = &r.SubmittedAt
	}
	return json.Marshal(j)
}
