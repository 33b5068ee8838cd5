package engine_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"lmxbench/internal/engine"
	ssepkg "lmxbench/sse"
)

func TestNegotiateFaults(t *testing.T) {
	t.Parallel()
	const whole = `{"object":"chat.completion","choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`
	tests := []struct {
		why    string
		answer route
		class  engine.Class
		words  []string
		asked  int
	}{
		{"a refusal that names no field", route{status: 400, body: `{"error":{"message":"This model's maximum context length is 128 tokens. However, your messages and the completion need 300."}}`}, engine.RequestRefused, []string{"maximum context length is 128"}, 1},
		{"a field that cannot be spared", route{status: 422, body: `{"detail":[{"loc":["body","messages"],"msg":"field required"}]}`}, engine.RequestRefused, []string{"field required"}, 1},
		{"a field refused under both its names", route{status: 400, body: `{"error":{"message":"too many","param":"max_tokens"}}`}, engine.RequestRefused, []string{"too many"}, 2},
		{"an unknown model", route{status: 404, body: "{\"error\":{\"message\":\"The model `m` does not exist.\"}}"}, engine.NotFound, []string{"does not exist", "--served-model"}, 1},
		{"no key", route{status: 403}, engine.Unauthorized, []string{"API key"}, 1},
		{"a page", route{kind: "text/html", body: "<html>"}, engine.NotOpenAI, []string{"HTML page"}, 1},
		{"one piece where a stream was asked for", route{body: whole}, engine.StreamFailed, []string{"one piece", "--no-stream"}, 1},
		{"an error as a whole body", route{body: `{"error":{"message":"engine is dead"}}`}, engine.StreamFailed, []string{"engine is dead"}, 1},
		{"an error event", sse(`{"error":{"message":"engine is dead"}}`), engine.StreamFailed, []string{"inside its answer: engine is dead"}, 1},
		{"a finish reason that is a failure", sse(`{"choices":[{"delta":{"content":"x"},"finish_reason":"abort"}]}`), engine.StreamFailed, []string{"finish reason abort"}, 1},
		{"a stream without a token", route{kind: "text/event-stream", body: ": ping\n\n"}, engine.StreamFailed, []string{"without a single token"}, 1},
		{"a stream that is cut", route{kind: "text/event-stream", body: "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n"}, engine.StreamFailed, []string{"before a finish reason"}, 1},
		{"a stream of nonsense", sse(`{"choices":`), engine.StreamFailed, []string{"broken"}, 1},
		{"an empty body", route{kind: "text/event-stream"}, engine.StreamFailed, nil, 1},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			target, asks := modelServer(t, func(ask) route { return tt.answer })
			_, err := engine.Negotiate(within(t), target, engine.Request{Model: "m", Prompt: "p", MaxTokens: 8})
			wantFault(t, err, tt.class, append(tt.words, "POST ")...)
			if len(*asks) != tt.asked {
				t.Errorf("sent %d requests, want %d", len(*asks), tt.asked)
			}
		})
	}
	t.Run("a stream that falls silent after a token", func(t *testing.T) {
		t.Parallel()
		quit := make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n")
			w.(http.Flusher).Flush()
			<-quit
		}))
		t.Cleanup(server.Close)
		t.Cleanup(func() { close(quit) })
		target := targetOf(t, server.URL)
		target.Timeout, target.Silence = time.Minute, 50*time.Millisecond
		_, err := engine.Negotiate(within(t), target, engine.Request{Model: "m", Prompt: "p", MaxTokens: 8})
		wantFault(t, err, engine.Stalled, "silent for 50ms", "POST ")
	})
	t.Run("a request that no server would take", func(t *testing.T) {
		t.Parallel()
		target, asks := modelServer(t, func(ask) route { return route{} })
		_, err := engine.Negotiate(within(t), target, engine.Request{Model: "m", Prompt: "p"})
		wantFault(t, err, engine.BadInput, "max_tokens")
		if len(*asks) != 0 {
			t.Errorf("sent %d requests, want none", len(*asks))
		}
	})
	t.Run("one answer is taken where one was asked for", func(t *testing.T) {
		t.Parallel()
		target, _ := modelServer(t, func(ask) route { return route{body: whole} })
		got, err := engine.Negotiate(within(t), target,
			engine.Request{Model: "m", Prompt: "p", MaxTokens: 8, OneAnswer: true})
		if err != nil || got.FinishReason != "stop" || got.CapHonoured != engine.Unclear {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

// What vLLM 0.25.1 really sends is understood.
func TestNegotiateCapturedVLLM(t *testing.T) {
	t.Parallel()
	tests := []struct {
		file       string
		continuous engine.Verdict
		channels   ssepkg.Channels
		tokens     int64
	}{
		{"vllm-0.25.1-chat-stream.txt", engine.No, ssepkg.Content, 32},
		{"vllm-0.25.1-chat-stream-continuous-usage.txt", engine.Yes, ssepkg.Content, 8},
		{"vllm-0.25.1-reasoning-chat-stream.txt", engine.No, ssepkg.Reasoning, 16},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			url := replay(t, map[string][]byte{"/v1/chat/completions": capture(t, tt.file)})
			got, err := engine.Negotiate(within(t), targetOf(t, url), engine.Request{Model: "m", Prompt: "p", MaxTokens: 8})
			if err != nil {
				t.Fatal(err)
			}
			if got.OutputTokens != known(tt.tokens) || got.Channels != tt.channels || got.ContinuousUsage != tt.continuous {
				t.Errorf("got %+v", got)
			}
		})
	}
	for _, name := range []string{"json", "length", "model"} {
		url := replay(t, map[string][]byte{"/v1/chat/completions": capture(t, "vllm-0.25.1-error-"+name+".txt")})
		_, err := engine.Negotiate(within(t), targetOf(t, url), engine.Request{Model: "m", Prompt: "p", MaxTokens: 8})
		class := engine.RequestRefused
		if name == "model" {
			class = engine.NotFound
		}
		wantFault(t, err, class)
	}
}
