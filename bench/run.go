package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"lmxbench/bench/report"
)

// Result is what a run gave.
type Result struct {
	Rungs       []Rung
	Sweep       *report.Sweep // summary of a ladder as far as it came; nil for one rung
	SweepPath   string        // where it was written
	Interrupted bool
}

// Rung is the measurement of one concurrency.
type Rung struct {
	Dir      string
	Evidence *report.Evidence
	Document *report.Document
}

// ErrNothingMeasured is wrapped by errors of runs in which no request was ok.
// What was recorded is in the run directory all the same.
var ErrNothingMeasured = errors.New("nothing could be measured")

// UsageError is a wish that cannot be granted as it stands.
type UsageError struct {
	Flag   string // the option it is about
	Advice string // its value, what is wrong with it, and what to write instead
}

// Error is the whole wish with what to do, on one line.
func (e *UsageError) Error() string { return e.Flag + " " + e.Advice }

// Run measures the server at every rung and returns what it has when it ends:
// also beside an error, and with Interrupted set where ctx was cancelled.
//
// Errors are an [*engine.Error] or [*engine.ModelError] of the first questions,
// a [*UsageError], an error of the run directory, or one that wraps
// [ErrNothingMeasured].
func Run(ctx context.Context, cfg Config) (Result, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return Result{}, err
	}
	if err := cfg.checkPlaces(); err != nil {
		return Result{}, err
	}
	server, err := ask(ctx, &cfg)
	if err != nil {
		return Result{}, err
	}
	result, err := climb(ctx, &cfg, server)
	if len(cfg.Rungs) > 1 && len(result.Rungs) > 0 {
		err = errors.Join(err, result.summarise(&cfg))
	}
	return result, err
}

// climb measures the rungs in their order. One that gives nothing ends the
// ladder; it is an error only where no earlier one gave anything.
func climb(ctx context.Context, cfg *Config, server *server) (result Result, err error) {
	for _, concurrency := range cfg.Rungs {
		if result.Interrupted = ctx.Err() != nil; result.Interrupted {
			return result, nil
		}
		measured, err := runRung(ctx, cfg, server, concurrency)
		if measured.Dir != "" {
			result.Rungs = append(result.Rungs, measured)
		}
		result.Interrupted = measured.interrupted()
		switch {
		case errors.Is(err, ErrNothingMeasured) && len(result.Rungs) > 1:
			cfg.Observer.Note(fmt.Sprintf("%d streams: %v", concurrency, err))
			return result, nil
		case err != nil || result.Interrupted:
			return result, err
		}
	}
	return result, nil
}

// interrupted reports whether the user stopped the rung before its end.
func (r *Rung) interrupted() bool { return r.Document != nil && r.Document.Bench.Partial }

// summarise sums up the ladder as far as it came and writes the summary: beside
// the rungs, or beside the first run directory under its time.
func (r *Result) summarise(cfg *Config) error {
	var dirs []string
	var documents []*report.Document
	for _, m := range r.Rungs {
		dirs, documents = append(dirs, m.Dir), append(documents, m.Document)
	}
	r.Sweep = report.NewSweep(dirs, documents)
	path := filepath.Join(cfg.Out, sweepName)
	if cfg.Out == "" {
		first := filepath.Clean(dirs[0])
		path = strings.TrimSuffix(first, fmt.Sprintf("-c%d", cfg.Rungs[0])) + "-" + sweepName
	}
	if err := r.Sweep.Save(path); err != nil {
		return err
	}
	r.SweepPath = path
	return nil
}

// sweepName is the file of a ladder's summary.
const sweepName = "sweep.json"
