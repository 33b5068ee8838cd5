package engine

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// names says under which names a flavour keeps its quantities. Where several
// are listed the first one that is there counts: names changed between versions.
type names struct {
	flavour   Flavour
	prefix    string
	values    map[Quantity][]string
	latencies map[Latency][]string
}

// vocabularies are written with "_" where servers write ":" as well: exporters
// between the server and us replace it.
var vocabularies = []names{
	{
		flavour: VLLMMetrics, prefix: "vllm_",
		values: map[Quantity][]string{
			GenerationTokens:   {"generation_tokens_total"},
			PromptTokens:       {"prompt_tokens_total"},
			CachedTokens:       {"prompt_tokens_cached_total"},
			Requests:           {"request_success_total"},
			PrefixCacheQueries: {"prefix_cache_queries_total", "gpu_prefix_cache_queries_total"},
			PrefixCacheHits:    {"prefix_cache_hits_total", "gpu_prefix_cache_hits_total"},
			Drafts:             {"spec_decode_num_drafts_total"},
			DraftTokens:        {"spec_decode_num_draft_tokens_total"},
			AcceptedTokens:     {"spec_decode_num_accepted_tokens_total"},
			Preemptions:        {"num_preemptions_total"},
			Running:            {"num_requests_running"},
			Waiting:            {"num_requests_waiting"},
		},
		latencies: map[Latency][]string{
			TTFT:       {"time_to_first_token_seconds"},
			InterToken: {"inter_token_latency_seconds", "time_per_output_token_seconds"},
			EndToEnd:   {"e2e_request_latency_seconds"},
			QueueTime:  {"request_queue_time_seconds"},
		},
	},
	{
		flavour: SGLangMetrics, prefix: "sglang_",
		values: map[Quantity][]string{
			GenerationTokens: {"generation_tokens_total"},
			PromptTokens:     {"prompt_tokens_total"},
			CachedTokens:     {"cached_tokens_total"},
			Requests:         {"num_requests_total"},
			RequestsAborted:  {"num_aborted_requests_total"},
			Drafts:           {"spec_verify_calls_total"},
			Running:          {"num_running_reqs"},
			Waiting:          {"num_queue_reqs"},
		},
		latencies: map[Latency][]string{
			TTFT:       {"time_to_first_token_seconds"},
			InterToken: {"inter_token_latency_seconds", "time_per_output_token_seconds"},
			EndToEnd:   {"e2e_request_latency_seconds"},
			QueueTime:  {"queue_time_seconds"},
		},
	},
	{
		flavour: LlamaCPPMetrics, prefix: "llamacpp_",
		values: map[Quantity][]string{
			GenerationTokens: {"tokens_predicted_total"},
			PromptTokens:     {"prompt_tokens_total"},
			CachedTokens:     {"prompt_tokens_cached_total"},
			Drafts:           {"spec_decode_num_drafts_total"},
			DraftTokens:      {"spec_decode_num_draft_tokens_total"},
			AcceptedTokens:   {"spec_decode_num_accepted_tokens_total"},
			EngineSteps:      {"n_decode_total"},
			Running:          {"requests_processing"},
			Waiting:          {"requests_deferred"},
		},
	},
}

// Scrape reads the server's counters.
func Scrape(ctx context.Context, t Target) (Counters, error) {
	q := question{method: "GET", path: "/metrics"}
	a, err := t.ask(ctx, q)
	if err != nil {
		return Counters{}, err
	}
	if fault := t.statusFault(q, a); fault != nil {
		fault.Advice = "start the server with its metrics on: llama.cpp and SGLang have them off unless asked"
		return Counters{}, fault
	}
	if isHTML(a) {
		return Counters{}, t.notOpenAI(q, a, "Prometheus text")
	}
	counters, err := readMetrics(a.body)
	if err != nil {
		fault := t.notOpenAI(q, a, "Prometheus text")
		fault.Problem, fault.Advice, fault.Err = oneLine(err.Error(), 2*maxQuoted), "", err
		return Counters{}, fault
	}
	counters.Life = either(counters.Life, a.processStart)
	return counters, nil
}

// readMetrics reads Prometheus text.
func readMetrics(body []byte) (Counters, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	parsed, err := parser.TextToMetricFamilies(bytes.NewReader(body))
	if err != nil {
		return Counters{}, fmt.Errorf("read Prometheus text: %w", err)
	}
	if len(parsed) == 0 {
		return Counters{}, fmt.Errorf("read Prometheus text: it holds no metric")
	}
	families := make(map[string]*dto.MetricFamily, len(parsed))
	for _, name := range slices.Sorted(maps.Keys(parsed)) {
		families[plainName(name)] = parsed[name]
	}
	c := Counters{Flavour: OtherMetrics, Values: map[Quantity]float64{}, Latencies: map[Latency]Histogram{}}
	for _, n := range vocabularies {
		if n.read(families, &c) {
			c.Flavour = n.flavour
			break
		}
	}
	if start, ok := total(families["process_start_time_seconds"]); ok {
		c.Life = strconv.FormatFloat(start, 'g', -1, 64)
	}
	if c.Flavour == VLLMMetrics {
		readVLLM(families, &c)
	}
	return c, nil
}

// plainName is a metric's name without what exporters change: Ray puts its own
// name before it, others replace the colon.
func plainName(name string) string {
	return strings.TrimPrefix(strings.ReplaceAll(name, ":", "_"), "ray_")
}

// read fills c with what the vocabulary knows, and reports whether it knew
// anything.
func (n names) read(families map[string]*dto.MetricFamily, c *Counters) bool {
	for q, aliases := range n.values {
		for _, alias := range aliases {
			if value, ok := total(families[n.prefix+alias]); ok {
				c.Values[q] = value
				break
			}
		}
	}
	for name, aliases := range n.latencies {
		for _, alias := range aliases {
			if h, ok := histogram(families[n.prefix+alias]); ok {
				c.Latencies[name] = h
				break
			}
		}
	}
	return len(c.Values)+len(c.Latencies) > 0
}

// readVLLM reads what only vLLM has.
//
// Its count of steps is read from a histogram that every API server feeds: with
// N of them each step is counted up to N times. The Prometheus client drops the
// "_created" series when several processes share the counters, which is how that
// is seen. Requests that ended badly are told by a label.
func readVLLM(families map[string]*dto.MetricFamily, c *Counters) {
	_, created := families["vllm_generation_tokens_created"]
	c.MultiProcess = !created
	steps, counted := histogram(families["vllm_iteration_tokens_total"])
	if counted && !c.MultiProcess {
		c.Values[EngineSteps] = steps.Count
	}
	success := families["vllm_request_success_total"]
	for _, m := range success.GetMetric() {
		switch label(m, "finished_reason") {
		case "abort", "error":
			c.Values[RequestsAborted] += m.GetCounter().GetValue()
		}
	}
	// Engines of one server share their configuration: the first one's will do.
	if configs := families["vllm_cache_config_info"].GetMetric(); len(configs) > 0 {
		c.CacheConfig = map[string]string{}
		for _, l := range configs[0].GetLabel() {
			c.CacheConfig[l.GetName()] = l.GetValue()
		}
	}
}

// total sums a family over its labels; ok is false where it is absent, empty or
// not a number.
func total(family *dto.MetricFamily) (sum float64, ok bool) {
	for _, m := range family.GetMetric() {
		if repeatsRank(m) {
			continue
		}
		value, is := scalar(m)
		if !is || math.IsNaN(value) || math.IsInf(value, 0) {
			continue
		}
		sum += value
		ok = true
	}
	return sum, ok
}

// repeatsRank recognises a series that tells of the same requests as another:
// with tensor or pipeline parallelism SGLang can report from every rank. Data
// parallel ranks have requests of their own and are added up.
func repeatsRank(m *dto.Metric) bool {
	for _, name := range []string{"tp_rank", "pp_rank"} {
		if rank := label(m, name); rank != "" && rank != "0" {
			return true
		}
	}
	return false
}

func scalar(m *dto.Metric) (float64, bool) {
	switch {
	case m.Counter != nil:
		return m.GetCounter().GetValue(), true
	case m.Gauge != nil:
		return m.GetGauge().GetValue(), true
	case m.Untyped != nil:
		return m.GetUntyped().GetValue(), true
	}
	return 0, false
}

func label(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

// histogram sums a histogram family over its labels; ok is false where there is
// none or where its series have different bounds.
func histogram(family *dto.MetricFamily) (Histogram, bool) {
	var sum Histogram
	found := false
	for _, m := range family.GetMetric() {
		h := m.GetHistogram()
		if h == nil || repeatsRank(m) || math.IsNaN(h.GetSampleSum()) {
			continue
		}
		sum.Count += float64(h.GetSampleCount())
		sum.Sum += h.GetSampleSum()
		if !addBuckets(&sum.Buckets, h.GetBucket(), found) {
			return Histogram{}, false
		}
		found = true
	}
	return sum, found
}

// addBuckets adds one series' buckets, sorted by bound, to those of others.
func addBuckets(sum *[]Bucket, buckets []*dto.Bucket, more bool) bool {
	buckets = slices.Clone(buckets)
	slices.SortFunc(buckets, func(a, b *dto.Bucket) int {
		return cmp.Compare(a.GetUpperBound(), b.GetUpperBound())
	})
	if more && len(buckets) != len(*sum) {
		return false
	}
	for i, b := range buckets {
		count := float64(b.GetCumulativeCount())
		if !more {
			*sum = append(*sum, Bucket{Bound: b.GetUpperBound(), Count: count})
			continue
		}
		if (*sum)[i].Bound != b.GetUpperBound() {
			return false
		}
		(*sum)[i].Count += count
	}
	return true
}
