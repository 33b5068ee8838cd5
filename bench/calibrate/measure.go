package calibrate

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"lmxbench/internal/engine"
	"lmxbench/internal/simserver"
	"lmxbench/loadgen"
)

// warmTokens is the length of the batch before each timed one. It opens the
// connections' buffers on both sides, as the warm-up of a run does.
const warmTokens = 4

// round is what one round of a rung gave.
type round struct {
	joined
	wall    wall
	batch   *loadgen.Batch
	stats   simserver.Stats
	records []simserver.Record
	grown   uint64                 // bytes that resident memory grew by; 0: not known
	stepped bool                   // the clock was set meanwhile
	floor   *simserver.FloorResult // nil where there is none
	// floorTokens are the token events that the floor asked for.
	floorTokens int
}

// patience bounds a batch: several times its planned length, for a machine that
// cannot hold the load, and time to connect.
func (l Load) patience() time.Duration { return 4*l.span() + 20*time.Second }

// measureRound starts an engine and runs the client and then the floor against
// it.
func measureRound(ctx context.Context, l Load, start Starter) (*round, error) {
	e, err := start(ctx, l)
	if err != nil {
		return nil, fmt.Errorf("start the simulated engine: %w", err)
	}
	defer e.Stop()
	b := e.books()
	r, err := measureClient(ctx, l, b)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, l.patience())
	defer cancel()
	// Where there is no floor (other systems), there is no ratio either.
	if floor, err := simserver.Floor(limited, e.URL, l.Streams, l.Tokens); err == nil && floor.Events > 0 {
		r.floor, r.floorTokens = &floor, l.Streams*l.Tokens
	}
	return r, nil
}

// measureClient runs the client's own batches against the engine.
func measureClient(ctx context.Context, l Load, b *books) (*round, error) {
	host, err := b.host()
	if err != nil {
		return nil, err
	}
	model, err := b.model(ctx)
	if err != nil {
		return nil, err
	}
	debug.FreeOSMemory() // else what an earlier round left hides what this one takes
	resident := residentMemory()
	origin := time.Now()
	pool := loadgen.New(loadgen.Config{Address: host, Origin: origin, RequestTimeout: l.patience()})
	defer pool.Close()
	send := func(tokens int) ([]asked, *loadgen.Batch, error) {
		requests, nonces, err := prepare(b.base, model, l.Streams, tokens)
		if err != nil {
			return nil, nil, err
		}
		if _, err := pool.Open(ctx, l.Streams); err != nil {
			return nil, nil, err
		}
		got := pool.Do(ctx, requests)
		list := make([]asked, len(requests))
		for i, rec := range got.Records {
			list[i] = asked{nonces[i].String(), rec}
		}
		return list, got, ctx.Err()
	}
	if _, _, err := send(warmTokens); err != nil {
		return nil, err
	}
	if err := b.reset(ctx); err != nil {
		return nil, err
	}
	r := &round{wall: wall{originUnix: origin.UnixNano()}}
	before := clockShift(origin)
	list, got, err := send(l.Tokens)
	if err != nil {
		return nil, err
	}
	after := clockShift(origin)
	r.batch, r.wall.shift = got, (before+after)/2
	r.stepped = got.Steps > 0 || (after-before).Abs() > maxClockStep
	if now := residentMemory(); now > resident && resident > 0 {
		r.grown = now - resident
	}
	if r.stats, err = b.stats(ctx); err != nil {
		return nil, err
	}
	if r.records, err = b.records(ctx); err != nil {
		return nil, err
	}
	r.joined = join(list, r.records)
	return r, nil
}

// prompt is what is asked; the engine answers at its own pace whatever it says.
const prompt = "Count upwards in words and do not stop."

// prepare renders the requests of a batch exactly as a run does.
func prepare(base, model string, streams, tokens int) ([]*loadgen.Request, []engine.Nonce, error) {
	template, err := engine.NewTemplate(engine.Request{Model: model, Prompt: prompt, MaxTokens: tokens})
	if err != nil {
		return nil, nil, fmt.Errorf("encode the request: %w", err)
	}
	nonces := engine.NewNonces(streams)
	requests := make([]*loadgen.Request, streams)
	header := [][2]string{{"Content-Type", "application/json"}, {"Accept", "text/event-stream"}}
	for i, body := range template.Bodies(nonces) {
		message, err := loadgen.Message(base+"/v1/chat/completions", header, body)
		if err != nil {
			return nil, nil, err
		}
		requests[i] = &loadgen.Request{Message: message, Stream: true, ExpectEvents: tokens, Demand: tokens}
	}
	return requests, nonces, nil
}

// measureRung runs the rounds of a load. A rung that could not be measured is
// void; the error is that of an interrupted context only.
func measureRung(ctx context.Context, l Load, rounds int, start Starter) (Rung, error) {
	var all []*round
	var failed []string
	for range rounds {
		r, err := measureRound(ctx, l, start)
		switch {
		case ctx.Err() != nil:
			return Rung{}, context.Cause(ctx)
		case err != nil:
			failed = append(failed, err.Error())
		default:
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return Rung{Load: l, Void: failed[0]}, nil
	}
	rung := sumUp(l, all)
	rung.VoidRounds = append(rung.VoidRounds, failed...)
	return rung, nil
}

// cores is what the client may use.
func cores() int { return min(runtime.GOMAXPROCS(0), runtime.NumCPU()) }
