package report_test

import (
	"fmt"
	"math"
	"sort"
	"testing"

	"lmxbench/bench/report"
)

// oracle computes lmx's numbers from the raw lines by the shortest way there
// is, and shares no code with the package under test or with package stats.
type oracle struct {
	tokSOut, tokSTotal, ttft []float64
	tokSOutMedian, sigma     float64
}

func askOracle(e report.Evidence) oracle {
	var o oracle
	for k := 1; k <= e.Plan.Iterations; k++ {
		n, prompts, first, last, start, end := int64(0), int64(0), int64(math.MaxInt64), int64(0), int64(math.MaxInt64), int64(0)
		for _, r := range e.Requests {
			if r.Phase != "timed" || r.Iteration != k {
				continue
			}
			n, prompts = n+*r.OutputTokens, prompts+*r.PromptTokens
			first, last = min(first, r.T.FirstToken), max(last, r.T.LastToken)
			start, end = min(start, r.T.Send), max(end, r.T.End)
			o.ttft = append(o.ttft, float64(r.T.FirstToken-r.T.Send)*1e-6)
		}
		rate := float64(n) / float64(end-first) * 1e9
		if e.Plan.Concurrency == 1 {
			rate = float64(n-1) / float64(last-first) * 1e9
		}
		o.tokSOut = append(o.tokSOut, math.Round(rate*10)/10)
		o.tokSTotal = append(o.tokSTotal, math.Round(float64(n+prompts)/float64(end-start)*1e10)/10)
	}
	o.tokSOutMedian = middle(o.tokSOut)
	mean := 0.0
	for _, x := range o.tokSOut {
		mean += x / float64(len(o.tokSOut))
	}
	for _, x := range o.tokSOut {
		o.sigma += (x - mean) * (x - mean) / float64(len(o.tokSOut)-1)
	}
	o.sigma = math.Sqrt(o.sigma)
	return o
}

func middle(xs []float64) float64 {
	xs = append([]float64(nil), xs...)
	sort.Float64s(xs)
	return (xs[(len(xs)-1)/2] + xs[len(xs)/2]) / 2
}

func TestResultAgreesWithOracle(t *testing.T) {
	t.Parallel()
	for _, l := range []load{single, eight, burst, {streams: 2, iterations: 7, tokens: 40, ttft: 3e7, step: 7e6, perEvent: 4, counted: true}} {
		t.Run(fmt.Sprintf("c%d", l.streams), func(t *testing.T) {
			t.Parallel()
			e := l.evidence()
			uneven(&e)
			d, want := build(t, e), askOracle(e)
			for _, c := range []struct {
				name      string
				got, want float64
			}{
				{"tokSOut", *d.TokSOut, want.tokSOutMedian},
				{"tokSTotal", *d.TokSTotal, middle(want.tokSTotal)},
				{"ttftMs", *d.TTFTMs, middle(want.ttft)},
				{"sampleStats.tokSOut.stddev", *d.SampleStats.TokSOut.StdDev, want.sigma},
			} {
				// Both are rounded to two decimals, from floats that may differ in
				// the last bit.
				if math.Abs(c.got-c.want) > 0.005+1e-9 {
					t.Errorf("%s is %v, the oracle says %v", c.name, c.got, c.want)
				}
			}
			if got := *d.Bench.Latency.TTFTMs; got.Count != len(want.ttft) || math.Abs(got.P50-middle(want.ttft)) > 0.0005+1e-9 {
				t.Errorf("lmxbench.latency.ttftMs is %+v, the oracle's median %v of %d", got, middle(want.ttft), len(want.ttft))
			}
		})
	}
}

// uneven makes iterations and streams differ, so that medians and deviations
// have something to find.
func uneven(e *report.Evidence) {
	for i := range e.Requests {
		r := &e.Requests[i]
		shift := int64((r.Iteration*7919+r.Request*104729)%1_000_003) * 20
		r.T.End += shift
		r.T.LastToken += shift
		r.Events.T[r.Events.Len()-1] += shift
		if r.Phase == report.PhaseTimed {
			*r.OutputTokens -= int64((r.Iteration + r.Request) % 3)
		}
	}
	e.Plan.IgnoreEOS = nil
}
