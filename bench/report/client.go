package report

import "time"

// client sums up the instrument over the timed batches.
func (a *analysis) client() Client {
	c := Client{
		Calibration: a.Session.Calibration, Uncalibrated: a.Session.Calibration == nil,
		TimestampSource: a.timestampSource(),
	}
	if a.events > 0 {
		c.CoalescedShare = ratio(float64(a.coalesced), float64(a.events), shareDecimals)
		c.LateCoalescedShare = ratio(float64(a.lateMerge), float64(a.events), shareDecimals)
	}
	if a.lag.count > 0 {
		us := func(d time.Duration) float64 { return rounded(float64(d)/1e3, timeDecimals) }
		c.ReadLagUs = &ReadLag{P50: us(a.lag.p50), P99: us(a.lag.p99), Max: us(a.lag.max)}
	}
	for i := range a.Batches {
		c.Connections += a.Batches[i].Dialled
		if ns := a.Batches[i].ConnectNs; ns > 0 && c.ConnectMs == nil {
			ms := millis(ns)
			c.ConnectMs = &ms
		}
	}
	for _, it := range a.timed {
		if spread, ok := it.sendSpread(); ok && (c.SendSpreadMs == nil || *c.SendSpreadMs < millis(spread)) {
			ms := millis(spread)
			c.SendSpreadMs = &ms
		}
	}
	a.batchCosts(&c)
	return c
}

// batchCosts adds up what was observed around the timed batches.
func (a *analysis) batchCosts(c *Client) {
	use := a.processorUse()
	for _, b := range a.batches {
		c.Reader, c.Cores = b.Reader, b.Cores
		c.Reads += b.Reads
		c.UnstampedReads += b.UnstampedReads
		c.GCCycles += b.GCCycles
		c.ClockSteps += b.ClockSteps
		c.StallMs = max(c.StallMs, millis(b.StallNs))
	}
	if use.processNs > 0 {
		c.CPUSeconds = decimals(float64(use.processNs)/1e9, timeDecimals)
		c.CPUPerEventUs = ratio(float64(use.processNs)/1e3, float64(a.events), timeDecimals)
	}
	c.CPUShare = ratio(float64(use.processNs), use.coreNs, shareDecimals)
	c.StealShare = ratio(float64(use.steal), float64(use.ticks), shareDecimals)
}

// processorUse is the processor time of the timed batches.
type processorUse struct {
	processNs int64   // of this process
	coreNs    float64 // that the cores had to give
	steal     int64   // ticks that the hypervisor took
	ticks     int64   // of all states
}

func (a *analysis) processorUse() (u processorUse) {
	for _, b := range a.batches {
		u.processNs += b.CPUUserNs + b.CPUSystemNs
		u.coreNs += float64(b.EndNs-b.StartNs) * float64(b.Cores)
		u.steal += b.StealTicks
		u.ticks += b.CPUTicks
	}
	return u
}

// timestampSource is the source of all timed batches, or mixed.
func (a *analysis) timestampSource() string {
	source := "unknown"
	for i, b := range a.batches {
		if i > 0 && b.TimestampSource != source {
			return "mixed"
		}
		source = b.TimestampSource
	}
	return source
}
