package bench_test

import (
	"encoding/json"
	"math"
	"path/filepath"
	"testing"

	"lmxbench/bench"
	"lmxbench/bench/report"
)

const h200 = "../testdata/h200"

// TestRunsOfARealGPUVerify recomputes three runs that were measured on an H200,
// power included, from their files.
func TestRunsOfARealGPUVerify(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"c1", "c64", "c64-ngram"} {
		differences, err := bench.Verify(filepath.Join(h200, name))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, d := range differences {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestRealGPUFiguresAgree holds what independent witnesses said of the same
// run: tokens by usage and by the server's counter, energy by the counter, the
// 20 ms samples and the 1 s mean, decode time by arrivals and by the engine.
func TestRealGPUFiguresAgree(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"c1", "c64", "c256", "c64-ngram"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc, err := report.ReadDocument(filepath.Join(h200, name, "run.json"))
			if err != nil {
				t.Fatal(err)
			}
			x := doc.Bench
			if x.Verdict.Status == report.StatusInvalid {
				t.Errorf("verdict %s: %v", x.Verdict.Status, x.Verdict.Codes)
			}
			delta := x.Engine.MetricsDelta
			if delta == nil || delta.GenerationTokens == nil || delta.UsageTokens == nil || float64(*delta.GenerationTokens) != float64(*delta.UsageTokens) {
				t.Errorf("tokens by counter and by usage: %+v", delta)
			}
			var energy bench.Energy
			if err := json.Unmarshal(x.Power, &energy); err != nil {
				t.Fatal(err)
			}
			for window, w := range energy.Windows {
				if name == "c64-ngram" && window == "plateau" {
					continue // 1.5 s: the 1 s mean needs longer, and says 3.5 % less
				}
				if w.EnergySource != "counter" || w.JoulesPerToken == nil {
					t.Errorf("window %s: energy by %s, %v J/token", window, w.EnergySource, w.JoulesPerToken)
				}
				for witness, percent := range map[string]*float64{"samples": w.SamplesDifferencePercent, "mean": w.AverageDifferencePercent} {
					if percent == nil || math.Abs(*percent) > 2 {
						t.Errorf("window %s: %s differ by %v %%, want within 2", window, witness, percent)
					}
				}
			}
			if d := x.Engine.DecodeMs; d == nil || d.Arrival/d.Engine > 1.15 != x.Verdict.Has("frontend_bound") {
				t.Errorf("decode time %+v, frontend_bound %v", d, x.Verdict.Has("frontend_bound"))
			}
			if name == "c64-ngram" {
				s := x.Engine.Speculation
				if s == nil || s.AcceptanceRate == nil || *s.AcceptanceRate != 1 {
					t.Errorf("speculation %+v, want every draft accepted", s)
				}
			}
		})
	}
}
