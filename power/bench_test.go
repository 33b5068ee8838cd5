package power_test

import (
	"io"
	"testing"
	"time"

	"lmxbench/power"
)

// BenchmarkWindow computes a ten-second window out of ten minutes of one card:
//
//	go test -bench Window -benchmem ./power
func BenchmarkWindow(b *testing.B) {
	dev := power.Device{UUID: "GPU-a", Scope: power.ScopeGPU, CounterPeriod: 100 * ms, GaugePeriod: 100 * ms, AverageWindow: s}
	series := power.NewSeries(time.Unix(0, 0), power.Description{Devices: []power.Device{dev}})
	for at := time.Duration(0); at < 10*time.Minute; at += 10 * ms {
		for _, k := range []struct {
			kind  power.Kind
			sig   power.Signal
			every time.Duration
			v     float64
		}{
			{power.KindGauge, power.PowerAverage, 50 * ms, 500},
			{power.KindRing, power.PowerSample, 20 * ms, 500},
			{power.KindCounter, power.EnergyCounter, 100 * ms, 500 * at.Seconds()},
		} {
			if at%k.every != 0 {
				continue
			}
			x := power.Sample{Kind: k.kind, GPU: "GPU-a", Before: at, After: at}
			x.Values.Set(k.sig, k.v)
			if err := series.Add(x); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if w := series.Window(power.WindowRequest{From: 5 * time.Minute, To: 5*time.Minute + 10*s}); w.Energy == nil {
			b.Fatal(w.EnergyReason)
		}
	}
}

// BenchmarkWriter appends readings of the gauges.
func BenchmarkWriter(b *testing.B) {
	desc, origin, samples := full()
	w, err := power.NewWriter(io.Discard, origin, desc)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Add(samples[0]); err != nil {
			b.Fatal(err)
		}
	}
}
