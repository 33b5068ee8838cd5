package engine_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	ssepkg "lmxbench/sse"

	"lmxbench/internal/engine"
)

func sprint(v any) string { return fmt.Sprintf("%v %+v %#v", v, v, v) }

// ask is one request that a fake model server got: the members of its body.
type ask map[string]any

func (a ask) number(field string) int {
	n, _ := a[field].(float64)
	return int(n)
}

func (a ask) option(name string) bool {
	options, _ := a["stream_options"].(map[string]any)
	on, _ := options[name].(bool)
	return on
}

// completion is the stream a well-behaved server gives: a role event, tokens one
// by one, a finish reason, and usage where asked for.
func completion(a ask, tokens int, finish string) route {
	var events []string
	usage := func(n int) string {
		return fmt.Sprintf(`"usage":{"prompt_tokens":20,"completion_tokens":%d,"total_tokens":%d}`, n, 20+n)
	}
	add := func(n int, choices string) {
		event := `{"choices":` + choices
		if a.option("continuous_usage_stats") {
			event += "," + usage(n)
		}
		events = append(events, event+"}")
	}
	add(0, `[{"index":0,"delta":{"role":"assistant","content":""}}]`)
	for i := range tokens {
		add(i+1, `[{"index":0,"delta":{"content":"x"}}]`)
	}
	add(tokens, fmt.Sprintf(`[{"index":0,"delta":{},"finish_reason":%q}]`, finish))
	if a.option("include_usage") {
		events = append(events, `{"choices":[],`+usage(tokens)+`}`)
	}
	return sse(events...)
}

// modelServer answers completion requests and keeps them.
func modelServer(t *testing.T, answer func(ask) route) (engine.Target, *[]ask) {
	t.Helper()
	var asks []ask // the requests come one after the other
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var a ask
		if err := json.NewDecoder(r.Body).Decode(&a); err != nil {
			t.Errorf("request is not JSON: %v", err)
		}
		if r.URL.Path != "/v1/chat/completions" || r.Method != "POST" ||
			r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Accept-Encoding") != "identity" {
			t.Errorf("request %s %s with header %v", r.Method, r.URL.Path, r.Header)
		}
		asks = append(asks, a)
		out := answer(a)
		for name, value := range out.header {
			w.Header().Set(name, value)
		}
		w.Header().Set("Content-Type", cmpOr(out.kind, "application/json"))
		w.WriteHeader(cmpOr(out.status, 200))
		io.WriteString(w, out.body)
	}))
	t.Cleanup(server.Close)
	return targetOf(t, server.URL), &asks
}

func cmpOr[T comparable](a, b T) T {
	var zero T
	if a != zero {
		return a
	}
	return b
}

// has reports whether a request carries a field, by its place.
func (a ask) has(place string) bool {
	outer, inner, nested := strings.Cut(place, ".")
	value, ok := a[outer]
	if nested {
		object, _ := value.(map[string]any)
		_, ok = object[inner]
	}
	return ok
}

// refusing is a server that refuses requests with the given fields, in the
// given words, and serves others.
func refusing(status int, refusals map[string]string) func(ask) route {
	return func(a ask) route {
		for _, place := range slices.Sorted(maps.Keys(refusals)) {
			if a.has(place) {
				return route{status: status, body: refusals[place]}
			}
		}
		return completion(a, max(a.number("max_tokens"), a.number("max_completion_tokens")), "length")
	}
}

func TestNegotiate(t *testing.T) {
	t.Parallel()
	request := engine.Request{
		Model: "m", Prompt: "Count.", MaxTokens: 512, MinTokens: ptr(512), IgnoreEOS: ptr(true), Seed: ptr(int64(1)),
		Extra: map[string]json.RawMessage{"user": json.RawMessage(`"me"`)},
	}
	dropped := func(fields ...string) engine.Request {
		r := request
		r.Dropped = fields
		return r
	}
	renamed := request
	renamed.Renamed = map[string]string{"max_tokens": "max_completion_tokens"}
	usual := engine.Capabilities{
		Request: request, CapHonoured: engine.Yes, ContinuousUsage: engine.Yes, Usage: true,
		PromptTokens: known(20), OutputTokens: known(16),
		Channels: ssepkg.Content, TokenEvents: 16, FinishReason: "length",
	}
	with := func(change func(*engine.Capabilities)) engine.Capabilities {
		c := usual
		change(&c)
		return c
	}
	tests := []struct {
		why    string
		server func(ask) route
		want   engine.Capabilities
		asked  int // requests sent
	}{
		{"a server that takes everything", refusing(400, nil), usual, 2},
		{
			"stream_options, in OpenAI's form",
			refusing(400, map[string]string{"stream_options": `{"error":{"message":"Unrecognized request argument supplied: stream_options","type":"invalid_request_error","param":null,"code":null}}`}),
			with(func(c *engine.Capabilities) {
				c.Request = dropped("stream_options")
				c.Alterations = []engine.Alteration{{Field: "stream_options", Status: 400, Said: "Unrecognized request argument supplied: stream_options"}}
				c.ContinuousUsage, c.Usage = engine.No, false
				c.PromptTokens, c.OutputTokens = unknown, unknown
			}), 2,
		},
		{
			"max_tokens, with the new name in the advice",
			refusing(400, map[string]string{"max_tokens": `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens","code":"unsupported_parameter"}}`}),
			with(func(c *engine.Capabilities) {
				c.Request = renamed
				c.Alterations = []engine.Alteration{{Field: "max_tokens", RenamedTo: "max_completion_tokens", Status: 400, Said: "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."}}
			}), 3,
		},
		{
			"two fields one after the other, in FastAPI's form",
			refusing(422, map[string]string{
				"ignore_eos": `{"detail":[{"type":"extra_forbidden","loc":["body","ignore_eos"],"msg":"Extra inputs are not permitted","input":true}]}`,
				"min_tokens": `{"detail":[{"type":"extra_forbidden","loc":["body","min_tokens"],"msg":"Extra inputs are not permitted","input":16}]}`,
			}),
			with(func(c *engine.Capabilities) {
				c.Request = dropped("ignore_eos", "min_tokens")
				c.Alterations = []engine.Alteration{
					{Field: "ignore_eos", Status: 422, Said: "Extra inputs are not permitted"},
					{Field: "min_tokens", Status: 422, Said: "Extra inputs are not permitted"},
				}
			}), 4,
		},
		{
			"the place inside a validator's text, and not the body it repeats",
			refusing(400, map[string]string{"seed": `{"error":{"message":"1 validation error:\n  {'type': 'extra_forbidden', 'loc': ('body', 'seed'), 'msg': 'no', 'input': {'max_tokens': 16}}","code":400}}`}),
			with(func(c *engine.Capabilities) {
				c.Request = dropped("seed")
				c.Alterations = []engine.Alteration{{Field: "seed", Status: 400, Said: `1 validation error: {'type': 'extra_forbidden', 'loc': ('body', 'seed'), 'msg': 'no', 'input': {'max_tokens': 16}}`}}
			}), 3,
		},
		{
			"temperature, in a plain sentence",
			refusing(400, map[string]string{"temperature": `{"error":"temperature must be strictly positive"}`}),
			with(func(c *engine.Capabilities) {
				c.Request = dropped("temperature")
				c.Alterations = []engine.Alteration{{Field: "temperature", Status: 400, Said: "temperature must be strictly positive"}}
			}), 3,
		},
		{
			"a field of the user's own, between quotes",
			refusing(400, map[string]string{"user": "{\"message\":\"unknown field `user`\"}"}),
			with(func(c *engine.Capabilities) {
				c.Request = dropped("user")
				c.Alterations = []engine.Alteration{{Field: "user", Status: 400, Said: "unknown field `user`"}}
			}), 3,
		},
		{
			"continuous usage alone is refused",
			refusing(400, map[string]string{"stream_options.continuous_usage_stats": `{"error":{"message":"bad","param":"stream_options.continuous_usage_stats"}}`}),
			with(func(c *engine.Capabilities) { c.ContinuousUsage = engine.No }), 2,
		},
		{
			"a refusal inside the stream",
			func(a ask) route {
				if a.has("seed") {
					return sse(`{"error":{"message":"'seed' is not supported","code":400}}`)
				}
				return completion(a, 16, "length")
			},
			with(func(c *engine.Capabilities) {
				c.Request = dropped("seed")
				c.Alterations = []engine.Alteration{{Field: "seed", Status: 200, Said: "'seed' is not supported"}}
			}), 3,
		},
		{
			"a cap that only its other name sets",
			func(a ask) route { return completion(a, cmpOr(a.number("max_completion_tokens"), 40), "length") },
			with(func(c *engine.Capabilities) {
				c.Request = renamed
				c.Alterations = []engine.Alteration{{Field: "max_tokens", RenamedTo: "max_completion_tokens", Status: 200, Said: "max_tokens was taken and not obeyed"}}
			}), 3,
		},
		{
			"a cap that nothing sets",
			func(a ask) route { return completion(a, 40, "stop") },
			with(func(c *engine.Capabilities) {
				c.CapHonoured, c.FinishReason, c.TokenEvents, c.OutputTokens = engine.No, "stop", 40, known(40)
			}), 3,
		},
		{
			"an answer without end is given up",
			func(a ask) route { return completion(a, 100_000, "stop") },
			with(func(c *engine.Capabilities) {
				c.CapHonoured, c.FinishReason, c.TokenEvents = engine.No, "", 4*16+64+1
				c.Usage, c.PromptTokens, c.OutputTokens = false, unknown, unknown
			}), 3,
		},
		{
			"an answer that ends by itself proves no cap",
			func(a ask) route { return completion(a, 3, "stop") },
			with(func(c *engine.Capabilities) {
				c.CapHonoured, c.FinishReason, c.TokenEvents, c.OutputTokens = engine.Unclear, "stop", 3, known(3)
			}), 2,
		},
		{
			"a server that never counts",
			func(a ask) route { return completion(ask{}, 16, "length") },
			with(func(c *engine.Capabilities) {
				c.ContinuousUsage, c.Usage = engine.No, false
				c.PromptTokens, c.OutputTokens = unknown, unknown
			}), 2,
		},
		{
			"reasoning first, llama.cpp's timings, a gzip body although none was asked for",
			func(ask) route {
				plain := sse(
					`{"choices":[{"delta":{"reasoning_content":"hm"}}]}`, `{"choices":[{"delta":{"content":"x"}}]}`,
					`{"choices":[{"delta":{},"finish_reason":"length"}]}`,
					`{"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":16,"prompt_tokens_details":{"cached_tokens":5}},"timings":{"predicted_n":16}}`)
				return route{kind: plain.kind, body: zipped(plain.body), header: map[string]string{"Content-Encoding": "gzip"}}
			},
			with(func(c *engine.Capabilities) {
				c.ContinuousUsage, c.CachedTokens, c.TokenEvents = engine.No, known(5), 2
				c.Channels, c.Timings, c.Coding = ssepkg.Content|ssepkg.Reasoning, true, "gzip"
			}), 2,
		},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			target, asks := modelServer(t, tt.server)
			got, err := engine.Negotiate(within(t), target, request)
			if err != nil {
				t.Fatalf("Negotiate: %v", err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("capabilities (-want +got):\n%s", diff)
			}
			if len(*asks) != tt.asked {
				t.Errorf("sent %d requests, want %d", len(*asks), tt.asked)
			}
			for _, a := range *asks {
				if a.number("max_tokens")+a.number("max_completion_tokens") != 16 || a.number("min_tokens") > 16 {
					t.Errorf("request asks for more than a few tokens: %v", a)
				}
			}
		})
	}
}

func known(n int64) ssepkg.Optional[int64] { return ssepkg.Optional[int64]{Value: n, Known: true} }

var unknown ssepkg.Optional[int64]

func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, text)
	w.Close()
	return b.String()
}
