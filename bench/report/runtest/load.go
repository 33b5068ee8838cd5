package runtest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"lmxbench/bench/report"
)

// Load describes a run on a well-behaved server: every stream gets its tokens
// in the engine's steps, jittered by a few microseconds. Zero values are no
// usable defaults; start from [Burst] or [Single].
type Load struct {
	Streams, Iterations, Tokens, Warmup int

	TTFT    time.Duration // of the first stream
	Prefill time.Duration // from one stream's first token to the next one's
	Step    time.Duration // between tokens
	// Wobble makes step times of iterations differ by up to this share.
	Wobble float64
	// PerEvent is the most tokens an event carries, counted by the server; 0: 1.
	PerEvent int
	// Failed is the number of streams of the last iteration that break off.
	Failed int
	// Cut is a run that was killed after its first iteration.
	Cut bool
	// Seed makes otherwise equal loads differ.
	Seed uint64
	// Change edits the plan before anything is played; may be nil.
	Change func(*report.Plan)
	// Attached is what other packages said about the run.
	Attached report.Attached
}

// Single is a run of one stream, Burst one of n.
func Single() Load {
	return Load{Streams: 1, Iterations: 5, Tokens: 1024, Warmup: 1, TTFT: 80 * time.Millisecond, Step: 4500 * time.Microsecond, Wobble: 0.01}
}

// Burst is a run of n streams at a step that grows with them.
func Burst(n int) Load {
	return Load{
		Streams: n, Iterations: 6, Tokens: 256, Warmup: 1, TTFT: 60 * time.Millisecond, Prefill: 3 * time.Millisecond,
		Step: 5*time.Millisecond + time.Duration(n)*50*time.Microsecond, Wobble: 0.02,
	}
}

// Evidence plays the load.
func (l Load) Evidence() report.Evidence {
	random := rand.New(rand.NewPCG(uint64(l.Streams)+l.Seed, uint64(l.Tokens)))
	e := report.Evidence{
		Tool: report.Tool{Version: "1.2.3", Revision: "0123456789abcdef"}, Plan: l.plan(), Session: session(), Attached: l.Attached,
	}
	at := int64(500 * time.Millisecond)
	for i := range l.Warmup {
		at = l.batch(&e, report.PhaseWarmup, i+1, at, random)
	}
	for i := range l.Iterations {
		if l.Cut && i > 0 {
			break
		}
		at = l.batch(&e, report.PhaseTimed, i+1, at, random)
	}
	e.Unfinished = l.Cut
	return e
}

func (l Load) plan() report.Plan {
	p := report.Plan{
		Engine: "vllm", HFID: "example-org/Tiny-1B", ModelRevision: "main", Quantization: "FP8", Backend: "cuda",
		BaseURL: "http://192.0.2.10:8000", ServedModel: "example-org/Tiny-1B", ServedModelSource: "v1_models",
		Prompt: "Say <something> short & sweet about tides.", PromptSource: "default", PromptSHA256: "9000edaadb16fc77", PromptName: "reasoning-v1",
		Concurrency: l.Streams, Iterations: l.Iterations, Warmup: l.Warmup, WarmupConcurrency: l.Streams,
		MaxTokens: l.Tokens, IgnoreEOS: ptr(true), Stream: true,
		TimeoutMs: 600_000, ConnectTimeoutMs: 10_000, StallTimeoutMs: 60_000,
		Hardware: []byte(`{"gpuCount":1,"gpuName":"NVIDIA B200","hwClass":"DISCRETE_GPU","vramGb":179.1}`),
	}
	if l.Change != nil {
		l.Change(&p)
	}
	return p
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
func (l Load) batch(e *report.Evidence, phase string, iteration int, start int64, random *rand.Rand) int64 {
	b := report.Batch{
		Phase: phase, Iteration: iteration, Concurrency: l.Streams, StartNs: start,
		TimestampSource: "kernel", Reader: "epoll", Loops: 2, Cores: 8, CPUTicks: 4000,
	}
	step := int64(float64(l.Step) * (1 + l.Wobble*(random.Float64()-0.5)))
	for i := range l.Streams {
		r := l.request(phase, iteration, i+1, start+int64(i)*900, start+int64(l.TTFT)+int64(i)*int64(l.Prefill), step, random)
		if phase == report.PhaseTimed && iteration == l.Iterations && i < l.Failed {
			breakOff(&r)
		}
		b.EndNs = max(b.EndNs, r.T.End)
		b.Reads += int64(r.Events.Len())
		e.Requests = append(e.Requests, r)
	}
	b.CPUUserNs, b.CPUSystemNs = b.Reads*5000, b.Reads*7000
	e.Batches = append(e.Batches, b)
	return b.EndNs + int64(20*time.Millisecond)
}

// breakOff ends a stream in its middle.
func breakOff(r *report.Request) {
	half := r.Events.Len() / 2
	r.Events.T, r.Events.Lag, r.Events.Bytes = r.Events.T[:half], r.Events.Lag[:half], r.Events.Bytes[:half]
	if len(r.Events.Tokens) > 0 {
		r.Events.Tokens = r.Events.Tokens[:half]
	}
	r.Outcome, r.FinishReason, r.OutputTokens, r.Usage = report.OutcomeTruncated, nil, nil, nil
	r.T.LastToken, r.T.Finish = r.Events.T[half-1], 0
	r.T.End = r.T.LastToken + 1_000_000
}

func (l Load) request(phase string, iteration, number int, send, first, step int64, random *rand.Rand) report.Request {
	r := report.Request{
		Phase: phase, Iteration: iteration, Request: number, Outcome: report.OutcomeOK, Status: 200,
		FinishReason: ptr("length"), Nonce: fmt.Sprintf("%032x", random.Uint64()),
		PromptTokens: ptr(int64(300 + number%3)), OutputTokens: ptr(int64(l.Tokens)),
		Usage:        []byte(fmt.Sprintf(`{"completion_tokens":%d,"prompt_tokens":%d}`, l.Tokens, 300+number%3)),
		OutputSHA256: "ab", OtherEvents: 2, Events: new(report.Events),
	}
	at := first
	for sent, n := 0, int64(0); sent < l.Tokens; n++ {
		tokens := 1
		if l.PerEvent > 1 {
			tokens = min(1+random.IntN(l.PerEvent), l.Tokens-sent)
		}
		at = max(at, first+n*step+random.Int64N(20_000))
		r.Events.T = append(r.Events.T, at)
		r.Events.Lag = append(r.Events.Lag, 3000+random.Int64N(60_000))
		r.Events.Bytes = append(r.Events.Bytes, int32(180+random.IntN(9)))
		if l.PerEvent > 1 {
			r.Events.Tokens = append(r.Events.Tokens, int32(tokens))
		}
		sent += tokens
	}
	last := r.Events.T[r.Events.Len()-1]
	r.T = report.Stamps{
		Connect: send - 1000, Send: send, FirstByte: first - 2000, FirstEvent: first - 1000,
		FirstToken: r.Events.T[0], FirstContent: r.Events.T[min(3, r.Events.Len()-1)], LastToken: last, Finish: last, End: last + 400_000,
	}
	if phase == report.PhaseTimed && iteration == l.Iterations && number == l.Streams {
		r.OutputText = ptr("A synthetic answer with <tags> & \"quotes\".")
	}
	return r
}

func ptr[T any](v T) *T { return &v }
