package bench

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"lmxbench/bench/report"
	"lmxbench/internal/engine"
)

// Config is what a run is asked to do.
type Config struct {
	// Plan is the plan as far as the user decides it. BaseURL comes from
	// Target; ServedModel "" lets the server decide; Iterations and MaxTokens 0
	// mean the defaults of the rung; Concurrency is set from Rungs.
	Plan report.Plan
	// Target is the server and how to speak to it. Required.
	Target engine.Target
	// Extra are the fields of --extra-body.
	Extra map[string]json.RawMessage
	// Rungs are the concurrencies to measure, one run directory each. Empty
	// means one stream.
	Rungs []int
	// WarmupConcurrency is the number of streams of a warm-up batch; 0 means
	// the rung's own.
	WarmupConcurrency int
	// Out is --out: the path of run.json for one rung, the folder of the rungs
	// for more. Empty means a new folder below RunsDir.
	Out string
	// RunsDir is where run directories go without Out. Empty means "runs".
	RunsDir string

	// Timeout bounds one request, StallTimeout the silence between its tokens,
	// ConnectTimeout dialling and TLS. Zero means 600 s, 60 s and 30 s.
	Timeout, StallTimeout, ConnectTimeout time.Duration

	// UserStamps takes the time after each read instead of the kernel's stamp.
	UserStamps bool

	// Power says where power is read: auto, nvml, smi, hwmon, file:PATH, off.
	// Empty means auto. See [CheckPower].
	Power string

	// Calibration returns the error bar that a calibration of this machine gives
	// the client at so many streams, nil where there is none. Nil means that
	// there is none at all.
	Calibration func(streams int) *report.Calibrated

	// Tool and Argv go to manifest.json; Argv must hold no secret.
	Tool report.Tool
	Argv []string
	// Observer is told what happens; nil means nobody is.
	Observer Observer
}

// Defaults of a rung, as the leaderboard's own runs are measured.
const (
	singleIterations, singleMaxTokens = 5, 1024
	batchIterations, batchMaxTokens   = 3, 512
	defaultWarmup                     = 2
)

// DefaultWarmup is the number of warm-up batches where none is asked for.
const DefaultWarmup = defaultWarmup

// rungPlan completes the plan for one concurrency.
func (c *Config) rungPlan(concurrency int) report.Plan {
	p := c.Plan
	p.Concurrency = concurrency
	iterations, tokens := singleIterations, singleMaxTokens
	if concurrency > 1 {
		iterations, tokens = batchIterations, batchMaxTokens
	}
	if p.Iterations == 0 {
		p.Iterations = iterations
	}
	if p.MaxTokens == 0 {
		p.MaxTokens = tokens
	}
	if p.WarmupConcurrency = c.WarmupConcurrency; p.WarmupConcurrency == 0 {
		p.WarmupConcurrency = concurrency
	}
	p.BaseURL = c.Target.Base.String()
	p.TimeoutMs = c.Timeout.Milliseconds()
	p.StallTimeoutMs = c.StallTimeout.Milliseconds()
	p.ConnectTimeoutMs = c.ConnectTimeout.Milliseconds()
	if p.PromptSHA256 == "" {
		p.PromptSHA256 = hashText(p.Prompt)
		p.PromptName = promptName(p.PromptSHA256)
	}
	if p.ModelRevision == "" {
		p.ModelRevision = "main"
	}
	return p
}

// withDefaults fills what was left open and checks what only a caller in Go
// can get wrong.
func (c Config) withDefaults() (Config, error) {
	if len(c.Rungs) == 0 {
		c.Rungs = []int{1}
	}
	for _, n := range c.Rungs {
		if n < 1 {
			return c, fmt.Errorf("concurrency is %d: it must be at least 1", n)
		}
	}
	if c.RunsDir == "" {
		c.RunsDir = "runs"
	}
	if c.Timeout == 0 {
		c.Timeout = 600 * time.Second
	}
	if c.StallTimeout == 0 {
		c.StallTimeout = 60 * time.Second
	}
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = 30 * time.Second
	}
	if c.Observer == nil {
		c.Observer = silent{}
	}
	if err := CheckPrompt(c.Plan.Prompt); err != nil {
		return c, fmt.Errorf("the prompt %w", err)
	}
	for _, n := range c.Rungs {
		if p := c.rungPlan(n); p.MinTokens != nil && *p.MinTokens > p.MaxTokens {
			return c, &UsageError{"--min-tokens", fmt.Sprintf("%d is above the %d output tokens of each request: lower it, or raise --max-tokens", *p.MinTokens, p.MaxTokens)}
		}
	}
	return c, nil
}

// directory is where a rung's files go.
func (c *Config) directory(p *report.Plan, now time.Time) (string, error) {
	if c.Out == "" {
		return report.NewDir(c.RunsDir, p.HFID, now, p.Concurrency)
	}
	return c.outDirectory(p.Concurrency), nil
}

// outDirectory is the folder of a rung below --out.
func (c *Config) outDirectory(concurrency int) string {
	if len(c.Rungs) > 1 {
		return filepath.Join(c.Out, fmt.Sprintf("c%d", concurrency))
	}
	return filepath.Dir(c.Out)
}

// resultName is the file name of the result document.
func (c *Config) resultName() string {
	if c.Out == "" || len(c.Rungs) > 1 {
		return "run.json"
	}
	return filepath.Base(c.Out)
}

// Check reports what Run would refuse before it asks the server anything.
func (c Config) Check() error {
	c, err := c.withDefaults()
	if err != nil {
		return err
	}
	return c.checkPlaces()
}

// Plans resolves the plan of every rung as far as it can be without asking the
// server.
func (c Config) Plans() ([]report.Plan, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	plans := make([]report.Plan, len(c.Rungs))
	for i, n := range c.Rungs {
		plans[i] = c.rungPlan(n)
	}
	return plans, nil
}
