package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"lmxbench/stats"
)

// Words of lmx's document.
const (
	cliName            = "lmxbench"
	modeRemote         = "remote"
	metricSource       = "remote_endpoint"
	timingSource       = "client_observed_http"
	ttftStreamed       = "stream_first_token"
	ttftUnavailable    = "unavailable_no_stream"
	prefillSource      = "estimated_from_ttft"
	sourceUsage        = "endpoint_usage"
	sourceFlag         = "explicit_flag"
	hardwareFile       = "file"
	hardwareMissing    = "missing_remote"
	nonceMode          = "leading_nonce_per_request"
	headlineInterToken = "interToken"
	headlineWindow     = "concurrentRequestWindow"
	headlineWall       = "batchWall"
)

// Build makes the result from the evidence. It is pure: equal evidence gives
// an equal document, on every machine, and the evidence is not changed.
//
// Failed requests, missing counts and interrupted runs are results and no
// errors. The error is for evidence that contradicts itself, such as columns
// of unequal length or a batch that was observed twice.
func Build(e Evidence) (*Document, error) {
	for i := range e.Requests {
		if r := &e.Requests[i]; r.Events != nil {
			if err := r.Events.check(); err != nil {
				return nil, fmt.Errorf("%s request %d of iteration %d: %w", r.Phase, r.Request, r.Iteration, err)
			}
		}
	}
	e.Requests = plausible(e.Requests, &e.Plan)
	a, err := analyse(&e)
	if err != nil {
		return nil, err
	}
	d := a.lmxDocument()
	if err := a.lmxResult(d); err != nil {
		return nil, err
	}
	if d.Bench, err = a.extension(d); err != nil {
		return nil, err
	}
	d.Bench.Verdict = a.verdict(d)
	return d, nil
}

// extension is the lmxbench key without its verdict.
func (a *analysis) extension(d *Document) (x *Extension, err error) {
	x = &Extension{
		Schema: Schema, Version: a.Tool.Version, Revision: a.Tool.Revision,
		Simulated: a.Plan.Simulated != "", Partial: a.partial,
		Origin: Origin{a.Session.OriginUnixNs},
		Plan:   PlanRecord{Plan: a.Plan},

		Outcomes: a.outcomes(), Warmup: a.warmup(),
		Power: a.Attached.Power, Ceiling: a.Attached.Ceiling,
		Environment: a.Session.Environment,
	}
	if x.Environment == nil {
		x.Environment = Environment{}
	}
	x.Iterations = a.iterations()
	x.Throughput = a.throughput(d.TokSOutSource)
	x.MedianIteration = a.medianIteration(x)
	x.Latency, x.StreamTokS = a.latency()
	x.Client = a.client()
	x.Engine = a.engine()
	x.Cost, err = a.cost(&x.Throughput)
	return x, err
}

// outcomes counts the classes of the timed requests.
func (a *analysis) outcomes() map[string]int {
	counts := map[string]int{OutcomeOK: 0}
	for r := range a.timedRequests() {
		counts[r.Outcome]++
	}
	return counts
}

func (a *analysis) warmup() (w WarmupRecord) {
	for _, it := range a.warmups {
		w.Requests += len(it.requests)
		w.OK += len(it.ok)
	}
	return w
}

// latency pools the counted requests under our own token rule.
func (a *analysis) latency() (l Latency, rates *Summary) {
	var ttft, content, tpot, e2e, stream []float64
	for _, it := range a.counted {
		for i, s := range it.own {
			if d, ok := stats.TTFT(s); ok {
				ttft = append(ttft, float64(d)/1e6)
			}
			if t := it.ok[i].T; t.FirstContent > 0 {
				content = append(content, float64(t.FirstContent-t.Send)/1e6)
			}
			if ns, ok := stats.TPOT(s); ok {
				tpot = append(tpot, ns/1e6)
			}
			if r, ok := stats.InterToken(s); ok {
				stream = append(stream, r)
			}
			e2e = append(e2e, float64(s.End-s.Send)/1e6)
		}
	}
	l = Latency{
		TTFTMs: summarize(ttft, timeDecimals), FirstContentMs: summarize(content, timeDecimals),
		TPOTMs: summarize(tpot, timeDecimals), E2EMs: summarize(e2e, timeDecimals),
	}
	if s, ok := a.gaps.InterChunk(1e6); ok {
		l.InterChunkMs = summary(s, timeDecimals)
	}
	if s, ok := a.gaps.TokenITL(1e6); ok && a.gaps.Uncounted() == 0 {
		l.TokenITLMs = summary(s, timeDecimals)
		l.TokenITLBasis = "counted"
		if a.spread {
			l.TokenITLBasis = "spread"
		}
	}
	return l, summarize(stream, rateDecimals)
}

// JSON is the document as run.json holds it: keys sorted at every level, two
// spaces, <, > and & escaped, whole numbers without a fraction, and a newline
// at the end.
func (d *Document) JSON() ([]byte, error) { return canonical(d) }

// canonical encodes v with sorted keys, as encoding/json does for maps.
func canonical(v any) ([]byte, error) {
	plain, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	tree, err := decodeTree(plain)
	if err != nil {
		return nil, err
	}
	indented, err := json.MarshalIndent(tree, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(indented, '\n'), nil
}

// decodeTree decodes JSON into maps, slices, strings, bools and json.Numbers,
// whole numbers in their shortest form.
func decodeTree(data []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("text after the JSON value")
	}
	return tree, nil
}
