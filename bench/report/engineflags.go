package report

import (
	"encoding/json"
	"maps"
	"strconv"
	"strings"
)

// engineFlags are lmx's, with three additions: commandSnippet and temperature,
// which lmx leaves out, and what the serve command says about the engine.
func (a *analysis) engineFlags() map[string]any {
	p := &a.Plan
	flags := make(map[string]any)
	maps.Copy(flags, p.ServeFlags)
	p.Spec.flags(flags)
	a.speculationFlags(flags)
	if p.TopP != nil {
		flags["topP"] = *p.TopP
	}
	maps.Copy(flags, map[string]any{
		"mode": modeRemote, "baseUrl": p.BaseURL,
		"servedModel": p.ServedModel, "servedModelSource": p.ServedModelSource,
		"stream": p.Stream, "maxTokens": p.MaxTokens, "timeoutSeconds": wholeSeconds(p.TimeoutMs),
		"warmup": p.Warmup, "iterations": p.Iterations, "concurrency": p.Concurrency,
		"promptSource": p.PromptSource, "promptFile": p.PromptFile, "prefixCacheBust": nonceMode,
		"temperature": p.Temperature, "commandSnippet": p.commandSnippet(),
	})
	return flags
}

// wholeSeconds is lmx's unit for time-outs; a fraction stays one.
func wholeSeconds(ms int64) float64 { return float64(ms) / 1000 }

// flags writes what --spec-* declared, under lmx's names.
func (s *Speculation) flags(flags map[string]any) {
	if s == nil {
		return
	}
	flags["specDecoding"] = true
	for name, value := range map[string]string{"specMethod": s.Method, "specDraftModel": s.DraftModel} {
		if value != "" {
			flags[name] = value
		}
	}
	for name, value := range map[string]int{
		"specNumTokens": s.NumTokens, "specDraftTp": s.DraftTP, "specDraftWindowSize": s.DraftWindowSize,
	} {
		if value > 0 {
			flags[name] = value
		}
	}
	if s.Method == "MTP" {
		flags["mtpEnabled"] = true
	}
}

// speculationFlags writes the counts of the median iteration: the site holds
// accepted tokens and verifications against the output tokens of one request,
// so sums over several iterations would never fit.
func (a *analysis) speculationFlags(flags map[string]any) {
	it := a.middle()
	if it == nil {
		return
	}
	s := speculation([]*iteration{it})
	if s == nil {
		return
	}
	flags["specDraftTokens"], flags["specAcceptedTokens"] = s.DraftTokens, s.AcceptedTokens
	if s.DraftTokens > 0 {
		flags["specAcceptanceRate"] = rounded(s.AcceptedTokens/s.DraftTokens, 4)
	}
	if s.Drafts != nil && *s.Drafts > 0 {
		flags["specMeanAcceptedLength"] = rounded(1 + s.AcceptedTokens / *s.Drafts, 3)
	}
}

// commandSnippet is the command that started the server. Without one it is the
// command that measured, without its address: for a run that leaves the field
// empty lmx makes one up from the base URL, and publishes it.
func (p *Plan) commandSnippet() string {
	if p.ServeCommand != "" {
		return p.ServeCommand
	}
	words := []string{cliName, "run", p.Engine}
	for _, option := range [...][2]string{
		{"--hf-id", p.HFID},
		{"--quantization", p.Quantization},
		{"--concurrency", strconv.Itoa(p.Concurrency)},
		{"--iterations", strconv.Itoa(p.Iterations)},
		{"--warmup", strconv.Itoa(p.Warmup)},
		{"--max-tokens", strconv.Itoa(p.MaxTokens)},
		{"--temperature", strconv.FormatFloat(p.Temperature, 'g', -1, 64)},
	} {
		if option[1] != "" {
			words = append(words, option[0], option[1])
		}
	}
	return strings.Join(words, " ")
}

// plainNumbers gives JSON the number format of lmx, which decodes what it
// copies: 24.0 becomes 24. What is no JSON is left for the encoder to refuse.
func plainNumbers(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return raw
	}
	plain, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return plain
}
