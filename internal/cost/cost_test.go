package cost_test

import (
	"math"
	"testing"
	"time"

	"lmxbench/internal/cost"
)

// printed fails unless got lies within half a unit of the last printed digit.
func printed(t *testing.T, what string, got, want, unit float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > unit/2*1.0001 {
		t.Errorf("%s: got %.6g, want %v ± %v", what, got, want, unit/2)
	}
}

func quote(t *testing.T, rate, perHour float64) cost.Quote {
	t.Helper()
	q, err := cost.NewQuote(cost.ConcurrentRequestWindow, rate, perHour)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// The published table, digit for digit.
func TestPublishedCostTable(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		run           string
		perHour, rate float64
		exact         float64
		printed       string
	}{
		{"Qwen3.6 FP8 B200 c1", 5.60, 220.4, 7.05787, "$7.06"},
		{"Qwen3.6 FP8 B200 c64", 5.60, 6171.9, 0.25204, "$0.25"},
		{"Qwen3.6 FP8 B200 c128", 5.60, 9790.9, 0.15888, "$0.16"},
		{"Qwen3.6 FP8 B200 c256", 5.60, 14499.4, 0.10728, "$0.107"},
		{"Qwen3.6 FP8 H100 c256", 1.20, 9867.8, 0.03378, "$0.034"},
		{"Qwen3.6 FP8 H200 c256", 3.00, 12005.2, 0.06941, "$0.069"},
		{"Nemotron NVFP4 + DSpark 5090 c1", 0.59, 681.5, 0.24048, "$0.24"},
		{"gemma GGUF + MTP 5090 c1", 0.60, 407.0, 0.40950, "$0.41"},
	} {
		q := quote(t, row.rate, row.perHour)
		printed(t, row.run, q.USDPerMillion, row.exact, 1e-5)
		if got := cost.FormatUSD(q.USDPerMillion); got != row.printed {
			t.Errorf("%s: printed %s, want %s", row.run, got, row.printed)
		}
	}
}

func TestPricesPrint(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		usd  float64
		want string
	}{
		{0.15, "$0.15"},
		{0.1499, "$0.150"},
		{12, "$12.00"},
		{0, "$0.000"},
		{0.0018, "$0.002"},
		{0.00012, "$0.00012"}, // would read $0.000
	} {
		if got := cost.FormatUSD(row.usd); got != row.want {
			t.Errorf("%v: got %s, want %s", row.usd, got, row.want)
		}
	}
}

func TestOneRunHasAPriceForEachWindow(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		why  string
		rate float64
		want float64
		unit float64
	}{
		{"lmx window", 14499.4, 0.107, 0.001},
		{"batch wall", 14275.1, 0.10897, 0.00001},
		{"plateau", 17311, 0.090, 0.001},
		{"closed loop", 14305, 0.109, 0.001},
	} {
		printed(t, row.why, quote(t, row.rate, 5.60).USDPerMillion, row.want, row.unit)
	}
}

func TestClaims(t *testing.T) {
	t.Parallel()
	b200, h100, single := quote(t, 14499.4, 5.60), quote(t, 9867.8, 1.20), quote(t, 220.4, 5.60)
	factor := func(q cost.Quote) float64 { f, _ := q.CheaperBy(0.70); return f }
	printed(t, "B200 cheaper than the service", factor(b200), 6.525, 0.001)
	printed(t, "H100 cheaper than the service", factor(h100), 20.72, 0.01)
	printed(t, "H200 cheaper than the service", factor(quote(t, 12005.2, 3)), 10.08, 0.01)
	printed(t, "a single user is dearer", 1/factor(single), 10.08, 0.01)
	printed(t, "40.5 minutes of B200", cost.Rent(5.60, 40*time.Minute+30*time.Second), 3.78, 0.001)
	printed(t, "27 minutes of 5090", cost.Rent(0.60, 27*time.Minute), 0.27, 0.001)
	printed(t, "3 minutes of H100 PCIe", cost.Rent(1, 3*time.Minute), 0.05, 0.001)

	half, _ := b200.AtUtilisation(0.5)
	quarter, _ := b200.AtUtilisation(0.25)
	duty, _ := b200.BreakEvenDuty(0.70)
	printed(t, "half busy", half, 0.215, 0.001)
	printed(t, "a quarter busy", quarter, 0.429, 0.001)
	printed(t, "break-even duty, %", 100*duty, 15.3, 0.1)
	for _, share := range []float64{0, -1, 1.01, math.NaN()} {
		if got, ok := b200.AtUtilisation(share); ok {
			t.Errorf("utilisation %v: got %v", share, got)
		}
	}
	if got, ok := b200.CheaperBy(0); ok {
		t.Errorf("a free service: got %v", got)
	}
	if got, ok := b200.BreakEvenDuty(math.NaN()); ok {
		t.Errorf("no price: got %v", got)
	}
}

func TestQuoteNeedsItsNumbers(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		why           string
		basis         cost.Basis
		rate, perHour float64
	}{
		{"no name", "", 100, 1},
		{"no rate", cost.BatchWall, 0, 1},
		{"NaN rate", cost.BatchWall, math.NaN(), 1},
		{"infinite rate", cost.BatchWall, math.Inf(1), 1},
		{"negative price", cost.BatchWall, 100, -1},
		{"NaN price", cost.BatchWall, 100, math.NaN()},
	} {
		if q, err := cost.NewQuote(row.basis, row.rate, row.perHour); err == nil {
			t.Errorf("%s: got %+v, want an error", row.why, q)
		}
	}
	if q, err := cost.NewQuote(cost.DefaultBasis, 100, 0); err != nil || q.USDPerMillion != 0 || q.Basis != cost.BatchWall {
		t.Errorf("a free machine: got %+v, %v", q, err)
	}
}

// 305 prompt and 512 output tokens at $0.05 and $0.70 per million.
func TestWholeRequests(t *testing.T) {
	t.Parallel()
	wall, err := cost.NewQuote(cost.BatchWall, 14275.1, 5.60)
	if err != nil {
		t.Fatal(err)
	}
	r, ok := cost.PerRequest(wall, 305, 512, 0.05, 0.70)
	if !ok {
		t.Fatal("no price")
	}
	printed(t, "service, millionths of a dollar", r.APIUSD*1e6, 374, 1)
	printed(t, "own, by the wall rate", r.OwnUSD*1e6, 55.8, 0.1)
	printed(t, "factor", r.Factor, 6.70, 0.01)
	outputOnly, _ := wall.CheaperBy(0.70)
	printed(t, "factor of the output alone", outputOnly, 6.42, 0.01)
	if _, ok := cost.PerRequest(wall, 305, 0, 0.05, 0.70); ok {
		t.Error("a request without output has no price per output")
	}
	if _, ok := cost.PerRequest(wall, 305, 512, math.NaN(), 0.70); ok {
		t.Error("no input price")
	}
}

func TestEnergyPerMillion(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		run               string
		watts, rate       float64
		joules, jUnit     float64
		wh, whUnit        float64
		usd, share, price float64
	}{
		{"Qwen3.6 B200 c256", 764.8, 14499.4, 0.0527, 1e-4, 14.7, 0.1, 0.0018, 1.6, 0.107284},
		{"27B B200 c256", 942, 4537.6, 0.2076, 1e-4, 57.7, 0.1, 0.0069, 2.0, 0.342815},
		{"DSpark 5090 c1", 351.7, 681.5, 0.516, 1e-3, 143, 1, 0.0172, 7.2, 0.240483},
		{"gemma MTP 5090 c1", 383.6, 407, 0.943, 1e-3, 262, 1, 0.0314, 7.7, 0.409500},
	} {
		e, ok := cost.NewEnergy(row.watts/row.rate, 0.12, 0, 0)
		if !ok {
			t.Fatalf("%s: no energy", row.run)
		}
		printed(t, row.run+", J per token", e.JoulesPerToken, row.joules, row.jUnit)
		printed(t, row.run+", Wh per million", e.WattHoursPerMillion, row.wh, row.whUnit)
		printed(t, row.run+", $ per million", e.USDPerMillion, row.usd, 1e-4)
		printed(t, row.run+", % of the rent", 100*e.USDPerMillion/row.price, row.share, 0.1)
	}
	e, _ := cost.NewEnergy(0.36, 0.10, 0.25, 1.2) // 100 Wh, a quarter more for the host, then cooling
	printed(t, "wall energy", e.USDPerMillion, 0.015, 1e-9)
	for _, bad := range [][4]float64{{0, 0.1, 0, 1}, {1, -0.1, 0, 1}, {1, 0.1, -1, 1}, {1, 0.1, 0, 0.9}, {math.NaN(), 0.1, 0, 1}} {
		if e, ok := cost.NewEnergy(bad[0], bad[1], bad[2], bad[3]); ok {
			t.Errorf("%v: got %+v, want none", bad, e)
		}
	}
}

func TestOwnedHardware(t *testing.T) {
	t.Parallel()
	o := cost.Owned{USD: 8760, LifeYears: 2, BusyWatts: 500, IdleWatts: 120, USDPerKWh: 0.20, PUE: 1.5, Utilisation: 0.25}
	h, err := o.BusyHour()
	if err != nil {
		t.Fatal(err)
	}
	printed(t, "capital: 0.50 an hour, 2.00 a busy hour", h.Capital, 2, 1e-9)
	printed(t, "energy: 0.75 kWh", h.Energy, 0.15, 1e-9)
	printed(t, "three idle hours for each busy one: 0.54 kWh", h.Idle, 0.108, 1e-9)
	printed(t, "sum", h.USD(), 2.258, 1e-9)

	plain, err := cost.Owned{USD: 8760, LifeYears: 1}.BusyHour()
	if err != nil || plain.USD() != 1 {
		t.Errorf("defaults: got %+v, %v, want a dollar an hour", plain, err)
	}
	for why, bad := range map[string]cost.Owned{
		"no price":          {LifeYears: 1},
		"no life":           {USD: 1},
		"PUE below 1":       {USD: 1, LifeYears: 1, PUE: 0.9},
		"busier than all":   {USD: 1, LifeYears: 1, Utilisation: 1.1},
		"negative power":    {USD: 1, LifeYears: 1, BusyWatts: -1},
		"NaN electricity":   {USD: 1, LifeYears: 1, USDPerKWh: math.NaN()},
		"infinite lifetime": {USD: 1, LifeYears: math.Inf(1)},
	} {
		if h, err := bad.BusyHour(); err == nil {
			t.Errorf("%s: got %+v, want an error", why, h)
		}
	}
}
