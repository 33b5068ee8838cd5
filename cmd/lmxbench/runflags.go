package main

import (
	"slices"
	"time"

	"github.com/urfave/cli/v3"
)

// runFlags are the options of run as they were given. A nil pointer is an
// option that was not given.
type runFlags struct {
	engine, mode, baseURL, servedModel           string
	apiKeyFile, caFile                           string
	hfID, modelRevision, quantization, backend   string
	engineVersion, engineRepository              string
	engineBuild, engineCommit, notes             string
	prompt, promptFile, fillerToken, extraBody   string
	hardware, hardwareCost, serveCommandFile     string
	specMethod, specDraftModel                   string
	out, runsDir, statusLog, apiURL, hfAPIURL    string
	power, sim, simFault                         string
	promptTokens, maxTokens, minTokens           *int
	warmup, warmupConcurrency, iterations        *int
	prefillTokens, contextLength, seed           *int
	specNumTokens, specDraftTP, specDraftWindow  *int
	simFaultEvery                                *int
	temperature, topP                            *float64
	timeout, stall, connect                      time.Duration
	concurrency                                  []int
	gpuPower                                     []float64
	prices                                       priceFlags
	insecure, noStream, ignoreEOS, specDecoding  bool
	dryRun, saveRun, allowFailures               bool
	json, jsonStatus, quiet, compact, userStamps bool
}

// The categories of run's help.
const (
	catServer  = "Server"
	catModel   = "Model and machine"
	catPrompt  = "Prompt and request"
	catLoad    = "Load"
	catOutput  = "Output"
	catMeasure = "Measurement"
	catSim     = "Simulated engine"
)

func (f *runFlags) flags() []cli.Flag {
	whole := func(to **int, least int) cli.Value { return &count{to, least} }
	return slices.Concat([]cli.Flag{
		word(catServer, "`URL` address of the server, with or without /v1 (default: ask the usual local ports)", &f.baseURL, "base-url"),
		word(catServer, "`NAME` name of the engine; wins over the argument", &f.engine, "engine"),
		word(catServer, "`MODEL` model to ask for; needed where the server lists several", &f.servedModel, "served-model", "model-name"),
		word(catServer, "`FILE` file of mode 0600 with the server's key, where neither LMXBENCH_API_KEY nor OPENAI_API_KEY is set", &f.apiKeyFile, "api-key-file"),
		word(catServer, "`FILE` PEM file of the authority that signed the server's certificate", &f.caFile, "cacert"),
		toggle(catServer, "do not verify the server's certificate", &f.insecure, "insecure"),
		word(catServer, "`remote` accepted for lmx's scripts: remote is the only one", &f.mode, "mode", "benchmark-mode"),

		word(catModel, "`REPO` Hugging Face repository of the model", &f.hfID, "hf-id", "model"),
		word(catModel, "`NAME` quantization, as the leaderboard writes it", &f.quantization, "quantization"),
		word(catModel, "`NAME` revision of the repository (default main)", &f.modelRevision, "model-revision"),
		word(catModel, "`NAME` compute backend, such as cuda", &f.backend, "backend"),
		word(catModel, "`FILE` hardware.json, the description of the server's machine", &f.hardware, "hardware"),
		word(catModel, "`LIST` component|condition|year|price|currency;… or a JSON array", &f.hardwareCost, "hardware-cost"),
		option(catModel, "`W[,W…]` declared power of each GPU in watts", &watts{&f.gpuPower}, "gpu-power-watts"),
		word(catModel, "`TEXT` version of the engine, where the server does not say", &f.engineVersion, "engine-version"),
		word(catModel, "`URL` source repository of the engine", &f.engineRepository, "engine-repository"),
		word(catModel, "`TEXT` build of the engine", &f.engineBuild, "engine-build"),
		word(catModel, "`HEX` commit of the engine, 7 to 64 digits", &f.engineCommit, "engine-commit"),
		word(catModel, "`FILE` file with the command that started the server", &f.serveCommandFile, "serve-command-file"),
		option(catModel, "context length, where the server does not say", whole(&f.contextLength, 1), "context-length"),
		toggle(catModel, "the server decodes speculatively", &f.specDecoding, "spec-decoding"),
		word(catModel, "`NAME` speculation method, such as MTP", &f.specMethod, "spec-method"),
		word(catModel, "`MODEL` draft model", &f.specDraftModel, "spec-draft-model"),
		option(catModel, "draft tokens a step", whole(&f.specNumTokens, 1), "spec-num-tokens"),
		option(catModel, "tensor parallelism of the draft model", whole(&f.specDraftTP, 1), "spec-draft-tp"),
		option(catModel, "window of the draft model", whole(&f.specDraftWindow, 1), "spec-draft-window-size"),
		word(catModel, "`TEXT` a line to go with the result", &f.notes, "notes"),

		word(catPrompt, "`TEXT` prompt (default: the canonical reasoning-v1)", &f.prompt, "prompt"),
		word(catPrompt, "`FILE` file with the prompt, used byte for byte; - is standard input", &f.promptFile, "prompt-file"),
		option(catPrompt, "pad the default prompt to about this many tokens; beside a prompt: its declared count", whole(&f.promptTokens, 1), "prompt-tokens"),
		word(catPrompt, "`WORD` pad with this one word", &f.fillerToken, "filler-token"),
		option(catPrompt, "output tokens of each request (default 1024 at one stream, else 512)", whole(&f.maxTokens, 1), "max-tokens"),
		option(catPrompt, "least output tokens of each request", whole(&f.minTokens, 1), "min-tokens"),
		toggle(catPrompt, "do not stop at the end-of-sequence token", &f.ignoreEOS, "ignore-eos"),
		option(catPrompt, "sampling temperature (default 0)", &number{&f.temperature, 0, 100}, "temperature"),
		option(catPrompt, "nucleus sampling", &number{&f.topP, 0, 1}, "top-p"),
		option(catPrompt, "sampling seed", whole(&f.seed, anyWhole), "seed"),
		word(catPrompt, "`JSON` object with further fields of the request", &f.extraBody, "extra-body"),
		toggle(catPrompt, "ask for one JSON answer instead of a stream", &f.noStream, "no-stream"),
		option(catPrompt, "declared tokens already in the KV cache", whole(&f.prefillTokens, 0), "prefill-tokens", "kv-cache-tokens", "depth"),

		option(catLoad, "`N[,N…]` streams at once, or a ladder such as 1,64,128,256 (default 1)", &ladder{&f.concurrency}, "concurrency", "max-concurrency"),
		option(catLoad, "timed batches (default 5 at one stream, else 3)", whole(&f.iterations, 1), "iterations", "iters"),
		option(catLoad, "warm-up batches (default 2)", whole(&f.warmup, 0), "warmup"),
		option(catLoad, "streams of a warm-up batch (default: as --concurrency); 1 is what lmx does", whole(&f.warmupConcurrency, 1), "warmup-concurrency"),
		option(catLoad, "`S` longest time of one request in seconds (default 600)", &seconds{&f.timeout}, "endpoint-timeout-seconds", "timeout-seconds"),
		option(catLoad, "`S` longest silence between tokens in seconds (default 60)", &seconds{&f.stall}, "stall-timeout-seconds"),
		option(catLoad, "`S` longest time to connect in seconds (default 30)", &seconds{&f.connect}, "connect-timeout-seconds"),

		word(catOutput, "`PATH` path of run.json; for a ladder a folder (default: below --runs-dir)", &f.out, "out"),
		word(catOutput, "`FOLDER` where run directories go (default runs)", &f.runsDir, "runs-dir"),
		toggle(catOutput, "print run.json, or the summary of a ladder, instead of text", &f.json, "json"),
		toggle(catOutput, "print lmx's status events on standard error", &f.jsonStatus, "json-status"),
		word(catOutput, "`FILE` append lmx's status events to this file too", &f.statusLog, "status-log"),
		toggle(catOutput, "print nothing but errors", &f.quiet, "quiet"),
		toggle(catOutput, "print the plan and contact nothing", &f.dryRun, "dry-run"),
		toggle(catOutput, "accepted for lmx's scripts: every run is saved", &f.saveRun, "save-run"),
		toggle(catOutput, "accepted for lmx's scripts: changes nothing", &f.compact, "compact"),
		word(catOutput, "`URL` accepted for lmx's scripts: no site is asked", &f.apiURL, "api-url"),
		word(catOutput, "`URL` accepted for lmx's scripts: no site is asked", &f.hfAPIURL, "hf-api-url"),

		word(catMeasure, "`SOURCE` where power is read: auto, nvml, smi, hwmon, file:PATH or off (default auto)", &f.power, "power"),
		toggle(catMeasure, "compute tokSOut although requests failed; the verdict stays INVALID", &f.allowFailures, "allow-failures"),
		toggle(catMeasure, "take the time after the read instead of the kernel's stamp", &f.userStamps, "user-stamps"),
	}, f.prices.flags("as --hardware says, else 1"), []cli.Flag{
		word(catSim, "`PROFILE` measure the built-in simulated engine (see lmxbench sim --list)", &f.sim, "sim"),
		word(catSim, "`FAULT` let it misbehave (see lmxbench sim --list-faults)", &f.simFault, "sim-fault"),
		option(catSim, "let it misbehave on every n-th request only", whole(&f.simFaultEvery, 1), "sim-fault-every"),
	})
}
