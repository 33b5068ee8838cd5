package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestLint(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		line string
		code string // of the refusal, "" for none
		says string
		help string // whose help is asked for, "" for none
	}{
		"the usual":                                           {line: "run vllm --base-url http://h:1 --concurrency 1,64 --json"},
		"options may follow the argument or not":              {line: "run --json vllm --concurrency=4"},
		"lmx's words":                                         {line: "speed-test run vllm --json"},
		"a value may begin with one dash":                     {line: "run --prompt-file - --temperature -1"},
		"a value may begin with two, written so":              {line: "run --notes=--json"},
		"notes may be empty":                                  {line: "run --notes="},
		"a switch may be switched off":                        {line: "run --json=false"},
		"behind two dashes nothing is an option":              {line: "run -- --frobnicate"},
		"the same option twice: the last one wins, as in lmx": {line: "run --warmup 1 --warmup 2"},
		"two names with one value":                            {line: "run --iters 2 --iterations 2"},
		"the version":                                         {line: "--version"},
		"nothing at all asks for help":                        {line: "", help: "lmxbench"},
		"a group of commands, too":                            {line: "speed-test", help: "lmxbench speed-test"},
		"help in mid-line":                                    {line: "run vllm --json --help --frobnicate", help: "lmxbench run"},
		"help as a command":                                   {line: "help speed-test run", help: "lmxbench speed-test run"},
		"help is a value here":                                {line: "run --notes help"},
		"an unknown option":                                   {line: "run --frobnicate", code: "unknown_option", says: "see lmxbench run --help"},
		"a slip of the finger":                                {line: "run --base-utl x", code: "unknown_option", says: "did you mean --base-url?"},
		"an option of another command":                        {line: "verify --json", code: "unknown_option", says: "not an option of lmxbench verify"},
		"one dash":                                            {line: "run -quiet", code: "unknown_option", says: "write --quiet"},
		"one dash and a value":                                {line: "run -warmup=1", code: "unknown_option", says: "write --warmup=1"},
		"no value at the end":                                 {line: "run --warmup", code: "missing_option", says: "--warmup needs a value"},
		"an option where the value is due":                    {line: "run --warmup --json", code: "missing_option", says: "--warmup needs a value"},
		"an empty value":                                      {line: "run --base-url=", code: "missing_option", says: "--base-url is empty"},
		"two names with two values":                           {line: "run --iters 2 --iterations=3", code: "invalid_option", says: "--iters 2 and --iterations 3"},
		"a switch with another value":                         {line: "run --quiet=often", code: "invalid_option", says: "it is a switch"},
		"refused with its reason":                             {line: "run --tok-s-out=1", code: "invalid_option", says: "overwrite a measured value"},
		"an unknown command":                                  {line: "measur", code: "unknown_command", says: "did you mean measure?"},
		"an unknown command after help":                       {line: "help frobnicate", code: "unknown_command", says: "see lmxbench --help"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"lmxbench"}, strings.Fields(tt.line)...)
			help, err := lint(rootCommand(&environment{}), args)
			var usage *usageError
			switch {
			case tt.code == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.code != "" && (!errors.As(err, &usage) || usage.code != tt.code || !strings.Contains(usage.text, tt.says)):
				t.Errorf("got %v, want %s: … %s", err, tt.code, tt.says)
			}
			got := ""
			if help != nil {
				got = help.path
			}
			if got != tt.help {
				t.Errorf("help of %q, want %q", got, tt.help)
			}
		})
	}
}

// TestEveryCommandHasHelp: each one says how it is called and explains each of
// its options, in lines that fit a terminal.
func TestEveryCommandHasHelp(t *testing.T) {
	t.Parallel()
	var visit func(topic)
	seen := 0
	visit = func(at topic) {
		seen++
		var b bytes.Buffer
		if err := at.write(&b); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if !strings.HasPrefix(text, "Usage: "+at.path) {
			t.Errorf("%s: the help begins with %.40q", at.path, text)
		}
		for _, f := range at.cmd.Flags {
			if !strings.Contains(text, "--"+f.Names()[0]) {
				t.Errorf("%s: --%s is not in the help", at.path, f.Names()[0])
			}
		}
		for line := range strings.Lines(text) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > helpWidth {
				t.Errorf("%s: a line of %d characters: %s", at.path, n, line)
			}
			if strings.ContainsAny(line, "`\x00") || strings.HasSuffix(line, " \n") {
				t.Errorf("%s: a line with marks of its source: %q", at.path, line)
			}
		}
		for _, sub := range at.cmd.Commands {
			visit(topic{sub, at.path + " " + sub.Name})
		}
	}
	visit(topic{rootCommand(&environment{}), "lmxbench"})
	if seen < 5 {
		t.Errorf("only %d commands", seen)
	}
}
