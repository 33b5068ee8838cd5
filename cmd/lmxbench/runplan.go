package main

import (
	"encoding/json"
	"regexp"
	"strings"

	"lmxbench/bench"
	"lmxbench/bench/calibrate"
	"lmxbench/bench/report"
	"lmxbench/internal/engine"
)

// config turns the options into what package bench takes. It reads the files
// they name and contacts nothing.
func (f *runFlags) config(env *environment, engineArg string) (bench.Config, error) {
	if err := f.conflicts(); err != nil {
		return bench.Config{}, err
	}
	cfg := bench.Config{
		Rungs: f.concurrency, WarmupConcurrency: orZero(f.warmupConcurrency), Out: f.out, RunsDir: f.runsDir,
		Timeout: f.timeout, StallTimeout: f.stall, ConnectTimeout: f.connect,
		Power: f.power, UserStamps: f.userStamps, Tool: tool(), Argv: env.args,
		Calibration: calibrate.Bars(tool().Version),
	}
	plan, err := f.plan(engineArg)
	if err != nil {
		return cfg, err
	}
	if err := f.promptText(env, &plan); err != nil {
		return cfg, err
	}
	if err := f.files(&plan); err != nil {
		return cfg, err
	}
	cfg.Plan = plan
	if f.extraBody != "" {
		if cfg.Extra, err = engine.ParseExtraBody(f.extraBody); err != nil {
			return cfg, usage(err)
		}
		cfg.Plan.ExtraBody = json.RawMessage(f.extraBody)
	}
	cfg.Target, err = f.target()
	return cfg, err
}

// conflicts refuses options that contradict each other.
func (f *runFlags) conflicts() error {
	switch {
	case f.prompt != "" && f.promptFile != "":
		return usagef("invalid_option", "--prompt and --prompt-file are both given: give one")
	case f.sim != "" && f.baseURL != "":
		return usagef("invalid_option", "--sim and --base-url are both given: --sim starts a server of its own, so give one")
	case f.sim == "" && f.simFault != "":
		return usagef("invalid_option", "--sim-fault is for the simulated engine: give --sim PROFILE too")
	case f.simFault == "" && f.simFaultEvery != nil:
		return usagef("invalid_option", "--sim-fault-every says how often --sim-fault strikes: give --sim-fault FAULT too")
	case orZero(f.warmupConcurrency) > maxStreams:
		return usagef("invalid_option", "--warmup-concurrency %d: write a whole number up to %d", *f.warmupConcurrency, maxStreams)
	case f.fillerToken != "" && f.promptTokens == nil:
		return usagef("invalid_option", "--filler-token pads a prompt: give --prompt-tokens N too")
	case f.minTokens != nil && f.maxTokens != nil && *f.minTokens > *f.maxTokens:
		return usagef("invalid_option", "--min-tokens %d is above --max-tokens %d: lower it", *f.minTokens, *f.maxTokens)
	case f.prices.priceDate != "" && f.prices.gpuHour == nil && f.prices.kwh == nil:
		return usagef("missing_option", "--price-date dates a price: give --gpu-hour-usd or --power-usd-kwh too")
	case f.insecure && f.caFile != "":
		return usagef("invalid_option", "--insecure and --cacert are both given: give one")
	}
	if err := f.prices.check(); err != nil {
		return err
	}
	if err := bench.CheckPower(f.power); err != nil {
		return usagef("invalid_option", "--power: %v", err)
	}
	switch strings.ToLower(f.mode) {
	case "", "remote", "endpoint", "api", "openai":
		return nil
	}
	return usagef("invalid_benchmark_mode", "--mode %q is not known here: only remote servers are measured, so leave it out", f.mode)
}

var hexCommit = regexp.MustCompile(`^[0-9a-fA-F]{7,64}$`)

// plan is the part of the plan that options decide.
func (f *runFlags) plan(engineArg string) (report.Plan, error) {
	name := f.engine
	if name == "" {
		name = engineArg
	}
	p := report.Plan{
		Engine: engine.NormalizeName(name), EngineVersion: f.engineVersion, EngineRepository: strings.TrimSuffix(f.engineRepository, "/"),
		EngineBuild: f.engineBuild, EngineCommit: strings.ToLower(f.engineCommit), Backend: f.backend,
		HFID: f.hfID, ModelRevision: f.modelRevision, Quantization: f.quantization, Notes: f.notes,
		ServedModel: f.servedModel, Stream: !f.noStream, AllowFailures: f.allowFailures, Simulated: f.sim,
		MaxTokens: orZero(f.maxTokens), MinTokens: f.minTokens, Iterations: orZero(f.iterations),
		TopP: f.topP, PrefillTokens: orZero(f.prefillTokens), ContextLength: orZero(f.contextLength),
		GPUPowerWatts: f.gpuPower, Warmup: bench.DefaultWarmup,
	}
	if f.warmup != nil {
		p.Warmup = *f.warmup
	}
	if f.temperature != nil {
		p.Temperature = *f.temperature
	}
	if f.seed != nil {
		seed := int64(*f.seed)
		p.Seed = &seed
	}
	if f.ignoreEOS {
		p.IgnoreEOS = &f.ignoreEOS
	}
	if f.specDecoding || f.specMethod != "" || f.specDraftModel != "" ||
		f.specNumTokens != nil || f.specDraftTP != nil || f.specDraftWindow != nil {
		p.Spec = &report.Speculation{
			Method: specMethod(f.specMethod), DraftModel: f.specDraftModel, NumTokens: orZero(f.specNumTokens),
			DraftTP: orZero(f.specDraftTP), DraftWindowSize: orZero(f.specDraftWindow),
		}
	}
	if q := f.prices; q.gpuHour != nil || q.kwh != nil {
		p.Prices = &report.Prices{
			GPUHourUSD: q.gpuHour, GPUs: orZero(q.gpus), USDPerKWh: q.kwh, PUE: orZeroFloat(q.pue), ValidOn: q.priceDate,
		}
	}
	switch {
	case len(f.engineVersion) > 512:
		return p, usagef("invalid_option", "--engine-version is longer than 512 characters")
	case len(f.engineBuild) > 256:
		return p, usagef("invalid_option", "--engine-build is longer than 256 characters")
	case f.engineCommit != "" && !hexCommit.MatchString(f.engineCommit):
		return p, usagef("invalid_option", "--engine-commit %q is no commit: write its 7 to 64 hex digits", f.engineCommit)
	case f.engineRepository != "" && !strings.HasPrefix(f.engineRepository, "https://") && !strings.HasPrefix(f.engineRepository, "http://"):
		return p, usagef("invalid_option", "--engine-repository %q is no address: write https://…", f.engineRepository)
	}
	return p, nil
}

// specMethod writes the methods that lmx knows as it does.
func specMethod(name string) string {
	for _, known := range []string{"MTP", "DFlash", "DFlash2"} {
		if strings.EqualFold(name, known) {
			return known
		}
	}
	return name
}

func orZero(p *int) int {
	if p == nil {
		return 0
	}
	return *p
}
