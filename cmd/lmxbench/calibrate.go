package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/urfave/cli/v3"

	"lmxbench/bench/calibrate"
	"lmxbench/internal/simserver"
)

// calibrateFlags are the options of calibrate.
type calibrateFlags struct {
	streams []int
	round   time.Duration
	rounds  *int
	out     string
	rate    *float64
	json    bool
	quiet   bool
}

func calibrateCommand(env *environment) *cli.Command {
	f := &calibrateFlags{}
	return &cli.Command{
		Name:  "calibrate",
		Usage: "measure the client itself on this machine",
		Description: "Runs the measuring core against the simulated engine, which knows when it sent each byte,\n" +
			"over a ladder of loads, and prints how far the client's times are from the truth, what an\n" +
			"event costs, and up to what load this machine's numbers can be trusted. Takes about two\n" +
			"minutes. The result is kept for run, which puts its error bars into every result.",
		Flags: []cli.Flag{
			option("", "stream counts, separated by commas (64,256,1000,4000,10000)", &ladder{&f.streams}, "rungs"),
			option("", "tokens per second of each stream, instead of the highest this machine should hold", &number{&f.rate, 0.1, 1000}, "rate"),
			option("", "length of one measurement; each rung makes eight (2)", &seconds{&f.round}, "seconds"),
			option("", "how often client and bare loop take turns on a rung (2)", &count{&f.rounds, 1}, "rounds"),
			word("", "file to save the result in, instead of the place where run looks for it", &f.out, "out"),
			toggle("", "print the result as one JSON document", &f.json, "json"),
			toggle("", "say nothing on standard error while it runs", &f.quiet, "quiet"),
		},
		Commands: []*cli.Command{engineCommand(env)},
		Action: func(ctx context.Context, cmd *cli.Command) error {
			if cmd.Args().Len() > 0 {
				return usagef("invalid_option", "calibrate takes no argument, got %q: give the ladder with --rungs", cmd.Args().First())
			}
			return f.run(ctx, env)
		},
	}
}

// maxRound bounds the whole: a calibration that runs for hours measures the
// machine's other users.
const maxRound = 60 * time.Second

// run is the command: plan, measure, save, print. What was measured is saved
// and printed also after an interrupt.
func (f *calibrateFlags) run(ctx context.Context, env *environment) error {
	if f.round > maxRound {
		return usagef("invalid_option", "--seconds %g: one measurement may take up to %g", f.round.Seconds(), maxRound.Seconds())
	}
	machine := calibrate.Detect()
	path, err := f.place()
	if err != nil {
		return err
	}
	cfg := calibrate.Config{Machine: machine, Tool: tool(), Rounds: orZero(f.rounds)}
	streams, round := f.streams, f.round
	if len(streams) == 0 {
		streams = calibrate.DefaultStreams()
	}
	if round == 0 {
		round = calibrate.DefaultRound
	}
	cfg.Loads, cfg.Skipped = calibrate.Ladder(streams, round, calibrate.DetectLimits())
	if f.rate != nil {
		for i := range cfg.Loads {
			cfg.Loads[i] = cfg.Loads[i].At(*f.rate, round)
		}
	}
	if len(cfg.Loads) == 0 {
		return usagef("invalid_option", "--rungs: this machine can carry none of them: %s", cfg.Skipped[0].Reason)
	}
	if cfg.Start, err = engineStarter(env); err != nil {
		return err
	}
	if !f.quiet && !f.json {
		cfg.Progress = func(done, of int, next calibrate.Load) {
			fmt.Fprintf(env.stderr, "rung %d of %d: %s\n", done+1, of, next)
		}
	}
	result, err := calibrate.Run(ctx, cfg)
	if result == nil {
		return err
	}
	return errors.Join(f.finish(env, result, path), err)
}

// place is where the result goes, checked before anything is measured.
func (f *calibrateFlags) place() (string, error) {
	if f.out == "" {
		dir, err := calibrate.Directory()
		if err != nil {
			return "", usagef("file_read_error", "no place to keep the result in: %v; give --out FILE", err)
		}
		return dir, nil
	}
	if info, err := os.Stat(f.out); err == nil {
		if info.IsDir() {
			return "", usagef("invalid_option", "--out %s is a folder: give the path of a file", f.out)
		}
		return "", usagef("invalid_option", "--out %s is already there and is not overwritten: give another path", f.out)
	}
	return f.out, nil
}

// finish saves and prints. A calibration that says nothing is exit code 2.
func (f *calibrateFlags) finish(env *environment, c *calibrate.Calibration, path string) error {
	if f.out == "" {
		path = filepath.Join(path, c.FileName())
	}
	saved := c.Save(path)
	if f.json {
		if err := writeJSON(env.stdout, c); err != nil {
			return err
		}
	} else {
		if err := c.Write(env.stdout); err != nil {
			return err
		}
		if saved == nil {
			fmt.Fprintf(env.stdout, "saved in %s\n", path)
		}
	}
	if saved != nil {
		return saved
	}
	if !c.Partial && !c.Sound() {
		return &silentError{exitInvalid}
	}
	return nil
}

// engineStarter starts each engine as a child process. With four cores or more
// client and engines get their own, so that neither makes the other late.
func engineStarter(env *environment) (calibrate.Starter, error) {
	cpus := ""
	if cores := runtime.NumCPU(); cores >= 4 {
		if err := pin(fmt.Sprintf("0-%d", cores/2-1)); err != nil {
			return nil, fmt.Errorf("keep to half of the cores: %w", err)
		}
		runtime.GOMAXPROCS(cores / 2)
		cpus = fmt.Sprintf("--cpus=%d-%d", cores/2, cores-1)
	}
	return func(ctx context.Context, l calibrate.Load) (calibrate.Engine, error) {
		args := []string{"calibrate", "engine", fmt.Sprintf("--shape=%s", l.Shape), fmt.Sprintf("--interval-seconds=%g", l.Interval.Seconds())}
		if cpus != "" {
			args = append(args, cpus)
		}
		where, stop, err := startChild(ctx, env, args)
		if err != nil {
			return calibrate.Engine{}, err
		}
		return calibrate.Engine{URL: where.URL, Stop: stop}, nil
	}, nil
}

// engineFlags are the options of the child that calibrate starts.
type engineFlags struct {
	shape, cpus string
	interval    time.Duration
}

// engineCommand is the child: the simulated engine under one load. It ends when
// its standard input does.
func engineCommand(env *environment) *cli.Command {
	f := &engineFlags{}
	return &cli.Command{
		Name: "engine", Usage: "the simulated engine of a calibration", Hidden: true,
		Flags: []cli.Flag{
			word("", "steps or phases", &f.shape, "shape"),
			option("", "between the tokens of a stream", &seconds{&f.interval}, "interval-seconds"),
			word("", "cores to run on, such as 2-3,6", &f.cpus, "cpus"),
		},
		Action: func(ctx context.Context, _ *cli.Command) error { return f.serve(ctx, env) },
	}
}

func (f *engineFlags) serve(ctx context.Context, env *environment) error {
	load := calibrate.Load{Streams: 1, Shape: calibrate.Shape(f.shape), Interval: f.interval, Tokens: 1}
	if (load.Shape != calibrate.Steps && load.Shape != calibrate.Phases) || load.Interval <= 0 {
		return usagef("invalid_option", "calibrate engine is started by calibrate: it needs --shape and --interval-seconds")
	}
	if f.cpus != "" {
		if err := pin(f.cpus); err != nil {
			return usagef("invalid_option", "--cpus %s: %v", f.cpus, err)
		}
	}
	profile, err := load.Profile()
	if err != nil {
		return err
	}
	server, err := simserver.Listen(simserver.Config{Profile: profile})
	if err != nil {
		return err
	}
	line, err := json.Marshal(announcement{URL: server.URL(), Model: profile.Model, Profile: profile.Name})
	if err != nil {
		return errors.Join(err, server.Close())
	}
	fmt.Fprintln(env.stdout, string(line))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		io.Copy(io.Discard, env.stdin) //nolint:errcheck // only its end matters
		cancel()
	}()
	return server.Serve(ctx)
}
