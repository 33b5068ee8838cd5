package report

import (
	"fmt"
	"time"

	"lmxbench/stats"
)

// measure makes the passes over the token events. Copies of the events live
// for one iteration only.
func (a *analysis) measure() error {
	for _, it := range a.counted {
		if err := a.measureIteration(it); err != nil {
			return err
		}
	}
	a.measureReads()
	return nil
}

// measureIteration pools the gaps of an iteration and takes its plateau.
func (a *analysis) measureIteration(it *iteration) error {
	streams := make([]stats.Stream, len(it.own))
	for i, r := range it.ok {
		streams[i] = withEvents(it.own[i], r.Events)
		if err := a.gaps.Add(streams[i]); err != nil {
			return fmt.Errorf("request %d of iteration %d: %w", r.Request, it.number, err)
		}
		e := r.Events
		a.spread = a.spread || (e.Len() > 0 && len(e.Tokens) == 0 && e.Len() != streams[i].OutputTokens)
	}
	if p, ok := stats.Plateau(streams); ok {
		it.plateau = &p
	}
	return nil
}

// measureReads judges the client's reading over all timed requests.
func (a *analysis) measureReads() {
	gaps := stats.Histogram{Lowest: time.Nanosecond, Highest: time.Hour}
	lags := stats.Histogram{Lowest: time.Nanosecond, Highest: time.Hour}
	for r := range a.timedRequests() {
		a.lateMerge += int64(r.LateMerged)
		if r.Events == nil {
			continue
		}
		a.events += int64(r.Events.Len())
		for i, t := range r.Events.T {
			if lag := r.Events.Lag[i]; lag >= 0 {
				lags.Record(time.Duration(lag))
			}
			if i == 0 {
				continue
			}
			if gap := t - r.Events.T[i-1]; gap > 0 {
				gaps.Record(time.Duration(gap))
			} else {
				a.coalesced++
			}
		}
	}
	a.readGap, _ = gaps.Quantile(0.5)
	a.lag.count = lags.Count()
	a.lag.p50, _ = lags.Quantile(0.5)
	a.lag.p99, _ = lags.Quantile(0.99)
	a.lag.max, _ = lags.Max()
}
