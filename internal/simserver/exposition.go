package simserver

import (
	"fmt"
	"strconv"
	"strings"
)

// exposition writes Prometheus text format. A sample's labels are before, its
// own, after: vLLM's are in the order of their names, engine first and
// model_name after le.
type exposition struct {
	strings.Builder
	before, after string
}

func (x *exposition) head(name, kind, help string) {
	fmt.Fprintf(x, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func (x *exposition) sample(name, own string, v float64) {
	var set []string
	for _, s := range []string{x.before, own, x.after} {
		if s != "" {
			set = append(set, s)
		}
	}
	x.WriteString(name)
	if len(set) > 0 {
		x.WriteString("{" + strings.Join(set, ",") + "}")
	}
	x.WriteString(" " + number(v) + "\n")
}

// number prints a value as Python's client does: 8.0, 0.25, 1.7960690423995e+09.
func number(v float64) string {
	s := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(s, ".eI") {
		s += ".0"
	}
	return s
}

func (x *exposition) counter(name, help string, v float64) {
	x.head(name, "counter", help)
	x.sample(name, "", v)
}

func (x *exposition) gauge(name, help string, v float64) {
	x.head(name, "gauge", help)
	x.sample(name, "", v)
}

func (x *exposition) histogram(name, help string, h *histogram) {
	x.head(name, "histogram", help)
	total := uint64(0)
	for i := range h.counts {
		total += h.counts[i].Load()
		le := "+Inf"
		if i < len(h.edges) {
			le = number(h.edges[i])
		}
		x.sample(name+"_bucket", `le="`+le+`"`, float64(total))
	}
	x.sample(name+"_count", "", float64(total))
	x.sample(name+"_sum", "", float64(h.sum.Load())/1e9)
}

// vllmMetrics renders the counters under vLLM's names.
func (s *Server) vllmMetrics() string {
	m := s.metrics
	x := &exposition{}
	x.gauge("process_start_time_seconds", "Start time of the process since unix epoch in seconds.", s.startSeconds())
	x.counter("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.", processCPU().Seconds())
	x.before, x.after = `engine="0"`, `model_name="`+s.cfg.Profile.Model+`"`
	if s.cfg.Profile.Draft > 0 {
		s.speculationMetrics(x)
	}
	x.gauge("vllm:num_requests_running", "Number of requests in model execution batches.", float64(m.running.Load()))
	x.gauge("vllm:num_requests_waiting", "Number of requests waiting to be processed.", float64(m.waiting.Load()))
	x.gauge("vllm:kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.", 0)
	x.counter("vllm:prefix_cache_queries_total", "Prefix cache queries, in terms of number of queried tokens.", float64(m.prompt.Load()))
	x.counter("vllm:prefix_cache_hits_total", "Prefix cache hits, in terms of number of cached tokens.", float64(m.cached.Load()))
	x.counter("vllm:num_preemptions_total", "Cumulative number of preemption from the engine.", 0)
	x.counter("vllm:prompt_tokens_total", "Number of prefill tokens processed.", float64(m.prompt.Load()))
	x.counter("vllm:generation_tokens_total", "Number of generation tokens processed.", float64(m.generated.Load()))
	x.head("vllm:request_success_total", "counter", "Count of successfully processed requests.")
	for _, r := range []struct {
		reason string
		n      int64
	}{{"stop", m.stop.Load()}, {"length", m.length.Load()}, {"abort", m.aborted.Load()}, {"error", m.failed.Load()}} {
		x.sample("vllm:request_success_total", `finished_reason="`+r.reason+`"`, float64(r.n))
	}
	x.histogram("vllm:request_prompt_tokens", "Number of prefill tokens processed.", m.promptSize)
	x.histogram("vllm:request_generation_tokens", "Number of generation tokens processed.", m.outputSize)
	x.histogram("vllm:iteration_tokens_total", "Histogram of number of tokens per engine_step.", m.iteration)
	x.histogram("vllm:time_to_first_token_seconds", "Histogram of time to first token in seconds.", m.ttft)
	x.histogram("vllm:inter_token_latency_seconds", "Histogram of inter-token latency in seconds.", m.itl)
	x.histogram("vllm:request_time_per_output_token_seconds", "Histogram of time_per_output_token_seconds per request.", m.tpot)
	x.histogram("vllm:e2e_request_latency_seconds", "Histogram of e2e request latency in seconds.", m.e2e)
	x.histogram("vllm:request_queue_time_seconds", "Histogram of time spent in WAITING phase for request.", m.queue)
	x.histogram("vllm:request_inference_time_seconds", "Histogram of time spent in RUNNING phase for request.", m.inference)
	x.histogram("vllm:request_prefill_time_seconds", "Histogram of time spent in PREFILL phase for request.", m.prefillTime)
	x.histogram("vllm:request_decode_time_seconds", "Histogram of time spent in DECODE phase for request.", m.decodeTime)
	return x.String()
}

func (s *Server) speculationMetrics(x *exposition) {
	m := s.metrics
	x.counter("vllm:spec_decode_num_drafts_total", "Number of spec decoding drafts.", float64(m.drafts.Load()))
	x.counter("vllm:spec_decode_num_draft_tokens_total", "Number of draft tokens.", float64(m.draftTokens.Load()))
	x.counter("vllm:spec_decode_num_accepted_tokens_total", "Number of accepted tokens.", float64(m.accepted.Load()))
	const perPos = "vllm:spec_decode_num_accepted_tokens_per_pos_total"
	x.head(perPos, "counter", "Accepted tokens per draft position.")
	model := x.after
	for i := range s.cfg.Profile.Draft {
		x.after = fmt.Sprintf(`%s,position="%d"`, model, i)
		x.sample(perPos, "", float64(m.acceptedAt[i].Load()))
	}
	x.after = model
}

// llamaMetrics renders the counters under llama.cpp's names.
func (s *Server) llamaMetrics() string {
	m := s.metrics
	x := &exposition{}
	promptSeconds := float64(m.ttft.sum.Load()) / 1e9
	decodeSeconds := float64(m.decodeTime.sum.Load()) / 1e9
	x.counter("llamacpp:prompt_tokens_total", "Number of prompt tokens processed.", float64(m.prompt.Load()-m.cached.Load()))
	x.counter("llamacpp:prompt_seconds_total", "Prompt process time", promptSeconds)
	x.counter("llamacpp:tokens_predicted_total", "Number of generation tokens processed.", float64(m.generated.Load()))
	x.counter("llamacpp:tokens_predicted_seconds_total", "Predict process time", decodeSeconds)
	x.counter("llamacpp:n_decode_total", "Total number of llama_decode() calls", float64(s.stats.stepCount()))
	if s.cfg.Profile.Draft > 0 {
		x.counter("llamacpp:spec_decode_num_drafts_total", "Number of drafts.", float64(m.drafts.Load()))
		x.counter("llamacpp:spec_decode_num_draft_tokens_total", "Number of draft tokens.", float64(m.draftTokens.Load()))
		x.counter("llamacpp:spec_decode_num_accepted_tokens_total", "Number of accepted draft tokens.", float64(m.accepted.Load()))
	}
	x.gauge("llamacpp:prompt_tokens_seconds", "Average prompt throughput in tokens/s.", ratio(float64(m.prompt.Load()), promptSeconds))
	x.gauge("llamacpp:predicted_tokens_seconds", "Average generation throughput in tokens/s.", ratio(float64(m.generated.Load()), decodeSeconds))
	x.gauge("llamacpp:requests_processing", "Number of requests processing.", float64(m.running.Load()))
	x.gauge("llamacpp:requests_deferred", "Number of requests deferred.", float64(m.waiting.Load()))
	return x.String()
}

// ratio is a ÷ b, 0 for an empty b.
func ratio(a, b float64) float64 {
	if b <= 0 {
		return 0
	}
	return a / b
}
