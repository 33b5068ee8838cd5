package bench

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"lmxbench/bench/report"
	"lmxbench/internal/engine"
	"lmxbench/internal/hardware"
)

// processorTime is what all processors have done so far; zeros where it cannot
// be read.
func processorTime() hardware.CPUTime {
	t, _ := hardware.ReadCPUTime("")
	return t
}

// stolen is how many ticks of /proc/stat the hypervisor gave to others between
// two readings, and how many there were; zeros where they cannot be read.
func stolen(before, after hardware.CPUTime) (steal, all int64) {
	if _, ok := after.Since(before); !ok {
		return 0, 0
	}
	return int64(after.Steal - before.Steal), int64(ticks(after) - ticks(before))
}

// ticks is the whole time; the guests' is part of User and Nice.
func ticks(t hardware.CPUTime) uint64 {
	return t.User + t.Nice + t.System + t.Idle + t.IOWait + t.IRQ + t.SoftIRQ + t.Steal
}

// scrapeTimeout bounds one reading of the server's counters.
const scrapeTimeout = 3 * time.Second

// scrape reads the server's counters, nil where it has none.
func (r *rung) scrape(ctx context.Context) *report.Metrics {
	if !r.metrics {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, scrapeTimeout)
	defer cancel()
	c, err := engine.Scrape(ctx, r.cfg.Target)
	if err != nil {
		return nil
	}
	return metricsLine(c)
}

// settle reads the counters after a batch. Servers update them a little later
// than the answer ends; so it asks again, for a second at most, until they
// cover the tokens of the batch.
func (r *rung) settle(ctx context.Context, before *report.Metrics, tokens int64) *report.Metrics {
	if before == nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	const attempts = 5
	var after *report.Metrics
	for i := range attempts {
		if i > 0 {
			time.Sleep(200 * time.Millisecond)
		}
		after = r.counters(ctx)
		if after == nil || before.GenerationTokens == nil || after.GenerationTokens == nil {
			return after
		}
		if *after.GenerationTokens-*before.GenerationTokens >= float64(tokens) {
			return after
		}
	}
	return after
}

func metricsLine(c engine.Counters) *report.Metrics {
	value := func(q engine.Quantity) *float64 {
		if v, ok := c.Value(q); ok {
			return &v
		}
		return nil
	}
	latency := func(l engine.Latency) *report.Histogram {
		h, ok := c.Latencies[l]
		if !ok {
			return nil
		}
		out := &report.Histogram{Sum: h.Sum, Count: h.Count}
		for _, b := range h.Buckets[:max(0, len(h.Buckets)-1)] { // the last bound is +Inf, its count is Count
			out.Bounds = append(out.Bounds, b.Bound)
			out.Counts = append(out.Counts, b.Count)
		}
		return out
	}
	return &report.Metrics{
		GenerationTokens: value(engine.GenerationTokens), PromptTokens: value(engine.PromptTokens),
		Requests: value(engine.Requests), Running: value(engine.Running), Waiting: value(engine.Waiting),
		Drafts: value(engine.Drafts), DraftTokens: value(engine.DraftTokens), AcceptedTokens: value(engine.AcceptedTokens),
		ITL: latency(engine.InterToken), TTFT: latency(engine.TTFT),
	}
}

func total(counts map[string]int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}

// joinCounts prints counts by name: "http_error 3, timeout 1".
func joinCounts(counts map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, counts[name]))
	}
	return strings.Join(parts, ", ")
}
