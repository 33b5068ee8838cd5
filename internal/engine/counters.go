package engine

// Flavour says whose names the quantities at /metrics carry.
type Flavour string

// The flavours that are read.
const (
	VLLMMetrics     Flavour = "vllm"
	SGLangMetrics   Flavour = "sglang"
	LlamaCPPMetrics Flavour = "llama.cpp"
	// OtherMetrics is Prometheus text in which no name is known.
	OtherMetrics Flavour = "other"
)

// kind is the server that writes the flavour.
func (f Flavour) kind() Kind {
	switch f {
	case VLLMMetrics:
		return VLLM
	case SGLangMetrics:
		return SGLang
	case LlamaCPPMetrics:
		return LlamaCPP
	}
	return Unknown
}

// Quantity is one thing that servers count, under one name for all of them.
type Quantity string

// Quantities that only grow while the server runs.
const (
	GenerationTokens   Quantity = "generationTokens"   // output tokens
	PromptTokens       Quantity = "promptTokens"       // prompt tokens, cached ones included where the server does
	CachedTokens       Quantity = "cachedTokens"       // prompt tokens taken from the prefix cache
	Requests           Quantity = "requests"           // requests that ended
	RequestsAborted    Quantity = "requestsAborted"    // of them: stopped by their client or by an error
	PrefixCacheQueries Quantity = "prefixCacheQueries" // prompt tokens looked up in the prefix cache
	PrefixCacheHits    Quantity = "prefixCacheHits"    // of them: found
	Drafts             Quantity = "drafts"             // speculation: steps that verified a draft
	DraftTokens        Quantity = "draftTokens"        // speculation: tokens proposed
	AcceptedTokens     Quantity = "acceptedTokens"     // speculation: of them accepted
	Preemptions        Quantity = "preemptions"        // requests pushed out of the batch
	EngineSteps        Quantity = "engineSteps"        // forward passes
)

// Quantities that go up and down.
const (
	Running Quantity = "running" // requests being worked on
	Waiting Quantity = "waiting" // requests in the queue
)

// Latency is one distribution that servers keep.
type Latency string

// The distributions that are read.
const (
	TTFT       Latency = "ttft"       // time to first token
	InterToken Latency = "interToken" // time between tokens of one request
	EndToEnd   Latency = "endToEnd"   // time of a whole request
	QueueTime  Latency = "queueTime"  // time a request waits before it is worked on
)

// Counters is the state of a server's counters at one moment, summed over its
// engines and labels. What the server does not count is absent from the maps.
type Counters struct {
	Flavour Flavour
	Values  map[Quantity]float64
	// Latencies are distributions since the server started.
	Latencies map[Latency]Histogram
	// Life is what the server says of its process's start, as it says it: it
	// differs after a restart. Empty where it does not say.
	Life string
	// MultiProcess is set for vLLM with several API servers, whose counts of
	// steps are one per API server and step; EngineSteps is then absent.
	MultiProcess bool
	// CacheConfig are the labels of vLLM's vllm:cache_config_info.
	CacheConfig map[string]string
}

// Value returns a quantity and whether the server counts it.
func (c Counters) Value(q Quantity) (float64, bool) {
	v, ok := c.Values[q]
	return v, ok
}

// Growth is what a server counted between two moments.
type Growth struct {
	// Restarted is set where the two states are not of one life of one server:
	// a count went down, the process has another start, or the names changed.
	// Values and Latencies are then empty.
	Restarted bool
	// Values holds the growth of quantities that only grow. One that is absent
	// at either moment is absent here.
	Values map[Quantity]float64
	// Latencies are the distributions of what was observed in between.
	Latencies map[Latency]Histogram
}

// Delta returns what was counted between before and after.
func Delta(before, after Counters) Growth {
	if before.Flavour != after.Flavour || restarted(before.Life, after.Life) {
		return Growth{Restarted: true}
	}
	growth := Growth{Values: map[Quantity]float64{}, Latencies: map[Latency]Histogram{}}
	for q, now := range after.Values {
		then, counted := before.Values[q]
		if !counted || q == Running || q == Waiting {
			continue
		}
		if now < then {
			return Growth{Restarted: true}
		}
		growth.Values[q] = now - then
	}
	for name, now := range after.Latencies {
		then, kept := before.Latencies[name]
		if !kept {
			continue
		}
		d, down, same := now.minus(then)
		if down {
			return Growth{Restarted: true}
		}
		if same {
			growth.Latencies[name] = d
		}
	}
	return growth
}

// restarted compares what was said of the process's start, if it was.
func restarted(before, after string) bool { return before != "" && after != "" && before != after }

// Value returns the growth of a quantity and whether it is known.
func (c Growth) Value(q Quantity) (float64, bool) {
	v, ok := c.Values[q]
	return v, ok
}

// AcceptanceRate is the share of proposed tokens that were accepted; ok is
// false where the server does not count them or none was proposed.
func (c Growth) AcceptanceRate() (rate float64, ok bool) {
	return ratio(c.Values[AcceptedTokens], c.Values[DraftTokens], c.has(AcceptedTokens, DraftTokens))
}

// MeanAcceptedLength is how many tokens a verified draft gave on average: the
// accepted ones and the one that verification itself brings.
//
//	1 + accepted tokens / drafts
func (c Growth) MeanAcceptedLength() (tokens float64, ok bool) {
	accepted, ok := ratio(c.Values[AcceptedTokens], c.Values[Drafts], c.has(AcceptedTokens, Drafts))
	if !ok {
		return 0, false
	}
	return 1 + accepted, true
}

func (c Growth) has(quantities ...Quantity) bool {
	for _, q := range quantities {
		if _, ok := c.Values[q]; !ok {
			return false
		}
	}
	return true
}

func ratio(a, b float64, known bool) (float64, bool) {
	if !known || b <= 0 {
		return 0, false
	}
	return a / b, true
}
