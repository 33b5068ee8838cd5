package bench

import (
	"context"
	"encoding/hex"
	"fmt"
	"runtime"
	"slices"
	"time"

	"lmxbench/bench/report"
	"lmxbench/internal/engine"
	"lmxbench/loadgen"
)

// Phases of requests.jsonl.
const (
	phaseProbe  = "probe"
	phaseWarmup = "warmup"
	phaseTimed  = "timed"
)

// batch is one batch as it is asked for.
type batch struct {
	phase     string
	iteration int
	streams   int
	keepText  bool // keep the output text of the last request
}

// send runs one batch and returns what was seen of it.
func (r *rung) send(ctx context.Context, b batch) (report.Batch, []report.Request, error) {
	requests, nonces, err := r.prepare(b)
	if err != nil {
		return report.Batch{}, nil, err
	}
	// Connections first: the counters are to be read just before the release.
	// What cannot be opened is tried again by Do and then ends as that request.
	dialled, _ := r.pool.Open(ctx, b.streams)
	before := r.counters(ctx)
	cpuBefore := r.processor()
	settled := r.power.follow(b.streams, r.pool.Progress)
	got := r.pool.Do(ctx, requests)
	settled()
	cpuAfter := r.processor()
	lines := make([]report.Request, len(got.Records))
	var tokens int64
	for i, rec := range got.Records {
		lines[i] = requestLine(b, i, nonces[i], rec)
		if rec.OutputTokens != nil {
			tokens += *rec.OutputTokens
		}
	}
	seen := batchLine(b, got)
	seen.Dialled += dialled
	seen.StealTicks, seen.CPUTicks = stolen(cpuBefore, cpuAfter)
	seen.MetricsBefore = before
	seen.MetricsAfter = r.settle(ctx, before, tokens)
	seen.Interrupted = slices.ContainsFunc(lines, func(l report.Request) bool { return l.Outcome == string(loadgen.Cancelled) })
	return seen, lines, nil
}

// prepare renders the requests of a batch, each with a nonce of its own.
func (r *rung) prepare(b batch) ([]*loadgen.Request, []engine.Nonce, error) {
	nonces := engine.NewNonces(b.streams)
	bodies := r.template.Bodies(nonces)
	requests := make([]*loadgen.Request, b.streams)
	for i, body := range bodies {
		message, err := loadgen.Message(r.url, r.headers, body)
		if err != nil {
			return nil, nil, err
		}
		requests[i] = &loadgen.Request{
			Message: message, Stream: r.plan.Stream, Demand: r.plan.DemandedTokens(),
			ExpectEvents: min(r.plan.MaxTokens, maxReserve),
			KeepText:     b.keepText && i == len(bodies)-1,
		}
	}
	return requests, nonces, nil
}

// maxReserve bounds the memory reserved per stream; longer answers grow it.
const maxReserve = 4096

func batchLine(b batch, got *loadgen.Batch) report.Batch {
	return report.Batch{
		Phase: b.phase, Iteration: b.iteration, Concurrency: b.streams,
		StartNs: int64(got.Start), EndNs: int64(got.End),
		TimestampSource: got.Source, Reader: got.Reader, Loops: got.Loops,
		Dialled: got.Dialled, ConnectNs: int64(got.Opening), Reads: got.Reads, UnstampedReads: got.Unasked,
		CPUUserNs: int64(got.CPUUser), CPUSystemNs: int64(got.CPUSys), Cores: min(got.Cores, runtime.NumCPU()), // --sim keeps to half of them
		GCCycles: got.GCCycles, ClockSteps: got.Steps, StallNs: int64(got.Stall),
	}
}

// requestLine turns a record into its line of requests.jsonl.
func requestLine(b batch, index int, nonce engine.Nonce, rec *loadgen.Record) report.Request {
	line := report.Request{
		Phase: b.phase, Iteration: b.iteration, Request: index + 1,
		Outcome: string(rec.Outcome), Status: rec.Status, Nonce: nonce.String(),
		PromptTokens: rec.PromptTokens, OutputTokens: rec.OutputTokens, CachedTokens: rec.CachedTokens,
		UsageInvalid: rec.UsageInvalid, Error: rec.Error, ErrorPhase: string(rec.ErrorPhase),
		RetryAfter: rec.RetryAfter, Location: rec.Redirect, BodyExcerpt: rec.BodyExcerpt,
		AbruptEnd: rec.AbruptEnd, Reconnected: rec.Reconnected, CodedBody: rec.Coding,
		Usage: rec.Usage, Timings: rec.Timings,
		OtherEvents: rec.OtherEvents, LateMerged: rec.LateMerged,
		T: stamps(&rec.T, len(rec.Events.At) > 0),
	}
	if rec.HasFinish {
		line.FinishReason = &rec.FinishReason
	}
	if rec.Status >= 200 && rec.Status < 300 {
		line.OutputSHA256 = hex.EncodeToString(rec.OutputSHA256[:])
	}
	if rec.Text != nil {
		text := string(rec.Text)
		line.OutputText = &text
	}
	if e := &rec.Events; len(e.At) > 0 {
		line.Events = &report.Events{T: e.At, Lag: e.Lag, Bytes: e.Bytes, Tokens: e.Tokens}
	}
	return line
}

// stamps writes lmx's two moments only where its rule gives others than ours.
func stamps(t *loadgen.Stamps, tokens bool) report.Stamps {
	s := report.Stamps{
		Connect: int64(t.Connect), Send: int64(t.Send), FirstByte: int64(t.FirstByte),
		FirstEvent: int64(t.FirstEvent), FirstToken: int64(t.FirstToken),
		FirstContent: int64(t.FirstContent), LastToken: int64(t.LastToken),
		Finish: int64(t.Finish), End: int64(t.End),
	}
	switch {
	case !tokens:
	case t.FirstLmx == 0:
		s.LmxNone = true
	case t.FirstLmx != t.FirstToken || t.LastLmx != t.LastToken:
		s.LmxFirst, s.LmxLast = int64(t.FirstLmx), int64(t.LastLmx)
	}
	return s
}

// failure is one line on why a batch gave nothing.
func failure(lines []report.Request) string {
	counts := map[string]int{}
	first := ""
	for _, l := range lines {
		if l.Outcome == string(loadgen.OK) {
			continue
		}
		if first == "" {
			first = l.Error
		}
		counts[l.Outcome]++
	}
	return fmt.Sprintf("%d of %d requests failed (%s): %s", total(counts), len(lines), joinCounts(counts), first)
}

// roundStatus rounds a duration to whole hundredths of a millisecond, as lmx
// prints the time to the first token.
func roundStatus(d time.Duration) float64 { return float64(d.Round(10*time.Microsecond)) / 1e6 }
