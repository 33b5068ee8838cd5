package calibrate

import (
	"time"

	"lmxbench/bench/report"
)

// Rung is what one load showed. Times are µs; a nil field could not be measured.
type Rung struct {
	Load Load `json:"load"`
	// Void says why the rung says nothing; "" for a sound one. What was seen is
	// kept beside it.
	Void string `json:"void,omitempty"`
	// VoidRounds are the reasons of the rounds that were left out because they
	// say nothing, while others do.
	VoidRounds []string `json:"voidRounds,omitempty"`

	Rounds   int `json:"rounds"` // that the figures rest on
	Requests int `json:"requests"`
	Lost     int `json:"lost"`   // requests that failed or do not match the engine's books
	Events   int `json:"events"` // token events with their truth

	TimestampSource string `json:"timestampSource,omitempty"` // kernel, user or mixed
	Reader          string `json:"reader,omitempty"`          // epoll, goroutine or mixed
	Loops           int    `json:"loops,omitempty"`

	Kernel *Spread    `json:"stampKernel,omitempty"` // kernel stamp − send time
	User   *Spread    `json:"stampUser,omitempty"`   // time after the read − send time
	TTFT   *TTFTError `json:"ttftError,omitempty"`
	ITL    *ITLError  `json:"itlError,omitempty"`

	Reads         int64   `json:"reads"`
	UnstampedRead int64   `json:"unstampedReads"`
	MergedReads   int     `json:"mergedReads"` // reads that held events of several writes
	MergedShare   float64 `json:"mergedShare"` // events whose stamp is that of a later write

	InFlight int     `json:"inFlight"` // most streams open at the engine at once, least over the rounds
	LoadHeld float64 `json:"loadHeld"` // 0…1, least over the rounds

	CPUPerEvent   *float64 `json:"cpuPerEventUs,omitempty"`
	FloorPerEvent *float64 `json:"floorPerEventUs,omitempty"` // of the bare loop, measured in turn
	FloorRatio    *float64 `json:"floorRatio,omitempty"`
	CPUShare      *float64 `json:"cpuShare,omitempty"` // of the cores the client may use
	// StreamMemory is bytes of resident memory per stream, at this many tokens.
	StreamMemory *float64 `json:"streamMemoryBytes,omitempty"`

	// EngineLate is the p99 of how late the engine's bursts began.
	EngineLate *float64 `json:"engineLateUs,omitempty"`

	Strains []Strain `json:"strains,omitempty"`
}

// Strain is how close a rung came to a warning of the verdict.
type Strain struct {
	Code string `json:"code"` // as in docs/verdicts.md
	// Of is the measured value ÷ the value at which the code warns: 1 trips.
	Of float64 `json:"ofThreshold"`
}

// The verdict codes that concern the client.
const (
	codeLate      = "client_late"
	codeCoalesced = "client_coalesced"
	codeSaturated = "client_saturated"
)

// observed is what the strains are computed from.
type observed struct {
	kernelStamps bool
	lagP99       time.Duration
	hasLag       bool
	readGap      time.Duration
	lateMerged   int
	events       int
	cpuShare     float64
	stall, took  time.Duration // the longest stall and the batch it was in
}

// strains relates what was observed to the thresholds of the verdict, as
// package report applies them to a run.
func strains(o observed) []Strain {
	var list []Strain
	if o.readGap > 0 {
		limit := report.LateUserWarn
		if o.kernelStamps {
			limit = report.LateKernelWarn
		}
		late := o.lagP99
		if !o.hasLag {
			late, limit = o.stall, report.LateStallWarn
		}
		list = append(list, Strain{codeLate, hundredth(float64(late) / (limit * float64(o.readGap)))})
	}
	if o.events > 0 {
		// Where both must be exceeded, the smaller is how near it came.
		merged := float64(o.lateMerged)
		list = append(list, Strain{codeCoalesced, hundredth(min(merged/float64(o.events)/report.CoalescedWarn, merged/report.CoalescedMinEvents))})
	}
	full := o.cpuShare / report.SaturatedShare
	if o.took > 0 && !o.hasLag {
		full = max(full, min(float64(o.stall)/float64(report.SaturatedStall), float64(o.stall)/(report.SaturatedStallShare*float64(o.took))))
	}
	return append(list, Strain{codeSaturated, hundredth(full)})
}

// nearest is the code that would trip first; the zero Strain without any.
func (r *Rung) nearest() Strain {
	var most Strain
	for _, s := range r.Strains {
		if s.Of > most.Of || most.Code == "" {
			most = s
		}
	}
	return most
}
