package simserver

import (
	"encoding/json"
	"io"
	"sync"
)

// Record is the server's own account of one request, one line of /sim/records.
// Times are Unix times in ns of the real-time clock; 0 means it did not happen.
type Record struct {
	// Request counts accepted requests from 1; Conn the connections.
	Request int `json:"request"`
	Conn    int `json:"conn"`
	// Nonce is the 32 hex digits of the cache-busting line, if the prompt had one.
	Nonce string `json:"nonce,omitempty"`
	// Recv is the arrival of the request's last byte, by the clock RecvSource
	// names: "kernel" or "user". Read is when the server had it parsed.
	Recv       int64  `json:"recv_unix_ns"`
	RecvSource string `json:"recv_source"`
	Read       int64  `json:"read_unix_ns"`
	// Finish is the send time of the last bytes.
	Finish       int64  `json:"finish_unix_ns,omitempty"`
	PromptTokens int    `json:"prompt_tokens"`
	CachedTokens int    `json:"cached_tokens,omitempty"`
	OutputTokens int    `json:"output_tokens"`
	FinishReason string `json:"finish_reason,omitempty"`
	Stream       bool   `json:"stream"`
	Fault        string `json:"fault,omitempty"`
	// Outcome is "done", "aborted" (the client left) or "refused".
	Outcome string `json:"outcome"`
	Status  int    `json:"status"`
	// Events are the events that carry tokens. EventsDropped says that they were
	// not kept, since the streams in flight alone would have met the bound.
	Events        Events `json:"events"`
	EventsDropped bool   `json:"events_dropped,omitempty"`

	reserved int // events that it may hold, as booked in records
}

// Events are parallel columns: the clock read just before the write of each
// event, and the tokens in it.
type Events struct {
	Sent   []int64 `json:"sent_unix_ns"`
	Tokens []int32 `json:"tokens"`
}

// add enters an event, unless events are dropped.
func (r *Record) add(sent int64, tokens int) {
	if r.EventsDropped {
		return
	}
	r.Events.Sent = append(r.Events.Sent, sent)
	r.Events.Tokens = append(r.Events.Tokens, int32(tokens))
}

// records keeps finished records within a bound on their events, and sees to it
// that those in flight stay within the same bound once more.
type records struct {
	mu       sync.Mutex
	limit    int
	kept     []*Record
	events   int // held by kept
	inFlight int // reserved
	dropped  int
}

// reserve makes room for the events of a new record.
func (r *records) reserve(rec *Record, events int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inFlight+events > r.limit {
		rec.EventsDropped = true
		return
	}
	r.inFlight += events
	rec.reserved = events
	rec.Events = Events{Sent: make([]int64, 0, events), Tokens: make([]int32, 0, events)}
}

// recordCost is what a record counts for beside its events.
const recordCost = 32

func (r *records) add(rec *Record) {
	if r.limit < 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inFlight -= rec.reserved
	r.kept = append(r.kept, rec)
	r.events += len(rec.Events.Sent) + recordCost
	for r.events > r.limit && len(r.kept) > 1 {
		r.events -= len(r.kept[0].Events.Sent) + recordCost
		r.kept[0] = nil
		r.kept = r.kept[1:]
		r.dropped++
	}
}

func (r *records) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept, r.events, r.dropped = nil, 0, 0
}

func (r *records) snapshot() ([]*Record, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*Record(nil), r.kept...), r.dropped
}

// writeTo writes one JSON object per line.
func (r *records) writeTo(w io.Writer) error {
	kept, _ := r.snapshot()
	enc := json.NewEncoder(w)
	for _, rec := range kept {
		if err := enc.Encode(rec); err != nil {
			return err
		}
	}
	return nil
}
