package power_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lmxbench/power"
)

// TestSeedRuleToTheDigit compares with a result made by another program from
// the description of the rule: every token of the JSON must be the same.
func TestSeedRuleToTheDigit(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/seed-power.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, skipped, err := power.ReadSeedLog(f, "seed-power.csv")
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 75 || skipped != 2 {
		t.Errorf("got %d rows and %d skipped lines, want 75 and 2", len(rows), skipped)
	}
	w, kept := power.ReduceSeed(rows, 1788669011.871, 1788669063.402)
	if len(kept) != w.Samples || !strings.HasPrefix(kept[0].Raw, "1788669011.") {
		t.Errorf("kept %d rows from %q", len(kept), kept[0].Raw)
	}
	golden, err := os.ReadFile("testdata/seed-power_window.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tokens(t, golden), tokens(t, encode(t, w))); diff != "" {
		t.Errorf("power_window.json (-want +got):\n%s", diff)
	}
}

// tokens returns the members of an object as they are written.
func tokens(t *testing.T, text []byte) map[string]string {
	t.Helper()
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for k, v := range raw {
		out[k] = strings.Join(strings.Fields(string(v)), "")
	}
	return out
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestSeedRuleEdges(t *testing.T) {
	t.Parallel()
	row := func(epoch, watts, util float64) power.SeedRow {
		r := power.SeedRow{Epoch: epoch}
		set := func(v float64) *float64 { return &v }
		r.PowerW, r.UtilPct, r.MemMiB, r.SMMHz, r.MemMHz, r.TempC = set(watts), set(util), set(30820.9), set(1965.9), set(3996), set(61)
		return r
	}
	tests := []struct {
		about string
		rows  []power.SeedRow
		want  map[string]string
	}{
		{"nothing recorded: everything null", nil, map[string]string{
			"samples": "0", "active_samples": "0", "power_w_mean_active": "null", "power_w_median_active": "null",
			"power_w_max": "null", "mem_mib_max": "null", "sm_clock_mhz_mean_active": "null", "mem_clock_mhz": "null", "temp_c_max": "null",
		}},
		{"never busy: no power, but the rest", []power.SeedRow{row(100, 77, 49)}, map[string]string{
			"samples": "1", "active_samples": "0", "power_w_mean_active": "null", "power_w_median_active": "null",
			"power_w_max": "77.0", "mem_mib_max": "30820", "sm_clock_mhz_mean_active": "null", "mem_clock_mhz": "3996", "temp_c_max": "61",
		}},
		{"both margins are inside, half busy counts, clocks are cut off, halves go to even", []power.SeedRow{
			row(98.999, 900, 100), row(99.5, 700.25, 50), row(110.5, 700.25, 100), row(110.501, 900, 100),
		}, map[string]string{
			"samples": "2", "active_samples": "2", "power_w_mean_active": "700.2", "power_w_median_active": "700.2",
			"power_w_max": "700.2", "mem_mib_max": "30820", "sm_clock_mhz_mean_active": "1965", "mem_clock_mhz": "3996", "temp_c_max": "61",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.about, func(t *testing.T) {
			t.Parallel()
			w, _ := power.ReduceSeed(tt.rows, 100, 110)
			got := tokens(t, encode(t, w))
			if got["window_utc"] != `["1970-01-01T00:01:40Z","1970-01-01T00:01:50Z"]` {
				t.Errorf("window_utc %s", got["window_utc"])
			}
			delete(got, "window_utc")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSeedLogLines(t *testing.T) {
	t.Parallel()
	tests := []struct {
		about, text string
		rows, skip  int
		err         string
	}{
		{"a row", "1788669000.123,764.80,100,166500,1965,3996,61\n", 1, 0, ""},
		{"more fields than needed", "1788669000.123,764.80,100,166500,1965,3996,61,x,y\n", 1, 0, ""},
		{"no end of line", "1788669000.123,764.80,100,166500,1965,3996,61", 1, 0, ""},
		{"a failed query", "1788669000.123,NVIDIA-SMIhasfailed\n", 0, 1, ""},
		{"no number in front", "time,764.80,100,166500,1965,3996,61\n", 0, 1, ""},
		{"not a number in front", "nan,764.80,100,166500,1965,3996,61\n", 0, 1, ""},
		{"a value the card does not have", "1788669000.123,[N/A],100,166500,1965,3996,61\n", 1, 0, ""},
		{"with units", "1788669000.123,764.80 W,100 %,166500 MiB,1965 MHz,3996 MHz,61\n", 1, 0, ""},
		{"a word for a value", "1788669000.1,1,1,1,1,1,1\n1788669000.123,much,100,166500,1965,3996,61\n", 0, 0, `log:2: power is "much", want a number or [N/A]`},
		{"an infinite value", "1788669000.123,1,100,166500,inf,3996,61\n", 0, 0, `log:1: sm clock is "inf", want a number or [N/A]`},
	}
	for _, tt := range tests {
		t.Run(tt.about, func(t *testing.T) {
			t.Parallel()
			rows, skip, err := power.ReadSeedLog(strings.NewReader(tt.text), "log")
			if len(rows) != tt.rows || skip != tt.skip || errText(err) != tt.err {
				t.Errorf("got %d rows, %d skipped, error %q; want %d, %d, %q", len(rows), skip, errText(err), tt.rows, tt.skip, tt.err)
			}
		})
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestSeedRuleReadsLow: a burst of six seconds through a gauge that shows the
// mean of the last second, read once a second, comes out several per cent low.
func TestSeedRuleReadsLow(t *testing.T) {
	t.Parallel()
	load := power.Steps{{Power: 300}, {At: 100 * s, Power: 700}, {At: 106 * s, Power: 300}}
	var sum float64
	const phases = 20
	for i := range phases {
		var rows []power.SeedRow
		for at := 95*s + time.Duration(i)*s/phases; at < 112*s; at += 1040 * ms {
			mean := float64(load.Energy(at) - load.Energy(at-s))
			util := 0.0
			if load.Power(at) == 700 {
				util = 100
			}
			rows = append(rows, power.SeedRow{Epoch: at.Seconds(), PowerW: &mean, UtilPct: &util})
		}
		w, _ := power.ReduceSeed(rows, 100, 106)
		got, ok := seedMean(w)
		if !ok {
			t.Fatal("no mean")
		}
		sum += 100 * (got/700 - 1)
	}
	if off := sum / phases; off > -3.5 || off < -6.5 {
		t.Errorf("the seed rule reads a 6 s burst %+.1f %% off, want about -4 to -6 %%", off)
	}
}

// TestSeedRowsOfAFastRecording: one reading a second of it, the first card.
func TestSeedRowsOfAFastRecording(t *testing.T) {
	t.Parallel()
	series, _ := record(t, recording{
		devices: []power.SyntheticDevice{{UUID: "a", Load: power.Constant(300), Gauges: map[power.Signal]float64{power.MemoryUsed: 5 << 30}}, {UUID: "b", Load: power.Constant(500)}},
		length:  10*s + 500*ms,
	})
	rows := series.SeedRows("")
	if len(rows) != 11 {
		t.Fatalf("%d rows out of 10.5 s, want 11", len(rows))
	}
	for i, r := range rows {
		if *r.PowerW != 300 || *r.MemMiB != 5120 || r.UtilPct != nil || r.Epoch > 946684800+float64(i) || r.Epoch < 946684800+float64(i)-0.06 {
			t.Errorf("row %d: %+v", i, r)
		}
	}
	if series.SeedRows("b")[0].PowerW == nil || series.SeedRows("c") != nil {
		t.Error("by UUID")
	}
}
