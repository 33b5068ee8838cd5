package main

import (
	"context"
	"io"

	"github.com/urfave/cli/v3"
)

// environment is what a command may use of the process it runs in.
type environment struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	args           []string // the command line, without secrets by construction
}

// run is the whole program. It returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	env := &environment{stdin: stdin, stdout: stdout, stderr: stderr, args: args}
	root := rootCommand(env)
	help, err := lint(root, args)
	switch {
	case help != nil:
		err = help.write(stdout)
	case err == nil:
		err = root.Run(ctx, args)
	}
	return env.report(ctx, err)
}

func rootCommand(env *environment) *cli.Command {
	root := &cli.Command{
		Name:    "lmxbench",
		Usage:   "measure how fast an OpenAI-compatible server generates tokens, with receipts",
		Version: versionText(),
		Description: "Measures how fast an OpenAI-compatible server generates tokens, and leaves receipts.\n\n" +
			"  lmxbench run --sim default                      try it, without a server or a GPU\n" +
			"  lmxbench run --base-url http://127.0.0.1:8000   measure a server\n" +
			"  lmxbench --version                              say which build this is",
		Commands: []*cli.Command{
			runCommand(env),
			{Name: "speed-test", Usage: "lmx's words for run", Hidden: true, Commands: []*cli.Command{runCommand(env)}},
			verifyCommand(env),
			reportCommand(env),
			compareCommand(env),
			boardCommand(env),
			ceilingCommand(env),
			powerCommand(env),
			hardwareCommand(env),
			calibrateCommand(env),
			simCommand(env),
		},
		Writer: env.stdout, ErrWriter: env.stderr, Reader: env.stdin,
	}
	quietErrors(root)
	return root
}

// quietErrors leaves printing and exiting to run: neither hook is inherited by
// subcommands.
func quietErrors(c *cli.Command) {
	c.ExitErrHandler = func(context.Context, *cli.Command, error) {}
	c.OnUsageError = func(_ context.Context, _ *cli.Command, err error, _ bool) error { return usage(err) }
	c.HideHelp = true // lint finds it
	for _, sub := range c.Commands {
		quietErrors(sub)
	}
}
