package study_test

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"lmxbench/bench/report/runtest"
	"lmxbench/bench/report/study"
	"lmxbench/internal/ceiling"
	"lmxbench/internal/cost"
)

// near reports a difference beyond half a unit of the last digit of want.
func near(got, want, unit float64) bool { return math.Abs(got-want) <= unit/2 }

func openSeed(t *testing.T, p study.Prices) *study.Study {
	t.Helper()
	st, err := study.Open([]string{seedTable}, study.Options{Prices: p})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func TestMoneyIsQuotedByBothBases(t *testing.T) {
	t.Parallel()
	dir := runtest.Store(t, t.TempDir(), "r", runtest.Burst(4))
	st, err := study.Open([]string{dir}, study.Options{Prices: study.Prices{
		GPUHourUSD: ptr(3.0), GPUs: 2, APIs: []study.API{{Name: "hosted", USDPerMillion: 0.7}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(st.Money.Quotes) != 2 {
		t.Fatalf("got %d quotes", len(st.Money.Quotes))
	}
	for i, basis := range []cost.Basis{cost.BatchWall, cost.ConcurrentRequestWindow} {
		q := st.Money.Quotes[i]
		rate := st.Subjects[0].Rate(basis).TokensPerSecond
		if q.Basis != basis || q.Tariff.USDPerHour != 6 || !near(q.USDPerMillion, 6/(rate*0.0036), 1e-9) {
			t.Errorf("got %+v", q)
		}
		if !near(q.Against[0].CheaperBy, 0.7/q.USDPerMillion, 1e-9) || !near(q.Against[0].Duty, q.USDPerMillion/0.7, 1e-9) {
			t.Errorf("against the service: got %+v", q.Against[0])
		}
	}
	if len(st.Money.BreakEvens) != 0 {
		t.Error("one point is no curve to find a break-even on")
	}
}

func TestAnAssumedNumberOfCardsIsSaid(t *testing.T) {
	t.Parallel()
	st, err := study.Open([]string{"testdata/lmx-wrapped.json"}, study.Options{Prices: study.Prices{GPUHourUSD: ptr(1.0)}})
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(st.Money.Assumptions, "\n"); strings.Contains(text, "taken as one") {
		t.Errorf("the hardware states one card, got %s", text)
	}
	bare := runtest.Burst(2)
	bare.Tokens = 32
	dir := runtest.Store(t, t.TempDir(), "r", bare)
	data := strings.ReplaceAll(string(mustRead(t, filepath.Join(dir, "run.json"))), `"gpuCount": 1,`, ``)
	data = strings.ReplaceAll(data, `"gpuName": "NVIDIA B200",`, ``)
	path := filepath.Join(t.TempDir(), "run.json")
	write(t, path, data)
	st, err = study.Open([]string{path}, study.Options{Prices: study.Prices{GPUHourUSD: ptr(1.0)}})
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(st.Money.Assumptions, "\n"); !strings.Contains(text, "taken as one: give --gpus") {
		t.Errorf("got %s", text)
	}
}

func TestOwningCostsCapitalAndEnergy(t *testing.T) {
	t.Parallel()
	l := runtest.Burst(4)
	l.Attached.Power = json.RawMessage(`{"source":"nvml","windows":{"lmx":{"meanWatts":800,"joulesPerToken":0.05,"energySource":"counter"}}}`)
	dir := runtest.Store(t, t.TempDir(), "r", l)
	st, err := study.Open([]string{dir}, study.Options{Prices: study.Prices{
		Own: &cost.Owned{USD: 35040, LifeYears: 4}, USDPerKWh: ptr(0.12), PUE: 1.5,
	}})
	if err != nil {
		t.Fatal(err)
	}
	// 35,040 $ ÷ (4 · 8,760 h) = 1 $; 0.8 kW · 1.5 · 0.12 $ = 0.144 $
	if got := st.Money.Quotes[0].Tariff; got.Name != "own" || !near(got.USDPerHour, 1.144, 1e-9) {
		t.Errorf("got %+v", got)
	}
	// 0.05 J ÷ 0.0036 = 13.9 Wh; · 1.5 · 0.12 $/kWh
	if got := st.Money.Energy[0]; !near(got.WattHoursPerMillion, 13.889, 1e-3) || !near(*got.USDPerMillion, 0.0025, 1e-9) {
		t.Errorf("got %+v", got)
	}
}

func TestBreakEvenIsABracketAndNeverAnExtrapolation(t *testing.T) {
	t.Parallel()
	st := openSeed(t, study.Prices{APIs: []study.API{{Name: "hosted", USDPerMillion: 0.70}}})
	series := func(label string) int {
		for i := range st.Series {
			if st.Series[i].Label == label {
				return i
			}
		}
		t.Fatalf("no series %q", label)
		return 0
	}
	b200 := series("Qwen3.6-35B-A3B-FP8 · B200")
	for _, b := range st.Money.BreakEvens {
		if b.Series != b200 {
			continue
		}
		if b.Where != cost.Between || !near(*b.Low, 12.44, 0.01) || !near(*b.High, 22.19, 0.1) || !near(b.TokensPerSecond, 2222.2, 0.1) {
			t.Errorf("got %+v", b)
		}
		for name, want := range map[string]float64{"logLog": 17.9, "monotoneCubic": 21.1} {
			if !near(b.Methods[name], want, 0.1) {
				t.Errorf("%s: got %v, want %v", name, b.Methods[name], want)
			}
		}
		if !strings.Contains(b.Statement, "between 12.4 and 22.2 streams; measure 8, 16, 32") {
			t.Errorf("got %s", b.Statement)
		}
		return
	}
	t.Error("no break-even of the B200's ladder")
}

func TestNoPriceOfARunThatIsNoResult(t *testing.T) {
	t.Parallel()
	l := runtest.Burst(4)
	l.Failed = 1
	st, err := study.Open([]string{runtest.Store(t, t.TempDir(), "r", l)}, study.Options{Prices: study.Prices{GPUHourUSD: ptr(1.0)}})
	if err != nil {
		t.Fatal(err)
	}
	if st.Money != nil || !strings.Contains(strings.Join(st.Notes, " "), "No price of c4: it is INVALID (failed_requests)") {
		t.Errorf("got money %v, notes %q", st.Money, st.Notes)
	}
}

// The published vectors: model ceilings of Qwen3.6-35B-A3B FP8 with 32-bit
// state, at a prompt of 305 tokens.
func TestCeilingsAreThePublishedVectors(t *testing.T) {
	t.Parallel()
	st := openSeed(t, study.Prices{})
	for _, r := range st.Roofs {
		if r.Missing == "" {
			t.Errorf("%s: a row does not state its prompt's tokens, got %+v", st.Subjects[r.Subject].Label, r)
		}
	}
	for _, c := range []struct {
		gpu     string
		streams int
		tokens  int
		rate    float64
		want    float64
		share   string
	}{
		{"NVIDIA H200 SXM", 1, 1024, 261.5, 1327, "20 %"},
		{"NVIDIA B200", 64, 512, 6171.9, 13046, "47 %"},
		{"NVIDIA H100 80GB SXM", 64, 512, 5496.0, 5463, "101 %"},
		{"NVIDIA B200", 256, 512, 14499.4, 29331, "49 %"},
		{"NVIDIA H100 80GB SXM", 256, 512, 9867.8, 12282, "80 %"},
	} {
		path := filepath.Join(t.TempDir(), "run.json")
		text, err := json.Marshal(map[string]any{
			"hfId": "Qwen/Qwen3.6-35B-A3B-FP8", "engineName": "vllm", "quantization": "FP8", "batchSize": c.streams, "tokSOut": c.rate,
			"promptTokens": 305, "outputTokens": c.tokens, "hardware": map[string]any{"gpuName": c.gpu, "gpuCount": 1},
		})
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, string(text))
		st, err := study.Open([]string{path}, study.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := st.Roofs[0]
		if r.Model == nil || !near(*r.Model, c.want, 1.2) || study.Percent(*r.Share()) != c.share || r.Impossible || *r.Hard < *r.Model {
			t.Errorf("%s c%d: got %+v, want %v and %s", c.gpu, c.streams, r, c.want, c.share)
		}
	}
}

func TestACeilingTakesWhatIsDeclared(t *testing.T) {
	t.Parallel()
	dir := runtest.Store(t, t.TempDir(), "r", runtest.Burst(4))
	dense := ceiling.Architecture{Name: "tiny", Mixers: 1e9, Head: 1e8, Embedding: 1e8}
	for _, c := range []struct {
		sentence string
		in       study.RoofInput
		check    func(r study.Roof) bool
	}{
		{"without a shape it says what to give", study.RoofInput{}, func(r study.Roof) bool { return strings.Contains(r.Missing, "--model-config") && r.Model == nil }},
		{"the size of the files gives the dense fallback", study.RoofInput{WeightsGB: 2}, func(r study.Roof) bool { return r.Missing == "" && *r.Dense == 4000 && r.Model == nil }},
		{"a shape gives both ceilings", study.RoofInput{Architecture: &dense}, func(r study.Roof) bool { return r.Model != nil && r.Hard != nil && !r.Impossible }},
		{"bandwidth wins over the table of cards", study.RoofInput{Architecture: &dense, BandwidthGBps: 1}, func(r study.Roof) bool {
			return r.Impossible && strings.HasPrefix(r.Inputs[0], "1.00 GB/s, as declared")
		}},
	} {
		st, err := study.Open([]string{dir}, study.Options{Roof: c.in})
		if err != nil {
			t.Fatal(err)
		}
		if !c.check(st.Roofs[0]) {
			t.Errorf("%s: got %+v", c.sentence, st.Roofs[0])
		}
	}
}
