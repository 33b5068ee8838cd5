package study_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lmxbench/bench/report"
	"lmxbench/bench/report/runtest"
	"lmxbench/bench/report/study"
	"lmxbench/stats"
)

func mustRead(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func trace(t testing.TB, dir string) (*study.Subject, *study.Trace) {
	t.Helper()
	st, err := study.Open([]string{dir}, study.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tr, err := st.Subjects[0].Trace()
	if err != nil {
		t.Fatal(err)
	}
	return st.Subjects[0], tr
}

// The curve is drawn by a pass of its own, because package stats asks every
// stream again for every bin. The two must agree.
func TestTheRateCurveIsThatOfPackageStats(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]runtest.Load{"one token an event": runtest.Burst(16), "up to three": func() runtest.Load { l := runtest.Burst(16); l.PerEvent = 3; return l }()} {
		dir := runtest.Store(t, t.TempDir(), "r", l)
		s, tr := trace(t, dir)
		e, err := s.Evidence()
		if err != nil {
			t.Fatal(err)
		}
		var lines []report.Request
		for _, r := range e.Requests {
			if r.Phase == report.PhaseTimed && r.Iteration == tr.Iteration {
				lines = append(lines, r)
			}
		}
		streams, ok := report.Streams(lines)
		w, hasWindow := stats.RequestWindow(streams)
		want, hasRates := stats.RateBins(streams, w, len(tr.Rates))
		if !ok || !hasWindow || !hasRates {
			t.Fatal("no rates of package stats")
		}
		tokens := 0.0
		for i := range want {
			tokens += tr.Rates[i] * tr.Seconds / float64(len(tr.Rates))
			// An event at the edge of a bin may fall to either side of it.
			if math.Abs(tr.Rates[i]-want[i]) > 0.01*want[i]+1/(tr.Seconds/float64(len(want))) {
				t.Errorf("%s: bin %d: got %v, want %v", name, i, tr.Rates[i], want[i])
			}
		}
		if math.Abs(tokens-float64(l.Streams*l.Tokens)) > 1e-6*tokens {
			t.Errorf("%s: the curve holds %v tokens of %d", name, tokens, l.Streams*l.Tokens)
		}
	}
}

func TestATraceStaysSmall(t *testing.T) {
	t.Parallel()
	l := runtest.Burst(400)
	l.Iterations, l.Tokens = 1, 32
	_, tr := trace(t, runtest.Store(t, t.TempDir(), "r", l))
	if len(tr.Lanes) > 160 || len(tr.Rates) != 120 || len(tr.ITL) > 30 {
		t.Errorf("got %d lanes, %d bins, %d quantiles", len(tr.Lanes), len(tr.Rates), len(tr.ITL))
	}
	streams := 0
	last := 0.0
	for _, lane := range tr.Lanes {
		streams += lane.Streams
		if lane.FirstToken < last || lane.FirstToken < lane.Send || lane.LastToken < lane.FirstToken || lane.End < lane.LastToken {
			t.Errorf("lane out of order: %+v", lane)
		}
		last = lane.FirstToken
	}
	if streams != 400 || tr.Streams != 400 {
		t.Errorf("the lanes hold %d streams of %d", streams, tr.Streams)
	}
}

func TestATraceAgreesWithItsResult(t *testing.T) {
	t.Parallel()
	s, tr := trace(t, runtest.Store(t, t.TempDir(), "r", runtest.Burst(16)))
	for _, q := range tr.TTFT {
		if q.Q == 0.5 && math.Abs(q.Value-s.TTFT.P50) > 1e-3 {
			t.Errorf("median TTFT: got %v, the result says %v", q.Value, s.TTFT.P50)
		}
	}
	for _, q := range tr.ITL {
		if q.Q == 0.99 && math.Abs(q.Value-s.ITL.P99) > 0.002*s.ITL.P99 {
			t.Errorf("p99 of the time per token: got %v, the result says %v", q.Value, s.ITL.P99)
		}
	}
	if tr.Plateau == nil || tr.Plateau.From < 0 || tr.Plateau.To > tr.Seconds {
		t.Errorf("got plateau %v in %v s", tr.Plateau, tr.Seconds)
	}
	if n := len(tr.TTFT); tr.TTFT[n-1].Q != 1 || math.Abs(tr.TTFT[n-1].Value-s.TTFT.Max) > 1e-3 {
		t.Errorf("the curve ends at %+v, the maximum is %v", tr.TTFT[n-1], s.TTFT.Max)
	}
}

func TestFailedStreamsAreDrawnAsSuch(t *testing.T) {
	t.Parallel()
	l := runtest.Burst(6)
	l.Iterations, l.Failed = 1, 2
	_, tr := trace(t, runtest.Store(t, t.TempDir(), "r", l))
	failed := 0
	for _, lane := range tr.Lanes {
		if lane.Outcome == report.OutcomeTruncated {
			failed++
		}
	}
	if tr.Failed != 2 || failed != 2 || tr.Plateau != nil {
		t.Errorf("got %d failed, %d lanes, plateau %v", tr.Failed, failed, tr.Plateau)
	}
}

func TestAPowerRecordingIsPlacedOnTheRun(t *testing.T) {
	t.Parallel()
	l := runtest.Burst(8)
	dir := runtest.Store(t, t.TempDir(), "r", l)
	e := l.Evidence()
	runtest.StorePower(t, dir, e, 700)
	_, tr := trace(t, dir)
	p := tr.Power
	if p == nil || p.Signal != "20 ms samples" || p.LimitWatts != 1000 || len(p.Windows) != len(e.Batches) {
		t.Fatalf("got %+v", p)
	}
	for _, w := range p.Windows {
		sum, n := 0.0, 0
		for _, q := range p.Points {
			if q.At > w.Span.From+0.1 && q.At < w.Span.To-0.1 {
				sum, n = sum+q.Watts, n+1
			}
		}
		if n == 0 || math.Abs(sum/float64(n)-700) > 20 {
			t.Errorf("%s %d: mean of %d points is %v, want about 700 W", w.Name, w.Iteration, n, sum/float64(n))
		}
	}
	if first := p.Points[0]; first.Watts > 130 {
		t.Errorf("the recording begins at %v W, want the idle 120", first.Watts)
	}
}

func TestPowerThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	l := runtest.Burst(2)
	l.Iterations, l.Tokens = 1, 16
	dir := runtest.Store(t, t.TempDir(), "r", l)
	runtest.StorePower(t, dir, l.Evidence(), 700)
	path := filepath.Join(dir, "power.csv")
	text := strings.Replace(string(mustRead(t, path)), "ring,GPU-1,,0,0,", "ring,GPU-1,,zero,0,", 1)
	write(t, path, text)
	st, err := study.Open([]string{dir}, study.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Subjects[0].Trace(); err == nil || !strings.Contains(err.Error(), "power.csv: line 4:") {
		t.Errorf("got %v", err)
	}
}

// Two cards are added up; a log of another program is left to its windows.
func TestCardsAddUp(t *testing.T) {
	t.Parallel()
	l := runtest.Burst(2)
	l.Iterations, l.Tokens = 1, 512
	dir := runtest.Store(t, t.TempDir(), "r", l)
	runtest.StorePower(t, dir, l.Evidence(), 300)
	path := filepath.Join(dir, "power.csv")
	one := string(mustRead(t, path))
	var second strings.Builder
	for line := range strings.Lines(one) {
		if strings.HasPrefix(line, "ring,") {
			second.WriteString(strings.Replace(line, "GPU-1", "GPU-2", 1))
		}
	}
	write(t, path, one+second.String())
	_, tr := trace(t, dir)
	most := 0.0
	for _, q := range tr.Power.Points {
		most = max(most, q.Watts)
	}
	if most < 600 || most > 660 {
		t.Errorf("two cards of about 300 W draw %v W", most)
	}
	write(t, path, "timestamp, power.draw [W]\n2026/11/30 19:00:00.000, 300 W\n")
	if _, tr := trace(t, dir); tr.Power == nil || len(tr.Power.Points) != 0 || len(tr.Power.Windows) == 0 {
		t.Errorf("a log of nvidia-smi: got %+v", tr.Power)
	}
}

func BenchmarkTrace(b *testing.B) {
	l := runtest.Burst(1000)
	l.Iterations, l.Tokens, l.Prefill, l.Step = 3, 1024, time.Millisecond, 20*time.Millisecond
	dir := runtest.Store(b, b.TempDir(), "r", l)
	b.ReportAllocs()
	for b.Loop() {
		trace(b, dir)
	}
}
