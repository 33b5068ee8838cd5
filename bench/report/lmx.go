package report

import (
	"encoding/json"
	"fmt"
	"math"
	"path"
	"strings"

	"lmxbench/stats"
)

// lmxDocument is the part of lmx's document that does not depend on how fast
// anything was.
func (a *analysis) lmxDocument() *Document {
	p, s := &a.Plan, &a.Session
	d := &Document{
		EngineName: p.Engine, EngineVersion: p.EngineVersion, EngineRepository: p.EngineRepository,
		EngineBuild: p.EngineBuild, EngineCommit: p.EngineCommit, Backend: p.Backend,
		HFID: p.HFID, ModelRevision: p.ModelRevision, Quantization: p.Quantization, Notes: p.Notes,
		BenchmarkMode: modeRemote, DetectedEngines: []json.RawMessage{},
		Hardware: plainNumbers(p.Hardware), HardwareSource: hardwareMissing, HardwareCost: plainNumbers(p.HardwareCost),
		GPUPowerWatts: p.GPUPowerWatts,
		Prompt:        p.Prompt, OutputText: a.outputText(),
		PrefillTokens: p.PrefillTokens, BatchSize: p.Concurrency, ContextLength: p.ContextLength,
		TTFTSource: ttftUnavailable, TimingSource: timingSource, MetricSource: metricSource,
		ModelResolution: a.modelResolution(), QuantizationResolution: a.quantizationResolution(),
		EngineFlags: a.engineFlags(),
	}
	if d.EngineVersion == "" {
		d.EngineVersion = s.EngineVersion
	}
	if s.ContextLength > 0 {
		d.ContextLength = s.ContextLength
	}
	if len(d.Hardware) > 0 {
		d.HardwareSource = hardwareFile
	}
	for _, it := range a.counted {
		for _, stream := range it.lmx {
			if !stream.NoToken {
				d.TTFTSource = ttftStreamed
			}
		}
	}
	d.Provenance = Provenance{
		BenchmarkMode: modeRemote, CLI: cliName, CreatedAt: s.CreatedAt,
		MetricSource: metricSource, TimingSource: timingSource, TTFTSource: d.TTFTSource,
	}
	return d
}

// outputText is the text of the highest request of the last counted iteration,
// as in lmx; where none of them kept its text, the last text there is.
func (a *analysis) outputText() (text string) {
	for r := range a.timedRequests() {
		if r.OutputText != nil && r.Outcome == OutcomeOK {
			text = *r.OutputText
		}
	}
	return text
}

// lmxResult fills in lmx's results. They are absent when the run must not be
// read as a result: see published.
func (a *analysis) lmxResult(d *Document) error {
	pool := a.pool()
	d.PromptTokens, d.OutputTokens = wholeMedian(pool.prompt), wholeMedian(pool.output)
	d.TokenSources = pool.sources
	d.Warnings = a.warnings()
	result, counts := a.published()
	if !result {
		return nil
	}
	if v, ok := stats.Median(pool.ttft); ok {
		d.TTFTMs = decimals(v, 2)
	}
	if v, ok := stats.Median(pool.prefill); ok {
		d.TokSPrefill, d.TokSPrefillSource = decimals(v, 2), prefillSource
	}
	if counts {
		if v, ok := stats.Median(pool.tokSOut); ok && len(pool.tokSOut) == len(a.counted) {
			d.TokSOut, d.TokSOutSource = decimals(v, 2), pool.outSource
		}
		if v, ok := stats.Median(pool.tokSTotal); ok && len(pool.tokSTotal) == len(a.counted) {
			d.TokSTotal = decimals(v, 2)
		}
	}
	if a.Plan.Iterations > 1 || a.Plan.Concurrency > 1 {
		d.Samples = pool.samples
		return a.sampleStats(d, pool, counts)
	}
	return nil
}

func (a *analysis) sampleStats(d *Document, pool *lmxPool, counts bool) (err error) {
	d.SampleStats = new(SampleStats)
	if d.SampleStats.TTFTMs, err = stats.SummarizeMetric(pool.ttft); err != nil || !counts {
		return err
	}
	if d.SampleStats.TokSOut, err = stats.SummarizeMetric(pool.tokSOut); err != nil {
		return err
	}
	d.SampleStats.TokSTotal, err = stats.SummarizeMetric(pool.tokSTotal)
	return err
}

// lmxPool is what lmx takes its medians of: rates of the iterations, and one
// value per request for the rest. Rates are rounded to one decimal here.
type lmxPool struct {
	tokSOut, tokSTotal, ttft, prefill, prompt, output []float64

	outSource string
	sources   TokenSources
	samples   []Sample
}

func (a *analysis) pool() *lmxPool {
	p := new(lmxPool)
	for _, it := range a.counted {
		for i, s := range it.lmx {
			p.request(it.ok[i], s)
		}
		if v, source, ok := a.tokSOut(it); ok {
			p.tokSOut, p.outSource = append(p.tokSOut, v), source
		}
		if v, ok := stats.TotalThroughput(it.lmx); ok {
			p.tokSTotal = append(p.tokSTotal, v)
		}
	}
	return p
}

// tokSOut is lmx's rate of an iteration. Its rule for one stream applies to
// runs of concurrency 1, not to iterations in which one stream was ok.
func (a *analysis) tokSOut(it *iteration) (float64, string, bool) {
	if a.Plan.Concurrency == 1 {
		return stats.BatchThroughput(it.lmx)
	}
	v, ok := stats.ConcurrentRequestWindow(it.lmx)
	return stats.Round1(v), stats.SourceConcurrentRequestWindow, ok && stats.Round1(v) > 0
}

func (p *lmxPool) request(r *Request, s stats.Stream) {
	sample := Sample{Iteration: r.Iteration, Request: r.Request}
	if s.PromptTokens > 0 {
		n := int64(s.PromptTokens)
		sample.PromptTokens = &n
		p.prompt = append(p.prompt, float64(n))
		if p.sources.Prompt == "" {
			p.sources.Prompt = sourceUsage
			if r.PromptTokens == nil || *r.PromptTokens <= 0 {
				p.sources.Prompt = sourceFlag
			}
		}
	}
	if s.OutputTokens > 0 {
		n := int64(s.OutputTokens)
		sample.OutputTokens = &n
		p.output = append(p.output, float64(n))
		p.sources.Output = sourceUsage
	}
	if v, _, ok := stats.DecodeThroughput(s); ok {
		sample.TokSOut = &v
	}
	if d, ok := stats.TTFT(s); ok {
		ms := float64(d) / 1e6
		p.ttft = append(p.ttft, ms)
		sample.TTFTMs = decimals(ms, 2)
	}
	if v, ok := stats.PrefillThroughput(s); ok {
		p.prefill = append(p.prefill, v)
		sample.TokSPrefill = &v
	}
	p.samples = append(p.samples, sample)
}

// wholeMedian is the median as an integer, halves upwards: the site refuses a
// fraction, which lmx writes for an even number of requests.
func wholeMedian(xs []float64) *int64 {
	m, ok := stats.Median(xs)
	if !ok {
		return nil
	}
	n := int64(math.Round(m))
	return &n
}

// warnings are lmx's: its remote path knows only this one.
func (a *analysis) warnings() []string {
	declared := int64(a.Plan.DeclaredPromptTokens)
	if declared <= 0 {
		return nil
	}
	for r := range a.countedRequests() {
		if n := r.PromptTokens; n != nil && *n > 0 {
			if *n == declared {
				return nil
			}
			return []string{fmt.Sprintf("Endpoint usage reported %d prompt tokens; using it instead of --prompt-tokens %d.", *n, declared)}
		}
	}
	return nil
}

// modelResolution is absent when the served name is the hf-id and the server
// names no file.
func (a *analysis) modelResolution() *ModelResolution {
	p := &a.Plan
	if p.HFID == "" || (strings.EqualFold(p.ServedModel, p.HFID) && a.Session.ModelPath == "") {
		return nil
	}
	m := &ModelResolution{
		HFID: p.HFID, ServedModel: p.ServedModel, ServedModelSource: p.ServedModelSource,
		SearchQuery: p.ServedModel, SearchQuerySource: "served_model", Status: "alias",
	}
	if strings.EqualFold(p.ServedModel, p.HFID) {
		m.Status = "matched"
	}
	if file := path.Base(strings.ReplaceAll(a.Session.ModelPath, `\`, "/")); a.Session.ModelPath != "" {
		m.LoadedFilename, m.SearchQuery, m.SearchQuerySource = file, file, "loaded_filename"
	}
	m.SearchCommand = "lmx model search " + m.SearchQuery
	return m
}

// quantizationResolution is the session's, or what the declaration alone gives.
func (a *analysis) quantizationResolution() json.RawMessage {
	if len(a.Session.Quantization) > 0 {
		return a.Session.Quantization
	}
	if a.Plan.Quantization == "" {
		return nil
	}
	raw, err := json.Marshal(map[string]string{
		"cli": a.Plan.Quantization, "status": "matched", "trusted": a.Plan.Quantization, "trustedSource": "cli",
	})
	if err != nil {
		return nil
	}
	return raw
}
