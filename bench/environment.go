package bench

import (
	"context"
	"errors"
	"fmt"

	"lmxbench/bench/report"
	"lmxbench/internal/hardware"
)

// environment describes the machine the client runs on, and its cards where a
// power meter can see them. Nothing that names the machine is in it.
func environment(ctx context.Context, p *powerLog) report.Environment {
	cfg := hardware.Config{}
	if p != nil {
		cfg.GPUs = func(context.Context) ([]map[string]string, string, error) {
			d := p.meter.Describe()
			if len(d.Devices) == 0 {
				return nil, string(d.Source), errors.New("the meter shows no card")
			}
			return d.Facts(), string(d.Source), nil
		}
	}
	found := hardware.Detect(ctx, cfg)
	env := report.Environment{}
	for name, fact := range found.Environment {
		env[name] = known(fact)
	}
	for i, card := range found.GPUs {
		for name, fact := range card {
			env[fmt.Sprintf("gpu%d.%s", i, name)] = known(fact)
		}
	}
	return env
}

func known(f hardware.Fact) report.Known {
	return report.Known{Value: f.Value, Unit: f.Unit, Source: string(f.Origin)}
}
