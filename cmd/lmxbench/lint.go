package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agext/levenshtein"
	"github.com/urfave/cli/v3"
)

// lint reads the command line once before the library does, to say in one line
// what the library would say in several, or would not say: an unknown option
// with the nearest known one, a value that is missing, empty or the next
// option, two spellings of one option with different values, an option that lmx
// has and this program refuses. help is what help is asked for, nil if none is.
func lint(root *cli.Command, args []string) (help *topic, err error) {
	l := linter{cmd: root, path: root.Name, seen: map[string]given{}}
	for i := 1; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--":
			return nil, nil
		case arg == "--help", arg == "-h":
			return &topic{l.cmd, l.path}, nil
		case arg == "help" && i == 1:
			return l.helpOf(args[i+1:])
		case l.cmd == root && (arg == "--version" || arg == "-v"):
			return nil, nil
		case strings.HasPrefix(arg, "--"):
			took, err := l.option(arg[2:], args[i+1:])
			if err != nil {
				return nil, err
			}
			i += took
		case len(arg) > 1 && arg[0] == '-':
			return nil, l.singleDash(arg)
		default:
			if err := l.word(arg); err != nil {
				return nil, err
			}
		}
	}
	if l.cmd.Action == nil { // it only groups others
		return &topic{l.cmd, l.path}, nil
	}
	return nil, nil
}

// linter is where lint stands in the command line.
type linter struct {
	cmd  *cli.Command
	path string // the command's full name
	seen map[string]given
}

// given is how an option was written.
type given struct{ spelling, value string }

// word takes an argument that is no option: a command's name, or its argument.
func (l *linter) word(arg string) error {
	if sub := l.cmd.Command(arg); sub != nil {
		l.cmd, l.path = sub, l.path+" "+sub.Name
		return nil
	}
	subs := l.cmd.VisibleCommands()
	if len(subs) == 0 {
		return nil
	}
	var names []string
	for _, sub := range subs {
		names = append(names, sub.Names()...)
	}
	return usagef("unknown_command", "%q is not a command of %s: %s", arg, l.path, l.advice(nearest(arg, names), ""))
}

// helpOf is what "lmxbench help COMMAND …" asks for.
func (l *linter) helpOf(words []string) (*topic, error) {
	for _, w := range words {
		if err := l.word(w); err != nil {
			return nil, err
		}
	}
	return &topic{l.cmd, l.path}, nil
}

// option takes an option without its dashes and returns how many of the
// arguments behind it are its value.
func (l *linter) option(text string, rest []string) (took int, err error) {
	name, value, inline := strings.Cut(text, "=")
	flag := findFlag(l.cmd, name)
	switch {
	case flag == nil:
		return 0, l.unknown(name)
	case isSwitch(flag):
		if _, err := strconv.ParseBool(value); inline && err != nil {
			return 0, usagef("invalid_option", "--%s %q: it is a switch; write --%s, or --%s=false", name, value, name, name)
		}
		return 0, nil
	case !inline && (len(rest) == 0 || strings.HasPrefix(rest[0], "--")):
		return 0, usagef("missing_option", "--%s needs a value: write --%s VALUE, or --%s=VALUE where the value begins with --", name, name, name)
	case !inline:
		value, took = rest[0], 1
	}
	first := flag.Names()[0]
	if value == "" && first != "notes" {
		return 0, usagef("missing_option", "--%s is empty: give it a value, or leave it out", name)
	}
	if old, again := l.seen[first]; again && old.spelling != name && old.value != value {
		return 0, usagef("invalid_option", "--%s %s and --%s %s are one option with two values: give one of them",
			old.spelling, old.value, name, value)
	}
	l.seen[first] = given{name, value}
	return took, nil
}

func findFlag(cmd *cli.Command, name string) cli.Flag {
	for _, f := range cmd.Flags {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}

func isSwitch(f cli.Flag) bool {
	_, ok := f.(*cli.BoolFlag)
	return ok
}

// unknown names an option that is not known, and the nearest known one.
func (l *linter) unknown(name string) error {
	if reason, ok := refusedOptions[name]; ok && l.cmd.Name == "run" {
		return usagef("invalid_option", "--%s is refused: %s", name, reason)
	}
	var names []string
	for _, f := range l.cmd.Flags {
		names = append(names, f.Names()...)
	}
	return usagef("unknown_option", "--%s is not an option of %s: %s", name, l.path, l.advice(nearest(name, names), "--"))
}

// singleDash refuses an option with one dash; this program has none but -h.
func (l *linter) singleDash(arg string) error {
	name, _, _ := strings.Cut(arg[1:], "=")
	if findFlag(l.cmd, name) != nil {
		return usagef("unknown_option", "%s is not an option of %s: options begin with two dashes, write --%s", arg, l.path, arg[1:])
	}
	return usagef("unknown_option", "%s is not an option of %s: see %s --help", arg, l.path, l.path)
}

func (l *linter) advice(name, dashes string) string {
	if name == "" {
		return "see " + l.path + " --help"
	}
	return "did you mean " + dashes + name + "?"
}

// nearest returns the known name that is closest to a mistyped one, or "". lmx
// offers names at an edit distance below 4; a short word must be closer.
func nearest(name string, known []string) string {
	best, distance := "", min(4, 2+len(name)/3)
	for _, k := range known {
		if d := levenshtein.Distance(name, k, nil); d < distance && len(k) > 1 {
			best, distance = k, d
		}
	}
	return best
}
