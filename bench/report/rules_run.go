package report

import (
	"math"
	"time"

	"lmxbench/stats"
)

func interrupted(a *analysis, _ *Document) *Finding {
	if !a.partial {
		return nil
	}
	return find(Invalid, "%d of %d iterations were finished", a.good(), a.Plan.Iterations)
}

func shortWindow(a *analysis, d *Document) *Finding {
	if a.notStreamed(d) {
		return nil
	}
	var seconds []float64
	for _, it := range a.counted {
		if w, ok := a.headlineWindow(it); ok {
			seconds = append(seconds, w.Seconds())
		}
	}
	m, ok := stats.Median(seconds)
	if !ok || m >= ShortWindow.Seconds() {
		return nil
	}
	return find(Warn, "the window behind the headline is %s long (median)", span(time.Duration(m*1e9)))
}

// headlineWindow is the span that tokSOut divides by.
func (a *analysis) headlineWindow(it *iteration) (stats.Window, bool) {
	if a.Plan.Concurrency == 1 {
		if s := it.lmx[0]; !s.NoToken && s.LastToken > s.FirstToken {
			return stats.Window{From: s.FirstToken, To: s.LastToken}, true
		}
	}
	return stats.LMXWindow(it.lmx)
}

func plateauShort(a *analysis, d *Document) *Finding {
	if a.Plan.Concurrency == 1 || len(a.counted) == 0 || a.notStreamed(d) {
		return nil
	}
	var shares []float64
	for _, it := range a.counted {
		if w, ok := stats.PlateauWindow(it.own); ok {
			whole, _ := stats.LMXWindow(it.own)
			shares = append(shares, w.Seconds()/whole.Seconds())
		}
	}
	if without := len(a.counted) - len(shares); without > 0 {
		return find(Warn, "in %d of %s the streams never all decoded at the same time", without, count(len(a.counted), "iteration"))
	}
	m, _ := stats.Median(shares)
	if m >= PlateauShort {
		return nil
	}
	return find(Warn, "all streams decoded side by side for %s of the window", percent(m))
}

func drift(a *analysis, _ *Document) *Finding {
	var rates []float64
	for _, it := range a.counted {
		if v, _, ok := a.tokSOut(it); ok {
			rates = append(rates, v)
		}
	}
	n := len(rates)
	median, ok := stats.Median(rates)
	if n < 3 || !ok || median <= 0 {
		return nil
	}
	third := n / 3
	change := (mean(rates[n-third:]) - mean(rates[:third])) / median
	if math.Abs(change) < DriftShare || math.Abs(kendall(rates)) < DriftScore {
		return nil
	}
	return find(Warn, "the rate went from %s to %s tok/s (%+.1f %%) over %d iterations",
		number(mean(rates[:third])), number(mean(rates[n-third:])), change*100, n)
}

func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

// kendall is Kendall's S of a series against its order, in standard deviations
// of S for a series without a trend: n(n − 1)(2n + 5)/18 is its variance.
func kendall(xs []float64) float64 {
	s := 0
	for i, x := range xs {
		for _, later := range xs[i+1:] {
			switch {
			case later > x:
				s++
			case later < x:
				s--
			}
		}
	}
	n := float64(len(xs))
	return float64(s) / math.Sqrt(n*(n-1)*(2*n+5)/18)
}

func warmupFailed(a *analysis, _ *Document) *Finding {
	all := 0
	failed := make(map[string]int)
	for _, it := range a.warmups {
		all += len(it.requests)
		for _, r := range it.requests {
			if r.Outcome != OutcomeOK {
				failed[r.Outcome]++
			}
		}
	}
	if len(failed) == 0 {
		return nil
	}
	bad := 0
	for _, n := range failed {
		bad += n
	}
	return find(Warn, "%d of %s ended otherwise than ok%s", bad, count(all, "warm-up request"), classes(failed))
}

func simulated(a *analysis, _ *Document) *Finding {
	if a.Plan.Simulated == "" {
		return nil
	}
	return find(Info, "profile %s of the simulated engine", a.Plan.Simulated)
}

func nonCanonicalPrompt(a *analysis, _ *Document) *Finding {
	if a.Plan.PromptName != "" {
		return nil
	}
	return find(Info, "the prompt (sha256 %.12s) is none of the leaderboard's", a.Plan.PromptSHA256)
}

func uncalibrated(a *analysis, _ *Document) *Finding {
	if a.Session.Calibration != nil {
		return nil
	}
	return find(Info, "no calibration of this machine at %s", count(a.Plan.Concurrency, "stream"))
}

func nTooSmall(a *analysis, _ *Document) *Finding {
	need, _ := stats.MinSamples(intervalLevel)
	if len(a.counted) >= need {
		return nil
	}
	return find(Info, "%s; a 95 %% interval of the median takes %d", count(len(a.counted), "counted iteration"), need)
}
