package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"lmxbench/bench/report"
	"lmxbench/power"
)

const (
	second = int64(time.Second)
	gap    = int64(9 * time.Millisecond) // no multiple of the sensor's 20 ms
)

// What package power finds goes into the verdict as it is: the catalogue must
// know each code and what to do.
func TestPowerCodesAreInTheCatalogue(t *testing.T) {
	t.Parallel()
	for _, code := range power.Codes() {
		if report.Advice(string(code)) == "" {
			t.Errorf("no advice for %s", code)
		}
	}
}

// steadyBatch is one batch of equal streams: first token at 4 s, one token each
// gap, last (tokens − 1) gaps later, end with the last.
func steadyBatch(streams, tokens int) *report.Evidence {
	e := &report.Evidence{Batches: []report.Batch{{
		Phase: phaseTimed, Iteration: 1, Concurrency: streams, StartNs: 39 * second / 10, EndNs: 4*second + int64(tokens-1)*gap,
	}}}
	for i := range streams {
		n := int64(tokens)
		r := report.Request{
			Phase: phaseTimed, Iteration: 1, Request: i + 1, Outcome: report.OutcomeOK, OutputTokens: &n,
			Events: &report.Events{},
			T:      report.Stamps{Send: 39 * second / 10, FirstToken: 4 * second, LastToken: e.Batches[0].EndNs, End: e.Batches[0].EndNs},
		}
		for k := range int64(tokens) {
			r.Events.T = append(r.Events.T, 4*second+k*gap)
			r.Events.Lag = append(r.Events.Lag, 0)
			r.Events.Bytes = append(r.Events.Bytes, 1)
		}
		e.Requests = append(e.Requests, r)
	}
	return e
}

// recordCard records a synthetic card for length, in fake time.
func recordCard(t *testing.T, load power.Load, length time.Duration) (file []byte, origin time.Time) {
	t.Helper()
	var out bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		origin = time.Now()
		clock := power.NewClock(origin)
		meter := power.NewSynthetic(power.SyntheticConfig{Clock: clock, Devices: []power.SyntheticDevice{{Load: load}}})
		sink, err := power.NewWriter(&out, origin, meter.Describe())
		if err != nil {
			t.Fatal(err)
		}
		r := power.Start(context.Background(), meter, sink, power.RecorderConfig{Clock: clock})
		time.Sleep(length)
		if err := r.Stop(); err != nil {
			t.Fatal(err)
		}
		if err := meter.Close(); err != nil {
			t.Fatal(err)
		}
	})
	return out.Bytes(), origin
}

func readLog(t *testing.T, file []byte) *power.Log {
	t.Helper()
	log, err := power.Read(bytes.NewReader(file), powerFileName, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func TestJoulesPerTokenOfAConstantLoad(t *testing.T) {
	t.Parallel()
	const watts, streams, tokens = 400, 8, 401 // 3.6 s of decoding
	file, origin := recordCard(t, power.Constant(watts), 11*time.Second)
	e := steadyBatch(streams, tokens)
	e.Session.OriginUnixNs = origin.UnixNano()
	energy, windows, findings := joinPower(readLog(t, file), e, 0, 3*time.Second)

	want := float64(watts) * 3.6 / (streams * tokens) // joules over the lmx window by all its tokens
	if energy.JoulesPerToken == nil || math.Abs(*energy.JoulesPerToken/want-1) > 0.001 {
		t.Errorf("got %v J/token, want %.6f within 0.1 %%", energy.JoulesPerToken, want)
	}
	if energy.IdleWatts == nil || math.Abs(*energy.IdleWatts-watts) > 1 {
		t.Errorf("got idle %v W, want %d", energy.IdleWatts, watts)
	}
	var names []string
	for _, w := range windows.Lmxbench.Windows {
		names = append(names, w.Name)
	}
	if diff := cmp.Diff([]string{windowPlateau, windowLMX, windowRequest}, names); diff != "" {
		t.Errorf("windows (-want +got):\n%s", diff)
	}
	if len(findings) != 0 {
		t.Errorf("a steady card gives doubts: %+v", findings)
	}
	if !strings.Contains(energy.Line(), "400 W, 0.449 J/token") {
		t.Errorf("got line %q", energy.Line())
	}
}

func TestPowerWithoutAGoodIteration(t *testing.T) {
	t.Parallel()
	file, origin := recordCard(t, power.Constant(400), 6*time.Second)
	e := steadyBatch(2, 11)
	e.Session.OriginUnixNs = origin.UnixNano()
	e.Requests[1].Outcome = "truncated"
	energy, windows, _ := joinPower(readLog(t, file), e, 0, time.Second)
	if energy.JoulesPerToken != nil || len(energy.Windows) != 0 || len(windows.Lmxbench.Windows) != 0 {
		t.Errorf("a failed iteration has energy: %+v", energy)
	}
}

func TestPowerIsPlacedByTheWallClock(t *testing.T) {
	t.Parallel()
	file, origin := recordCard(t, power.Constant(400), 11*time.Second)
	e := steadyBatch(2, 401)
	e.Session.OriginUnixNs = origin.Add(-time.Hour).UnixNano() // the run was an hour before the recording
	energy, _, findings := joinPower(readLog(t, file), e, 0, 0)
	if energy.JoulesPerToken != nil {
		t.Errorf("got %v J/token from a recording of another hour", *energy.JoulesPerToken)
	}
	if len(findings) == 0 {
		t.Error("no doubt about a recording of another hour")
	}
}

// TestVerifyRecomputesPower changes one reading of a finished run's power.csv
// and one figure of its power_window.json: both are named.
func TestVerifyRecomputesPower(t *testing.T) {
	t.Parallel()
	file, origin := recordCard(t, power.Constant(400), 11*time.Second)
	dir := filepath.Join(t.TempDir(), "run")
	e := steadyBatch(1, 401)
	e.Session = report.Session{OriginUnixNs: origin.UnixNano(), CreatedAt: origin.UTC().Format(time.RFC3339), EngineKind: "vllm"}
	e.Plan = report.Plan{Engine: "vllm", Concurrency: 1, Iterations: 1, MaxTokens: 401, WarmupConcurrency: 1, Stream: true, Prompt: "x"}
	e.Batches[0].TimestampSource, e.Batches[0].Reader, e.Batches[0].Cores = "kernel", "epoll", 2
	w, err := report.Create(report.Start{Dir: dir, Plan: e.Plan, Now: origin})
	if err != nil {
		t.Fatal(err)
	}
	r := &rung{cfg: &Config{Observer: silent{}}, writer: w, evidence: *e, origin: origin, session: e.Session}
	if err := os.WriteFile(filepath.Join(dir, powerFileName), file, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := w.Session(&e.Session); err != nil {
		t.Fatal(err)
	}
	if err := r.write(e.Requests); err != nil {
		t.Fatal(err)
	}
	if err := w.Batch(&e.Batches[0]); err != nil {
		t.Fatal(err)
	}
	if err := r.attachPower(0, 3*time.Second); err != nil {
		t.Fatal(err)
	}
	if err := w.Attach(&r.evidence.Attached); err != nil {
		t.Fatal(err)
	}
	doc, err := report.Build(r.evidence)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(doc); err != nil {
		t.Fatal(err)
	}
	if diff, err := Verify(dir); err != nil || len(diff) != 0 {
		t.Fatalf("a run as written: %v, %v", diff, err)
	}

	change(t, filepath.Join(dir, powerWindowName), func(s string) string {
		return strings.Replace(s, `"meanWatts": 4`, `"meanWatts": 5`, 1)
	})
	mustName(t, dir, powerWindowName+".lmxbench.windows")
	change(t, filepath.Join(dir, "observations.jsonl"), func(s string) string {
		var energy struct {
			JoulesPerToken json.Number `json:"joulesPerToken"`
		}
		at := strings.Index(s, `"power":`)
		if err := json.NewDecoder(strings.NewReader(s[at+len(`"power":`):])).Decode(&energy); err != nil {
			t.Fatal(err)
		}
		return strings.Replace(s, `"joulesPerToken":`+energy.JoulesPerToken.String(), `"joulesPerToken":0.5`, 1)
	})
	mustName(t, dir, "joulesPerToken")
}

func change(t *testing.T, path string, edit func(string) string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := edit(string(text))
	if changed == string(text) {
		t.Fatalf("%s has nothing to change", path)
	}
	if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
}

func mustName(t *testing.T, dir, what string) {
	t.Helper()
	diff, err := Verify(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range diff {
		if strings.Contains(d.Path, what) {
			return
		}
	}
	t.Errorf("no difference names %s: %v", what, diff)
}

func TestCheckPower(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(log, []byte("time,watts\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"", "auto", "off", "nvml", "smi", "hwmon", "file:" + log} {
		if err := CheckPower(mode); err != nil {
			t.Errorf("%q: %v", mode, err)
		}
	}
	for _, mode := range []string{"on", "file:", "NVML", "file", "file:" + log + ".not"} {
		if CheckPower(mode) == nil {
			t.Errorf("%q is accepted", mode)
		}
	}
}
