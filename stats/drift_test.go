package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"lmxbench/stats"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	noisy := func(noise float64, rate func(i int) float64) []float64 {
		xs := make([]float64, 10)
		for i := range xs {
			xs[i] = rate(i) * (1 + noise*r.NormFloat64())
		}
		return xs
	}
	flat := func(int) float64 { return 17_311 }
	for _, row := range []struct {
		why           string
		rates         []float64
		slope, thirds float64
		tol           float64
		steady        bool
	}{
		{"a constant rate", noisy(0, flat), 0, 0, 1e-9, true},
		{"noise of 0.3 % is no drift", noisy(0.003, flat), 0, 0, 0.01, true},
		{
			"a card that heats up: 5 % less at the end",
			noisy(0.001, func(i int) float64 { return 15_000 * (1 - 0.05*(float64(i)+0.5)/10) }), -0.0513, -0.0359, 0.004, false,
		},
		{
			"a slow start of 4 % in the first third",
			noisy(0.001, func(i int) float64 { return map[bool]float64{true: 960, false: 1000}[i < 3] }), 0.046, 0.0405, 0.01, false,
		},
		{
			"a change of 0.1 % without noise is real but not worth a word",
			noisy(0, func(i int) float64 { return 1000 + float64(i)/9 }), 0.00111, 0.00078, 1e-4, true,
		},
	} {
		t.Run(row.why, func(t *testing.T) {
			d, ok := stats.MeasureDrift(row.rates)
			if !ok || d.Bins != 10 {
				t.Fatalf("got %+v, %v", d, ok)
			}
			if math.Abs(d.SlopeFraction-row.slope) > row.tol || math.Abs(d.ThirdsFraction-row.thirds) > row.tol || d.Steady != row.steady {
				t.Errorf("got slope %.4f, thirds %.4f, steady %v, want %.4f, %.4f, %v",
					d.SlopeFraction, d.ThirdsFraction, d.Steady, row.slope, row.thirds, row.steady)
			}
		})
	}
}

func TestDriftNeedsARateSeries(t *testing.T) {
	t.Parallel()
	for _, rates := range [][]float64{nil, {1, 2, 3, 4, 5}, {0, 0, 0, 0, 0, 0}, {1, 2, 3, 4, 5, math.NaN()}} {
		if d, ok := stats.MeasureDrift(rates); ok {
			t.Errorf("%v: got %+v, want none", rates, d)
		}
	}
}

// The plateau of the engine model is steady; the whole request window, with
// its prefill, is not.
func TestPlateauIsSteadyAndTheWholeWindowIsNot(t *testing.T) {
	t.Parallel()
	streams := calibrated().run(burst(256, 512), 0)
	plateau, _ := stats.PlateauWindow(streams)
	whole, _ := stats.RequestWindow(streams)
	for _, row := range []struct {
		why    string
		w      stats.Window
		steady bool
	}{{"plateau", plateau, true}, {"request window", whole, false}} {
		rates, ok := stats.RateBins(streams, row.w, 10)
		if !ok {
			t.Fatalf("%s: no bins", row.why)
		}
		if d, ok := stats.MeasureDrift(rates); !ok || d.Steady != row.steady {
			t.Errorf("%s: got %+v, %v, want steady %v", row.why, d, ok, row.steady)
		}
	}
}
