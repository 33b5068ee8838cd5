package simserver_test

import (
	"strings"
	"testing"
	"time"

	"lmxbench/internal/simserver"
)

// TestProfiles: all built-in profiles are valid, described and found by name.
func TestProfiles(t *testing.T) {
	t.Parallel()
	for _, p := range simserver.Profiles() {
		if err := p.Validate(); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		if p.About == "" || p.Source == "" || p.Root == "" {
			t.Errorf("%s lacks a description, source or root", p.Name)
		}
		if got, err := simserver.LookupProfile(p.Name); err != nil || got.Name != p.Name {
			t.Errorf("lookup of %s: %s, %v", p.Name, got.Name, err)
		}
	}
	if _, err := simserver.LookupProfile("b300"); err == nil || !strings.Contains(err.Error(), "b200-qwen36-35b-fp8") {
		t.Errorf("unknown profile: %v, want an error with the known names", err)
	}
}

// TestStepTime: linear between points, constant below, extended above.
func TestStepTime(t *testing.T) {
	t.Parallel()
	p := simserver.Profile{StepCurve: []simserver.StepPoint{{Batch: 2, Time: 10}, {Batch: 4, Time: 20}, {Batch: 8, Time: 24}}}
	for n, want := range map[int]time.Duration{0: 10, 1: 10, 2: 10, 3: 15, 4: 20, 6: 22, 8: 24, 12: 28} {
		if got := p.StepTime(n); got != want {
			t.Errorf("StepTime(%d) = %d, want %d", n, got, want)
		}
	}
}

// TestConfigErrors: each bad setting gets one clear line.
func TestConfigErrors(t *testing.T) {
	t.Parallel()
	set := func(f func(*simserver.Profile)) simserver.Config {
		p := quick(t)
		f(&p)
		return simserver.Config{Profile: p}
	}
	tests := map[string]struct {
		cfg  simserver.Config
		want string
	}{
		"no profile":                 {simserver.Config{}, "model name is empty"},
		"an unknown flavor":          {set(func(p *simserver.Profile) { p.Flavor = "tgi" }), `flavor "tgi"`},
		"an unknown phase":           {set(func(p *simserver.Profile) { p.Phase = "wave" }), `phase "wave"`},
		"stream phase without a gap": {set(func(p *simserver.Profile) { p.Phase = simserver.StreamPhase }), "positive ITL"},
		"no clock":                   {set(func(p *simserver.Profile) { p.StepCurve = nil }), "tick or a step-time curve"},
		"a falling curve": {set(func(p *simserver.Profile) {
			p.StepCurve = []simserver.StepPoint{{Batch: 2, Time: 5}, {Batch: 1, Time: 6}}
		}), "must rise"},
		"no context":              {set(func(p *simserver.Profile) { p.MaxModelLen = 1 }), "context length"},
		"negative slots":          {set(func(p *simserver.Profile) { p.Slots = -1 }), "negative"},
		"too much jitter":         {set(func(p *simserver.Profile) { p.Jitter = 2 }), "jitter"},
		"too long drafts":         {set(func(p *simserver.Profile) { p.Draft = 16 }), "draft tokens"},
		"impossible acceptance":   {set(func(p *simserver.Profile) { p.Acceptance = 1.5 }), "acceptance"},
		"an unknown fault":        {simserver.Config{Profile: quick(t), Fault: "gremlins"}, `unknown fault "gremlins"`},
		"a share above one":       {simserver.Config{Profile: quick(t), FaultShare: 2}, "fault share"},
		"a negative interval":     {simserver.Config{Profile: quick(t), FaultEvery: -1}, "fault interval"},
		"too many shards":         {simserver.Config{Profile: quick(t), Shards: 1000}, "shards"},
		"an address that is none": {simserver.Config{Profile: quick(t), Addr: "127.0.0.1:x"}, "simulated engine"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := simserver.Listen(tt.cfg)
			if err == nil {
				_ = s.Close()
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %q, want it to mention %q", err, tt.want)
			}
		})
	}
}
