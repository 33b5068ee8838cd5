package power_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lmxbench/power"
)

// full is a description and samples that use every column.
func full() (power.Description, time.Time, []power.Sample) {
	limit := power.Watts(700)
	desc := power.Description{
		Source: power.SourceNVML, Version: "580.159.04",
		Skipped: []power.Skipped{{Index: 3, Reason: power.NoPermission}},
		Devices: []power.Device{{
			UUID: "GPU-a", Name: `NVIDIA "H200", SXM`, Index: 0, Source: power.SourceNVML, Scope: power.ScopeGPU,
			PowerLimit: &limit, AverageWindow: time.Second, GaugePeriod: 100 * ms, CounterPeriod: 100 * ms, RingPeriod: 20 * ms,
			Classes:     []power.Class{power.ClassCounter, power.ClassGauges},
			Unavailable: map[string]power.Reason{"dram_active_pct": power.SymbolMissing},
			Facts:       map[string]string{"name": "NVIDIA H200"},
		}},
	}
	gauge := power.Sample{Kind: power.KindGauge, GPU: "GPU-a", Before: 1234567, After: 1299999}
	for i := range power.SMActive + 1 {
		gauge.Values.Set(i, 0.1+float64(i)*1e7/3)
	}
	missing := power.Sample{
		Kind: power.KindCounter, GPU: "GPU-a", Before: 5, After: 6,
		Missing: []power.Missing{{Signal: power.EnergyCounter, Reason: power.Timeout}, {Signal: power.AnySignal, Reason: power.GPULost}},
	}
	ring := power.Sample{Kind: power.KindRing, GPU: "GPU-a", Before: -100, After: -100, Stamp: 1796068800000000001}
	ring.Values.Set(power.PowerSample, 971.999)
	return desc, time.Unix(1796068800, 123456789), []power.Sample{
		gauge, missing, ring,
		{Kind: power.KindClock, Before: 9, After: 9, Stamp: 1796068800123456798},
		{Kind: power.KindProcess, GPU: "GPU-a", Before: 10, After: 11, Note: "42=1000 43=-1"},
		{Kind: power.KindFault, GPU: "GPU-a", Before: 12, After: 12, Note: `it said: "gone", twice`, Missing: []power.Missing{{Signal: power.AnySignal, Reason: power.GPULost}}},
	}
}

func writeCSV(t *testing.T, desc power.Description, origin time.Time, samples []power.Sample) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := power.NewWriter(&file, origin, desc)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples {
		if err := w.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// TestCSVRoundTrip: what was written is what is read, to the last bit.
func TestCSVRoundTrip(t *testing.T) {
	t.Parallel()
	desc, origin, samples := full()
	file := writeCSV(t, desc, origin, samples)
	series, err := power.ReadCSV(bytes.NewReader(file), "power.csv")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(desc, series.Description); diff != "" {
		t.Errorf("description (-want +got):\n%s", diff)
	}
	if !series.Origin.Equal(origin) {
		t.Errorf("origin %v, want %v", series.Origin, origin)
	}
	if diff := cmp.Diff(samples, series.AllSamples()); diff != "" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}
	again := writeCSV(t, series.Description, series.Origin, series.AllSamples())
	if diff := cmp.Diff(string(file), string(again)); diff != "" {
		t.Errorf("written again (-want +got):\n%s", diff)
	}
}

func TestCSVRefuses(t *testing.T) {
	t.Parallel()
	desc, origin, samples := full()
	good := string(writeCSV(t, desc, origin, samples))
	lines := strings.SplitAfter(good, "\n")
	edit := func(line int, from, to string) string {
		c := append([]string(nil), lines...)
		if !strings.Contains(c[line-1], from) {
			t.Fatalf("line %d has no %q: %s", line, from, c[line-1])
		}
		c[line-1] = strings.Replace(c[line-1], from, to, 1)
		return strings.Join(c, "")
	}
	tests := []struct{ about, text, want string }{
		{"an empty file", "", "f:1: empty file, want the header of power.csv"},
		{"another header", edit(1, "energy_counter_j", "energy_counter_mj"), `f:1: column 7 is "energy_counter_mj", want "energy_counter_j"`},
		{"a column too many", edit(1, "missing,note", "missing,note,more"), "f:1: 28 columns, want 27"},
		{"only a header", lines[0], "f:2: no origin row"},
		{"no origin row", lines[0] + lines[2], `f:2: want a row of kind origin and 27 fields, got kind "device" and 27`},
		{"another schema", edit(2, "power/1", "power/9"), `f:2: schema "lmxbench.power/9", want "lmxbench.power/1"`},
		{"an origin that contradicts itself", edit(2, "2026-11-30", "2026-11-29"), "f:2: origin row: utc, before_ns and after_ns contradict stamp_unix_ns"},
		{"an unknown key in a description", edit(3, `""index""`, `""indexes""`), "f:3: device note: json: unknown field \"indexes\""},
		{"a device described twice", lines[0] + lines[1] + lines[2] + lines[2], `f:4: device "GPU-a" described twice`},
		{"a device after the samples", good + lines[2], "f:10: device row after the first sample"},
		{"a device that contradicts its note", edit(3, "device,GPU-a", "device,GPU-b"), `f:3: device row: gpu "GPU-b", uuid "GPU-a" in the note`},
		{"a sensor that cannot be", edit(3, `""averageWindowNs"":1000000000`, `""averageWindowNs"":1`), `f:3: device "GPU-a": averageWindowNs is shorter than 10 ms`},
		{"a time in another century", edit(4, "1234567,1299999", "1234567,3000000000000000000"), `f:4: before_ns "1234567", after_ns "3000000000000000000": years away from the origin`},
		{"an unknown kind", edit(4, "gauge,", "gauges,"), `f:4: unknown kind "gauges"`},
		{"a device nobody described", edit(4, "GPU-a", "GPU-x"), `f:4: sample of gpu "GPU-x", which no device row describes`},
		{"a field too few", edit(4, ",,\n", ",\n"), "f:4: 26 fields, want 27"},
		{"a word for a number", edit(4, ",0.1,", ",a lot,"), `f:4: energy_counter_j is "a lot", want a finite number`},
		{"not a number", edit(4, ",0.1,", ",NaN,"), `f:4: energy_counter_j is "NaN", want a finite number`},
		{"a call that ends before it begins", edit(4, "1234567,1299999", "1234567,1234566"), `f:4: before_ns "1234567", after_ns "1234566": want two whole numbers in order`},
		{"a label that contradicts the time", edit(4, ".124Z", ".125Z"), `f:4: utc is "2026-11-30T20:00:00.125Z", before_ns says "2026-11-30T20:00:00.124Z"`},
		{"an unknown missing signal", edit(5, "energy_counter_j=timeout", "energy=timeout"), `f:5: missing: "energy=timeout", want signal=reason`},
		{"a missing signal without a reason", edit(5, "energy_counter_j=timeout", "energy_counter_j="), `f:5: missing: "energy_counter_j=", want signal=reason`},
		{"time that runs backwards", good + strings.Replace(lines[3], "1234567,1299999", "1234566,1299999", 1), "f:10: before_ns 1234566 runs backwards from 1234567"},
		{"a clock row with a device", edit(7, "clock,,", "clock,GPU-a,"), "f:7: clock row names a gpu"},
		{"a stamp that is no number", edit(6, "1796068800000000001", "yesterday"), `f:6: stamp_unix_ns "yesterday" is not a whole number`},
		{"a quote in the middle", edit(4, "gauge", `ga"uge`), `f:4: bare " in non-quoted-field`},
	}
	for _, tt := range tests {
		t.Run(tt.about, func(t *testing.T) {
			t.Parallel()
			_, err := power.ReadCSV(strings.NewReader(tt.text), "f")
			var at *power.SyntaxError
			if !errors.As(err, &at) || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

// TestCSVCutAnywhere: a file that was cut while it was written gives all its
// whole rows and says that it was cut; only a cut before the first sample row
// can be an error.
func TestCSVCutAnywhere(t *testing.T) {
	t.Parallel()
	desc, origin, samples := full()
	file := writeCSV(t, desc, origin, samples)
	rows := bytes.Count(file, []byte("\n"))
	head := bytes.Index(file, []byte("gauge,"))
	for n := head; n < len(file); n++ {
		series, err := power.ReadCSV(bytes.NewReader(file[:n]), "f")
		if err != nil {
			t.Fatalf("cut after %d bytes: %v", n, err)
		}
		whole := bytes.Count(file[:n], []byte("\n")) - (rows - len(samples))
		if got := len(series.AllSamples()); got != whole {
			t.Fatalf("cut after %d bytes: %d samples, want %d", n, got, whole)
		}
		if cut := file[n-1] != '\n'; series.Cut != cut {
			t.Fatalf("cut after %d bytes: Cut is %v", n, series.Cut)
		}
	}
}

func TestWriterKeepsItsFirstError(t *testing.T) {
	t.Parallel()
	desc, origin, samples := full()
	limit := &failAfter{n: 2000}
	w, err := power.NewWriter(limit, origin, desc)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add(power.Sample{Kind: power.KindGauge, GPU: "GPU-x"}); err == nil || !strings.Contains(err.Error(), `no device "GPU-x"`) {
		t.Errorf("a device nobody described: %v", err)
	}
	for range 1000 {
		_ = w.Add(samples[0])
	}
	if err := w.Flush(); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("got %v, want the writer's error", err)
	}
	if err := w.Add(samples[0]); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("after it: got %v, want the same error: a row after a hole would lie", err)
	}
}

type failAfter struct{ n int }

func (f *failAfter) Write(p []byte) (int, error) {
	if f.n -= len(p); f.n < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

// TestEveryFigureIsInTheFile: the windows of a recording and of its file are
// the same document.
func TestEveryFigureIsInTheFile(t *testing.T) {
	t.Parallel()
	series, file := record(t, recording{
		devices: []power.SyntheticDevice{
			{UUID: "GPU-a", Load: burst(4*s, 10*s), CounterLatency: 3 * ms, PowerLimit: 700, Gauges: map[power.Signal]float64{power.MemoryUsed: 80e9, power.ClockSM: 1980}},
			{UUID: "GPU-b", Load: power.Constant(1.0 / 3), TickPhase: 3 * ms},
		},
		length: 14 * s, marks: []time.Duration{4 * s, 10 * s},
	})
	again, err := power.ReadCSV(bytes.NewReader(file), "power.csv")
	if err != nil {
		t.Fatal(err)
	}
	tokens := int64(131072)
	reqs := []power.WindowRequest{
		{Name: "lmx", Iteration: 1, From: 4*s + 1, To: 10*s - 1, Tokens: &tokens, StepPeriod: 17660 * time.Microsecond, IdleFrom: s, IdleTo: 3 * s},
		{Name: "plateau", Iteration: 1, From: 5 * s, To: 9 * s, GPUs: []string{"GPU-b"}},
	}
	want, err1 := power.NewWindowFile(series, reqs, nil).Encode()
	got, err2 := power.NewWindowFile(again, reqs, nil).Encode()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("(-recorded +read):\n%s", diff)
	}
}

func FuzzReadCSV(f *testing.F) {
	var t testing.T
	desc, origin, samples := full()
	good := writeCSV(&t, desc, origin, samples)
	f.Add(good)
	f.Add(good[:len(good)-10])
	f.Add([]byte("kind,gpu,utc\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		series, err := power.ReadCSV(bytes.NewReader(text), "f")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Fatalf("error without file and line: %v", err)
			}
			return
		}
		// What was accepted can be written and is read back the same.
		again, err := power.ReadCSV(bytes.NewReader(writeCSV(t, series.Description, series.Origin, series.AllSamples())), "g")
		if err != nil {
			t.Fatalf("written again: %v", err)
		}
		if diff := cmp.Diff(series.AllSamples(), again.AllSamples()); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		from, to, _ := series.Span()
		series.Window(power.WindowRequest{From: from, To: to, StepPeriod: 20 * ms})
	})
}

func FuzzReadLog(f *testing.F) {
	f.Add([]byte("timestamp, power.draw.instant [W], utilization.gpu [%]\n2026/11/30 20:01:56.617, 120.59, 0\n"))
	f.Add([]byte("timestamp, uuid, power.draw [W], clocks_event_reasons.active\n2026/11/30 20:01:56.617, GPU-a, [N/A], 0x0000000000000004\n"))
	f.Add([]byte("1788669000.123,764.80,100,166500,1965,3996,61\n"))
	f.Add([]byte("utc,power_w\n2026-11-30T20:00:00Z,431.5\n"))
	f.Add([]byte("unix_s,power_w\n1788669000.5,431.5\n1788669001.5,500\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		log, err := power.Read(bytes.NewReader(text), "f", nil)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Fatalf("error without file and line: %v", err)
			}
			return
		}
		from, to, _ := log.Series.Span()
		log.Series.Window(power.WindowRequest{From: from, To: to})
		power.ReduceSeed(log.SeedRows, 0, 2e9)
		power.ReduceSeed(log.Series.SeedRows(""), 0, 2e9)
	})
}
