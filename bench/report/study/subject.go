package study

import (
	"lmxbench/bench/report"
	"lmxbench/internal/cost"
)

// Kind says what a subject was read from.
type Kind string

// The kinds of subject.
const (
	KindRun Kind = "run" // a run directory of this program
	KindLMX Kind = "lmx" // a run.json of lmx: no evidence, no verdict
	KindRow Kind = "row" // a row of a table
)

// Subject is one result. A nil or empty field is not known.
type Subject struct {
	// Label names the subject within its study.
	Label string `json:"label"`
	// Path is where it was read: a folder, a file, or file:line.
	Path string `json:"path"`
	Kind Kind   `json:"kind"`

	Model         string `json:"model,omitempty"`
	Board         string `json:"board,omitempty"` // leaderboard of a row
	Engine        string `json:"engine,omitempty"`
	EngineVersion string `json:"engineVersion,omitempty"`
	Quantization  string `json:"quantization,omitempty"`
	Speculation   string `json:"speculation,omitempty"`
	GPU           string `json:"gpu,omitempty"`
	GPUs          int    `json:"gpus,omitempty"` // number of cards
	Prompt        string `json:"prompt,omitempty"`
	CreatedAt     string `json:"createdAt,omitempty"` // RFC 3339

	Streams      int    `json:"streams"`
	MaxTokens    int    `json:"maxTokens,omitempty"`
	PromptTokens *int64 `json:"promptTokens,omitempty"` // median of the requests
	OutputTokens *int64 `json:"outputTokens,omitempty"` // median of the requests

	// Headline names the rate behind tokSOut; Rates holds it and the others,
	// in the order interToken, concurrentRequestWindow, batchWall, plateau.
	Headline cost.Basis `json:"headline,omitempty"`
	Rates    []Rate     `json:"rates"`

	TTFT     *report.Summary `json:"ttftMs,omitempty"`
	ITL      *report.Summary `json:"tokenItlMs,omitempty"`
	Stream   *report.Summary `json:"streamTokS,omitempty"`
	EndToEnd *report.Summary `json:"e2eMs,omitempty"`
	// TTFTValues are the medians of the counted iterations, milliseconds.
	TTFTValues []float64 `json:"ttftIterationsMs,omitempty"`

	Energy *Energy `json:"energy,omitempty"`
	// NoPower says why nothing was measured, where the run says so.
	NoPower string `json:"noPower,omitempty"`

	Verdict   *report.Verdict `json:"verdict,omitempty"` // nil: nobody judged it
	Simulated bool            `json:"simulated,omitempty"`
	Partial   bool            `json:"partial,omitempty"`

	// Price is what the row itself says about its machine.
	Price *Tariff `json:"price,omitempty"`
	Rank  *Rank   `json:"rank,omitempty"`

	// Settings are what the run was set to, by name; see settings.go.
	Settings map[string]string `json:"-"`
	// Document is the whole result; nil for a row.
	Document *report.Document `json:"-"`

	arg int // which argument it came from
	dir string
	run *report.Run // evidence, where it is loaded already
}

// Rate is one throughput of a subject in tokens per second.
type Rate struct {
	Basis cost.Basis `json:"basis"`
	// TokensPerSecond is the median over the iterations.
	TokensPerSecond float64  `json:"tokensPerSecond"`
	StdDev          *float64 `json:"stddev,omitempty"`
	Iterations      int      `json:"iterations,omitempty"`
	// Values are the iterations, in their order where that is known; empty
	// where the file holds only their summary.
	Values []float64 `json:"values,omitempty"`
	// Derived says how the rate was computed where the file does not hold it.
	Derived string `json:"derived,omitempty"`
}

// Energy is what a subject drew. J per token and watts belong to one window
// unless Window says otherwise.
type Energy struct {
	Watts          *float64 `json:"watts,omitempty"`
	JoulesPerToken *float64 `json:"joulesPerToken,omitempty"`
	Window         string   `json:"window"`
	Source         string   `json:"source,omitempty"`
	IdleWatts      *float64 `json:"idleWatts,omitempty"`
}

// Rank is a place on a leaderboard at the time of the table; 0 is not listed.
type Rank struct {
	Verified     bool `json:"verified"`
	All          int  `json:"all,omitempty"`
	AllOf        int  `json:"allOf,omitempty"`
	SingleStream int  `json:"singleStream,omitempty"`
	SingleOf     int  `json:"singleOf,omitempty"`
}

// Rate returns the rate of a basis, nil where it is not known.
func (s *Subject) Rate(basis cost.Basis) *Rate {
	for i := range s.Rates {
		if s.Rates[i].Basis == basis {
			return &s.Rates[i]
		}
	}
	return nil
}

// Answer is the rate behind tokSOut, nil where the run has no result.
func (s *Subject) Answer() *Rate { return s.Rate(s.Headline) }

// Status is the verdict in a word: VALID, WARN, INVALID, or empty where nobody
// judged the result.
func (s *Subject) Status() string {
	if s.Verdict == nil {
		return ""
	}
	return s.Verdict.Status
}

// PerUser is the rate one stream sees, tokens per second: the median of the
// streams, else the answer ÷ streams.
func (s *Subject) PerUser() *float64 {
	if s.Stream != nil {
		return &s.Stream.P50
	}
	if a := s.Answer(); a != nil && s.Streams > 0 {
		each := a.TokensPerSecond / float64(s.Streams)
		return &each
	}
	return nil
}

// usable reports whether the subject's numbers may be compared and joined.
func (s *Subject) usable() bool {
	return s.Status() != report.StatusInvalid && !s.Partial && s.Answer() != nil
}

// place is the folder or file as a short name.
func (s *Subject) place() string { return argName(first(s.dir, s.Path)) }
