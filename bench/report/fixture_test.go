package report_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"lmxbench/bench/report"
)

// load describes a run on a well-behaved server: every stream gets its tokens
// in the engine's steps, jittered by a few microseconds.
type load struct {
	streams, iterations, tokens int
	slots                       int           // streams that decode at once; 0: all
	prefill                     time.Duration // from one stream's first token to the next one's
	ttft                        time.Duration // of the first stream
	step                        time.Duration // between tokens
	perEvent                    int           // tokens per event; 0: one
	counted                     bool          // the server counts as it goes
	packed                      int           // events per write; 0: one
	warmup                      int
}

var (
	single = load{streams: 1, iterations: 5, tokens: 1024, ttft: 80 * time.Millisecond, step: 4500 * time.Microsecond, warmup: 2}
	burst  = load{streams: 256, iterations: 3, tokens: 512, ttft: 140 * time.Millisecond, prefill: 2800 * time.Microsecond, step: 16 * time.Millisecond, warmup: 2}
	eight  = load{streams: 8, iterations: 3, tokens: 256, ttft: 60 * time.Millisecond, prefill: 5 * time.Millisecond, step: 8 * time.Millisecond, warmup: 2}
)

func ptr[T any](v T) *T { return &v }

// evidence plays the load. Equal loads give equal evidence.
func (l load) evidence() report.Evidence {
	random := rand.New(rand.NewPCG(uint64(l.streams), uint64(l.tokens)))
	e := report.Evidence{
		Tool:    report.Tool{Version: "1.2.3", Revision: "0123456789abcdef"},
		Plan:    l.plan(),
		Session: session(),
	}
	at := int64(500 * time.Millisecond)
	for i := range l.warmup {
		at = l.batch(&e, report.PhaseWarmup, i+1, at, random)
	}
	for i := range l.iterations {
		at = l.batch(&e, report.PhaseTimed, i+1, at, random)
	}
	return e
}

func (l load) plan() report.Plan {
	return report.Plan{
		Engine: "vllm", HFID: "example-org/Tiny-1B", ModelRevision: "main", Quantization: "FP8", Backend: "cuda",
		BaseURL: "http://192.0.2.10:8000", ServedModel: "example-org/Tiny-1B", ServedModelSource: "v1_models",
		Prompt: "Say <something> short & sweet about tides.", PromptSource: "default", PromptSHA256: "9000edaadb16fc77", PromptName: "reasoning-v1",
		Concurrency: l.streams, Iterations: l.iterations, Warmup: l.warmup, WarmupConcurrency: l.streams,
		MaxTokens: l.tokens, IgnoreEOS: ptr(true), Stream: true,
		TimeoutMs: 600_000, ConnectTimeoutMs: 10_000, StallTimeoutMs: 60_000,
	}
}

func session() report.Session {
	return report.Session{
		OriginUnixNs: 1_796_000_000_000_000_000, CreatedAt: "2026-11-30T19:00:00Z", Peer: "192.0.2.10:8000",
		EngineKind: "vllm", EngineVersion: "0.25.1", ContextLength: 32768,
		Environment: report.Environment{"cpu": {Value: "Example CPU", Source: "measured"}, "governor": {Source: "unknown"}},
		Calibration: &report.Calibrated{File: "calibration.json", Streams: 1000, StampP50Us: 4, StampP99Us: 60, TTFTErrUs: 8, ITLErrUs: 30},
	}
}

// batch appends one batch that begins at start and returns a time after it.
func (l load) batch(e *report.Evidence, phase string, iteration int, start int64, random *rand.Rand) int64 {
	b := report.Batch{
		Phase: phase, Iteration: iteration, Concurrency: l.streams, StartNs: start,
		TimestampSource: "kernel", Reader: "epoll", Loops: 2, Cores: 8, CPUTicks: 4000,
	}
	if iteration == 1 && phase == report.PhaseWarmup {
		b.Dialled, b.ConnectNs = l.streams, int64(310*time.Microsecond)
	}
	slots := l.slots
	if slots == 0 {
		slots = l.streams
	}
	free := make([]int64, slots) // when each slot's stream ends
	for i := range free {
		free[i] = start + int64(l.ttft) - int64(l.prefill)
	}
	events := 0
	for i := range l.streams {
		slot := i % slots
		first := free[slot] + int64(l.prefill)*int64(i%slots+1)
		r := l.request(phase, iteration, i+1, start+int64(i)*900, first, random)
		free[slot] = r.T.End
		b.EndNs = max(b.EndNs, r.T.End)
		events += r.Events.Len()
		e.Requests = append(e.Requests, r)
	}
	b.Reads = int64(events)
	b.CPUUserNs, b.CPUSystemNs = int64(events)*5000, int64(events)*7000
	e.Batches = append(e.Batches, b)
	return b.EndNs + int64(20*time.Millisecond)
}

func (l load) request(phase string, iteration, number int, send, first int64, random *rand.Rand) report.Request {
	r := report.Request{
		Phase: phase, Iteration: iteration, Request: number, Outcome: report.OutcomeOK, Status: 200,
		FinishReason: ptr("length"), Nonce: fmt.Sprintf("%032x", random.Uint64()),
		PromptTokens: ptr(int64(300 + number%3)), OutputTokens: ptr(int64(l.tokens)),
		Usage:        []byte(fmt.Sprintf(`{"completion_tokens":%d,"prompt_tokens":%d}`, l.tokens, 300+number%3)),
		OutputSHA256: "ab", OtherEvents: 2, Events: new(report.Events),
	}
	per, pack := max(1, l.perEvent), max(1, l.packed)
	at := first
	for sent, n := 0, 0; sent < l.tokens; n++ {
		tokens := 1
		if per > 1 {
			tokens = 1 + random.IntN(per)
		}
		tokens = min(tokens, l.tokens-sent)
		if n%pack == 0 {
			at = max(at, first+int64(n)*int64(l.step)+random.Int64N(20_000))
		}
		r.Events.T = append(r.Events.T, at)
		r.Events.Lag = append(r.Events.Lag, 3000+random.Int64N(60_000))
		r.Events.Bytes = append(r.Events.Bytes, int32(180+random.IntN(9)))
		if l.counted {
			r.Events.Tokens = append(r.Events.Tokens, int32(tokens))
		}
		sent += tokens
	}
	last := r.Events.T[len(r.Events.T)-1]
	r.T = report.Stamps{
		Connect: send - 1000, Send: send, FirstByte: first - 2000, FirstEvent: first - 1000,
		FirstToken: first, FirstContent: r.Events.T[min(3, len(r.Events.T)-1)], LastToken: last, Finish: last, End: last + 400_000,
	}
	r.T.FirstToken = r.Events.T[0]
	if phase == report.PhaseTimed && iteration == l.iterations && number == l.streams {
		r.OutputText = ptr("A synthetic answer with <tags> & \"quotes\".")
	}
	return r
}

// build is Build for evidence that is expected to be sound.
func build(t testing.TB, e report.Evidence) *report.Document {
	t.Helper()
	d, err := report.Build(e)
	if err != nil {
		t.Fatalf("Build: %v", err)
	}
	return d
}

func itoa(n int) string { return fmt.Sprint(n) }
