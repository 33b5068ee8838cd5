package engine_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lmxbench/internal/engine"
)

// capturedMetrics returns a captured /metrics text.
func capturedMetrics(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func counters(t testing.TB, text []byte) engine.Counters {
	t.Helper()
	c, err := engine.ReadMetrics(text)
	if err != nil {
		t.Fatalf("read metrics: %v", err)
	}
	return c
}

// load is what the client of a captured load printed.
type load struct {
	Streams float64 `json:"streams"`
	Tokens  float64 `json:"usage_completion_tokens"`
	TPOT    float64 `json:"tpot_ms_median"`
}

func capturedLoad(t *testing.T, title string) load {
	t.Helper()
	_, line, found := strings.Cut(string(capturedMetrics(t, "vllm-0.25.1-loads.txt")), "# "+title+"\n")
	if !found {
		t.Fatalf("no load %q was captured", title)
	}
	var l load
	if err := json.NewDecoder(strings.NewReader(line)).Decode(&l); err != nil {
		t.Fatalf("load %q: %v", title, err)
	}
	return l
}

// The growth of vLLM's counters over a load is what the client of that load
// counted by itself. With 64 streams the two agree on the time between tokens;
// with 256 the tokens left the engine faster than the HTTP front end sent them.
func TestDeltaOfCapturedLoads(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, title string
		meanITL     time.Duration
		frontEnd    bool // the limit was there
	}{
		{"c64", "c64, 256 tokens", 6_143 * time.Microsecond, false},
		{"c256", "c256, 256 tokens", 10_681 * time.Microsecond, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			client := capturedLoad(t, tt.title)
			before := counters(t, capturedMetrics(t, "vllm-0.25.1-"+tt.name+"-metrics-before.txt"))
			after := counters(t, capturedMetrics(t, "vllm-0.25.1-"+tt.name+"-metrics-after.txt"))
			growth := engine.Delta(before, after)
			if growth.Restarted || after.Flavour != engine.VLLMMetrics || after.MultiProcess || after.Life == "" {
				t.Fatalf("restarted %v, flavour %q, several processes %v, life %q",
					growth.Restarted, after.Flavour, after.MultiProcess, after.Life)
			}
			want := map[engine.Quantity]float64{
				engine.GenerationTokens: client.Tokens, engine.Requests: client.Streams, engine.RequestsAborted: 0,
			}
			for q, n := range want {
				if got, ok := growth.Value(q); !ok || got != n {
					t.Errorf("%s grew by %v (known %v), want %v", q, got, ok, n)
				}
			}
			if _, ok := growth.Value(engine.DraftTokens); ok {
				t.Error("draft tokens are known, although the server did not speculate")
			}
			if got := growth.Latencies[engine.TTFT].Count; got != client.Streams {
				t.Errorf("%v first tokens, want %v", got, client.Streams)
			}
			itl := growth.Latencies[engine.InterToken]
			if want := client.Tokens - client.Streams; itl.Count != want {
				t.Errorf("%v gaps between tokens, want %v", itl.Count, want)
			}
			mean, ok := itl.Mean()
			if !ok || mean.Round(time.Microsecond) != tt.meanITL {
				t.Errorf("mean gap %v (known %v), want %v", mean, ok, tt.meanITL)
			}
			if slower := client.TPOT/mean.Seconds()/1000 > 1.25; slower != tt.frontEnd {
				t.Errorf("mean gap %v, at the client %v ms: front end limits %v, want %v", mean, client.TPOT, slower, tt.frontEnd)
			}
			low, high, ok := itl.Bounds(0.5)
			if median, known := itl.Quantile(0.5); !ok || !known || median <= low || median > high {
				t.Errorf("median %v is not in its bucket (%v, %v]", median, low, high)
			}
		})
	}
}

func TestDeltaOfCapturedSpeculation(t *testing.T) {
	t.Parallel()
	growth := engine.Delta(
		counters(t, capturedMetrics(t, "vllm-0.25.1-spec-metrics-before.txt")),
		counters(t, capturedMetrics(t, "vllm-0.25.1-spec-metrics-after.txt")))
	rate, ok := growth.AcceptanceRate()
	if !ok || rate != 1 {
		t.Errorf("acceptance rate %v (known %v), want 1: random weights loop, so every draft is right", rate, ok)
	}
	accepted, drafts := growth.Values[engine.AcceptedTokens], growth.Values[engine.Drafts]
	length, ok := growth.MeanAcceptedLength()
	if !ok || length != 1+accepted/drafts || length < 4 || length > 5 {
		t.Errorf("mean accepted length %v of %v tokens in %v drafts (known %v)", length, accepted, drafts, ok)
	}
}

// With four API servers the counts of tokens are right and the count of steps
// is four times too high, so the latter is not given.
func TestMetricsOfSeveralAPIServers(t *testing.T) {
	t.Parallel()
	text := capturedMetrics(t, "vllm-0.25.1-api-servers-4-metrics-after.txt")
	c := counters(t, text)
	if !c.MultiProcess {
		t.Error("not seen that several processes share the counters")
	}
	if n, ok := c.Value(engine.EngineSteps); ok {
		t.Errorf("%v engine steps, want none given", n)
	}
	if n, ok := c.Value(engine.GenerationTokens); !ok || n != 278528 {
		t.Errorf("%v tokens (known %v), want 278528", n, ok)
	}
	single := counters(t, capturedMetrics(t, "vllm-0.25.1-c64-metrics-after.txt"))
	if n, ok := single.Value(engine.EngineSteps); !ok || n != 436 || single.MultiProcess {
		t.Errorf("one API server: %v steps (known %v), want 436", n, ok)
	}
}

// Every sum is that of the plain lines of the text.
func TestMetricsSumOverLabels(t *testing.T) {
	t.Parallel()
	text := capturedMetrics(t, "vllm-0.25.1-c256-metrics-after.txt")
	c := counters(t, text)
	for q, name := range map[engine.Quantity]string{
		engine.Requests:         "vllm:request_success_total",
		engine.PromptTokens:     "vllm:prompt_tokens_total",
		engine.PrefixCacheHits:  "vllm:prefix_cache_hits_total",
		engine.GenerationTokens: "vllm:generation_tokens_total",
	} {
		sum := 0.0
		line := regexp.MustCompile(`(?m)^` + name + `(?:\{.*\})? (\S+)$`)
		for _, m := range line.FindAllStringSubmatch(string(text), -1) {
			value, err := strconv.ParseFloat(m[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += value
		}
		if got, ok := c.Value(q); !ok || got != sum || sum == 0 {
			t.Errorf("%s is %v (known %v), the lines add up to %v", q, got, ok, sum)
		}
	}
}

func TestReadMetrics(t *testing.T) {
	t.Parallel()
	tests := []struct {
		why, text string
		want      engine.Counters
	}{
		{
			"engines are added up",
			"vllm:generation_tokens_total{engine=\"0\"} 3\nvllm:generation_tokens_total{engine=\"1\"} 4\n" +
				"vllm:generation_tokens_created 1\n",
			engine.Counters{Flavour: engine.VLLMMetrics, Values: map[engine.Quantity]float64{engine.GenerationTokens: 7}},
		},
		{
			"names that an exporter changed",
			"ray_vllm_generation_tokens_total 3\nray_vllm_generation_tokens_created 1\n",
			engine.Counters{Flavour: engine.VLLMMetrics, Values: map[engine.Quantity]float64{engine.GenerationTokens: 3}},
		},
		{
			"aborted requests of vLLM by their label",
			"# TYPE vllm:request_success_total counter\n" +
				"vllm:request_success_total{finished_reason=\"length\"} 5\nvllm:request_success_total{finished_reason=\"abort\"} 2\n" +
				"vllm:generation_tokens_created 1\n",
			engine.Counters{
				Flavour: engine.VLLMMetrics,
				Values:  map[engine.Quantity]float64{engine.Requests: 7, engine.RequestsAborted: 2},
			},
		},
		{
			"SGLang: ranks of one engine repeat each other, data-parallel ones do not",
			"sglang:num_running_reqs{dp_rank=\"0\",tp_rank=\"0\"} 3\nsglang:num_running_reqs{dp_rank=\"0\",tp_rank=\"1\"} 3\n" +
				"sglang:num_running_reqs{dp_rank=\"1\",tp_rank=\"0\"} 4\nsglang:spec_verify_calls_total 9\n",
			engine.Counters{
				Flavour: engine.SGLangMetrics,
				Values:  map[engine.Quantity]float64{engine.Running: 7, engine.Drafts: 9},
			},
		},
		{
			"llama.cpp",
			"# HELP llamacpp:tokens_predicted_total Number of generation tokens processed.\n" +
				"# TYPE llamacpp:tokens_predicted_total counter\nllamacpp:tokens_predicted_total 32\n" +
				"llamacpp:requests_processing 1\nllamacpp:n_decode_total 31\n",
			engine.Counters{
				Flavour: engine.LlamaCPPMetrics,
				Values: map[engine.Quantity]float64{
					engine.GenerationTokens: 32, engine.Running: 1, engine.EngineSteps: 31,
				},
			},
		},
		{
			"a quantity that is not a number is absent",
			"llamacpp:requests_processing NaN\nllamacpp:n_decode_total +Inf\nllamacpp:requests_deferred 0\n",
			engine.Counters{Flavour: engine.LlamaCPPMetrics, Values: map[engine.Quantity]float64{engine.Waiting: 0}},
		},
		{
			"names of another program", "go_goroutines 7\nprocess_start_time_seconds 1.5e9\n",
			engine.Counters{Flavour: engine.OtherMetrics, Life: "1.5e+09"},
		},
		{
			"distributions of engines are added up, an older name is known",
			"# TYPE vllm:time_per_output_token_seconds histogram\n" +
				"vllm:time_per_output_token_seconds_bucket{e=\"0\",le=\"0.1\"} 1\nvllm:time_per_output_token_seconds_bucket{e=\"0\",le=\"+Inf\"} 2\n" +
				"vllm:time_per_output_token_seconds_sum{e=\"0\"} 0.3\nvllm:time_per_output_token_seconds_count{e=\"0\"} 2\n" +
				"vllm:time_per_output_token_seconds_bucket{e=\"1\",le=\"0.1\"} 4\nvllm:time_per_output_token_seconds_bucket{e=\"1\",le=\"+Inf\"} 4\n" +
				"vllm:time_per_output_token_seconds_sum{e=\"1\"} 0.25\nvllm:time_per_output_token_seconds_count{e=\"1\"} 4\n" +
				"vllm:generation_tokens_created 1\n",
			engine.Counters{
				Flavour: engine.VLLMMetrics,
				Latencies: map[engine.Latency]engine.Histogram{engine.InterToken: {
					Count: 6, Sum: 0.55, Buckets: []engine.Bucket{{Bound: 0.1, Count: 5}, {Bound: math.Inf(1), Count: 6}},
				}},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			got := counters(t, []byte(tt.text))
			if tt.want.Values == nil {
				tt.want.Values = map[engine.Quantity]float64{}
			}
			if tt.want.Latencies == nil {
				tt.want.Latencies = map[engine.Latency]engine.Histogram{}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("counters (-want +got):\n%s", diff)
			}
		})
	}
}

func TestScrapeFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		why   string
		route route
		class engine.Class
		words []string
	}{
		{"switched off", route{status: 501, body: `{"error":{"message":"This server does not support metrics endpoint. Start it with --metrics"}}`}, engine.NotFound, []string{"--metrics"}},
		{"a page", route{kind: "text/html", body: "<html>"}, engine.NotOpenAI, []string{"HTML page"}},
		{"other text", route{kind: "text/plain", body: "all is well"}, engine.NotOpenAI, []string{"Prometheus"}},
		{"nothing", route{kind: "text/plain"}, engine.NotOpenAI, []string{"no metric"}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			server := fake(t, map[string]route{"/metrics": tt.route})
			_, err := engine.Scrape(within(t), targetOf(t, server.URL))
			wantFault(t, err, tt.class, append(tt.words, "GET "+server.URL+"/metrics")...)
		})
	}
}

func FuzzReadMetrics(f *testing.F) {
	f.Add([]byte("vllm:generation_tokens_total{engine=\"0\"} 3\n"))
	f.Add([]byte("# TYPE a histogram\na_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 2\na_sum 1\na_count 2\n"))
	f.Add([]byte("llamacpp:n_decode_total NaN\n"))
	f.Add([]byte("# TYPE vllm:ttft summary\nvllm:ttft{quantile=\"0.5\"} 1\n"))
	f.Add(capturedMetrics(f, "vllm-0.25.1-spec-metrics-after.txt")[:2<<10])
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := engine.ReadMetrics(text)
		if err != nil {
			return
		}
		for q, value := range c.Values {
			if math.IsNaN(value) || math.IsInf(value, 0) {
				t.Fatalf("%s is %v", q, value)
			}
		}
		if growth := engine.Delta(c, c); growth.Restarted {
			t.Fatalf("no time passed and the server restarted: %+v", c)
		}
		if _, err := json.Marshal(c.Values); err != nil {
			t.Fatalf("values do not encode: %v", err)
		}
		for name, h := range c.Latencies {
			if mean, ok := h.Mean(); ok && mean < 0 {
				t.Fatalf("%s has the mean %v", name, mean)
			}
			for _, q := range []float64{0, 0.5, 1} {
				h.Quantile(q)
				h.Bounds(q)
			}
		}
	})
}
