package engine_test

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lmxbench/internal/engine"
)

func ptr[T any](v T) *T { return &v }

var goldenNonce = engine.Nonce{0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff}

func TestBodyGolden(t *testing.T) {
	t.Parallel()
	const nonceLine = `[LocalMaxxing cache-bust nonce: 00112233445566778899aabbccddeeff]\n`
	tests := []struct {
		why     string
		request engine.Request
		want    string
	}{
		{
			"lmx's own fields in its order",
			engine.Request{Model: "Qwen/Qwen3-8B", Prompt: "Say something.", MaxTokens: 128},
			`{"max_tokens":128,"messages":[{"content":"` + nonceLine + `Say something.","role":"user"}],` +
				`"model":"Qwen/Qwen3-8B","stream":true,"stream_options":{"include_usage":true},"temperature":0}`,
		},
		{
			"characters that encoding/json escapes",
			engine.Request{Model: "m", Prompt: "a<b>&\"c\"\\\t\u2028é\x01\n", MaxTokens: 1, Temperature: 0.7},
			`{"max_tokens":1,"messages":[{"content":"` + nonceLine +
				`a\u003cb\u003e\u0026\"c\"\\\t\u2028é\u0001\n","role":"user"}],` +
				`"model":"m","stream":true,"stream_options":{"include_usage":true},"temperature":0.7}`,
		},
		{
			"one answer asks for no stream and has no options for one",
			engine.Request{Model: "m", Prompt: "p", MaxTokens: 1, OneAnswer: true},
			`{"max_tokens":1,"messages":[{"content":"` + nonceLine + `p","role":"user"}],` +
				`"model":"m","stream":false,"temperature":0}`,
		},
		{
			"options of ours only where given, 0 and false included",
			engine.Request{
				Model: "m", Prompt: "p", MaxTokens: 64, TopP: ptr(0.95), Seed: ptr(int64(0)), MinTokens: ptr(64),
				IgnoreEOS: ptr(false), ContinuousUsage: true,
				Extra: map[string]json.RawMessage{
					"chat_template_kwargs": json.RawMessage(`{"enable_thinking":false}`),
					"zeta":                 json.RawMessage(`[1,2]`),
				},
			},
			`{"chat_template_kwargs":{"enable_thinking":false},"ignore_eos":false,"max_tokens":64,` +
				`"messages":[{"content":"` + nonceLine + `p","role":"user"}],"min_tokens":64,"model":"m","seed":0,` +
				`"stream":true,"stream_options":{"continuous_usage_stats":true,"include_usage":true},"temperature":0,` +
				`"top_p":0.95,"zeta":[1,2]}`,
		},
		{
			"extra stream options join ours",
			engine.Request{
				Model: "m", Prompt: "p", MaxTokens: 1,
				Extra: map[string]json.RawMessage{"stream_options": json.RawMessage(`{"x":1}`)},
			},
			`{"max_tokens":1,"messages":[{"content":"` + nonceLine + `p","role":"user"}],"model":"m","stream":true,` +
				`"stream_options":{"include_usage":true,"x":1},"temperature":0}`,
		},
		{
			"what a server refused is renamed or left out",
			engine.Request{
				Model: "m", Prompt: "p", MaxTokens: 1, ContinuousUsage: true,
				Renamed: map[string]string{"max_tokens": "max_completion_tokens"},
				Dropped: []string{"temperature", "stream_options.continuous_usage_stats"},
			},
			`{"max_completion_tokens":1,"messages":[{"content":"` + nonceLine + `p","role":"user"}],"model":"m",` +
				`"stream":true,"stream_options":{"include_usage":true}}`,
		},
		{
			"an object that lost all its members goes as well",
			engine.Request{Model: "m", Prompt: "p", MaxTokens: 1, Dropped: []string{"stream_options.include_usage"}},
			`{"max_tokens":1,"messages":[{"content":"` + nonceLine + `p","role":"user"}],"model":"m","stream":true,"temperature":0}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			template, err := engine.NewTemplate(tt.request)
			if err != nil {
				t.Fatal(err)
			}
			got := template.Append(nil, goldenNonce)
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			if len(got) != template.Size() {
				t.Errorf("body has %d bytes, Size says %d", len(got), template.Size())
			}
		})
	}
}

// Whatever the prompt, the body is what encoding/json makes of the same map.
func TestBodyIsEncodingJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		prompt := rapid.StringN(1, 200, -1).Draw(t, "prompt")
		tokens := rapid.IntRange(1, 1<<20).Draw(t, "max_tokens")
		temperature := rapid.Float64Range(0, 2).Draw(t, "temperature")
		nonce := engine.NewNonces(1)[0]
		template, err := engine.NewTemplate(engine.Request{
			Model: "m", Prompt: prompt, MaxTokens: tokens, Temperature: temperature,
		})
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(map[string]any{
			"model": "m", "max_tokens": tokens, "temperature": temperature, "stream": true,
			"stream_options": map[string]any{"include_usage": true},
			"messages": []any{map[string]any{
				"role": "user", "content": "[LocalMaxxing cache-bust nonce: " + nonce.String() + "]\n" + prompt,
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(template.Append(nil, nonce))); diff != "" {
			t.Fatalf("body (-want +got):\n%s", diff)
		}
	})
}

func TestBodiesHaveNoncesOfTheirOwn(t *testing.T) {
	t.Parallel()
	template, err := engine.NewTemplate(engine.Request{Model: "m", Prompt: "p", MaxTokens: 1})
	if err != nil {
		t.Fatal(err)
	}
	nonces := engine.NewNonces(256)
	bodies := template.Bodies(nonces)
	seen := map[string]bool{}
	for i, body := range bodies {
		text := nonces[i].String()
		if raw, err := hex.DecodeString(text); err != nil || len(raw) != 16 || strings.ToLower(text) != text {
			t.Fatalf("nonce %q is not 32 lower-case hex digits", text)
		}
		if !strings.Contains(string(body), "nonce: "+text+"]") || !json.Valid(body) {
			t.Fatalf("body %d does not hold its nonce: %s", i, body)
		}
		seen[text] = true
	}
	if len(seen) != 256 {
		t.Errorf("%d different nonces of 256", len(seen))
	}
	grown := append(bodies[0], "tail"...)
	if !json.Valid(bodies[1]) || len(grown) == 0 {
		t.Error("appending to one body wrote into the next")
	}
}

func TestTemplateAppendAllocatesNothing(t *testing.T) {
	template, err := engine.NewTemplate(engine.Request{Model: "m", Prompt: "p", MaxTokens: 1})
	if err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 0, template.Size())
	if got := testing.AllocsPerRun(100, func() { template.Append(buffer, goldenNonce) }); got != 0 {
		t.Errorf("Append into a buffer of its size allocates %v times", got)
	}
}

func BenchmarkBodies(b *testing.B) {
	template, err := engine.NewTemplate(engine.Request{Model: "m", Prompt: strings.Repeat("word ", 1000), MaxTokens: 1})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		template.Bodies(engine.NewNonces(256))
	}
	b.ReportMetric(256*float64(b.N)/b.Elapsed().Seconds(), "bodies/s")
}

func TestRequestCheck(t *testing.T) {
	t.Parallel()
	tests := []struct {
		why     string
		request engine.Request
		want    string
	}{
		{"no model", engine.Request{Prompt: "p", MaxTokens: 1}, "no model"},
		{"no prompt", engine.Request{Model: "m", MaxTokens: 1}, "no prompt"},
		{"a prompt that is not UTF-8", engine.Request{Model: "m", Prompt: "a\xff", MaxTokens: 1}, "not UTF-8"},
		{"no tokens", engine.Request{Model: "m", Prompt: "p"}, "at least 1"},
		{"a temperature that is no number", engine.Request{Model: "m", Prompt: "p", MaxTokens: 1, Temperature: math.NaN()}, "numbers"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			if _, err := engine.NewTemplate(tt.request); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestParseExtraBody(t *testing.T) {
	t.Parallel()
	got, err := engine.ParseExtraBody(` {"b": {"y": 1.50, "x": "<"}, "a": 12345678901234567890, "n": 1} `)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]json.RawMessage{
		"a": json.RawMessage(`12345678901234567890`), // no digit is lost
		"b": json.RawMessage(`{"x":"\u003c","y":1.50}`),
		"n": json.RawMessage(`1`),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	for in, want := range map[string]string{
		`[1]`:                 "not a JSON object",
		`null`:                "not a JSON object",
		`{"a":1} x`:           "not a JSON object",
		``:                    "not a JSON object",
		`{"max_tokens":1}`:    "--max-tokens",
		`{"messages":[]}`:     "--prompt",
		`{"stream":false}`:    "--no-stream",
		`{"n":2}`:             "only one answer",
		"{\"a\":\"\xff\"}":    "not UTF-8",
		`{"temperature":0.5}`: "--temperature",
	} {
		if _, err := engine.ParseExtraBody(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseExtraBody(%q): got %v, want an error with %q", in, err, want)
		}
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	base := []engine.Header{{"Content-Type", "application/json"}, {"Accept-Encoding", "identity"}}
	if diff := cmp.Diff(base, engine.Target{}.Headers()); diff != "" {
		t.Errorf("without a key (-want +got):\n%s", diff)
	}
	withKey := append(base, engine.Header{"Authorization", "Bearer sk-1"})
	if diff := cmp.Diff(withKey, engine.Target{Key: "sk-1"}.Headers()); diff != "" {
		t.Errorf("with a key (-want +got):\n%s", diff)
	}
}

func TestSecretIsNotShown(t *testing.T) {
	t.Parallel()
	target := engine.Target{Key: "sk-secret"}
	encoded, err := json.Marshal(map[string]any{"key": target.Key})
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{sprint(target), string(encoded), target.Key.String()} {
		if strings.Contains(shown, "sk-secret") {
			t.Errorf("%q shows the key", shown)
		}
	}
}
