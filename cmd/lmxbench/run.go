package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	"lmxbench/bench"
	"lmxbench/internal/engine"
)

// errNoServer is a run that found nothing to measure.
var errNoServer = errors.New("no server found")

func runCommand(env *environment) *cli.Command {
	f := &runFlags{}
	return &cli.Command{
		Name:      "run",
		Aliases:   []string{"measure"},
		Usage:     "measure a server",
		ArgsUsage: "[engine]",
		Description: "Measures the server at --base-url, or the one on a usual local port, or the built-in\n" +
			"simulated engine with --sim default. Prints the result; writes it with its evidence.",
		Flags: f.flags(),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			if cmd.Args().Len() > 1 {
				return usagef("invalid_option", "%q is one argument too many: run takes one, the engine's name", cmd.Args().Get(1))
			}
			return f.run(ctx, env, cmd.Args().First())
		},
	}
}

// run is the command: plan, server, measurement, result.
func (f *runFlags) run(ctx context.Context, env *environment, engineArg string) error {
	cfg, err := f.config(env, engineArg)
	if err != nil {
		return err
	}
	if f.dryRun {
		return printPlan(env.stdout, &cfg)
	}
	if err := cfg.Check(); err != nil {
		return err
	}
	watcher, err := f.observer(env)
	if err != nil {
		return err
	}
	defer watcher.close()
	cfg.Observer = watcher
	stop, err := f.findServer(ctx, env, &cfg)
	if err != nil {
		return err
	}
	defer stop()
	defer context.AfterFunc(ctx, func() {
		watcher.Note("stopping: what was measured is being written; interrupt again to end at once")
	})()
	result, err := bench.Run(ctx, cfg)
	watcher.clear()
	if printErr := f.print(env, result); printErr != nil && err == nil {
		err = printErr
	}
	if err != nil {
		return err
	}
	return verdictError(result)
}

// findServer decides which server is measured where --base-url does not say.
func (f *runFlags) findServer(ctx context.Context, env *environment, cfg *bench.Config) (stop func(), err error) {
	if f.sim != "" {
		return f.startSim(ctx, env, cfg)
	}
	if f.baseURL != "" {
		return func() {}, nil
	}
	cfg.Target.Base, err = onlyServer(engine.DiscoverLocal(ctx))
	return func() {}, err
}

// onlyServer chooses among the servers that answer on this machine.
func onlyServer(found []engine.Found) (engine.BaseURL, error) {
	switch len(found) {
	case 0:
		return engine.BaseURL{}, fmt.Errorf("%w on the usual ports of this machine (8000, 8080, 11434, 30000): give --base-url http://HOST:PORT, or try the simulated engine with --sim default", errNoServer)
	case 1:
		return found[0].Base, nil
	}
	var list []string
	for _, s := range found {
		list = append(list, s.Base.String())
	}
	return engine.BaseURL{}, usagef("invalid_option", "%d servers answer on this machine (%s): choose one with --base-url", len(found), strings.Join(list, ", "))
}
