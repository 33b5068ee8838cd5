package localmaxxing

import "time"

// Row is one published result. What the listing does not give is nil, empty or
// zero; no number is ever 0 for want of one. Text is on one line and printable.
type Row struct {
	ID   string // the site's
	Name string // the submitter's own name of the run
	URL  string

	Board    string // model whose board the row stands on
	HFID     string // model that was measured
	BaseHFID string // model it derives from

	Engine        string
	EngineVersion string
	Backend       string
	Quantization  string
	Speculation   string // method of speculative decoding; empty: none, or not said
	Hardware      Hardware

	// Streams is the number of requests in flight: the larger of the batch size
	// and the concurrency where both are given.
	Streams       *int
	PromptTokens  *int // of one request
	OutputTokens  *int // of one request
	MaxTokens     *int // cap of one request
	ContextLength *int

	TokSOut     *float64 // output tokens per second of all streams; what boards rank by
	TokSPrefill *float64
	TokSTotal   *float64
	TTFT        *time.Duration

	PromptSHA256 string // of the prompt without a nonce, in lower-case hex
	Verified     *bool  // the run's badge, not the user's
	PowerWatts   *float64
	PeakVRAMGB   *float64
	USDPerHour   *float64 // of the whole machine

	User        string
	Status      string    // APPROVED, PENDING; empty: not said, as in listings of approved rows
	SubmittedAt time.Time // zero: not given

	// All and Single are the row's places when the listing was made, where it
	// says so: among all rows, and among those of a single stream.
	All, Single Standing
}

// Standing is a published place on a board. A zero is not given.
type Standing struct {
	Rank int // from 1
	Of   int // rows on the board
}

// Class is a set of rows that are ranked among themselves.
type Class int

// The classes.
const (
	AllRows Class = iota
	// SingleStream holds the rows of one request at a time. A row that does not
	// say how many it had is in neither: it may be.
	SingleStream
)

// String names the class.
func (c Class) String() string {
	if c == SingleStream {
		return "single stream"
	}
	return "all rows"
}

// holds reports whether a row is of the class, and whether that is known.
func (c Class) holds(r *Row) (is, known bool) {
	if c == AllRows {
		return true, true
	}
	if r.Streams == nil {
		return false, false
	}
	return *r.Streams == 1, true
}

// standing is the published place in a class.
func (r *Row) standing(c Class) Standing {
	if c == SingleStream {
		return r.Single
	}
	return r.All
}

// is reports whether the row is what a user calls text: its id, its name, or
// the address of its page, whose last part is the id.
func (r *Row) is(text string) bool {
	if text == "" {
		return false
	}
	return r.ID != "" && r.ID == RunID(text) || r.Name == text || r.URL == text
}
