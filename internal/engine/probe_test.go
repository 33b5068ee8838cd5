package engine_test

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"lmxbench/internal/engine"
)

// What the kinds of servers answer, cut to what matters here.
var (
	vllmRoutes = map[string]route{
		"/v1/models": {body: `{"object":"list","data":[{"id":"tiny","object":"model","owned_by":"vllm",` +
			`"root":"example-org/Tiny-1B","max_model_len":8192}]}`},
		"/version": {body: `{"version":"0.28.0"}`},
		"/metrics": {kind: "text/plain", body: "# TYPE vllm:num_requests_running gauge\n" +
			"vllm:num_requests_running{engine=\"0\"} 0.0\n" +
			"# TYPE vllm:cache_config_info gauge\n" +
			"vllm:cache_config_info{cache_dtype=\"fp8\",enable_prefix_caching=\"True\"} 1.0\n"},
	}
	sglangRoutes = map[string]route{
		"/v1/models": {body: `{"data":[{"id":"example-org/Tiny-1B","owned_by":"sglang","max_model_len":4096}]}`},
		"/server_info": {body: `{"model_path":"/models/tiny","mem_fraction_static":0.88,"version":"0.5.4",` +
			`"max_running_requests":512,"context_length":null}`},
		"/metrics": {kind: "text/plain", body: "# TYPE sglang:num_running_reqs gauge\nsglang:num_running_reqs 0\n"},
	}
	olderSGLangRoutes = map[string]route{
		"/v1/models": {body: `{"data":[{"id":"tiny","owned_by":"sglang"}]}`},
		"/get_server_info": {body: `{"model_path":"/models/tiny","mem_fraction_static":0.88,"version":"0.4.1",` +
			`"max_running_requests":null,"effective_max_running_requests_per_dp":256,"context_length":2048}`},
	}
	llamaRoutes = map[string]route{
		"/v1/models": {
			header: map[string]string{"Server": "llama.cpp"},
			body: `{"models":[{"name":"tiny","model":"tiny"}],"object":"list","data":[{"id":"tiny","owned_by":"llamacpp",` +
				`"meta":{"n_ctx_train":8192,"ftype":"Q4_1"}}]}`,
		},
		"/props": {body: `{"default_generation_settings":{"n_ctx":1024},"total_slots":4,` +
			`"model_path":"/models/Tiny-1B.Q4_1.gguf","build_info":"b10818-4d9176092"}`},
		"/metrics": {status: 501, body: `{"error":{"message":"This server does not support metrics endpoint."}}`},
	}
	ollamaRoutes = map[string]route{
		"/v1/models":   {body: `{"object":"list","data":[{"id":"tiny:1b","object":"model","owned_by":"library"}]}`},
		"/api/version": {body: `{"version":"0.12.3"}`},
	}
	// A gateway of its own kind, with pages for people at every other path.
	gatewayRoutes = map[string]route{
		"/v1/models":       {body: `{"data":[{"id":"tiny","contextLength":2048}]}`},
		"/version":         {kind: "text/html", body: "<!doctype html><title>app</title>"},
		"/props":           {kind: "text/html", body: "<!doctype html><title>app</title>"},
		"/server_info":     {kind: "text/html", body: "<!doctype html><title>app</title>"},
		"/get_server_info": {kind: "text/html", body: "<!doctype html><title>app</title>"},
		"/get_model_info":  {kind: "text/html", body: "<!doctype html><title>app</title>"},
		"/api/version":     {kind: "text/html", body: "<!doctype html><title>app</title>"},
		"/metrics":         {kind: "text/html", body: "<!doctype html><title>app</title>"},
	}
)

func TestProbe(t *testing.T) {
	t.Parallel()
	tests := []struct {
		why    string
		routes map[string]route
		wanted engine.Wanted
		want   engine.Info
	}{
		{
			"vLLM says its version, and tells of its cache at /metrics", vllmRoutes,
			engine.Wanted{},
			engine.Info{
				Kind: engine.VLLM, Version: "0.28.0",
				Models: []engine.Model{{ID: "tiny", OwnedBy: "vllm", Root: "example-org/Tiny-1B"}},
				Chosen: engine.Model{ID: "tiny", OwnedBy: "vllm", Root: "example-org/Tiny-1B"},
				Source: engine.SourceListed,
				HFID:   "example-org/Tiny-1B", HFIDGuessed: true,
				ContextLength: 8192, ContextSource: "v1_models",
				Metrics:     engine.VLLMMetrics,
				CacheConfig: map[string]string{"cache_dtype": "fp8", "enable_prefix_caching": "True"},
			},
		},
		{
			"SGLang says how many requests run at a time", sglangRoutes,
			engine.Wanted{HFID: "EXAMPLE-ORG/tiny-1b"},
			engine.Info{
				Kind: engine.SGLang, Version: "0.5.4",
				Models:        []engine.Model{{ID: "example-org/Tiny-1B", OwnedBy: "sglang"}},
				Chosen:        engine.Model{ID: "example-org/Tiny-1B", OwnedBy: "sglang"},
				Source:        engine.SourceListed,
				HFID:          "EXAMPLE-ORG/tiny-1b",
				ContextLength: 4096, ContextSource: "v1_models",
				Slots: 512, ModelPath: "/models/tiny",
				Metrics: engine.SGLangMetrics,
			},
		},
		{
			"an older SGLang answers at another path", olderSGLangRoutes,
			engine.Wanted{},
			engine.Info{
				Kind: engine.SGLang, Version: "0.4.1",
				Models:        []engine.Model{{ID: "tiny", OwnedBy: "sglang"}},
				Chosen:        engine.Model{ID: "tiny", OwnedBy: "sglang"},
				Source:        engine.SourceListed,
				ContextLength: 2048, ContextSource: "server_info",
				Slots: 256, ModelPath: "/models/tiny",
			},
		},
		{
			"llama.cpp says slots, context of one slot and model file", llamaRoutes,
			engine.Wanted{Served: "TINY"},
			engine.Info{
				Kind: engine.LlamaCPP, Version: "b10818-4d9176092", Server: "llama.cpp",
				Models:        []engine.Model{{ID: "tiny", OwnedBy: "llamacpp"}},
				Chosen:        engine.Model{ID: "tiny", OwnedBy: "llamacpp"},
				Source:        engine.SourceExplicit,
				ContextLength: 1024, ContextSource: "props",
				Slots: 4, ModelPath: "/models/Tiny-1B.Q4_1.gguf",
			},
		},
		{
			"Ollama says its version", ollamaRoutes,
			engine.Wanted{},
			engine.Info{
				Kind: engine.Ollama, Version: "0.12.3",
				Models: []engine.Model{{ID: "tiny:1b", OwnedBy: "library"}},
				Chosen: engine.Model{ID: "tiny:1b", OwnedBy: "library"},
				Source: engine.SourceListed,
			},
		},
		{
			"a gateway that answers every path with a page is of unknown kind", gatewayRoutes,
			engine.Wanted{},
			engine.Info{
				Models:        []engine.Model{{ID: "tiny"}},
				Chosen:        engine.Model{ID: "tiny"},
				Source:        engine.SourceListed,
				ContextLength: 2048, ContextSource: "v1_models",
			},
		},
		{
			"a simulated engine says so",
			map[string]route{
				"/v1/models": {body: `{"data":[{"id":"tiny","owned_by":"vllm","simulated":true}]}`},
			},
			engine.Wanted{},
			engine.Info{
				Kind: engine.VLLM, Simulated: true,
				Models: []engine.Model{{ID: "tiny", OwnedBy: "vllm"}},
				Chosen: engine.Model{ID: "tiny", OwnedBy: "vllm"},
				Source: engine.SourceListed,
			},
		},
		{
			"a simulated engine's header says so too",
			map[string]route{
				"/v1/models": {body: `{"data":[{"id":"tiny"}]}`, header: map[string]string{"Server": "lmxbench-sim/1"}},
			},
			engine.Wanted{},
			engine.Info{
				Simulated: true, Server: "lmxbench-sim/1",
				Models: []engine.Model{{ID: "tiny"}},
				Chosen: engine.Model{ID: "tiny"},
				Source: engine.SourceListed,
			},
		},
		{
			"a server without a model list is believed to serve what the user names",
			map[string]route{"/version": {body: `{"version":"1"}`}},
			engine.Wanted{HFID: "example-org/Tiny-1B"},
			engine.Info{
				Version: "1",
				Chosen:  engine.Model{ID: "example-org/Tiny-1B"},
				Source:  engine.SourceHFID, HFID: "example-org/Tiny-1B",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			server := fake(t, tt.routes)
			got, err := engine.Probe(within(t), targetOf(t, server.URL), tt.wanted)
			if err != nil {
				t.Fatalf("Probe: %v", err)
			}
			if got.Peer != server.Listener.Addr().String() {
				t.Errorf("peer %q, want %q", got.Peer, server.Listener.Addr())
			}
			_, lists := tt.routes["/v1/models"]
			if (got.ListFault == nil) != lists {
				t.Errorf("list fault %v, although the server lists its models: %v", got.ListFault, lists)
			}
			if (got.MetricsFault == nil) != (tt.want.Metrics != "") {
				t.Errorf("metrics %q with fault %v", got.Metrics, got.MetricsFault)
			}
			diff := cmp.Diff(tt.want, got, cmpopts.IgnoreUnexported(engine.Model{}),
				cmpopts.IgnoreFields(engine.Info{}, "Peer", "ListFault", "MetricsFault"))
			if diff != "" {
				t.Errorf("Info (-want +got):\n%s", diff)
			}
		})
	}
}

// What vLLM 0.25.1 really sends is understood.
func TestProbeCapturedVLLM(t *testing.T) {
	t.Parallel()
	metrics := capturedMetrics(t, "vllm-0.25.1-c64-metrics-after.txt")
	url := replay(t, map[string][]byte{
		"/v1/models": capture(t, "vllm-0.25.1-get-v1-models.txt"),
		"/version":   capture(t, "vllm-0.25.1-get-version.txt"),
		"/metrics":   append([]byte("HTTP/1.1 200 OK\r\ncontent-type: text/plain; version=0.0.4\r\n\r\n"), metrics...),
	})
	got, err := engine.Probe(within(t), targetOf(t, url), engine.Wanted{})
	if err != nil {
		t.Fatalf("Probe: %v", err)
	}
	want := []any{engine.VLLM, "0.25.1", "dummy-qwen3-8b", 8192, engine.VLLMMetrics, "16"}
	is := []any{
		got.Kind, got.Version, got.Chosen.ID, got.ContextLength, got.Metrics, got.CacheConfig["block_size"],
	}
	if diff := cmp.Diff(want, is); diff != "" {
		t.Errorf("kind, version, model, context, metrics, block size (-want +got):\n%s", diff)
	}
}

func TestProbeOverIPv6AndLocalhost(t *testing.T) {
	t.Parallel()
	list := []byte("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n" + `{"data":[{"id":"tiny"}]}`)
	url := raw(t, "tcp6", "[::1]:0", func(conn net.Conn, _ int, r *http.Request) {
		if r.URL.Path == "/v1/models" {
			conn.Write(list)
		}
	})
	port := url[strings.LastIndex(url, ":"):]
	for _, address := range []string{url, "http://localhost" + port} {
		got, err := engine.Probe(within(t), targetOf(t, address), engine.Wanted{})
		if err != nil {
			t.Fatalf("Probe(%s): %v", address, err)
		}
		if want := "[::1]" + port; got.Peer != want {
			t.Errorf("Probe(%s) went to %s, want %s", address, got.Peer, want)
		}
	}
}

// A proxy in the environment is for other programs.
func TestProxyOfTheEnvironmentIsNotUsed(t *testing.T) {
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY"} {
		t.Setenv(name, "http://127.0.0.1:1")
	}
	server := fake(t, vllmRoutes)
	if _, err := engine.Probe(within(t), targetOf(t, server.URL), engine.Wanted{}); err != nil {
		t.Errorf("Probe: %v", err)
	}
}
