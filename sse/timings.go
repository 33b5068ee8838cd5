package sse

import (
	"math"
	"strconv"
	"time"
)

// Timings is what llama.cpp says about a request in its object "timings".
// Everything is optional: missing, null and invalid values are not Known.
type Timings struct {
	// PromptTokens is prompt_n: prompt tokens that were computed, not cached.
	PromptTokens Optional[int64]
	// CachedTokens is cache_n: prompt tokens taken from the cache.
	CachedTokens Optional[int64]
	// PredictedTokens is predicted_n: generated tokens.
	PredictedTokens Optional[int64]
	// DraftTokens is draft_n: tokens proposed by speculation.
	DraftTokens Optional[int64]
	// DraftAccepted is draft_n_accepted: proposed tokens that were kept.
	DraftAccepted Optional[int64]
	// PromptTime is prompt_ms.
	PromptTime Optional[time.Duration]
	// PredictedTime is predicted_ms.
	PredictedTime Optional[time.Duration]
}

// ParseTimings reads a timings object as [Chunk.Timings] holds it. Anything that
// is not a JSON object gives a result in which nothing is known. It is meant for
// the last timings of a request and may allocate.
func ParseTimings(raw []byte) Timings {
	var t, none Timings
	s := scanner{data: raw}
	for s.object(); s.member(); {
		switch string(s.key) {
		case "prompt_n":
			t.PromptTokens = optionalCount(s.value())
		case "cache_n":
			t.CachedTokens = optionalCount(s.value())
		case "predicted_n":
			t.PredictedTokens = optionalCount(s.value())
		case "draft_n":
			t.DraftTokens = optionalCount(s.value())
		case "draft_n_accepted":
			t.DraftAccepted = optionalCount(s.value())
		case "prompt_ms":
			t.PromptTime = optionalTime(s.value())
		case "predicted_ms":
			t.PredictedTime = optionalTime(s.value())
		default:
			s.value()
		}
	}
	if s.end(); s.fault != nil {
		return none
	}
	return t
}

func optionalCount(raw []byte) Optional[int64] {
	if len(raw) > 0 {
		if n, ok := parseCount(raw); ok {
			return known(n)
		}
	}
	return Optional[int64]{}
}

// optionalTime reads milliseconds, rounded to the nanosecond. Negative ones and
// those beyond the 292 years of a time.Duration are invalid.
func optionalTime(raw []byte) Optional[time.Duration] {
	if len(raw) == 0 || !isDigit(raw[0]) {
		return Optional[time.Duration]{}
	}
	ms, err := strconv.ParseFloat(string(raw), 64)
	ns := math.Round(ms * 1e6)
	if err != nil || ns >= math.MaxInt64 {
		return Optional[time.Duration]{}
	}
	return known(time.Duration(ns))
}
