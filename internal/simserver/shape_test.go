package simserver_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lmxbench/internal/simserver"
)

// plain replaces what changes from run to run.
func plain(s string) string {
	for _, r := range [][2]string{
		{`"id":"(\w+)-[0-9a-f]{16}"`, `"id":"$1-ID"`},
		{`"created":\d+`, `"created":0`},
		{`"sent_unix_ns":\d{19}`, `"sent_unix_ns":0`},
		{`"(\w+)_ms":[0-9.]+`, `"${1}_ms":0`},
		{`"(\w+)_per_second":[0-9.]+`, `"${1}_per_second":0`},
	} {
		s = regexp.MustCompile(r[0]).ReplaceAllString(s, r[1])
	}
	return s
}

// timings of one token, with everything that is measured set to 0.
func timings(prompt int) string {
	return fmt.Sprintf(`,"timings":{"cache_n":0,"prompt_n":%d,"prompt_ms":0,"prompt_per_token_ms":0,"prompt_per_second":0,`+
		`"predicted_n":1,"predicted_ms":0,"predicted_per_token_ms":0,"predicted_per_second":0}`, prompt)
}

// TestStreamShape pins the events of each flavour, endpoint and usage mode.
func TestStreamShape(t *testing.T) {
	t.Parallel()
	const vllmHead = `data: {"id":"chatcmpl-ID","object":"chat.completion.chunk","created":0,"model":"sim-small","choices":[`
	const textHead = `data: {"id":"cmpl-ID","object":"text_completion","created":0,"model":"sim-small","choices":[`
	const llamaTail = `],"created":0,"id":"chatcmpl-ID","model":"sim-small","system_fingerprint":"0.28.0","object":"chat.completion.chunk"`
	const llamaTextTail = `],"created":0,"id":"cmpl-ID","model":"sim-small","system_fingerprint":"0.28.0","object":"text_completion"`
	const sim = `,"sim":{"sent_unix_ns":0}}` + "\n\n"
	const prompt = `"messages":[{"role":"user","content":"hello"}],"temperature":0`
	tests := map[string]struct {
		flavor     simserver.Flavor
		path, body string
		want       []string
	}{
		"vLLM chat, usage at the end": {
			simserver.VLLM, "/v1/chat/completions", prompt + `,"max_tokens":2,"stream":true,"stream_options":{"include_usage":true}`,
			[]string{
				vllmHead + `{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]` + sim,
				vllmHead + `{"index":0,"delta":{"content":" W"},"logprobs":null,"finish_reason":null,"token_ids":null}]` + sim,
				vllmHead + `{"index":0,"delta":{"content":" W"},"logprobs":null,"finish_reason":"length","stop_reason":null,"token_ids":null}]` + sim,
				vllmHead + `],"usage":{"prompt_tokens":21,"total_tokens":23,"completion_tokens":2},"system_fingerprint":"vllm-0.28.0-simulated"` + sim,
				"data: [DONE]\n\n",
			},
		},
		"vLLM chat, usage on every event": {
			simserver.VLLM, "/v1/chat/completions", prompt + `,"max_completion_tokens":1,"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true}`,
			[]string{
				vllmHead + `{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"usage":{"prompt_tokens":21,"total_tokens":21,"completion_tokens":0}` + sim,
				vllmHead + `{"index":0,"delta":{"content":" W"},"logprobs":null,"finish_reason":"length","stop_reason":null,"token_ids":null}],"usage":{"prompt_tokens":21,"total_tokens":22,"completion_tokens":1}` + sim,
				vllmHead + `],"usage":{"prompt_tokens":21,"total_tokens":22,"completion_tokens":1},"system_fingerprint":"vllm-0.28.0-simulated"` + sim,
				"data: [DONE]\n\n",
			},
		},
		"vLLM text, no usage": {
			simserver.VLLM, "/v1/completions", `"prompt":"hello","temperature":0,"max_tokens":2,"stream":true`,
			[]string{
				textHead + `{"index":0,"text":" W","logprobs":null,"finish_reason":null,"stop_reason":null,"prompt_token_ids":null,"token_ids":null}]` + sim,
				textHead + `{"index":0,"text":" W","logprobs":null,"finish_reason":"length","stop_reason":null,"prompt_token_ids":null,"token_ids":null}]` + sim,
				"data: [DONE]\n\n",
			},
		},
		"llama.cpp chat, usage and timings at the end": {
			simserver.LlamaCPP, "/v1/chat/completions", prompt + `,"max_tokens":1,"stream":true,"stream_options":{"include_usage":true}`,
			[]string{
				`data: {"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}` + llamaTail + sim,
				`data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":" W"}}` + llamaTail + sim,
				`data: {"choices":[{"finish_reason":"length","index":0,"delta":{}}` + llamaTail + sim,
				`data: {"choices":[` + llamaTail + `,"usage":{"completion_tokens":1,"prompt_tokens":21,"total_tokens":22,"prompt_tokens_details":{"cached_tokens":0}}` + timings(21) + sim,
				"data: [DONE]\n\n",
			},
		},
		"llama.cpp chat without usage has its timings on the finish": {
			simserver.LlamaCPP, "/v1/chat/completions", prompt + `,"max_tokens":1,"stream":true`,
			[]string{
				`data: {"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}` + llamaTail + sim,
				`data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":" W"}}` + llamaTail + sim,
				`data: {"choices":[{"finish_reason":"length","index":0,"delta":{}}` + llamaTail + timings(21) + sim,
				"data: [DONE]\n\n",
			},
		},
		"llama.cpp text with timings on every event": {
			simserver.LlamaCPP, "/v1/completions", `"prompt":"hello","temperature":0,"max_tokens":1,"stream":true,"timings_per_token":true`,
			[]string{
				`data: {"choices":[{"text":" W","index":0,"logprobs":null,"finish_reason":null}` + llamaTextTail + timings(2) + sim,
				`data: {"choices":[{"text":"","index":0,"logprobs":null,"finish_reason":"length"}` + llamaTextTail + timings(2) + sim,
				"data: [DONE]\n\n",
			},
		},
	}
	word := regexp.MustCompile(`"(content|text)":" \w+"`)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := quick(t)
			p.Flavor = tt.flavor
			c := dial(t, start(t, simserver.Config{Profile: p}))
			c.ask(t, "POST", tt.path, "", `{"model":"sim-small",`+tt.body+`}`)
			r := c.get()
			got := make([]string, len(r.chunks))
			for i, chunk := range r.chunks {
				got[i] = word.ReplaceAllString(plain(chunk), `"$1":" W"`)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || r.err != nil {
				t.Errorf("%v, chunks (-want +got):\n%s", r.err, diff)
			}
		})
	}
}
