package bench

import (
	"context"
	"net"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"lmxbench/bench/report"
	"lmxbench/internal/engine"
	"lmxbench/internal/hardware"
	"lmxbench/internal/simserver"
	"lmxbench/loadgen"
)

// doubts are the codes with which a run doubts its own instrument.
var doubts = []string{"client_late", "client_coalesced", "client_saturated", "clock_step", "cpu_steal"}

// simulated starts an engine whose steps take the given time whatever the batch.
func simulated(t *testing.T, step time.Duration) engine.BaseURL {
	t.Helper()
	profile, err := simserver.LookupProfile("")
	if err != nil {
		t.Fatal(err)
	}
	profile.StepCurve = []simserver.StepPoint{{Batch: 1, Time: step}}
	srv, err := simserver.Listen(simserver.Config{Profile: profile})
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() { srv.Serve(context.Background()) })
	t.Cleanup(func() {
		srv.Close()
		serving.Wait()
	})
	base, err := engine.ParseBaseURL(srv.URL())
	if err != nil {
		t.Fatal(err)
	}
	return base
}

// measured runs one iteration of a plan and returns the doubts of its verdict.
// The processors idle as far as the run can see, unless change says otherwise.
func measured(t *testing.T, base engine.BaseURL, plan report.Plan, change func(*rung)) (codes []string, doc *report.Document) {
	t.Helper()
	plan.Prompt, plan.Stream, plan.Iterations, plan.WarmupConcurrency = "Say tide.", true, 1, 1
	cfg, err := Config{
		Plan: plan, Target: engine.Target{Base: base}, Rungs: []int{plan.Concurrency}, Power: PowerOff,
		Out: filepath.Join(t.TempDir(), "run.json"), Observer: &told{},
	}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	srv, err := ask(t.Context(), &cfg)
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRung(&cfg, srv, plan.Concurrency)
	if err != nil {
		t.Fatal(err)
	}
	defer r.writer.Close()
	defer func() { r.pool.Close() }()
	r.processor = processors(0)
	change(r)
	if err := r.measure(t.Context()); err != nil {
		t.Fatal(err)
	}
	var out Rung
	if err := r.conclude(&out); err != nil {
		t.Fatal(err)
	}
	for _, c := range out.Document.Bench.Verdict.Codes {
		if slices.Contains(doubts, c.Code) {
			codes = append(codes, c.Code+"="+string(c.Level))
		}
	}
	return codes, out.Document
}

// processors answer each question with a second more, of which the hypervisor
// took a share.
func processors(stolen float64) func() hardware.CPUTime {
	const second = 1000 // ticks
	var t hardware.CPUTime
	return func() hardware.CPUTime {
		steal := uint64(stolen * second)
		t.Steal += steal
		t.Idle += second - steal
		return t
	}
}

// TestCleanRunsDoubtNothing makes ten runs of an engine so slow that no machine
// which still runs this test is late for it.
func TestCleanRunsDoubtNothing(t *testing.T) {
	t.Parallel()
	base := simulated(t, 100*time.Millisecond)
	for range 10 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			codes, doc := measured(t, base, report.Plan{Concurrency: 4, MaxTokens: 6}, func(*rung) {})
			if len(codes) > 0 {
				t.Errorf("got %v, want none", codes)
			}
			if doc.Bench.Client.ConnectMs == nil || *doc.Bench.Client.ConnectMs <= 0 {
				t.Error("how long the connections took to open is not said")
			}
		})
	}
}

func TestStolenTimeIsDoubted(t *testing.T) {
	t.Parallel()
	base := simulated(t, 100*time.Millisecond)
	for stolen, want := range map[float64]string{0.05: "cpu_steal=WARN", 0.3: "cpu_steal=INVALID"} {
		codes, _ := measured(t, base, report.Plan{Concurrency: 2, MaxTokens: 8}, func(r *rung) { r.processor = processors(stolen) })
		if !slices.Contains(codes, want) {
			t.Errorf("%v stolen: got %v, want %s", stolen, codes, want)
		}
	}
}

// TestSlowReaderSaturates reads through connections that burn 20 ms of a core
// at each read, more of them than there are cores. It counts where this machine
// leaves its cores to the test; elsewhere it is left out, and says so.
func TestSlowReaderSaturates(t *testing.T) {
	base := simulated(t, 5*time.Millisecond)
	plan := report.Plan{Concurrency: 8 * runtime.GOMAXPROCS(0), MaxTokens: 200}
	var others []float64
	for range 3 {
		var all, own time.Duration
		var codes []string
		var doc *report.Document
		before := processorTime()
		began := time.Now()
		codes, doc = measured(t, base, plan, func(r *rung) {
			r.pool.Close()
			r.pool = loadgen.New(loadgen.Config{Address: r.server.info.Peer, Origin: r.origin, Dial: slowly})
		})
		all = busy(before, processorTime())
		if s := doc.Bench.Client.CPUSeconds; s != nil {
			own = time.Duration(*s * float64(time.Second))
		}
		if slices.Contains(codes, "client_saturated=INVALID") {
			return
		}
		share := float64(all-own) / float64(time.Since(began)) / float64(runtime.NumCPU())
		if share < 0.05 {
			t.Fatalf("the cores were burnt by the reader and the verdict says %v: client %+v", codes, doc.Bench.Client)
		}
		others = append(others, share)
	}
	t.Skipf("other processes took these shares of the cores: %.2f", others)
}

// busy is the processor time between two readings that was not idle.
func busy(before, after hardware.CPUTime) time.Duration {
	idle := (after.Idle - before.Idle) + (after.IOWait - before.IOWait)
	return time.Duration(ticks(after)-ticks(before)-idle) * 10 * time.Millisecond
}

func slowly(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	return &burner{Conn: conn}, err
}

// burner is a connection that keeps a core busy before each read.
type burner struct{ net.Conn }

func (b *burner) Read(p []byte) (int, error) {
	for began := time.Now(); time.Since(began) < 20*time.Millisecond; {
	}
	return b.Conn.Read(p)
}
