package bench

import (
	"context"
	"errors"
	"fmt"

	"lmxbench/bench/report"
	"lmxbench/internal/engine"
)

// measure runs the probe, the warm-ups and the iterations. An interrupt is no
// error: it leaves a batch that is marked.
func (r *rung) measure(ctx context.Context) error {
	r.opening()
	if err := r.probe(ctx); err != nil {
		return err
	}
	if err := r.startPower(ctx); err != nil {
		return err
	}
	r.session.Environment = environment(ctx, r.power)
	r.evidence.Session = r.session
	if err := r.writer.Session(&r.session); err != nil {
		return err
	}
	for i := range r.plan.Warmup {
		b := batch{phase: phaseWarmup, iteration: i + 1, streams: r.plan.WarmupConcurrency}
		r.status("endpoint_warmup_request", "index", i+1, "warmup", r.plan.Warmup)
		lines, err := r.batch(ctx, b)
		if err != nil || r.stopped() {
			return err
		}
		if okCount(lines) < len(lines) {
			r.cfg.Observer.Note("warm-up " + failure(lines))
		}
	}
	return r.iterate(ctx)
}

// iterate runs the timed iterations. A failed one does not stop the run; two in
// a row without one request that is ok do.
func (r *rung) iterate(ctx context.Context) error {
	barren, good := 0, 0
	for i := range r.plan.Iterations {
		b := batch{phase: phaseTimed, iteration: i + 1, streams: r.plan.Concurrency, keepText: true}
		lines, err := r.batch(ctx, b)
		if err != nil || r.stopped() {
			return err
		}
		ok := okCount(lines)
		good += ok
		if barren++; ok > 0 {
			barren = 0
		}
		last := barren == 2 || i+1 == r.plan.Iterations
		if last && good == 0 {
			return fmt.Errorf("%w: %s", ErrNothingMeasured, failure(lines))
		}
		if ok < len(lines) {
			r.cfg.Observer.Note(fmt.Sprintf("iteration %d: %s", i+1, failure(lines)))
		}
		if last {
			break
		}
	}
	return nil
}

// stopped reports whether an interrupt reached the last batch.
func (r *rung) stopped() bool {
	n := len(r.evidence.Batches)
	return n > 0 && r.evidence.Batches[n-1].Interrupted
}

// probe sends one short request over the measuring path. It shows that the
// path works, and how many prompt tokens two prompts with different nonces
// share in the server's cache.
func (r *rung) probe(ctx context.Context) error {
	r.stage("probe", batch{phase: phaseProbe, streams: 1})
	short := *r
	short.plan.MaxTokens = min(r.plan.MaxTokens, probeTokens)
	if short.plan.MinTokens != nil {
		least := min(*short.plan.MinTokens, short.plan.MaxTokens)
		short.plan.MinTokens = &least
	}
	template, err := engine.NewTemplate(r.server.request(&short.plan))
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	short.template = template
	seen, lines, err := r.deliver(&short, ctx, batch{phase: phaseProbe, iteration: 1, streams: 1})
	if err != nil {
		return err
	}
	r.dialled = seen.Dialled
	if n := lines[0].CachedTokens; n != nil {
		r.session.TemplateHead = int(*n)
	}
	if peer := r.pool.Peer(); peer != "" {
		r.session.Peer = peer
	}
	r.evidence.Session = r.session
	r.evidence.Requests = append(r.evidence.Requests, lines...)
	return r.write(lines)
}

// probeTokens caps the probe's answer.
const probeTokens = 8

// batch sends one batch, writes what was seen of it and reports it.
func (r *rung) batch(ctx context.Context, b batch) ([]report.Request, error) {
	r.stage(b.phase, b)
	r.batches--
	seen, lines, err := r.deliver(r, ctx, b)
	if err != nil {
		return nil, err
	}
	seen.Dialled += r.dialled // the probe's connection serves the first batch too
	r.dialled = 0
	r.evidence.Batches = append(r.evidence.Batches, seen)
	r.evidence.Requests = append(r.evidence.Requests, lines...)
	if err := r.write(lines); err != nil {
		return lines, err
	}
	if err := errors.Join(r.writer.Batch(&seen), r.writer.EndBatch()); err != nil {
		return lines, err
	}
	r.batchStatus(b, lines)
	return lines, nil
}

// write appends request lines.
func (r *rung) write(lines []report.Request) error {
	for i := range lines {
		if err := r.writer.Request(&lines[i]); err != nil {
			return err
		}
	}
	return nil
}
