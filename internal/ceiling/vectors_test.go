package ceiling_test

import (
	"fmt"
	"math"
	"testing"

	"lmxbench/internal/ceiling"
)

// printed fails unless got rounds to want as printed, to within half a unit of
// its last digit plus slack for inputs that were themselves rounded.
func printed(t *testing.T, what string, got, want, unit float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > unit/2*1.0001 {
		t.Errorf("%s: got %.6g, want %v ± %v", what, got, want, unit/2)
	}
}

func model(t *testing.T, id string) (ceiling.Architecture, ceiling.Widths) {
	t.Helper()
	a, w, ok := ceiling.KnownModel(id)
	if !ok {
		t.Fatalf("%s is not known", id)
	}
	return a, w
}

func machine(t *testing.T, name string) ceiling.Machine {
	t.Helper()
	g, ok := ceiling.FindGPU(name)
	if !ok {
		t.Fatalf("%s is not in the table", name)
	}
	return ceiling.Machine{BandwidthGBps: g.BandwidthGBps, PeakTFLOPS: g.PeakTFLOPS(8)}
}

const (
	q36 = "Qwen/Qwen3.6-35B-A3B-FP8"
	q38 = "Qwen/Qwen3.8-27B-FP8"
)

func TestQwenShapes(t *testing.T) {
	t.Parallel()
	a, w := model(t, q36)
	one := ceiling.Load{Batch: 1}
	c, err := ceiling.Model(a, w, one, ceiling.Machine{BandwidthGBps: 1})
	if err != nil {
		t.Fatal(err)
	}
	printed(t, "35B total, 10⁹", float64(a.TotalParams())/1e9, 34.659, 0.001)
	printed(t, "35B active with head, 10⁹", float64(a.ActiveParams())/1e9, 2.945, 0.001)
	printed(t, "35B expert, bytes", float64(a.Experts.Params), 3_145_728, 1)
	printed(t, "35B fixed, GB", c.Traffic.Fixed/1e9, 2.468, 0.001)
	printed(t, "35B cache per token, bytes", a.CacheElements(1)*2, 20_480, 1)
	printed(t, "35B state, MB", float64(a.StateElements)*4/1e6, 62.9, 0.1)
	printed(t, "35B state read and written, MB", c.Traffic.State/1e6, 125.8, 0.1)

	a, w = model(t, q38)
	if c, err = ceiling.Model(a, w, one, ceiling.Machine{BandwidthGBps: 1}); err != nil {
		t.Fatal(err)
	}
	printed(t, "27B total, 10⁹", float64(a.TotalParams())/1e9, 26.893, 0.001)
	printed(t, "27B fixed, GB", c.Traffic.Fixed/1e9, 26.89, 0.01)
	printed(t, "27B cache per token, bytes", a.CacheElements(1)*2, 65_536, 1)
	printed(t, "27B state read and written, MB", c.Traffic.State/1e6, 302, 1)
	if c.Traffic.Experts != 0 {
		t.Errorf("a dense model reads %v bytes of experts", c.Traffic.Experts)
	}
}

func TestDistinctExperts(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		experts, chosen int
		at              map[float64]float64
		unit            float64
	}{
		{256, 8, map[float64]float64{1: 8, 2: 15.75, 4: 30.53, 8: 57.42, 16: 101.96, 32: 163.31, 64: 222.44, 128: 251.60, 256: 255.92}, 0.01},
		{128, 8, map[float64]float64{1: 8, 2: 15.5, 4: 29.1, 8: 51.6, 16: 82.4, 32: 111.8, 64: 125.9, 128: 128.0}, 0.1},
		{128, 6, map[float64]float64{1: 6.0, 4: 22.4, 16: 68.6, 64: 122.1, 128: 127.7}, 0.1},
	} {
		for batch, want := range row.at {
			printed(t, fmt.Sprintf("%d of %d at batch %v", row.chosen, row.experts, batch),
				ceiling.DistinctExperts(row.experts, row.chosen, batch), want, row.unit)
		}
	}
	for _, none := range [][3]int{{0, 8, 4}, {8, 0, 4}, {8, 2, 0}, {8, 2, -1}} {
		if got := ceiling.DistinctExperts(none[0], none[1], float64(none[2])); got != 0 {
			t.Errorf("%v: got %v, want 0", none, got)
		}
	}
	if got := ceiling.DistinctExperts(8, 8, 1); got != 8 {
		t.Errorf("all chosen: got %v, want 8", got)
	}
}

// The published ceilings: context 817 at one stream, 561 at more. measured is
// the board's row, share what it reaches of the 32-bit-state ceiling.
func TestPublishedCeilings(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		id, gpu       string
		batch         int
		gb, unit      float64
		fp32, bf16    float64
		measured, pct float64
	}{
		{q36, "NVIDIA H200 SXM", 1, 3.61, 0.02, 1327, 1350, 261.5, 20},
		{q36, "NVIDIA B200", 1, 3.61, 0.02, 2212, 2251, 220.4, 10},
		{q36, "NVIDIA H100 80GB SXM", 1, 3.61, 0.02, 926, 943, 247.4, 27},
		{q36, "NVIDIA B200", 64, 39.25, 0.01, 13046, 14537, 6171.9, 47},
		{q36, "NVIDIA H100 80GB SXM", 64, 39.25, 0.01, 5463, 6088, 5496.0, 101},
		{q36, "NVIDIA H100 80GB SXM", 128, 51.7, 0.1, 8293, 9823, 7509.4, 91},
		{q36, "NVIDIA B200", 128, 51.7, 0.1, 19805, 23459, 9790.9, 49},
		{q36, "NVIDIA B200", 256, 69.8, 0.1, 29331, 38125, 14499.4, 49},
		{q36, "NVIDIA H200 SXM", 256, 69.8, 0.1, 17598, 22875, 12005.2, 68},
		{q36, "NVIDIA H100 80GB SXM", 256, 69.8, 0.1, 12282, 15965, 9867.8, 80},
		{q38, "NVIDIA B200", 1, 27.25, 0.01, 294, 295, 106.2, 36},
		{q38, "NVIDIA B200", 64, 48.6, 0.1, 10541, 13159, 3002.3, 28},
		{q38, "NVIDIA B200", 256, 113.6, 0.1, 18026, 27321, 4537.6, 25},
		{q38, "NVIDIA H200 SXM", 1, 27.25, 0.01, 176, 0, 0, 0},
		{q38, "NVIDIA H200 SXM", 64, 48.6, 0.1, 6324, 0, 0, 0},
		{q38, "NVIDIA H200 SXM", 256, 113.6, 0.1, 10815, 0, 0, 0},
	} {
		t.Run(fmt.Sprintf("%s/%s/c%d", row.id, row.gpu, row.batch), func(t *testing.T) {
			t.Parallel()
			a, w := model(t, row.id)
			load := ceiling.Load{Batch: row.batch, Context: 561}
			if row.batch == 1 {
				load.Context = 817
			}
			c, err := ceiling.Model(a, w, load, machine(t, row.gpu))
			if err != nil {
				t.Fatal(err)
			}
			printed(t, "GB per step", c.Traffic.Bytes()/1e9, row.gb, row.unit)
			printed(t, "32-bit state", c.TokensPerSecond, row.fp32, 1)
			if c.Bound != ceiling.Bandwidth {
				t.Errorf("bound by %s, want bandwidth", c.Bound)
			}
			if row.bf16 == 0 {
				return
			}
			printed(t, "share, %", 100*row.measured/c.TokensPerSecond, row.pct, 1)
			w.State = 16
			if c, err = ceiling.Model(a, w, load, machine(t, row.gpu)); err != nil {
				t.Fatal(err)
			}
			printed(t, "16-bit state", c.TokensPerSecond, row.bf16, 1)
		})
	}
}

func TestCeilingsAtOneThousandTokensOfContext(t *testing.T) {
	t.Parallel()
	a, w := model(t, q36)
	for _, row := range []struct {
		gpu   string
		batch int
		want  float64
	}{
		{"NVIDIA H200 SXM", 1, 1325.4},
		{"NVIDIA H200 SXM", 32, 5542.1},
		{"NVIDIA B200", 1, 2209.0},
		{"NVIDIA B200", 32, 9236.8},
	} {
		c, err := ceiling.Model(a, w, ceiling.Load{Batch: row.batch, Context: 1024}, machine(t, row.gpu))
		if err != nil {
			t.Fatal(err)
		}
		printed(t, fmt.Sprintf("%s c%d", row.gpu, row.batch), c.TokensPerSecond, row.want, 0.1)
	}
}

func TestHardCeilingRejectsOnlyTheImpossible(t *testing.T) {
	t.Parallel()
	a, w := model(t, q36)
	w.State = 16
	load := ceiling.Load{Batch: 64, Context: 561}
	hard, err := ceiling.Hard(a, w, load, machine(t, "NVIDIA H100 80GB SXM"))
	if err != nil {
		t.Fatal(err)
	}
	printed(t, "H100 c64, minimum routing, 16-bit state", hard.TokensPerSecond, 26030, 2)
	if ceiling.Impossible(5496, hard) || ceiling.Impossible(hard.TokensPerSecond*1.019, hard) {
		t.Error("a possible rate was called impossible")
	}
	if !ceiling.Impossible(hard.TokensPerSecond*1.021, hard) {
		t.Error("a rate 2.1 % above the hard ceiling passed")
	}

	// Whatever is undeclared, the hard ceiling takes less of it than the model.
	soft, err := ceiling.Model(a, ceiling.Widths{Weight: 8}, load, machine(t, "NVIDIA H100 80GB SXM"))
	if err != nil {
		t.Fatal(err)
	}
	undeclared, err := ceiling.Hard(a, ceiling.Widths{Weight: 8}, load, machine(t, "NVIDIA H100 80GB SXM"))
	if err != nil {
		t.Fatal(err)
	}
	if undeclared.TokensPerSecond <= hard.TokensPerSecond || soft.TokensPerSecond >= hard.TokensPerSecond {
		t.Errorf("got model %.0f, declared hard %.0f, undeclared hard %.0f: want them to ascend",
			soft.TokensPerSecond, hard.TokensPerSecond, undeclared.TokensPerSecond)
	}
}

func TestSpeculationSharesOnePassAmongItsTokens(t *testing.T) {
	t.Parallel()
	tau, ok := ceiling.TokensPerPass(0.8, 4)
	if printed(t, "τ(0.8, 4)", tau, 3.3616, 1e-9); !ok {
		t.Error("τ is defined")
	}
	for _, row := range []struct {
		a    float64
		k    int
		want float64
		ok   bool
	}{{1, 4, 5, true}, {0, 4, 1, true}, {0.5, 0, 1, true}, {1.1, 4, 0, false}, {-0.1, 4, 0, false}, {0.5, -1, 0, false}, {math.NaN(), 1, 0, false}} {
		if got, ok := ceiling.TokensPerPass(row.a, row.k); got != row.want || ok != row.ok {
			t.Errorf("τ(%v, %d): got %v, %v, want %v, %v", row.a, row.k, got, ok, row.want, row.ok)
		}
	}
	// Published counts: 927 drafted at k 3, 714 accepted; 1,264 at k 5, 769.
	got, _ := ceiling.AcceptedLength(927, 714, 3)
	printed(t, "accepted length, DSpark", got, 3.31, 0.01)
	got, _ = ceiling.AcceptedLength(1264, 769, 5)
	printed(t, "accepted length, MTP", got, 4.04, 0.01)
	if got, ok := ceiling.AcceptedLength(3, 4, 1); ok {
		t.Errorf("more accepted than drafted: got %v", got)
	}

	// 3 GB of weights and 2 GB of cache: one read of both serves all tokens of a
	// pass. lmx's rule charges the cache to each and is 1.94 times too strict.
	a := ceiling.Architecture{
		Mixers: 3e9, Caches: []ceiling.Cache{{Layers: 1, ElementsPerToken: 1e9}},
	}
	c, err := ceiling.Model(a, ceiling.Widths{Weight: 8, Cache: 16},
		ceiling.Load{Batch: 1, Context: 1, Positions: 5, TokensPerStep: tau}, ceiling.Machine{BandwidthGBps: 1})
	if err != nil {
		t.Fatal(err)
	}
	printed(t, "GB per token", 1/c.TokensPerSecond, 1.487, 0.001)
	lmx := 3/tau + 2
	printed(t, "GB per token by lmx's rule", lmx, 2.892, 0.001)
	printed(t, "factor", lmx*c.TokensPerSecond, 1.94, 0.01)
}

// Verifying six positions of one sequence touches at most 44 experts a layer
// and reads 8.2 GB: 2.4 ms on an H100.
func TestVerificationRoutesEveryPosition(t *testing.T) {
	t.Parallel()
	a, w := model(t, q36)
	c, err := ceiling.Model(a, w, ceiling.Load{Batch: 1, Context: 817, Positions: 6, TokensPerStep: 4}, machine(t, "NVIDIA H100 80GB SXM"))
	if err != nil {
		t.Fatal(err)
	}
	layers := float64(a.Experts.Layers) * float64(a.Experts.Params)
	printed(t, "experts per layer", c.Traffic.Experts/layers, 44, 1)
	printed(t, "GB", c.Traffic.Bytes()/1e9, 8.2, 0.1)
	printed(t, "ms", c.Seconds*1e3, 2.4, 0.1)
	plain, err := ceiling.Model(a, w, ceiling.Load{Batch: 6, Context: 817}, machine(t, "NVIDIA H100 80GB SXM"))
	if err != nil {
		t.Fatal(err)
	}
	if plain.Traffic.Experts != c.Traffic.Experts || plain.Traffic.State != 6*c.Traffic.State {
		t.Error("six sequences read the experts of six positions, but six times the state")
	}
}

func TestBoundsOtherThanBandwidth(t *testing.T) {
	t.Parallel()
	h200, b200 := machine(t, "H200"), machine(t, "B200")
	x, _ := ceiling.ComputeCrossover(h200, 8)
	printed(t, "crossover H200 FP8", x, 206, 1)
	x, _ = ceiling.ComputeCrossover(ceiling.Machine{BandwidthGBps: 4800, PeakTFLOPS: 989.5}, 16)
	printed(t, "crossover H200 BF16", x, 206, 1)
	x, _ = ceiling.ComputeCrossover(b200, 8)
	printed(t, "crossover B200 FP8", x, 281, 1)
	if x, ok := ceiling.ComputeCrossover(ceiling.Machine{BandwidthGBps: 1}, 8); ok {
		t.Errorf("peak unknown: got %v", x)
	}

	a, w := model(t, q38)
	load := ceiling.Load{Batch: 2048}
	c, err := ceiling.Model(a, w, load, ceiling.Machine{BandwidthGBps: 8000, PeakTFLOPS: 450})
	if err != nil {
		t.Fatal(err)
	}
	if c.Bound != ceiling.Compute {
		t.Errorf("bound by %s, want compute", c.Bound)
	}
	a, w = model(t, q36)
	b200.Kernels, b200.LaunchSeconds = 4000, 1.09e-6
	if c, err = ceiling.Model(a, w, ceiling.Load{Batch: 1}, b200); err != nil {
		t.Fatal(err)
	}
	if c.Bound != ceiling.Launch || math.Abs(c.TokensPerSecond-1/0.00436) > 1e-9 {
		t.Errorf("got %.1f tok/s bound by %s, want 229.4 by launch", c.TokensPerSecond, c.Bound)
	}
	if hard, _ := ceiling.Hard(a, w, ceiling.Load{Batch: 1}, b200); hard.Bound != ceiling.Bandwidth {
		t.Errorf("the hard ceiling is bound by %s, want no launch floor", hard.Bound)
	}
}

func TestCeilingNeedsItsNumbers(t *testing.T) {
	t.Parallel()
	a, w := model(t, q36)
	m := machine(t, "B200")
	for _, row := range []struct {
		why string
		a   ceiling.Architecture
		w   ceiling.Widths
		l   ceiling.Load
		m   ceiling.Machine
	}{
		{"no batch", a, w, ceiling.Load{}, m},
		{"negative context", a, w, ceiling.Load{Batch: 1, Context: -1}, m},
		{"context is NaN", a, w, ceiling.Load{Batch: 1, Context: math.NaN()}, m},
		{"more tokens than positions", a, w, ceiling.Load{Batch: 1, TokensPerStep: 2}, m},
		{"negative positions", a, w, ceiling.Load{Batch: 1, Positions: -1}, m},
		{"negative draft", a, w, ceiling.Load{Batch: 1, DraftBytes: -1}, m},
		{"no width", a, ceiling.Widths{}, ceiling.Load{Batch: 1}, m},
		{"no bandwidth", a, w, ceiling.Load{Batch: 1}, ceiling.Machine{}},
		{"no parameters", ceiling.Architecture{}, w, ceiling.Load{Batch: 1}, m},
	} {
		if c, err := ceiling.Model(row.a, row.w, row.l, row.m); err == nil {
			t.Errorf("%s: got %+v, want an error", row.why, c)
		}
	}
}
