package engine

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxServeCommand bounds the text of a serve command, in bytes.
const maxServeCommand = 1 << 20

// Flag is one option of a command.
type Flag struct {
	// Name is as written, dashes included: "--max-num-seqs", "-ngl".
	Name string
	// Value is the option's argument with the shell's quotes taken off. HasValue
	// tells an empty argument from none.
	Value    string
	HasValue bool
}

// ServeCommand is the command that started a server, as far as its text tells.
type ServeCommand struct {
	// Kind is the engine the command starts; Unknown where it cannot be told.
	Kind Kind
	// Program are the words that name the program, as in ["vllm", "serve"]. It
	// is empty where the text holds options alone.
	Program []string
	// Env are the variables set for the program, as NAME=value, in order.
	Env []string
	// Container are the words up to and including the image, as in
	// ["docker", "run", "--gpus", "all", "vllm/vllm-openai"]; nil outside of one.
	Container []string
	// Model is what the command loads: a repository, a folder or a file.
	Model string
	// Flags are the program's options in order, known or not; Positional are its
	// other words.
	Flags      []Flag
	Positional []string
}

// ParseServeCommand reads the shell text that started a server: one command,
// possibly over several lines, with variables before it, inside "docker run",
// or the options alone. Nothing is executed: variables set in the text are put
// in, other expansions stay as they are written.
//
// Where the text is a script of several commands, the one that starts a known
// engine is taken.
func ParseServeCommand(text string) (ServeCommand, error) {
	if len(text) > maxServeCommand {
		return ServeCommand{}, fmt.Errorf("serve command is longer than %d KiB", maxServeCommand>>10)
	}
	script := strings.ReplaceAll(text, "\r\n", "\n")
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err != nil {
		return ServeCommand{}, fmt.Errorf("serve command is not shell: %s", oneLine(err.Error(), maxQuoted))
	}
	var best *ServeCommand
	for _, command := range commands(file, script) {
		c := classify(command.env, command.args)
		if best == nil || best.Kind == Unknown && c.Kind != Unknown {
			best = &c
		}
	}
	if best == nil {
		return ServeCommand{}, errors.New("serve command is empty: it names no program and no option")
	}
	return *best, nil
}

// classify finds program, model and options in the words of one command.
func classify(env, args []string) ServeCommand {
	c := ServeCommand{Env: env}
	if strings.HasPrefix(args[0], "-") {
		c.Kind = kindOfOptions(args)
		c.take(args)
		return c
	}
	if found, rest, ok := containerImage(args); ok {
		c.Kind, c.Container = found.kind(), found.words
		c.Env = append(c.Env, found.env...)
		args = rest
	}
	if inner, ok := shellText(args); ok {
		if parsed, err := ParseServeCommand(inner); err == nil && parsed.Kind != Unknown {
			parsed.Env, parsed.Container = append(c.Env, parsed.Env...), c.Container
			return parsed
		}
	}
	kind, begin, end := program(args)
	switch {
	case kind != Unknown:
		c.Kind, c.Program, args = kind, args[begin:end], args[end:]
	case c.Container == nil:
		c.Program, args = args[:1], args[1:]
	}
	c.take(args)
	return c
}

// shellCommand is the switch of "bash -c", alone or among others.
var shellCommand = regexp.MustCompile(`^-[a-z]*c$`)

// shellText is what "bash -c TEXT" runs, anywhere in a command.
func shellText(args []string) (string, bool) {
	for i := 0; i+2 < len(args); i++ {
		name := path.Base(args[i])
		if (name == "bash" || name == "sh") && shellCommand.MatchString(args[i+1]) {
			return args[i+2], true
		}
	}
	return "", false
}

// programs are the words that start an engine. Folders before the first one are
// taken off.
var programs = []struct {
	kind  Kind
	words *regexp.Regexp
}{
	{VLLM, regexp.MustCompile(`^vllm serve$`)},
	{VLLM, regexp.MustCompile(`^-m vllm\.entrypoints\.\S+$`)},
	{VLLM, regexp.MustCompile(`^api_server\.py$`)},
	{SGLang, regexp.MustCompile(`^sglang serve$`)},
	{SGLang, regexp.MustCompile(`^-m sglang(?:\.launch_server)?$`)},
	{LlamaCPP, regexp.MustCompile(`^llama[-_]server(?:\.exe)?$`)},
	{LlamaCPP, regexp.MustCompile(`^-m llama_cpp\.server$`)},
	{Ollama, regexp.MustCompile(`^ollama serve$`)},
}

// program finds the words that start a known engine: args[begin:end]. Whatever
// stands before them (env, nohup, uv run, numactl …) only wraps.
func program(args []string) (kind Kind, begin, end int) {
	for i := range args {
		words := path.Base(args[i])
		for n := 1; n <= 2 && i+n <= len(args); n++ {
			if n == 2 {
				words += " " + args[i+1]
			}
			for _, p := range programs {
				if p.words.MatchString(words) {
					return p.kind, interpreter(args, i), i + n
				}
			}
		}
	}
	return Unknown, 0, 0
}

// interpreter includes the word before "-m" in the program's.
func interpreter(args []string, i int) int {
	if i > 0 && args[i] == "-m" {
		return i - 1
	}
	return i
}

// take sorts the words behind the program into options and others.
func (c *ServeCommand) take(args []string) {
	for i := 0; i < len(args); i++ {
		word := args[i]
		if word == "--" {
			c.Positional = append(c.Positional, args[i+1:]...)
			break
		}
		if !isFlag(word) {
			c.Positional = append(c.Positional, word)
			continue
		}
		name, value, joined := strings.Cut(word, "=")
		if !joined && i+1 < len(args) && takesValue(name, args[i+1]) {
			i++
			value, joined = args[i], true
		}
		c.Flags = append(c.Flags, Flag{Name: name, Value: value, HasValue: joined})
	}
	c.Model = c.model()
}

// isFlag tells an option from a negative number and from a lone dash.
func isFlag(word string) bool {
	if len(word) < 2 || word[0] != '-' {
		return false
	}
	return word[1] == '-' || word[1] >= 'A'
}

// model is the model's place: an option, or for vLLM the first other word.
func (c ServeCommand) model() string {
	if m, ok := c.Text("--model", "--model-path", "-m", "--hf-repo", "-hf", "-hfr", "--model-url", "-mu"); ok {
		return m
	}
	if c.Kind == VLLM && len(c.Positional) > 0 {
		return c.Positional[0]
	}
	return ""
}
