package power_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lmxbench/power"
)

// TestNvidiaSMILogOfAnH200 reads logs taken beside real runs on an H200.
func TestNvidiaSMILogOfAnH200(t *testing.T) {
	t.Parallel()
	log, err := power.ReadFile("testdata/nvidia-smi-h200-c256x1024.csv", nil)
	if err != nil {
		t.Fatal(err)
	}
	if log.Format != power.FormatNvidiaSMI {
		t.Fatalf("format %q", log.Format)
	}
	series := log.Series
	at := func(clock string) time.Duration {
		when, err := power.ParseTime("2026-11-30T" + clock + "Z")
		if err != nil {
			t.Fatal(err)
		}
		return series.At(when)
	}
	tokens := int64(65536)
	w := series.Window(power.WindowRequest{Name: "lmx", From: at("20:02:07.8"), To: at("20:02:12.3"), Tokens: &tokens})
	g := one(t, w)
	if w.EnergySource != power.EnergyAverage || g.Counter.Reason != power.NotSupported || g.Samples.Reason != power.NotSupported {
		t.Errorf("source %q, counter %q, samples %q", w.EnergySource, g.Counter.Reason, g.Samples.Reason)
	}
	near(t, "mean watts in the steady part", float64(*w.MeanWatts), 690, 1)
	near(t, "instant power integrated", joules(t, g.Instant.Joules), joules(t, w.Energy), 2)
	if g.MemoryUsedPeak == nil || *g.MemoryUsedPeak != 133831<<20 {
		t.Errorf("memory %v, want 133831 MiB", g.MemoryUsedPeak)
	}
	if w.Findings == nil || len(w.Findings) != 0 {
		t.Errorf("findings: %+v", w.Findings)
	}
	// The whole burst: the mean before it ends is undone, so the energy of the
	// ramp is not lost. The instant samples are the only other witness.
	whole := series.Window(power.WindowRequest{From: at("20:02:06.25"), To: at("20:02:12.0")})
	near(t, "with the ramp", joules(t, whole.Energy), joules(t, one(t, whole).Instant.Joules), 3)
	if _, err := os.Stat("testdata/nvidia-smi-h200-c256.csv"); err != nil {
		t.Error(err)
	}
}

func TestNvidiaSMILogs(t *testing.T) {
	t.Parallel()
	const head = "timestamp, uuid, power.draw [W], power.draw.instant [W], clocks_throttle_reasons.active, clocks_event_reasons_counters.sw_power_cap [us]\n"
	tests := []struct{ about, text, want string }{
		{"two cards, units, a hexadecimal mask, remarks", head +
			"2026/11/30 20:01:56.617, GPU-a, 120.59 W, [N/A], 0x0000000000000004, 12 us\n" +
			"2026/11/30 20:01:56.617, GPU-b, [Not Supported], 77.00 W, 0x0, [Unknown Error]\n", ""},
		{"no power", "timestamp, utilization.gpu [%]\n2026/11/30 20:01:56.617, 3\n", "f:1: no power.draw column"},
		{"no time", "power.draw [W], utilization.gpu [%]\n3, 3\n", "f:1: no timestamp column: the rows cannot be placed"},
		{"no rows", head, "f:1: a header and no rows"},
		{"a short row", head + "2026/11/30 20:01:56.617, GPU-a\n", "f:2: 2 fields, the header has 6"},
		{"a bad time", head + "30.11.2026, GPU-a, 1, 1, 0x0, 0\n", `f:2: timestamp is "30.11.2026", want 2006/01/02 15:04:05.000`},
		{"a word", head + "2026/11/30 20:01:56.617, GPU-a, lots, 1, 0x0, 0\n", `f:2: power.draw is "lots", want a number`},
		{"a strange unit", head + "2026/11/30 20:01:56.617, GPU-a, 1 kW, 1, 0x0, 0\n", `f:2: power.draw is "1 kW", want a number`},
		{"a bad mask", head + "2026/11/30 20:01:56.617, GPU-a, 1, 1, 0xzz, 0\n", `f:2: clocks_throttle_reasons.active is "0xzz", want a number`},
		{"backwards", head + "2026/11/30 20:01:56.617, GPU-a, 1, 1, 0x0, 0\n2026/11/30 20:01:56.616, GPU-a, 1, 1, 0x0, 0\n", "f:3: timestamp 2026/11/30 20:01:56.616 runs backwards"},
	}
	for _, tt := range tests {
		t.Run(tt.about, func(t *testing.T) {
			t.Parallel()
			log, err := power.Read(strings.NewReader(tt.text), "f", nil)
			if errText(err) != tt.want {
				t.Fatalf("got  %v\nwant %s", err, tt.want)
			}
			if err != nil {
				return
			}
			all := log.Series.AllSamples()
			if len(all) != 2 || all[0].GPU != "GPU-a" || all[1].GPU != "GPU-b" {
				t.Fatalf("samples %+v", all)
			}
			if v, ok := all[0].Values.Get(power.PowerCappedTime); !ok || v != 12000 {
				t.Errorf("time under the cap is %v ns, want 12000: the program prints µs", v)
			}
			if v, ok := all[0].Values.Get(power.ThrottleReasons); !ok || v != 4 {
				t.Errorf("mask %v, want 4", v)
			}
			want := []power.Missing{{Signal: power.PowerAverage, Reason: power.NotSupported}, {Signal: power.PowerCappedTime, Reason: power.OtherError}}
			if diff := cmp.Diff(want, all[1].Missing); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLogZones: nvidia-smi prints local time without saying so.
func TestLogZones(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", 2*60*60)
	log, err := power.ReadFile("testdata/nvidia-smi-h200-c256.csv", zone)
	if err != nil {
		t.Fatal(err)
	}
	if got := log.Series.Origin.Format(time.RFC3339Nano); got != "2026-11-30T18:01:59.472Z" {
		t.Errorf("first row at %s", got)
	}
}

// TestSeedLogAsSeries: the same windows come out of the seed's log.
func TestSeedLogAsSeries(t *testing.T) {
	t.Parallel()
	log, err := power.ReadFile("testdata/seed-power.csv", nil)
	if err != nil {
		t.Fatal(err)
	}
	if log.Format != power.FormatSeed || len(log.SeedRows) != 75 || log.Skipped != 2 {
		t.Fatalf("format %q, %d rows, %d skipped", log.Format, len(log.SeedRows), log.Skipped)
	}
	from := log.Series.At(time.Unix(1788669030, 0))
	w := log.Series.Window(power.WindowRequest{From: from, To: from + 20*s})
	if w.EnergySource != power.EnergyAverage || *w.MeanWatts < 690 || *w.MeanWatts > 985 {
		t.Errorf("source %q, mean %v W", w.EnergySource, *w.MeanWatts)
	}
	if log.Series.Description.Source != power.SourceSeedLog {
		t.Errorf("source %q", log.Series.Description.Source)
	}
}

func TestExternalMeter(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("note,unix_s,power_w\n")
	for i := range 200 {
		fmt.Fprintf(&b, "x,%d.%d,431.5\n", 1788669000+i/10, i%10)
	}
	log, err := power.Read(strings.NewReader(b.String()), "f", nil)
	if err != nil {
		t.Fatal(err)
	}
	w := log.Series.Window(power.WindowRequest{From: 2 * s, To: 12 * s})
	if w.EnergySource != power.EnergyExternal || one(t, w).Scope != power.ScopeWall {
		t.Errorf("source %q, scope %q", w.EnergySource, w.GPUs[0].Scope)
	}
	near(t, "energy", joules(t, w.Energy), 4315, 0.001)

	bad := []struct{ about, text, want string }{
		{"no power", "utc,watts,power_w2\n", "f:1: want a column utc or unix_s and a column power_w"},
		{"a bad time", "utc,power_w\nnoon,3\n", `f:2: time is "noon": parsing time "noon" as "2006-01-02T15:04:05.999999999Z07:00": cannot parse "noon" as "2006"`},
		{"backwards", "unix_s,power_w\n10,3\n9,3\n", `f:3: time 1970-01-01T00:00:09Z runs backwards`},
		{"a word", "unix_s,power_w\n10,three\n", `f:2: power_w is "three", want a number`},
		{"a field too few", "unix_s,power_w\n10\n", "f:2: wrong number of fields"},
	}
	for _, tt := range bad {
		if _, err := power.Read(strings.NewReader(tt.text), "f", nil); errText(err) != tt.want {
			t.Errorf("%s: got %v, want %s", tt.about, err, tt.want)
		}
	}
}

func TestReadFileErrors(t *testing.T) {
	t.Parallel()
	if _, err := power.ReadFile(filepath.Join(t.TempDir(), "none"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	for text, want := range map[string]string{
		"":                  "f:1: empty file",
		"hello\nworld\n":    "f:1: not a log of power readings: no header of power.csv, nvidia-smi or a meter, and no row of seven numbers",
		"kind,gpu,watts\n":  `f:1: column 3 is "watts", want "utc"`,
		"utc,power_w,\"x\n": `f:1: extraneous or missing " in quoted-field`,
	} {
		if _, err := power.Read(strings.NewReader(text), "f", nil); errText(err) != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func TestParseTime(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1788669000.123":            "2026-09-06T04:30:00.123Z",
		"1788669000":                "2026-09-06T04:30:00Z",
		"2026-09-06T06:30:00+02:00": "2026-09-06T06:30:00+02:00",
	} {
		got, err := power.ParseTime(text)
		if err != nil || got.Format(time.RFC3339Nano) != want {
			t.Errorf("%s: got %s, %v, want %s", text, got.Format(time.RFC3339Nano), err, want)
		}
	}
	for _, text := range []string{"", "noon", "-5", "1e9", "1788669000.12x", "2026-09-06"} {
		if got, err := power.ParseTime(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}
