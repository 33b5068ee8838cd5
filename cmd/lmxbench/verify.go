package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/urfave/cli/v3"

	"lmxbench/bench"
)

func verifyCommand(env *environment) *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "recompute every number of a run from its evidence, offline",
		ArgsUsage: "DIR",
		Description: "Computes run.json again from requests.jsonl, observations.jsonl and the plan, compares\n" +
			"every field, and checks every file against manifest.json. Prints one line for each\n" +
			"difference. Exit code 0: identical, 2: it differs, 1: there is no run in DIR.",
		Action: func(_ context.Context, cmd *cli.Command) error {
			if cmd.Args().Len() != 1 {
				return usagef("invalid_option", "verify takes one run directory: lmxbench verify DIR")
			}
			return verify(env, cmd.Args().First())
		},
	}
}

func verify(env *environment, dir string) error {
	if info, err := os.Stat(dir); err != nil {
		return usagef("file_read_error", "verify %s: %v: give the folder that run printed last", dir, underlying(err))
	} else if !info.IsDir() {
		return usagef("file_read_error", "verify %s: it is a file: give the folder it lies in", dir)
	}
	differences, err := bench.Verify(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return usagef("file_read_error", "verify %s: no run lies there (%v): give the folder that run printed last", dir, err)
	}
	if err != nil {
		return err
	}
	for _, d := range differences {
		fmt.Fprintln(env.stdout, d)
	}
	if len(differences) > 0 {
		fmt.Fprintf(env.stderr, "lmxbench: %s does not agree with its evidence: %s\n", dir, plural(len(differences), "difference"))
		return &silentError{exitInvalid}
	}
	fmt.Fprintf(env.stdout, "%s: every number follows from its evidence, every file is as it was written\n", dir)
	return nil
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
