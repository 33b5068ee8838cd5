package study

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"lmxbench/bench/report"
	"lmxbench/internal/cost"
	"lmxbench/stats"
)

// fromDocument fills a subject from a result, ours or lmx's.
func fromDocument(path string, d *report.Document) *Subject {
	s := &Subject{
		Path: path, Kind: KindLMX, Document: d,
		Model: d.HFID, Engine: d.EngineName, EngineVersion: d.EngineVersion, Quantization: d.Quantization,
		Streams: max(1, d.BatchSize), PromptTokens: d.PromptTokens, OutputTokens: d.OutputTokens,
		CreatedAt: d.Provenance.CreatedAt,
	}
	s.GPU, s.GPUs = report.Cards(d.Hardware)
	s.MaxTokens, _ = wholeNumber(d.EngineFlags["maxTokens"])
	s.Speculation = speculation(d.EngineFlags)
	if len(d.GPUPowerWatts) > 0 {
		var sum float64
		for _, w := range d.GPUPowerWatts {
			sum += w
		}
		s.Energy = &Energy{Watts: &sum, Window: "declared", Source: "gpuPowerWatts"}
	}
	if d.Bench != nil {
		s.Kind = KindRun
		s.fromExtension(d)
	} else {
		s.fromLMX(d)
	}
	if s.Prompt == "" && d.Prompt != "" {
		s.Prompt = promptName(d.Prompt)
	}
	s.Settings = settings(s)
	return s
}

// fromExtension takes what our own key holds.
func (s *Subject) fromExtension(d *report.Document) {
	x := d.Bench
	p := &x.Plan
	s.Simulated, s.Partial = x.Simulated, x.Partial
	s.Streams, s.MaxTokens = p.Concurrency, p.MaxTokens
	s.Prompt = first(p.PromptName, hashName(p.PromptSHA256))
	s.Verdict = &x.Verdict
	s.TTFT, s.ITL, s.Stream, s.EndToEnd = x.Latency.TTFTMs, x.Latency.TokenITLMs, x.StreamTokS, x.Latency.E2EMs
	if d.TokSOut != nil {
		s.Headline = cost.Basis(x.Throughput.Headline)
	}
	t := &x.Throughput
	pick := func(f func(*report.Iteration) *float64) []float64 { return counted(x.Iterations, f) }
	s.addRate(cost.InterToken, t.InterToken, pick(func(i *report.Iteration) *float64 { return i.InterToken }))
	s.addRate(cost.ConcurrentRequestWindow, t.ConcurrentRequestWindow, pick(func(i *report.Iteration) *float64 { return i.ConcurrentRequestWindow }))
	s.addRate(cost.BatchWall, t.BatchWall, pick(func(i *report.Iteration) *float64 { return i.BatchWall }))
	if c := x.Cost; c != nil && c.USDPerHour != nil {
		s.Price = &Tariff{Name: "rent", USDPerHour: *c.USDPerHour, Basis: "as declared to run"}
	}
	if t.Plateau != nil {
		s.addRate(cost.Plateau, &t.Plateau.Rates, pick(func(i *report.Iteration) *float64 { return i.Plateau }))
	}
	s.TTFTValues = pick(func(i *report.Iteration) *float64 { return i.TTFTMs })
	e, why := measuredEnergy(x.Power)
	if e != nil {
		s.Energy = e
	}
	s.NoPower = why
}

func (s *Subject) addRate(basis cost.Basis, r *report.Rates, values []float64) {
	if r == nil {
		return
	}
	s.Rates = append(s.Rates, Rate{Basis: basis, TokensPerSecond: r.P50, StdDev: r.StdDev, Iterations: r.Count, Values: values})
}

func counted(all []report.Iteration, f func(*report.Iteration) *float64) (values []float64) {
	for i := range all {
		if v := f(&all[i]); v != nil && all[i].Counted {
			values = append(values, *v)
		}
	}
	return values
}

// fromLMX takes what a file of lmx holds: rates of the iterations only as their
// summary, TTFT of every request.
func (s *Subject) fromLMX(d *report.Document) {
	if d.TokSOut != nil && *d.TokSOut > 0 {
		s.Headline = lmxBasis(d.TokSOutSource, s.Streams)
		r := Rate{Basis: s.Headline, TokensPerSecond: *d.TokSOut, Values: lmxValues(d, s.Streams), Iterations: 1}
		if d.SampleStats != nil {
			r.StdDev, r.Iterations = d.SampleStats.TokSOut.StdDev, d.SampleStats.TokSOut.Count
		}
		s.Rates = append(s.Rates, r)
	}
	s.wallFromTotal(d)
	var ttft, stream []float64
	for i := range d.Samples {
		if v := d.Samples[i].TTFTMs; v != nil {
			ttft = append(ttft, *v)
		}
		if v := d.Samples[i].TokSOut; v != nil {
			stream = append(stream, *v)
		}
	}
	s.TTFT, s.Stream = summary(ttft), summary(stream)
	if s.TTFT == nil && d.TTFTMs != nil {
		s.TTFT = summary([]float64{*d.TTFTMs})
	}
}

// wallFromTotal recovers the wall rate from lmx's total rate, which has the
// same window: total × output/(prompt + output).
func (s *Subject) wallFromTotal(d *report.Document) {
	if d.TokSTotal == nil || d.PromptTokens == nil || d.OutputTokens == nil || *d.OutputTokens <= 0 || *d.PromptTokens < 0 {
		return
	}
	out, in := float64(*d.OutputTokens), float64(*d.PromptTokens)
	s.Rates = append(s.Rates, Rate{
		Basis: cost.BatchWall, TokensPerSecond: *d.TokSTotal * (out / (in + out)),
		Derived: "tokSTotal × output ÷ (prompt + output tokens)",
	})
}

func lmxBasis(source string, streams int) cost.Basis {
	if source == stats.SourceInterToken || (source == "" && streams == 1) {
		return cost.InterToken
	}
	return cost.ConcurrentRequestWindow
}

// lmxValues are the rates of lmx's iterations. At one stream its samples are
// these; above, up to three follow from minimum, median and maximum. More are
// not in the file.
func lmxValues(d *report.Document, streams int) (values []float64) {
	if streams == 1 {
		for i := range d.Samples {
			if v := d.Samples[i].TokSOut; v != nil {
				values = append(values, *v)
			}
		}
		return values
	}
	if d.SampleStats == nil {
		return nil
	}
	m := d.SampleStats.TokSOut
	if m.Min == nil || m.P50 == nil || m.Max == nil {
		return nil
	}
	switch m.Count {
	case 1:
		return []float64{*m.P50}
	case 2:
		return []float64{*m.Min, *m.Max}
	case 3:
		return []float64{*m.Min, *m.P50, *m.Max}
	}
	return nil
}

func summary(xs []float64) *report.Summary {
	s, err := stats.Summarize(xs)
	if err != nil {
		return nil
	}
	return &report.Summary{Count: s.Count, Min: s.Min, Mean: s.Mean, P50: s.P50, P90: s.P90, P99: s.P99, Max: s.Max, StdDev: s.StdDev}
}

// measuredEnergy reads lmxbench.power. nil when nothing was measured, with the
// reason where one is stated.
func measuredEnergy(raw json.RawMessage) (e *Energy, why string) {
	var p struct {
		Source  string `json:"source"`
		Reason  string `json:"reason"`
		Windows map[string]struct {
			MeanWatts      *float64 `json:"meanWatts"`
			JoulesPerToken *float64 `json:"joulesPerToken"`
			EnergySource   string   `json:"energySource"`
		} `json:"windows"`
		IdleWatts *float64 `json:"idleWatts"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &p) != nil {
		return nil, ""
	}
	// lmx's window goes with the rate that the run is known by.
	for _, name := range []string{"lmx", "request", "plateau"} {
		if w, ok := p.Windows[name]; ok && (w.MeanWatts != nil || w.JoulesPerToken != nil) {
			return &Energy{Watts: w.MeanWatts, JoulesPerToken: w.JoulesPerToken, Window: name, Source: w.EnergySource, IdleWatts: p.IdleWatts}, ""
		}
	}
	return nil, p.Reason
}

// speculation is the way of drafting in a few words, empty without one.
func speculation(flags map[string]any) string {
	var parts []string
	for _, key := range []string{"specMethod", "specNumTokens"} {
		if v, ok := flags[key]; ok && v != nil {
			text := plain(v)
			if key == "specNumTokens" {
				text = "k " + text
			}
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 && flags["specDecoding"] == true {
		return "speculative"
	}
	return strings.Join(parts, " ")
}

func wholeNumber(v any) (int, bool) {
	f, ok := v.(float64)
	if !ok || f != float64(int(f)) {
		return 0, false
	}
	return int(f), true
}

func plain(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(x)
	case nil:
		return ""
	default:
		text, err := json.Marshal(x)
		if err != nil {
			return "?"
		}
		return string(text)
	}
}

func first(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}

// promptName names a prompt by its text as the plan of a run does.
func promptName(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hashName(hex.EncodeToString(sum[:]))
}

// hashName is the leaderboard's name of a prompt, or a part of its sha256.
func hashName(hash string) string {
	switch hash {
	case "9000edaadb16fc77ab78b39917245a03d4d7585c3ba770cb045a47a0e0683445":
		return "reasoning-v1"
	case "a737db738bd4e37881d1737f8dc51cae0295eff9ece6551d39826ce8ed43a690":
		return "code-v1"
	case "":
		return ""
	}
	return fmt.Sprintf("own %.8s", hash)
}
