package calibrate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lmxbench/bench/report"
)

// Schema names the form of a calibration file.
const Schema = "lmxbench.calibration/1"

// DefaultRounds is how often client and floor take turns on a rung.
const DefaultRounds = 2

// Config is what a calibration is asked to do.
type Config struct {
	// Loads are measured in this order. Required; see [Ladder].
	Loads []Load
	// Skipped is kept in the result.
	Skipped []Skipped
	// Rounds per load. 0 means DefaultRounds.
	Rounds int
	// Start starts the engine of a round. Required.
	Start Starter
	// Machine and Tool key the result. Required.
	Machine Machine
	Tool    report.Tool
	// Progress, if not nil, is told before each load.
	Progress func(done, of int, next Load)
}

// Calibration is the client's error bar on one machine.
type Calibration struct {
	Schema     string      `json:"schema"`
	Tool       report.Tool `json:"tool"`
	Machine    Machine     `json:"machine"`
	Created    time.Time   `json:"created"`
	ClientCore int         `json:"clientCores"` // cores the client could use
	// LoadBefore is the system's load average when it began: what else ran.
	LoadBefore *float64  `json:"loadAverageBefore,omitempty"`
	Seconds    float64   `json:"seconds"` // the whole took
	Partial    bool      `json:"partial,omitempty"`
	Rungs      []Rung    `json:"rungs"`
	Skipped    []Skipped `json:"skipped,omitempty"`
	Trust      Trust     `json:"trust"`

	// File is the base name of the file it was read from or written to.
	File string `json:"-"`
}

// Run measures every load and returns what there is when it ends: also beside
// the context's error, with Partial set.
func Run(ctx context.Context, cfg Config) (*Calibration, error) {
	switch {
	case len(cfg.Loads) == 0:
		return nil, errors.New("calibrate: no load to measure")
	case cfg.Start == nil:
		return nil, errors.New("calibrate: no engine to measure against")
	case cfg.Rounds < 0:
		return nil, fmt.Errorf("calibrate: %d rounds", cfg.Rounds)
	case cfg.Rounds == 0:
		cfg.Rounds = DefaultRounds
	}
	began := time.Now()
	c := &Calibration{
		Schema: Schema, Tool: cfg.Tool, Machine: cfg.Machine, Created: began.UTC().Truncate(time.Second),
		ClientCore: cores(), LoadBefore: loadAverage(), Skipped: cfg.Skipped,
	}
	var err error
	for i, l := range cfg.Loads {
		if cfg.Progress != nil {
			cfg.Progress(i, len(cfg.Loads), l)
		}
		var rung Rung
		if rung, err = measureRung(ctx, l, cfg.Rounds, cfg.Start); err != nil {
			c.Partial = true
			break
		}
		c.Rungs = append(c.Rungs, rung)
	}
	c.Seconds = tenth(time.Since(began).Seconds())
	c.Trust = trust(c.Rungs)
	return c, err
}

// Sound reports whether at least one rung says something.
func (c *Calibration) Sound() bool {
	for i := range c.Rungs {
		if c.Rungs[i].Void == "" {
			return true
		}
	}
	return false
}

// For is the error bar of a run of so many streams that brings so many token
// events per second (0: not known): that of the smallest sound rung at least as
// heavy. Among rungs of one size the one with the larger error counts. ok is
// false where nothing so heavy was calibrated.
func (c *Calibration) For(streams int, eventsPerSecond float64) (bar report.Calibrated, ok bool) {
	var best *Rung
	for i := range c.Rungs {
		r := &c.Rungs[i]
		if r.Void != "" || r.stamp() == nil || r.TTFT == nil || r.ITL == nil ||
			r.Load.Streams < streams || r.Load.EventsPerSecond() < eventsPerSecond {
			continue
		}
		if best == nil || r.Load.Streams < best.Load.Streams ||
			r.Load.Streams == best.Load.Streams && r.stamp().P99 > best.stamp().P99 {
			best = r
		}
	}
	if best == nil {
		return report.Calibrated{}, false
	}
	return report.Calibrated{
		File: c.File, Streams: best.Load.Streams,
		StampP50Us: best.stamp().P50, StampP99Us: best.stamp().P99,
		TTFTErrUs: best.TTFT.Mean, ITLErrUs: best.ITL.Gap,
	}, true
}
