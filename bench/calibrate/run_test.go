package calibrate_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lmxbench/bench/calibrate"
	"lmxbench/bench/report"
)

// Client and engine share this process here, so no figure of a time or a cost
// means anything; what must hold is what cannot depend on them.
func TestSmallCalibration(t *testing.T) {
	loads := []calibrate.Load{
		{Streams: 64, Shape: calibrate.Steps, Interval: 20 * time.Millisecond, Tokens: 25},
		{Streams: 8, Shape: calibrate.Phases, Interval: 20 * time.Millisecond, Tokens: 25},
	}
	machine := calibrate.Detect()
	var seen []int
	c, err := calibrate.Run(t.Context(), calibrate.Config{
		Loads: loads, Rounds: 2, Start: calibrate.InProcess, Machine: machine, Tool: report.Tool{Version: "1.2.3"},
		Progress: func(done, of int, _ calibrate.Load) { seen = append(seen, done, of) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{0, 2, 1, 2}, seen); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
	if len(c.Rungs) != len(loads) || c.Partial {
		t.Fatalf("got %d rungs, partial %t; want %d, false", len(c.Rungs), c.Partial, len(loads))
	}
	for i := range c.Rungs {
		checkRung(t, &c.Rungs[i], loads[i])
	}
	if c.Trust.Sentence == "" {
		t.Error("no sentence")
	}
	path := filepath.Join(t.TempDir(), "new", "c.json")
	if err := c.Save(path); err != nil {
		t.Fatal(err)
	}
	again, err := calibrate.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c, again); diff != "" {
		t.Errorf("a calibration changes on its way through a file (-saved +read):\n%s", diff)
	}
	var out bytes.Buffer
	if err := c.Write(&out); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + out.String())
	for _, want := range []string{"64  steps", "8  phases", c.Trust.Sentence} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the text does not say %q:\n%s", want, out.String())
		}
	}
}

func checkRung(t *testing.T, r *calibrate.Rung, load calibrate.Load) {
	t.Helper()
	if r.Load != load {
		t.Errorf("load: got %v, want %v", r.Load, load)
	}
	rounds := r.Rounds // a machine with other work may void one
	if rounds < 1 || rounds+len(r.VoidRounds) != 2 {
		t.Errorf("%v: %d rounds and %q left out, want 2 together", load, r.Rounds, r.VoidRounds)
	}
	if want := rounds * load.Streams; r.Requests != want || r.Lost != 0 {
		t.Errorf("%v: %d requests, %d lost; want %d and none lost", load, r.Requests, r.Lost, want)
	}
	if want := rounds * load.Streams * load.Tokens; r.Events != want {
		t.Errorf("%v: %d events, want %d", load, r.Events, want)
	}
	if r.InFlight != load.Streams {
		t.Errorf("%v: %d streams in flight at the engine, want all", load, r.InFlight)
	}
	if r.LoadHeld <= 0 || r.LoadHeld > 1 {
		t.Errorf("%v: load held %v lies outside (0, 1]", load, r.LoadHeld)
	}
	if r.MergedShare < 0 || r.MergedShare >= 1 || int64(r.MergedReads) > r.Reads {
		t.Errorf("%v: merged %v of the events in %d of %d reads", load, r.MergedShare, r.MergedReads, r.Reads)
	}
	if r.User == nil || r.User.Count != r.Events || r.User.P50 > r.User.P99 || r.User.P99 > r.User.Max {
		t.Errorf("%v: user stamps %+v of %d events", load, r.User, r.Events)
	}
	if r.Kernel != nil && (r.Kernel.Count > r.Events || r.Kernel.P50 > r.User.P50) {
		t.Errorf("%v: kernel stamps %+v are later than user stamps %+v", load, r.Kernel, r.User)
	}
	if len(r.Strains) != 3 {
		t.Errorf("%v: strains %+v, want one for each code of the client", load, r.Strains)
	}
	if runtime.GOOS == "linux" && (r.Kernel == nil || r.TTFT == nil || r.CPUPerEvent == nil || r.FloorRatio == nil || r.StreamMemory == nil && load.Streams > 8) {
		t.Errorf("%v: something was not measured: %+v", load, r)
	}
	if r.EngineLate == nil {
		t.Errorf("%v: the engine's own lateness is missing", load)
	}
}

// An engine that does not start makes the rung void; it loses no other rung.
func TestEngineThatDoesNotStart(t *testing.T) {
	t.Parallel()
	load := calibrate.Load{Streams: 2, Shape: calibrate.Steps, Interval: time.Millisecond, Tokens: 8}
	broken := func(context.Context, calibrate.Load) (calibrate.Engine, error) {
		return calibrate.Engine{}, errors.New("no such program")
	}
	c, err := calibrate.Run(t.Context(), calibrate.Config{Loads: []calibrate.Load{load, load}, Start: broken})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Rungs) != 2 || !strings.Contains(c.Rungs[0].Void, "no such program") {
		t.Errorf("got %+v, want two void rungs that say why", c.Rungs)
	}
	if c.Sound() {
		t.Error("a calibration of void rungs calls itself sound")
	}
	if !strings.HasPrefix(c.Trust.Sentence, "Nothing can be said") {
		t.Errorf("sentence: %q", c.Trust.Sentence)
	}
}

// An interrupt keeps the rungs that are complete.
func TestInterruptedCalibration(t *testing.T) {
	t.Parallel()
	stopped := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	load := calibrate.Load{Streams: 2, Shape: calibrate.Steps, Interval: time.Millisecond, Tokens: 8}
	c, err := calibrate.Run(ctx, calibrate.Config{
		Loads: []calibrate.Load{load, load}, Rounds: 1, Start: calibrate.InProcess,
		Progress: func(done, _ int, _ calibrate.Load) {
			if done == 1 {
				cancel(stopped)
			}
		},
	})
	if !errors.Is(err, stopped) {
		t.Errorf("error: got %v, want the reason of the interrupt", err)
	}
	if len(c.Rungs) != 1 || !c.Partial {
		t.Errorf("got %d rungs, partial %t; want the complete one, true", len(c.Rungs), c.Partial)
	}
}

func TestConfigThatCannotRun(t *testing.T) {
	t.Parallel()
	load := []calibrate.Load{{Streams: 1, Shape: calibrate.Steps, Interval: time.Millisecond, Tokens: 8}}
	for name, cfg := range map[string]calibrate.Config{
		"no load":         {Start: calibrate.InProcess},
		"no engine":       {Loads: load},
		"negative rounds": {Loads: load, Start: calibrate.InProcess, Rounds: -1},
	} {
		if c, err := calibrate.Run(t.Context(), cfg); err == nil {
			t.Errorf("%s: got %+v, want an error", name, c)
		}
	}
}
