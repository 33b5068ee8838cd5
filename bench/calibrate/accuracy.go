package calibrate

import (
	"math"
	"slices"
	"time"

	"lmxbench/loadgen"
	"lmxbench/stats"
)

// Spread describes a distribution of errors in µs. Positive is late.
type Spread struct {
	Count int     `json:"count"`
	P50   float64 `json:"p50Us"`
	P99   float64 `json:"p99Us"`
	Max   float64 `json:"maxUs"`
}

// TTFTError is reported − true time to the first token, per request, in µs. The
// truth runs from the kernel's stamp of the request's arrival at the engine to
// the engine's first send.
type TTFTError struct {
	Mean float64 `json:"meanUs"`
	P99  float64 `json:"p99Us"` // of the sizes
}

// ITLError compares the gaps between token events at the client with the true
// ones, in µs.
type ITLError struct {
	Sigma float64 `json:"sigmaUs"` // σ of the reported gaps − σ of the true ones
	P99   float64 `json:"p99Us"`   // p99 of the reported gaps − p99 of the true ones
	Gap   float64 `json:"gapUs"`   // p99 of the size of reported − true, gap by gap
}

// samples gathers the errors of the batches of one rung.
type samples struct {
	kernel, user      []float64 // stamp error of each event, µs
	ttft              []float64
	reported, truth   []float64 // gaps, µs
	gap               []float64 // size of reported − true
	lag               []time.Duration
	readGaps          []float64 // ns between reads of a stream that brought tokens
	events            int
	mergedReads       int  // reads that held events of several writes
	merged            int  // events in them whose stamp is that of a later write
	lateMerged        int  // the client's own count of events read late together
	arrivalsUnstamped bool // the engine's kernel did not stamp some request's arrival
}

// add takes the pairs of one batch, the client's times turned by w.
func (s *samples) add(pairs []pair, w wall) {
	for _, p := range pairs {
		s.addStamps(p, w)
		s.addGaps(p)
		s.addTTFT(p)
		s.lateMerged += p.client.LateMerged
	}
}

func (s *samples) addStamps(p pair, w wall) {
	at, lag, sent := p.client.Events.At, p.client.Events.Lag, p.server.Events.Sent
	s.events += len(at)
	for i := range at {
		late := w.unix(at[i]) - sent[i]
		if lag[i] == loadgen.NoStamp {
			s.user = append(s.user, micros(late))
			continue
		}
		s.kernel = append(s.kernel, micros(late))
		s.user = append(s.user, micros(late+lag[i]))
		s.lag = append(s.lag, time.Duration(lag[i]))
	}
	reads, events := mergedReads(at, sent)
	s.mergedReads += reads
	s.merged += events
}

// mergedReads finds the reads, by their common stamp, that held events of
// several writes, and counts the events in them that were not of the last one.
// The engine puts the events of one write under one send time.
func mergedReads(at, sent []int64) (reads, events int) {
	for from := 0; from < len(at); {
		to := from + 1
		for to < len(at) && at[to] == at[from] {
			to++
		}
		last, before := sent[to-1], events
		for _, t := range sent[from:to] {
			if t != last {
				events++
			}
		}
		if events > before {
			reads++
		}
		from = to
	}
	return reads, events
}

func (s *samples) addGaps(p pair) {
	at, sent := p.client.Events.At, p.server.Events.Sent
	for i := 1; i < len(at); i++ {
		reported, truth := at[i]-at[i-1], sent[i]-sent[i-1]
		s.reported = append(s.reported, micros(reported))
		s.truth = append(s.truth, micros(truth))
		s.gap = append(s.gap, math.Abs(micros(reported-truth)))
		if reported > 0 {
			s.readGaps = append(s.readGaps, float64(reported))
		}
	}
}

func (s *samples) addTTFT(p pair) {
	if p.server.RecvSource != "kernel" {
		s.arrivalsUnstamped = true // the engine's own read lag would be charged to the client
		return
	}
	reported := int64(p.client.T.FirstToken - p.client.T.Send)
	s.ttft = append(s.ttft, micros(reported-(p.server.Events.Sent[0]-p.server.Recv)))
}

// spread describes errors; nil without any.
func spread(errors []float64) *Spread {
	s, err := stats.Summarize(errors)
	if err != nil {
		return nil
	}
	return &Spread{s.Count, tenth(s.P50), tenth(s.P99), tenth(s.Max)}
}

// ttftError is nil unless every arrival was stamped by the kernel.
func (s *samples) ttftError() *TTFTError {
	sum, err := stats.Summarize(s.ttft)
	if err != nil || s.arrivalsUnstamped {
		return nil
	}
	sizes := make([]float64, len(s.ttft))
	for i, e := range s.ttft {
		sizes[i] = math.Abs(e)
	}
	p99, _ := stats.Quantile(sizes, 0.99)
	return &TTFTError{tenth(sum.Mean), tenth(p99)}
}

// itlError is nil without at least two gaps.
func (s *samples) itlError() *ITLError {
	reported, err1 := stats.Summarize(s.reported)
	truth, err2 := stats.Summarize(s.truth)
	if err1 != nil || err2 != nil || reported.StdDev == nil {
		return nil
	}
	gap, _ := stats.Quantile(s.gap, 0.99)
	return &ITLError{tenth(*reported.StdDev - *truth.StdDev), tenth(reported.P99 - truth.P99), tenth(gap)}
}

// readGap is the median gap between reads of a stream, 0 without any.
func (s *samples) readGap() time.Duration { return time.Duration(median(s.readGaps)) }

// lagQuantile is a quantile of the time between stamp and read; ok is false
// where no read was stamped.
func (s *samples) lagQuantile(q float64) (lag time.Duration, ok bool) {
	if len(s.lag) == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(s.lag))
	return sorted[int(q*float64(len(sorted)-1))], true
}

func micros(ns int64) float64 { return float64(ns) / 1e3 }

// median is 0 for an empty sample.
func median(xs []float64) float64 {
	m, _ := stats.Median(xs)
	return m
}

// tenth rounds to one decimal, the precision that µs deserve.
func tenth(x float64) float64 { return math.Round(x*10) / 10 }
