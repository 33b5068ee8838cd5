package report_test

import (
	"encoding/json"
	"math"
	"testing"

	"lmxbench/bench/report"
)

func TestCostOfARun(t *testing.T) {
	t.Parallel()
	build := func(t *testing.T, p *report.Prices, change func(*report.Evidence)) *report.Extension {
		t.Helper()
		e := sound()
		e.Plan.Prices = p
		change(&e)
		d, err := report.Build(e)
		if err != nil {
			t.Fatal(err)
		}
		return d.Bench
	}
	same := func(*report.Evidence) {}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-6 }

	if c := build(t, nil, same).Cost; c != nil {
		t.Errorf("without a price: got %+v, want none", c)
	}
	x := build(t, &report.Prices{GPUHourUSD: ptr(5.98), ValidOn: "2026-11-01"}, same)
	c := x.Cost
	if c == nil || c.BatchWall == nil || c.ConcurrentRequestWindow == nil || c.InterToken != nil || c.Energy != nil {
		t.Fatalf("got %+v, want the prices by batchWall and concurrentRequestWindow alone", c)
	}
	// 5.98 $/h ÷ 3600 s/h × 10⁶ tokens ÷ tok/s
	for _, p := range []struct {
		price *report.Price
		rate  float64
	}{{c.BatchWall, x.Throughput.BatchWall.P50}, {c.ConcurrentRequestWindow, x.Throughput.ConcurrentRequestWindow.P50}} {
		if p.price.TokensPerSecond != p.rate || !near(p.price.USDPerMillion, 5.98/3600*1e6/p.rate) {
			t.Errorf("got %+v at %v tok/s", *p.price, p.rate)
		}
	}
	if c.GPUs != 1 || c.GPUsSource != "assumed" || *c.USDPerHour != 5.98 || c.ValidOn != "2026-11-01" {
		t.Errorf("got %+v, want one GPU, assumed", c)
	}

	four := func(e *report.Evidence) {
		e.Plan.Hardware = json.RawMessage(`{"gpus":[{"name":"H200","count":4}]}`)
		e.Attached.Power = json.RawMessage(`{"joulesPerToken":0.0656}`)
	}
	c = build(t, &report.Prices{GPUHourUSD: ptr(2.5), USDPerKWh: ptr(0.2), PUE: 1.5}, four).Cost
	if c.GPUs != 4 || c.GPUsSource != "hardware" || *c.USDPerHour != 10 {
		t.Errorf("got %+v, want the four GPUs of the hardware", c)
	}
	// 0.0656 J × 10⁶ ÷ 3.6·10⁶ J/kWh × 0.2 $/kWh × 1.5
	if c.Energy == nil || !near(c.Energy.USDPerMillion, 0.0656/3.6*0.2*1.5) {
		t.Errorf("got the energy %+v", c.Energy)
	}
	c = build(t, &report.Prices{GPUHourUSD: ptr(2.5), GPUs: 8}, four).Cost
	if c.GPUs != 8 || c.GPUsSource != "declared" {
		t.Errorf("got %+v, want the eight GPUs that were declared", c)
	}

	silent := func(e *report.Evidence) { timed(e, func(r *report.Request) { r.OutputTokens = nil }) }
	if c := build(t, &report.Prices{GPUHourUSD: ptr(2.5)}, silent).Cost; c == nil || c.BatchWall != nil {
		t.Errorf("without a rate: got %+v, want no price", c)
	}
}
