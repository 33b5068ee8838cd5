package report

import "fmt"

// Rule is one entry of the catalogue of verdict codes.
type Rule struct {
	Code string
	// Level it has when it fires. Beyond is the level past a second threshold,
	// empty when there is none.
	Level, Beyond Level
	Meaning       string // what is wrong
	Threshold     string // when it fires
	Advice        string // what to do
	// check is nil for codes that other packages find.
	check func(*analysis, *Document) *Finding
}

func (r Rule) worst() Level {
	if r.Beyond != "" {
		return r.Beyond
	}
	return r.Level
}

// Catalogue lists every verdict code, in the order of docs/verdicts.md. The
// slice is the caller's.
func Catalogue() []Rule {
	rules := invalidRules()
	rules = append(rules, escalatingRules()...)
	rules = append(rules, warnRules()...)
	rules = append(rules, powerRules()...)
	return append(rules, infoRules()...)
}

// Advice is what to do about a code, empty for an unknown one.
func Advice(code string) string {
	for _, r := range Catalogue() {
		if r.Code == code {
			return r.Advice
		}
	}
	return ""
}

func invalidRules() []Rule {
	return []Rule{
		{
			"failed_requests", Invalid, "",
			"A timed request did not end `ok`, so its iteration does not count, or fewer iterations than asked were run.",
			"any timed request not `ok` (those that an interrupt cancelled aside), or fewer good iterations than asked",
			"read `outcome` and `error` in requests.jsonl; fix the server, raise the time limits, or lower --concurrency",
			failedRequests,
		},
		{
			"token_count_missing", Invalid, "",
			"The server did not say how many tokens it generated. Events are not tokens and are never counted as such.",
			"any counted request without a positive output token count",
			"use a server that sends `usage` in its stream (stream_options.include_usage)",
			tokenCountMissing,
		},
		{
			"usage_invalid", Invalid, "",
			"The server sent a token count that cannot be one: negative, fractional, a string, or beyond the cap by orders.",
			fmt.Sprintf("any timed request whose usage was dropped, or is above %d × the cap", UsageOrders),
			"report it to the engine's developers; the count was dropped",
			usageInvalid,
		},
		{
			"token_count_mismatch", Invalid, "",
			"The token counts contradict something else the server says.",
			fmt.Sprintf("Σ `usage` above the delta of the server's own counter by more than %d token per request and %s; `usage` and `timings.predicted_n` more than %d apart; the counts of the events above `usage`; or `usage` more than %d above the cap without as many events",
				CounterSlackTokens, thresholdShare(CounterSlackShare), CounterSlackTokens, CapSlackTokens),
			"compare usage, /metrics and timings by hand; behind a load balancer /metrics may be one replica's",
			tokenCountMismatch,
		},
		{
			"cap_ignored", Invalid, "",
			"The server sent more token events than the cap allows tokens.",
			fmt.Sprintf("any timed request with more output tokens than the cap + %d, and more token events than that", CapSlackTokens),
			"the engine reads neither max_tokens nor max_completion_tokens: use one that does",
			capIgnored,
		},
		{
			"output_short", Warn, Invalid,
			"The texts were shorter than the cap, so the batch thinned out while it was measured.",
			fmt.Sprintf("WARN: counted requests brought less than %s of the tokens asked for; INVALID: a timed request brought fewer than --min-tokens or --ignore-eos demanded", thresholdShare(1-ShortOutputShare)),
			"add --ignore-eos, or compare only with runs of the same output lengths",
			outputShort,
		},
		{
			"buffered_stream", Warn, Invalid,
			"The stream was not one: something between the engine and us held the tokens back and sent them together, so no time between tokens means anything.",
			fmt.Sprintf("INVALID: a request of %d or more tokens whose first and last token came in one read, or within %s of the time from send to last token at less than %s per token; WARN: more than half of the requests of %d or more events came in bursts of about %d or more (of their gaps all but 1 in %d are below %s of the mean gap), INVALID when those were fewer than %d",
				BufferedMinTokens, thresholdShare(BufferedSpanShare), span(BufferedTokenGap), BurstMinEvents, BurstEvents, BurstEvents, thresholdShare(BurstGapShare), BurstFew),
			"switch off buffering and compression in the proxy (nginx: proxy_buffering off), or measure at the engine's own port",
			bufferedStream,
		},
		{
			"clock_step", Invalid, "",
			"The wall clock was set while kernel stamps, which are wall-clock times, were being taken.",
			"any step of the wall clock during a timed batch whose stamps are not the user-space ones",
			"stop the time daemon from stepping the clock (chronyc makestep off) and measure again",
			clockStep,
		},
		{
			"client_saturated", Invalid, "",
			"The client had no processor left, or was kept from running.",
			fmt.Sprintf("the process used %s or more of the cores' time during the timed batches; where no read lag is measured, also a stall of %s and of %s of a batch", thresholdShare(SaturatedShare), span(SaturatedStall), thresholdShare(SaturatedStallShare)),
			"give the client its own cores, or run it on another machine",
			clientSaturated,
		},
		{
			"interrupted", Invalid, "",
			"The run was stopped before it was done. Finished iterations are kept under lmxbench.",
			"an interrupted batch, or a run directory that was never completed",
			"measure again",
			interrupted,
		},
		{
			"above_hard_ceiling", Invalid, "",
			"The rate is above what the memory of the stated hardware can deliver.",
			"plateau above 1.02 × the hard ceiling",
			"check the hardware, the quantization and the model's shape as declared",
			nil,
		},
	}
}

func escalatingRules() []Rule {
	return []Rule{
		{
			"client_late", Warn, Invalid,
			"The client read tokens late. With kernel stamps that only delays, until events merge; with user-space stamps the lag is the error.",
			fmt.Sprintf("kernel stamps: p99 of the read lag above %g × the median gap between reads, INVALID when its p50 is above %g ×; user stamps: p99 above %g ×, INVALID above %g ×; without a measured lag, a stall of more than %g ×",
				LateKernelWarn, LateKernelInvalid, LateUserWarn, LateUserInvalid, LateStallWarn),
			"give the client more cores, or lower --concurrency",
			clientLate,
		},
		{
			"client_coalesced", Warn, Invalid,
			"Token events of several steps were read at once because the client was late, and share one stamp. What a server packs itself is not counted.",
			fmt.Sprintf("more than %s of the token events (%d events at least), INVALID above %s", thresholdShare(CoalescedWarn), CoalescedMinEvents, thresholdShare(CoalescedInvalid)),
			"give the client more cores, or lower --concurrency",
			clientCoalesced,
		},
		{
			"cpu_steal", Warn, Invalid,
			"The hypervisor gave the processor to others while it was needed here.",
			fmt.Sprintf("steal above %s of all processor ticks of the timed batches (%d ticks at least), INVALID above %s", thresholdShare(StealWarn), StealMinTicks, thresholdShare(StealInvalid)),
			"use a machine with dedicated cores",
			cpuSteal,
		},
		{
			"foreign_traffic", Warn, Invalid,
			"The server worked for others during the run.",
			fmt.Sprintf("its counter moved beyond Σ `usage` by more than %d token per request and %s, INVALID above %s; without that counter, more finished requests than ours, or requests running just before a batch",
				CounterSlackTokens, thresholdShare(ForeignWarn), thresholdShare(ForeignInvalid)),
			"keep other clients away and measure again",
			foreignTraffic,
		},
	}
}

func warnRules() []Rule {
	return append(streamRules(), steadinessRules()...)
}

func streamRules() []Rule {
	return []Rule{
		{
			"finish_not_length", Warn, "",
			"A request ended for another reason than its length, so streams were of different lengths.",
			"any counted request whose finish reason is not `length`",
			"add --ignore-eos where the engine knows it",
			finishNotLength,
		},
		{
			"first_chunk_multi_token", Warn, "",
			"The first event carried several tokens, so (n − 1)/(last − first) reads high.",
			fmt.Sprintf("median bias of the stream rates above %s: (tokens at the first stamp − 1)/(n − 1)", thresholdShare(FirstChunkBias)),
			"raise --max-tokens; prefer batchWall for comparisons",
			firstChunkMultiToken,
		},
		{
			"queueing", Warn, "",
			"Some streams waited until others had ended: the server has fewer slots than the run has streams.",
			fmt.Sprintf("concurrency above the slots the server states, or above its --max-num-seqs or -np; or at least %s of the first tokens came after another stream had ended while at most %s of the streams ever ran side by side", thresholdShare(QueueLateShare), thresholdShare(QueuePeakShare)),
			"raise the server's slots, or lower --concurrency to them",
			queueing,
		},
		{
			"frontend_bound", Warn, "",
			"Tokens took longer to arrive than the engine took to make them: the HTTP front end or the path is the limit.",
			fmt.Sprintf("Σ (last − first token) above %g × the sum of the engine's inter-token histogram over the same batches", 1+FrontendShare),
			"give the front end more processes (vLLM: --api-server-count), or look at the network",
			frontendBound,
		},
		{
			"cache_hit", Warn, "",
			"Part of a prompt came from the prefix cache although every prompt has its own nonce.",
			fmt.Sprintf("any timed request with more cached tokens than the chat template's own head + %d, or with so many that fewer than %d + (bytes of the prompt)/%d were computed", CacheSlackTokens, NonceMinTokens, PromptBytesPerToken),
			"check that nothing between us and the engine strips or moves the nonce line",
			cacheHit,
		},
		{
			"reconnected", Warn, "",
			"A connection had been closed by the server and was opened anew within a timed request.",
			"any timed request",
			"raise the server's keep-alive time-out",
			reconnected,
		},
		{
			"coded_body", Warn, "",
			"A response was compressed although identity was asked for; decoding it holds tokens back.",
			"any timed request",
			"switch off compression for text/event-stream in the proxy",
			codedBody,
		},
	}
}

func steadinessRules() []Rule {
	return []Rule{
		{
			"short_window", Warn, "",
			"The measured window is so short that single steps and the ends of streams show in the rate.",
			fmt.Sprintf("median window behind the headline below %s", span(ShortWindow)),
			"raise --max-tokens",
			shortWindow,
		},
		{
			"plateau_short", Warn, "",
			"All streams decoded side by side for only a small part of the batch, so the aggregate says little about the engine's decode rate.",
			fmt.Sprintf("above concurrency 1: no plateau in an iteration, or a median below %s of lmx's window", thresholdShare(PlateauShort)),
			"raise --max-tokens, add --ignore-eos, or lower --concurrency to the server's slots",
			plateauShort,
		},
		{
			"drift", Warn, "",
			"The rate went one way from iteration to iteration.",
			fmt.Sprintf("first and last third of at least 3 iterations differ by %s or more of the median, and Kendall's S is at least %g standard deviations", thresholdShare(DriftShare), DriftScore),
			"warm up longer; look for heat and clocks",
			drift,
		},
		{
			"warmup_failed", Warn, "",
			"A warm-up request did not end `ok`, so the server may not have been warm.",
			"any warm-up request",
			"read its `error` in requests.jsonl",
			warmupFailed,
		},
	}
}

// powerRules are found by package power. None of them says anything about the
// throughput, so none is more than a warning here.
func powerRules() []Rule {
	power := func(code, meaning, threshold, advice string) Rule {
		return Rule{Code: code, Level: Warn, Meaning: meaning, Threshold: threshold, Advice: advice}
	}
	return []Rule{
		power("power_not_bracketed", "The power recording does not reach over an end of the window.", "first sample after its start, or last before its end", "start the recording earlier and stop it later"),
		power("power_gap", "A power signal has a hole in the window.", "a gap beyond the signal's own period", "look for a busy driver; record again"),
		power("gpu_identity_changed", "Another device stood behind the index of a GPU.", "its UUID changed", "measure again"),
		power("counter_non_monotonic", "The energy counter fell.", "a reading below the one before", "the driver was reloaded; measure again"),
		power("counter_stuck", "The energy counter stood still.", "no tick while it was read", "use the sampled power"),
		power("counter_vs_samples", "Energy counter and power samples disagree.", "by more than 2 %; beyond 5 % the energy is not to be used", "look at the sensors with `lmxbench power probe`"),
		power("alias_risk", "The decode step beats slowly against the power sensor.", "a beat longer than the window allows", "use the energy counter"),
		power("power_capped", "The card was held at its power limit.", "more than 5 % of the window", "this is the card's real speed at this limit: state the limit"),
		power("thermal", "The card was slowed by heat or by its power brake.", "more than 1 % of the window", "improve the cooling"),
		power("foreign_process", "A process that is not the server's was on the card.", "any", "keep others away and measure again"),
		power("scope_module", "The power figure covers a whole module, not the GPU alone.", "the sensor says so", "compare only with figures of the same scope"),
		power("mig_no_energy", "The card is partitioned; its energy is not the partition's.", "MIG is on", "measure the whole card"),
		power("sensor_unavailable", "A sensor that the figure needs gave nothing.", "any", "install the driver's library, or give --gpu-power-watts"),
	}
}

func infoRules() []Rule {
	return []Rule{
		{
			"simulated", Info, "",
			"The server is the simulated engine. Nothing here says anything about hardware.",
			"`--sim`, or a server that says so",
			"leave out --sim to measure a server",
			simulated,
		},
		{
			"non_canonical_prompt", Info, "",
			"The prompt is none of the leaderboard's, so the result cannot be verified there.",
			"the prompt's sha256 is not a canonical one",
			"leave out --prompt, --prompt-file and --prompt-tokens",
			nonCanonicalPrompt,
		},
		{
			"uncalibrated", Info, "",
			"The client's own error on this machine and at this load is not known.",
			"no calibration at this concurrency or above",
			"run `lmxbench calibrate`",
			uncalibrated,
		},
		{
			"n_too_small", Info, "",
			"Too few iterations for a 95 % interval of the median.",
			"fewer than 6 counted iterations",
			"use --iterations 6 or more",
			nTooSmall,
		},
	}
}
