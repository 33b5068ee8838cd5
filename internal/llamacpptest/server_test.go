package llamacpptest_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"lmxbench/internal/engine"
	"lmxbench/internal/llamacpptest"
	"lmxbench/sse"
)

var update = flag.Bool("update", false, "capture the answers in testdata again")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const prompt = "Say the word tide forty times."

// A real server is found, understood and counted.
func TestServer(t *testing.T) {
	t.Parallel()
	server := llamacpptest.Start(t, llamacpptest.Options{Alias: "smollm2"})
	target := targetOf(t, server)
	ctx := t.Context()

	info, err := engine.Probe(ctx, target, engine.Wanted{})
	if err != nil {
		t.Fatalf("Probe: %v", err)
	}
	got := []any{info.Kind, info.Chosen.ID, info.Slots, info.ContextLength, info.ContextSource, info.Metrics, info.Server}
	want := []any{engine.LlamaCPP, "smollm2", 4, 1024, "props", engine.LlamaCPPMetrics, "llama.cpp"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kind, model, slots, context, metrics, header (-want +got):\n%s", diff)
	}
	if q := info.Quantization("Q4_1"); q.Status != "matched" || q.Filename != "Q4_1" || q.V1Models != "Q4_1" {
		t.Errorf("quantization %+v, want Q4_1 from the file's name and from the list", q)
	}

	ignore := true
	request := engine.Request{Model: info.Chosen.ID, Prompt: prompt, MaxTokens: 32, IgnoreEOS: &ignore}
	before := scrape(t, target)
	able, err := engine.Negotiate(ctx, target, request)
	if err != nil {
		t.Fatalf("Negotiate: %v", err)
	}
	if diff := cmp.Diff(request, able.Request); diff != "" || len(able.Alterations) != 0 {
		t.Errorf("the request was altered by %v:\n%s", able.Alterations, diff)
	}
	gotAble := []any{able.CapHonoured, able.ContinuousUsage, able.Usage, able.Timings, able.Channels, able.OutputTokens.Value}
	wantAble := []any{engine.Yes, engine.No, true, true, sse.Content, int64(16)}
	if diff := cmp.Diff(wantAble, gotAble); diff != "" {
		t.Errorf("cap, continuous usage, usage, timings, channels, tokens (-want +got):\n%s", diff)
	}

	after := scrape(t, target)
	growth := engine.Delta(before, after)
	if n, ok := growth.Value(engine.GenerationTokens); !ok || n != 32 { // two requests of 16
		t.Errorf("the server counted %v tokens (known %v), want 32", n, ok)
	}
	if n, ok := growth.Value(engine.DraftTokens); !ok || n != 0 {
		t.Errorf("the server counted %v draft tokens (known %v), want 0", n, ok)
	}
}

func scrape(t *testing.T, target engine.Target) engine.Counters {
	t.Helper()
	c, err := engine.Scrape(t.Context(), target)
	if err != nil {
		t.Fatalf("Scrape: %v", err)
	}
	return c
}

func targetOf(t *testing.T, server *llamacpptest.Server) engine.Target {
	t.Helper()
	base, err := engine.ParseBaseURL(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return engine.Target{Base: base, Timeout: time.Minute}
}

// Counters are those of one life of the server: another server's are not
// subtracted from them.
func TestTwoServersAreToldApart(t *testing.T) {
	t.Parallel()
	small := llamacpptest.Options{Slots: 1, Context: 256, Alias: "smollm2"}
	first := scrape(t, targetOf(t, llamacpptest.Start(t, small)))
	second := scrape(t, targetOf(t, llamacpptest.Start(t, small)))
	if growth := engine.Delta(first, second); !growth.Restarted {
		t.Errorf("got %+v between two servers, want a restart", growth)
	}
}

func TestSpeculation(t *testing.T) {
	t.Parallel()
	server := llamacpptest.Start(t, llamacpptest.Options{Alias: "smollm2", Speculative: true})
	before := scrape(t, targetOf(t, server))
	answer := post(t, server.URL, streamBody(96))
	after := scrape(t, targetOf(t, server))
	growth := engine.Delta(before, after)
	rate, known := growth.AcceptanceRate()
	length, also := growth.MeanAcceptedLength()
	if !known || !also || rate <= 0 || rate > 1 || length <= 1 {
		t.Errorf("acceptance rate %v, mean accepted length %v, want both known and above none", rate, length)
	}
	stream := read(t, answer)
	if stream.timings.DraftAccepted.Value != int64(growth.Values[engine.AcceptedTokens]) {
		t.Errorf("%v tokens accepted by the timings, %v by the counters",
			stream.timings.DraftAccepted, growth.Values[engine.AcceptedTokens])
	}
}

func TestStop(t *testing.T) {
	t.Parallel()
	llamacpptest.Start(t, llamacpptest.Options{Slots: 1, Context: 256}) // skips where asked to
	server, err := llamacpptest.Launch(t.Context(), llamacpptest.Options{Slots: 1, Context: 256})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(server.Log(), "listening") {
		t.Errorf("log %q does not say that the server listens", server.Log())
	}
	for range 2 {
		if err := server.Stop(); err != nil {
			t.Errorf("Stop: %v", err)
		}
	}
	if conn, err := net.Dial("tcp", strings.TrimPrefix(server.URL, "http://")); err == nil {
		conn.Close()
		t.Error("the stopped server still takes connections")
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := llamacpptest.Launch(stopped, llamacpptest.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Launch within a context that has ended: %v", err)
	}
}

// captures are the answers kept in testdata: what a real server sends, byte for
// byte, with HTTP's own chunk sizes. Lines that begin with "> " are the request.
var captures = []struct {
	file        string
	speculative bool
	body        string
	status      int
}{
	{"llamacpp-chat-stream.txt", false, streamBody(32), 200},
	{"llamacpp-chat-stream-no-usage.txt", false, strings.Replace(streamBody(8), `"stream_options":{"include_usage":true},`, "", 1), 200},
	{"llamacpp-chat.txt", false, strings.Replace(streamBody(16), `"stream":true,"stream_options":{"include_usage":true},`, "", 1), 200},
	{"llamacpp-chat-stream-speculative.txt", true, streamBody(96), 200},
	{"llamacpp-error-json.txt", false, `{"model":`, 400},
	{"llamacpp-error-length.txt", false, strings.Replace(streamBody(16), prompt, strings.Repeat("tide ", 1200), 1), 400},
}

func streamBody(tokens int) string {
	request := engine.Request{Model: "smollm2", Prompt: prompt, MaxTokens: tokens}
	request.IgnoreEOS = new(bool)
	*request.IgnoreEOS = true
	template, err := engine.NewTemplate(request)
	if err != nil {
		panic(err)
	}
	return string(template.Append(nil, engine.Nonce{0x5e, 0xa5, 0x1d, 0xe0}))
}

// The captures are still what the server sends, figures and words aside.
func TestCaptures(t *testing.T) {
	t.Parallel()
	servers := map[bool]*llamacpptest.Server{
		false: llamacpptest.Start(t, llamacpptest.Options{Alias: "smollm2"}),
		true:  llamacpptest.Start(t, llamacpptest.Options{Alias: "smollm2", Speculative: true}),
	}
	for _, c := range captures {
		got := post(t, servers[c.speculative].URL, c.body)
		path := filepath.Join("testdata", c.file)
		if *update {
			kept := append([]byte("> POST /v1/chat/completions\n> "+c.body+"\n\n"), got...)
			if err := os.WriteFile(path, kept, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		kept, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, kept, _ = bytes.Cut(kept, []byte("\n\n"))
		is, was := read(t, got), read(t, kept)
		if is.status != c.status || was.status != c.status {
			t.Errorf("%s: status %d, captured %d, want %d", c.file, is.status, was.status, c.status)
		}
		if diff := cmp.Diff(was.shape, is.shape); diff != "" {
			t.Errorf("%s: shape of the answer (-captured +now):\n%s", c.file, diff)
		}
	}
}

// post sends a completion request and returns the answer's bytes.
func post(t *testing.T, url, body string) []byte {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(2 * time.Minute))
	request, err := http.NewRequest("POST", url+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Close = true
	if err := request.Write(conn); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// answer is what an answer's bytes hold.
type answer struct {
	status  int
	shape   []string // the forms of its events, each once, in order
	timings sse.Timings
}

var (
	digits = regexp.MustCompile(`-?\d+(?:\.\d+)?(?:e[-+]?\d+)?`)
	words  = regexp.MustCompile(`:\s*"(?:[^"\\]|\\.)*"`)
)

func read(t *testing.T, raw []byte) answer {
	t.Helper()
	response, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(raw)), nil)
	if err != nil {
		t.Fatalf("read answer: %v", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("read body: %v", err)
	}
	a := answer{status: response.StatusCode}
	if !strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		a.shape = []string{shapeOf(body)}
		return a
	}
	var framer sse.Framer
	var decoder sse.Decoder
	framer.Push(body)
	for framer.Next() {
		var chunk sse.Chunk
		data := bytes.Clone(framer.Event().Data)
		if kind, err := decoder.DecodeEvent(framer.Event(), &chunk); err != nil || kind == sse.Malformed {
			t.Fatalf("event %q: %v, %v", data, kind, err)
		}
		if chunk.Timings != nil {
			a.timings = sse.ParseTimings(chunk.Timings)
		}
		if shape := shapeOf(data); !slices.Contains(a.shape, shape) {
			a.shape = append(a.shape, shape)
		}
	}
	return a
}

// shapeOf is JSON without its figures and words, and without the counts of
// speculation, which are there only if a draft was found.
func shapeOf(data []byte) string {
	data = words.ReplaceAll(digits.ReplaceAll(data, []byte("0")), []byte(`:""`))
	return strings.Replace(string(data), `,"draft_n":0,"draft_n_accepted":0`, "", 1)
}
