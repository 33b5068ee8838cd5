package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"lmxbench/bench/report"
	"lmxbench/internal/engine"
	"lmxbench/loadgen"
)

// told is an Observer that keeps what it is told.
type told struct {
	events, notes []string
	stages        []Stage
}

func (o *told) Status(event string, _ map[string]any) { o.events = append(o.events, event) }
func (o *told) Stage(s Stage)                         { o.stages = append(o.stages, s) }
func (o *told) Note(text string)                      { o.notes = append(o.notes, text) }

// script says how the requests of each batch end, in the order of the batches;
// the last one is repeated. A letter is a request: o ok, f failed, c cancelled.
type script []string

// newTestRung is a rung whose batches go as the script says, and the batches
// that were asked for.
func newTestRung(t *testing.T, plan report.Plan, s script) (*rung, *told, *[]batch) {
	t.Helper()
	base, err := engine.ParseBaseURL("http://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	observer := &told{}
	plan.Prompt, plan.Stream, plan.ServedModel = "Say tide.", true, "m"
	cfg, err := Config{
		Plan: plan, Target: engine.Target{Base: base}, Rungs: []int{max(1, plan.Concurrency)}, Power: PowerOff,
		Out: filepath.Join(t.TempDir(), "run.json"), Observer: observer,
	}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	srv := &server{info: engine.Info{Chosen: engine.Model{ID: "m"}, Peer: "127.0.0.1:1"}}
	srv.askedFor = engine.Request{Model: "m", Prompt: plan.Prompt, MaxTokens: 4}
	r, err := newRung(&cfg, srv, cfg.Rungs[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.writer.Close() })
	var asked []batch
	r.deliver = func(_ *rung, _ context.Context, b batch) (report.Batch, []report.Request, error) {
		if b.phase == phaseProbe {
			asked = append(asked, b)
			return report.Batch{Dialled: 1}, played(b, "o"), nil
		}
		line := s[min(len(s)-1, len(asked)-1)]
		asked = append(asked, b)
		seen := report.Batch{
			Phase: b.phase, Iteration: b.iteration, Concurrency: b.streams, StartNs: 1e9, EndNs: 2e9,
			TimestampSource: "kernel", Cores: 1, Interrupted: strings.Contains(line, "c"),
		}
		return seen, played(b, line), nil
	}
	return r, observer, &asked
}

// played are the lines of a batch.
func played(b batch, line string) []report.Request {
	lines := make([]report.Request, len(line))
	for i, letter := range line {
		l := &lines[i]
		l.Phase, l.Iteration, l.Request = b.phase, b.iteration, i+1
		switch letter {
		case 'o':
			n, reason := int64(4), "length"
			l.Outcome, l.Status, l.OutputTokens, l.PromptTokens, l.FinishReason = string(loadgen.OK), 200, &n, &n, &reason
			l.T = report.Stamps{Connect: 1, Send: 1e9, FirstByte: 11e8, FirstEvent: 11e8, FirstToken: 11e8, FirstContent: 11e8, LastToken: 14e8, Finish: 14e8, End: 15e8}
			l.Events = &report.Events{T: []int64{11e8, 12e8, 13e8, 14e8}, Lag: []int64{1, 1, 1, 1}, Bytes: []int32{9, 9, 9, 9}}
		case 'f':
			l.Outcome, l.Error = string(loadgen.StreamError), "out of memory"
		case 'c':
			l.Outcome, l.Error = string(loadgen.Cancelled), "the run was stopped"
		}
	}
	return lines
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		warmup, iterations int
		script             script
		batches            int // sent after the probe
		nothing            bool
		notes              []string
	}{
		"all is well: every batch is sent and nothing is said": {1, 3, script{"oo"}, 4, false, nil},
		"a failed warm-up is said and stops nothing": {
			1, 2,
			script{"ff", "oo"},
			3, false,
			[]string{"warm-up 2 of 2 requests failed (stream_error 2): out of memory"},
		},
		"a failed request spoils its iteration and no more": {
			0, 3,
			script{"oo", "of", "oo"},
			3, false,
			[]string{"iteration 2: 1 of 2 requests failed (stream_error 1): out of memory"},
		},
		"two iterations in a row without one ok end the run": {
			0, 5, script{"ff"}, 2, true, // the error says the rest
			[]string{"iteration 1: 2 of 2 requests failed (stream_error 2): out of memory"},
		},
		"they end it after good ones too, whose figures are kept": {
			0, 9,
			script{"oo", "ff"},
			3, false,
			[]string{
				"iteration 2: 2 of 2 requests failed (stream_error 2): out of memory",
				"iteration 3: 2 of 2 requests failed (stream_error 2): out of memory",
			},
		},
		"one barren iteration between good ones does not": {
			0, 4,
			script{"oo", "ff", "oo", "oo"},
			4, false,
			[]string{"iteration 2: 2 of 2 requests failed (stream_error 2): out of memory"},
		},
		"the only iteration without one ok is nothing": {0, 1, script{"ff"}, 1, true, nil},
		"an interrupt in the warm-up ends it":          {2, 3, script{"cc"}, 1, false, nil},
		"an interrupt in an iteration ends it":         {1, 3, script{"oo", "oo", "oc"}, 3, false, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, observer, asked := newTestRung(t, report.Plan{Concurrency: 2, Warmup: tt.warmup, Iterations: tt.iterations}, tt.script)
			err := r.measure(context.Background())
			if got := errors.Is(err, ErrNothingMeasured); got != tt.nothing || (err != nil && !got) {
				t.Errorf("got error %v, want nothing measured: %v", err, tt.nothing)
			}
			if got := len(*asked) - 1; got != tt.batches {
				t.Errorf("got %d batches, want %d", got, tt.batches)
			}
			if diff := cmp.Diff(tt.notes, observer.notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWarmUpHasTheShapeOfTheRun(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ asked, want int }{
		"by itself":           {0, 2},
		"unless lmx's is set": {1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _, asked := newTestRung(t, report.Plan{Concurrency: 2, Warmup: 1, Iterations: 1}, script{"oo"})
			r.cfg.WarmupConcurrency = tt.asked
			r.plan = r.cfg.rungPlan(2)
			if err := r.measure(context.Background()); err != nil {
				t.Fatal(err)
			}
			if got := (*asked)[1].streams; got != tt.want {
				t.Errorf("the warm-up had %d streams, want %d", got, tt.want)
			}
		})
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	r, _, _ := newTestRung(t, report.Plan{Warmup: 0, Iterations: 1}, script{"o"})
	deliver := r.deliver
	var short report.Plan
	r.deliver = func(as *rung, ctx context.Context, b batch) (report.Batch, []report.Request, error) {
		seen, lines, err := deliver(as, ctx, b)
		if b.phase == phaseProbe {
			head := int64(17)
			short, lines[0].CachedTokens = as.plan, &head
		}
		return seen, lines, err
	}
	if err := r.measure(context.Background()); err != nil {
		t.Fatal(err)
	}
	if short.MaxTokens != probeTokens || r.plan.MaxTokens != singleMaxTokens {
		t.Errorf("the probe asked for %d tokens and the run for %d, want %d and %d", short.MaxTokens, r.plan.MaxTokens, probeTokens, singleMaxTokens)
	}
	if got := r.evidence.Session.TemplateHead; got != 17 {
		t.Errorf("got a template head of %d tokens, want the 17 that the probe found in the cache", got)
	}
	if got := r.evidence.Batches[0].Dialled; got != 1 {
		t.Errorf("the first batch has %d connections, want the probe's 1", got)
	}
	if got := len(r.evidence.Requests); got != 2 {
		t.Errorf("got %d requests in the evidence, want the probe's and the timed one", got)
	}
}

// TestInterruptedResult: whatever batch the interrupt meets, the result says
// partial, carries no figure of lmx's, and verifies.
func TestInterruptedResult(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]script{
		"in the first warm-up":       {"cc"},
		"in the first iteration":     {"oo", "cc"},
		"between two, one half done": {"oo", "oo", "oo", "oc"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _, _ := newTestRung(t, report.Plan{Concurrency: 2, Warmup: 1, Iterations: 5}, s)
			if err := r.measure(context.Background()); err != nil {
				t.Fatal(err)
			}
			if err := r.endPower(context.Background()); err != nil {
				t.Fatal(err)
			}
			var out Rung
			if err := r.conclude(&out); err != nil {
				t.Fatal(err)
			}
			if !out.interrupted() || out.Document.TokSOut != nil || !out.Document.Bench.Verdict.Has("interrupted") {
				t.Errorf("got partial %v, tokSOut %v, verdict %v; want a partial result without a figure",
					out.interrupted(), out.Document.TokSOut, out.Document.Bench.Verdict)
			}
			differences, err := Verify(r.writer.Dir())
			if err != nil || len(differences) > 0 {
				t.Errorf("verify: %v, %v", differences, err)
			}
		})
	}
}

func TestStatusEventsAreLmxs(t *testing.T) {
	t.Parallel()
	r, observer, _ := newTestRung(t, report.Plan{Concurrency: 2, Warmup: 1, Iterations: 1, DeclaredPromptTokens: 9}, script{"oo"})
	if err := r.measure(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := r.endPower(context.Background()); err != nil {
		t.Fatal(err)
	}
	var out Rung
	if err := r.conclude(&out); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"speed_test_mode_selected", "speed_test_remote_start", "served_model_detected",
		"endpoint_warmup_request", "first_token_received", "first_token_received",
		"first_token_received", "first_token_received", "endpoint_iteration_complete",
		"prompt_token_count_adjusted", "token_count_source", "speed_test_payload_ready", "speed_test_payload_file_written",
	}
	if diff := cmp.Diff(want, observer.events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(r.writer.Path()); err != nil {
		t.Error(err)
	}
}

// TestSettle: the counters are read until they cover the batch's tokens, four
// times again at most, a fifth of a second apart.
func TestSettle(t *testing.T) {
	t.Parallel()
	count := func(n float64) *report.Metrics { return &report.Metrics{GenerationTokens: &n} }
	tests := map[string]struct {
		before   *report.Metrics
		readings []*report.Metrics // the last one is repeated
		want     *float64
		waited   time.Duration
	}{
		"a server without counters is not asked":    {nil, nil, nil, 0},
		"counters that are there at once":           {count(10), []*report.Metrics{count(110)}, count(110).GenerationTokens, 0},
		"counters that come a little late":          {count(10), []*report.Metrics{count(10), count(60), count(110)}, count(110).GenerationTokens, 400 * time.Millisecond},
		"counters that never come are taken as is":  {count(10), []*report.Metrics{count(60)}, count(60).GenerationTokens, 800 * time.Millisecond},
		"a server that does not count tokens":       {&report.Metrics{}, []*report.Metrics{{}}, nil, 0},
		"a server that no longer answers":           {count(10), []*report.Metrics{nil}, nil, 0},
		"more than the batch brought is no trouble": {count(10), []*report.Metrics{count(500)}, count(500).GenerationTokens, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				r := &rung{counters: func(context.Context) *report.Metrics {
					asked++
					return tt.readings[min(asked, len(tt.readings))-1]
				}}
				began := time.Now()
				got := r.settle(context.Background(), tt.before, 100)
				if waited := time.Since(began); waited != tt.waited {
					t.Errorf("waited %s, want %s", waited, tt.waited)
				}
				var tokens *float64
				if got != nil {
					tokens = got.GenerationTokens
				}
				if diff := cmp.Diff(tt.want, tokens); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}
