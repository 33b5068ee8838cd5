package main

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/shell"
)

// TestReadme: every command of README.md is one: options and arguments are
// known, what can be planned without a server is planned, and make has the
// targets.
func TestReadme(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	tested := 0
	for _, line := range shellLines(string(text) + "\n" + recipes(string(makefile))) {
		words := strings.Fields(line)
		switch {
		case words[0] == "make":
			for _, target := range words[1:] {
				if !strings.Contains(target, "=") && !regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(target)+`:`).Match(makefile) {
					t.Errorf("%s: the Makefile has no target %s", line, target)
				}
			}
			tested++
		case strings.HasSuffix(words[0], "lmxbench"):
			checkCommand(t, line)
			tested++
		}
	}
	if tested < 5 {
		t.Errorf("only %d commands found in README.md and the Makefile", tested)
	}
}

// checkCommand lints a command line, and plans a run.
func checkCommand(t *testing.T, line string) {
	t.Helper()
	words, err := shell.Fields(line, nil)
	if err != nil {
		t.Fatalf("%s\n%v", line, err)
	}
	args := append([]string{"lmxbench"}, words[1:]...)
	var stdout, stderr bytes.Buffer
	env := &environment{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, args: args}
	help, err := lint(rootCommand(env), args)
	if err != nil {
		t.Errorf("%s\n%v", line, err)
		return
	}
	if help != nil || len(args) < 2 || (args[1] != "run" && args[1] != "speed-test") {
		return
	}
	args = append(args, "--dry-run")
	if code := run(context.Background(), args, env.stdin, &stdout, &stderr); code != exitOK {
		t.Errorf("%s --dry-run: exit code %d: %s", line, code, stderr.String())
	}
}

var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// shellLines are the commands of the sh blocks, one line each, comments off.
func shellLines(text string) []string {
	var lines []string
	for _, block := range shellBlock.FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(strings.ReplaceAll(block[1], "\\\n", " ")) {
			line, _, _ = strings.Cut(line, " #")
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// recipes gives the lines of a Makefile that run this program as a sh block.
func recipes(makefile string) string {
	var b strings.Builder
	b.WriteString("```sh\n")
	for line := range strings.Lines(makefile) {
		if command, ok := strings.CutPrefix(line, "\t./build/"); ok {
			b.WriteString(command)
		}
	}
	return b.String() + "```\n"
}
