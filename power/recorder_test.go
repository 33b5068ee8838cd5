package power_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lmxbench/power"
)

// counted returns how many samples of a kind there are between two times.
func counted(series *power.Series, kind power.Kind, from, to time.Duration) int {
	n := 0
	for _, x := range series.AllSamples() {
		if x.Kind == kind && x.Before >= from && x.Before < to {
			n++
		}
	}
	return n
}

// TestCadences: each class at its own, in fake time.
func TestCadences(t *testing.T) {
	t.Parallel()
	series, _ := record(t, recording{devices: []power.SyntheticDevice{{Load: power.Constant(300)}}, length: 10 * s})
	for kind, want := range map[power.Kind]int{
		power.KindGauge: 120, power.KindCounter: 6, power.KindRing: 300, power.KindProcess: 6, power.KindClock: 6,
	} {
		if got := counted(series, kind, 2*s, 8*s); got != want {
			t.Errorf("%s: %d samples in 6 s, want %d", kind, got, want)
		}
	}
	// Nothing is lost at the end: the ring buffer is drained once more.
	if got := counted(series, power.KindRing, 9*s, 11*s); got != 51 {
		t.Errorf("%d ring samples in the last second, want 51", got)
	}
}

// TestMarks: the counter is read back to back around a mark, and only there;
// readings that place no tick are not written.
func TestMarks(t *testing.T) {
	t.Parallel()
	series, _ := record(t, recording{
		devices: []power.SyntheticDevice{{Load: power.Constant(300), TickPhase: 50 * ms, CounterLatency: 3 * ms}},
		length:  12 * s, marks: []time.Duration{7300 * ms, 4 * s},
		during: func(r *power.Recorder, clock power.Clock) {
			time.Sleep(9*s - clock.Now())
			r.Mark(clock.Now()) // an edge known only when it is there
			r.Mark(clock.Now() - 5*s)
			time.Sleep(time.Second)
			r.Dense(true)
			time.Sleep(500 * ms)
			r.Dense(false)
		},
	})
	for _, tt := range []struct {
		about    string
		from, to time.Duration
		lo, hi   int
	}{
		{"away from marks", 5 * s, 7 * s, 2, 2},
		{"around a mark", 4*s - 120*ms, 4*s + 125*ms, 4, 7},
		{"around another", 7300*ms - 120*ms, 7300*ms + 125*ms, 4, 7},
		{"after a mark set when it was there", 9 * s, 9*s + 125*ms, 2, 5},
		{"while dense", 10 * s, 10500 * ms, 9, 12},
		{"after dense", 10600 * ms, 12 * s, 1, 3},
	} {
		if got := counted(series, power.KindCounter, tt.from, tt.to); got < tt.lo || got > tt.hi {
			t.Errorf("%s: %d readings written, want %d to %d", tt.about, got, tt.lo, tt.hi)
		}
	}
	w := series.Window(power.WindowRequest{From: 4 * s, To: 7300 * ms})
	if u := float64(*w.Uncertainty); u > 300*0.0051*2 {
		t.Errorf("± %.2f J: the marks did not catch the ticks", u)
	}
}

// stubMeter answers every read with one function.
type stubMeter struct {
	classes []power.Class
	read    func(class power.Class) []power.Sample
}

func (m *stubMeter) Describe() power.Description {
	return power.Description{Devices: []power.Device{{UUID: "GPU-a", Classes: m.classes}}}
}

func (m *stubMeter) Read(_ context.Context, class power.Class, _ int) []power.Sample {
	return m.read(class)
}
func (m *stubMeter) Close() error { return nil }

// memory is a sink that counts.
type memory struct {
	mu   sync.Mutex
	list []power.Sample
	fail error
}

func (m *memory) Add(x power.Sample) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.list = append(m.list, x)
	return m.fail
}

// TestSlowReadingsAreNotMadeUpFor: a reading that takes longer than its
// cadence skips the times that have passed.
func TestSlowReadingsAreNotMadeUpFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := power.NewClock(time.Now())
		var at []time.Duration
		m := &stubMeter{classes: []power.Class{power.ClassGauges}, read: func(power.Class) []power.Sample {
			at = append(at, clock.Now())
			if len(at) == 3 {
				time.Sleep(228 * ms)
			}
			return nil
		}}
		r := power.Start(context.Background(), m, &memory{}, power.RecorderConfig{Clock: clock})
		time.Sleep(490 * ms)
		if err := r.Stop(); err != nil {
			t.Fatal(err)
		}
		want := []time.Duration{0, 50 * ms, 100 * ms, 350 * ms, 400 * ms, 450 * ms, 490 * ms}
		if len(at) != len(want) {
			t.Fatalf("read at %v, want %v", at, want)
		}
		for i := range want {
			if at[i] != want[i] {
				t.Fatalf("read at %v, want %v", at, want)
			}
		}
	})
}

// TestSilentDevicesAreAskedSeldom: a device that fell off its bus fills no
// file with its silence.
func TestSilentDevicesAreAskedSeldom(t *testing.T) {
	t.Parallel()
	series, _ := record(t, recording{
		devices: []power.SyntheticDevice{{Load: power.Constant(300), Faults: []power.Fault{{Kind: power.FaultLost, From: 2 * s}}}},
		length:  12 * s,
	})
	if got := counted(series, power.KindGauge, 3*s, 11*s); got > 9 {
		t.Errorf("%d readings of a lost card in 8 s, want one a second", got)
	}
}

// TestStopIsBounded: a call that never comes back is named, not waited for.
func TestStopIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		m := &stubMeter{classes: []power.Class{power.ClassCounter, power.ClassGauges}, read: func(c power.Class) []power.Sample {
			if c == power.ClassCounter {
				<-hang
			}
			return nil
		}}
		r := power.Start(context.Background(), m, &memory{}, power.RecorderConfig{Clock: power.NewClock(time.Now())})
		time.Sleep(time.Second)
		begin := time.Now()
		err := r.Stop()
		if power.ReasonOf(err) != power.Timeout || !strings.Contains(err.Error(), "counter of GPU-a") || time.Since(begin) != 5*s {
			t.Errorf("got %v after %v", err, time.Since(begin))
		}
		if again := r.Stop(); !errors.Is(again, err) {
			t.Errorf("a second Stop says %v", again)
		}
		close(hang)
		synctest.Wait()
	})
}

// TestContextEndsTheRecording: like Stop, without waiting.
func TestContextEndsTheRecording(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := power.NewClock(time.Now())
		ctx, cancel := context.WithCancel(context.Background())
		sink := &memory{}
		m := power.NewSynthetic(power.SyntheticConfig{Clock: clock, Devices: []power.SyntheticDevice{{Load: power.Constant(100)}}})
		r := power.Start(ctx, m, sink, power.RecorderConfig{Clock: clock})
		time.Sleep(time.Second)
		cancel()
		synctest.Wait()
		n := len(sink.list)
		time.Sleep(10 * s)
		if len(sink.list) != n {
			t.Errorf("%d samples after the end", len(sink.list)-n)
		}
		if err := r.Stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestSinkErrorsAreKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := power.NewClock(time.Now())
		full := errors.New("disk full")
		m := power.NewSynthetic(power.SyntheticConfig{Clock: clock, Devices: []power.SyntheticDevice{{Load: power.Constant(100)}}})
		r := power.Start(context.Background(), m, &memory{fail: full}, power.RecorderConfig{Clock: clock})
		time.Sleep(time.Second)
		if err := r.Err(); !errors.Is(err, full) {
			t.Errorf("while it runs: %v", err)
		}
		if err := r.Stop(); !errors.Is(err, full) {
			t.Errorf("at the end: %v", err)
		}
	})
}

// TestReplayGivesTheSameEnergy: a recording played back and recorded again.
func TestReplayGivesTheSameEnergy(t *testing.T) {
	t.Parallel()
	series, _ := record(t, recording{
		devices: []power.SyntheticDevice{{UUID: "GPU-a", Load: burst(4*s, 10*s), CounterLatency: 3 * ms, TickPhase: 9 * ms}},
		length:  14 * s, marks: []time.Duration{4 * s, 10 * s},
	})
	want := series.Window(power.WindowRequest{From: 4 * s, To: 10 * s})
	var file bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		clock := power.NewClock(time.Now())
		time.Sleep(2 * s) // the recording begins two seconds into this one
		m := power.NewReplay(series, clock)
		out, err := power.NewWriter(&file, clock.Origin(), m.Describe())
		if err != nil {
			t.Fatal(err)
		}
		r := power.Start(context.Background(), m, out, power.RecorderConfig{Clock: clock})
		time.Sleep(20 * s)
		if err := r.Stop(); err != nil {
			t.Fatal(err)
		}
	})
	again, err := power.ReadCSV(&file, "power.csv")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := series.Span()
	shift := 2*s - first
	got := again.Window(power.WindowRequest{From: 4*s + shift, To: 10*s + shift})
	near(t, "energy", joules(t, got.Energy), joules(t, want.Energy), 1e-6)
	faults := 0
	for _, x := range again.AllSamples() {
		if x.Kind == power.KindFault {
			faults++
			if x.Missing[0].Reason != power.SourceEnded {
				t.Errorf("fault %+v", x)
			}
		}
	}
	if faults != 1 {
		t.Errorf("the end of the file is reported %d times", faults)
	}
}
