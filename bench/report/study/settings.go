package study

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"lmxbench/bench/report"
)

// settings are what a run was set to, by name: what two runs may differ in.
// Where and how it was measured (address, iterations, warm-ups, time limits) is
// left out. Values that are not known are absent.
func settings(s *Subject) map[string]string {
	set := map[string]string{}
	put := func(name, value string) {
		if value = strings.Join(strings.Fields(value), " "); value != "" {
			set[name] = value
		}
	}
	put("model", s.Model)
	put("engine", strings.TrimSpace(s.Engine))
	put("engine version", s.EngineVersion)
	put("quantization", s.Quantization)
	put("speculation", s.Speculation)
	put("GPU", s.GPU)
	if s.GPUs > 0 {
		put("GPUs", strconv.Itoa(s.GPUs))
	}
	if s.MaxTokens > 0 {
		put(settingTokens, strconv.Itoa(s.MaxTokens))
	}
	put(settingPrompt, s.Prompt)
	d := s.Document
	switch {
	case d == nil:
	case d.Bench != nil:
		planSettings(put, &d.Bench.Plan.Plan, d)
	default:
		flagSettings(put, d.EngineFlags)
	}
	return set
}

// The settings that make a workload rather than a server.
const (
	settingTokens  = "max tokens"
	settingPrompt  = "prompt"
	settingTemp    = "temperature"
	settingEOS     = "ignore EOS"
	settingMin     = "min tokens"
	settingContext = "context length"
)

// workload lists the settings whose difference makes two rates answers to
// different questions.
func workload() []string {
	return []string{settingTokens, settingPrompt, settingTemp, settingEOS, settingMin, "top p", "extra body", "streamed"}
}

func planSettings(put func(name, value string), p *report.Plan, d *report.Document) {
	put("simulated engine", p.Simulated)
	put("engine build", p.EngineBuild)
	put("engine commit", p.EngineCommit)
	put("model revision", p.ModelRevision)
	put("backend", p.Backend)
	put(settingTemp, strconv.FormatFloat(p.Temperature, 'g', -1, 64))
	put(settingMin, "none")
	put(settingEOS, "false")
	put("top p", "not sent")
	if p.TopP != nil {
		put("top p", strconv.FormatFloat(*p.TopP, 'g', -1, 64))
	}
	if p.MinTokens != nil {
		put(settingMin, strconv.Itoa(*p.MinTokens))
	}
	if p.IgnoreEOS != nil {
		put(settingEOS, strconv.FormatBool(*p.IgnoreEOS))
	}
	put("extra body", first(string(p.ExtraBody), "none"))
	put("streamed", strconv.FormatBool(p.Stream))
	if d.ContextLength > 0 {
		put(settingContext, strconv.Itoa(d.ContextLength))
	}
	for name, v := range p.ServeFlags {
		if name != "specMethod" && name != "specNumTokens" { // they make the setting speculation
			put(name, plain(v))
		}
	}
	if len(p.ServeFlags) == 0 {
		put("serve command", p.ServeCommand)
	}
}

// flagSettings takes from lmx's engineFlags what is no detail of the measuring.
func flagSettings(put func(name, value string), flags map[string]any) {
	skip := []string{
		"baseUrl", "mode", "iterations", "warmup", "concurrency", "maxTokens", "timeoutSeconds", "promptFile", "promptSource",
		"prefixCacheBust", "servedModel", "servedModelSource", "commandSnippet", "stream",
		"specDraftTokens", "specAcceptedTokens", "specAcceptanceRate", "specMeanAcceptedLength", "specMethod", "specNumTokens",
	}
	for name, v := range flags {
		if !slices.Contains(skip, name) {
			put(name, plain(v))
		}
	}
}

// fingerprint identifies the settings that a curve over concurrency must share.
// The output length is none of them: by default it depends on the concurrency.
func (s *Subject) fingerprint() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.Settings)) {
		if name != settingTokens {
			b.WriteString(name + "\x00" + s.Settings[name] + "\x01")
		}
	}
	return b.String()
}

// Difference is a setting in which results differ; a value that is not known is
// empty.
type Difference struct {
	Name   string   `json:"name"`
	Values []string `json:"values"` // in the order of what is compared
	// Workload says that it changes the question and not the server.
	Workload bool `json:"workload,omitempty"`
}

// differences lists what several sets of settings differ in, workload last.
func differences(sets []map[string]string) (all []Difference) {
	names := map[string]bool{}
	for _, set := range sets {
		for name := range set {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		d := Difference{Name: name, Workload: slices.Contains(workload(), name)}
		same := true
		for _, set := range sets {
			d.Values = append(d.Values, set[name])
			same = same && set[name] == sets[0][name]
		}
		if !same {
			all = append(all, d)
		}
	}
	slices.SortStableFunc(all, func(a, b Difference) int {
		switch {
		case a.Workload == b.Workload:
			return 0
		case a.Workload:
			return 1
		default:
			return -1
		}
	})
	return all
}
