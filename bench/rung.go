package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lmxbench/bench/report"
	"lmxbench/internal/engine"
	"lmxbench/internal/hardware"
	"lmxbench/loadgen"
)

// rung is one concurrency being measured.
type rung struct {
	cfg      *Config
	server   *server
	plan     report.Plan
	session  report.Session
	writer   *report.Writer
	pool     *loadgen.Pool
	template engine.Template
	url      string
	headers  [][2]string
	metrics  bool
	origin   time.Time
	evidence report.Evidence
	batches  int // still to come
	dialled  int // connections opened by the probe
	power    *powerLog
	noPower  string // why power is nil

	// How a batch is sent, and the counters of the server and of the machine's
	// processors are read; tests replace them.
	deliver   func(*rung, context.Context, batch) (report.Batch, []report.Request, error)
	counters  func(context.Context) *report.Metrics
	processor func() hardware.CPUTime
}

func runRung(ctx context.Context, cfg *Config, srv *server, concurrency int) (Rung, error) {
	r, err := newRung(cfg, srv, concurrency)
	if err != nil {
		return Rung{}, err
	}
	defer r.pool.Close()
	defer r.writer.Close()
	out := Rung{Dir: r.writer.Dir()}
	measureErr := r.measure(ctx)
	if err := r.endPower(ctx); measureErr == nil {
		measureErr = err
	}
	if measureErr != nil && !errors.Is(measureErr, ErrNothingMeasured) {
		return out, measureErr
	}
	cfg.Observer.Stage(Stage{Name: "write", Rung: concurrency, Started: time.Now()})
	if err := r.conclude(&out); err != nil {
		return out, err
	}
	return out, measureErr
}

// newRung resolves the plan and opens the run directory. Nothing is sent.
func newRung(cfg *Config, srv *server, concurrency int) (*rung, error) {
	r := &rung{cfg: cfg, server: srv, plan: cfg.rungPlan(concurrency), metrics: srv.info.Metrics != ""}
	srv.complete(&r.plan)
	template, err := engine.NewTemplate(srv.request(&r.plan))
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	r.template = template
	r.url = cfg.Target.Base.String() + "/v1/chat/completions"
	for _, h := range cfg.Target.Headers() {
		r.headers = append(r.headers, [2]string{h.Name, h.Value})
	}
	r.origin = time.Now()
	dir, err := cfg.directory(&r.plan, r.origin)
	if err != nil {
		return nil, err
	}
	r.writer, err = report.Create(report.Start{
		Dir: dir, Run: cfg.resultName(), Tool: cfg.Tool, Args: cfg.Argv, Plan: r.plan, Now: r.origin,
	})
	if err != nil {
		return nil, err
	}
	r.pool = loadgen.New(loadgen.Config{
		Address: srv.info.Peer, TLS: srv.tls(cfg), Origin: r.origin,
		ConnectTimeout: cfg.ConnectTimeout, RequestTimeout: cfg.Timeout, StallTimeout: cfg.StallTimeout,
		UserStamps: cfg.UserStamps,
	})
	r.deliver, r.counters, r.processor = (*rung).send, r.scrape, processorTime
	r.session = srv.session(cfg, r.origin)
	if cfg.Calibration != nil {
		r.session.Calibration = cfg.Calibration(concurrency)
	}
	r.evidence = report.Evidence{Tool: cfg.Tool, Plan: r.plan, Session: r.session}
	r.batches = r.plan.Warmup + r.plan.Iterations
	return r, nil
}

// conclude computes the result from the evidence and writes it.
func (r *rung) conclude(out *Rung) error {
	ceiling, findings, err := ceilingOf(r.evidence)
	if err != nil {
		r.cfg.Observer.Note("no ceiling: " + err.Error())
	}
	r.evidence.Attached.Ceiling = ceiling
	r.evidence.Attached.Findings = append(r.evidence.Attached.Findings, findings...)
	if err := r.writer.Attach(&r.evidence.Attached); err != nil {
		return err
	}
	doc, err := report.Build(r.evidence)
	if err != nil {
		return fmt.Errorf("compute the result: %w", err)
	}
	out.Evidence, out.Document = &r.evidence, doc
	r.closing(doc)
	if err := r.writer.Finish(doc); err != nil {
		return err
	}
	path := r.writer.Path()
	r.cfg.Observer.Status("speed_test_payload_file_written", map[string]any{
		"path": path, "pathAbsolute": absolute(path), "engine": r.plan.Engine,
	})
	return nil
}
