package report

import (
	"encoding/json"
)

// engine is what the server's own counters and timings say.
func (a *analysis) engine() Engine {
	return Engine{
		Kind: a.Session.EngineKind, Version: a.Session.EngineVersion, Slots: a.Session.Slots,
		MetricsDelta: a.metricsDelta(), Speculation: speculation(a.counted), DecodeMs: a.decodeTime(),
	}
}

// moved is how far a counter went, and false when it was not read twice, or
// went backwards, as after a restart, or further than anything counts.
func moved(before, after *float64) (float64, bool) {
	if before == nil || after == nil {
		return 0, false
	}
	d := *after - *before
	return d, countable(d)
}

// countable reports a value that a counter can have.
func countable(x float64) bool { return x >= 0 && x <= maxTokens }

// movedOver adds up a counter over batches; false when any of them lacks it.
func movedOver(its []*iteration, counter func(*Metrics) *float64) (sum float64, ok bool) {
	for _, it := range its {
		b := it.batch
		if b == nil || b.MetricsBefore == nil || b.MetricsAfter == nil {
			return 0, false
		}
		d, ok := moved(counter(b.MetricsBefore), counter(b.MetricsAfter))
		if !ok {
			return 0, false
		}
		sum += d
	}
	return sum, len(its) > 0
}

func generationTokens(m *Metrics) *float64 { return m.GenerationTokens }

// metricsDelta takes the clean batches: only where every request ended well
// have the counters something to agree with.
func (a *analysis) metricsDelta() *MetricsDelta {
	value := func(counter func(*Metrics) *float64) *float64 {
		if v, ok := movedOver(a.clean, counter); ok {
			return decimals(v, rateDecimals)
		}
		return nil
	}
	d := &MetricsDelta{
		GenerationTokens: value(generationTokens),
		PromptTokens:     value(func(m *Metrics) *float64 { return m.PromptTokens }),
		Requests:         value(func(m *Metrics) *float64 { return m.Requests }),
	}
	if d.GenerationTokens == nil && d.PromptTokens == nil && d.Requests == nil {
		return nil
	}
	d.UsageTokens = &a.usage
	return d
}

// timings are the fields of llama.cpp's timings object that we use.
type timings struct {
	PredictedN     *float64 `json:"predicted_n"`
	DraftN         *float64 `json:"draft_n"`
	DraftNAccepted *float64 `json:"draft_n_accepted"`
}

// parseTimings reads what it can; an object of another shape, or with numbers
// that are no counts, gives nothing.
func parseTimings(raw json.RawMessage) (t timings) {
	if len(raw) > 0 && json.Unmarshal(raw, &t) != nil {
		return timings{}
	}
	for _, n := range []*float64{t.PredictedN, t.DraftN, t.DraftNAccepted} {
		if n != nil && !countable(*n) {
			return timings{}
		}
	}
	return t
}

// speculation is what was drafted and kept over some iterations: by the
// server's counters, else by the timings of the requests. It is nil when
// nothing was drafted.
func speculation(its []*iteration) *SpeculationCount {
	s := &SpeculationCount{Source: "metrics"}
	draft, ok1 := movedOver(its, func(m *Metrics) *float64 { return m.DraftTokens })
	accepted, ok2 := movedOver(its, func(m *Metrics) *float64 { return m.AcceptedTokens })
	if ok1 && ok2 {
		s.DraftTokens, s.AcceptedTokens = draft, accepted
		if v, ok := movedOver(its, func(m *Metrics) *float64 { return m.Drafts }); ok {
			s.Drafts = &v
		}
	}
	if s.DraftTokens == 0 && !s.fromTimings(its) {
		return nil
	}
	s.AcceptanceRate = ratio(s.AcceptedTokens, s.DraftTokens, 4)
	if s.Drafts != nil && *s.Drafts > 0 {
		s.MeanAcceptedLength = decimals(1 + s.AcceptedTokens / *s.Drafts, 3)
	}
	return s
}

func (s *SpeculationCount) fromTimings(its []*iteration) bool {
	*s = SpeculationCount{Source: "timings"}
	for _, it := range its {
		for _, r := range it.ok {
			t := parseTimings(r.Timings)
			if t.DraftN != nil && t.DraftNAccepted != nil {
				s.DraftTokens += *t.DraftN
				s.AcceptedTokens += *t.DraftNAccepted
			}
		}
	}
	return s.DraftTokens > 0
}

// decode adds up, over the clean batches, how long the streams decoded inside
// the engine and how long their tokens took to arrive.
type decode struct {
	engineNs, arrivalNs float64
	engineCount         float64 // samples of the engine's histogram
	tokens, streams     int64
}

// decodeSums compares sums, so it does not matter how many tokens the engine
// puts into one step or the front end into one event.
func (a *analysis) decodeSums() (d decode, ok bool) {
	sum, ok1 := movedOver(a.clean, func(m *Metrics) *float64 { return m.ITL.sum() })
	count, ok2 := movedOver(a.clean, func(m *Metrics) *float64 { return m.ITL.count() })
	if !ok1 || !ok2 || sum <= 0 || count <= 0 {
		return decode{}, false
	}
	d = decode{engineNs: sum * 1e9, engineCount: count, tokens: a.usage}
	for _, it := range a.clean {
		for _, s := range it.own {
			if s.NoToken {
				return decode{}, false
			}
			d.arrivalNs += float64(s.LastToken - s.FirstToken)
			d.streams++
		}
	}
	return d, d.streams > 0
}

func (h *Histogram) sum() *float64 {
	if h == nil {
		return nil
	}
	return &h.Sum
}

func (h *Histogram) count() *float64 {
	if h == nil {
		return nil
	}
	return &h.Count
}

func (a *analysis) decodeTime() *DecodeTime {
	d, ok := a.decodeSums()
	if !ok {
		return nil
	}
	n := float64(d.streams)
	return &DecodeTime{
		Engine:    rounded(d.engineNs/n/1e6, timeDecimals),
		Arrival:   rounded(d.arrivalNs/n/1e6, timeDecimals),
		ITLMeanMs: decimals(d.engineNs/d.engineCount/1e6, timeDecimals),
	}
}
