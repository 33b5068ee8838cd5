package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v3"
)

// The layout of help, in characters.
const (
	helpColumn = 32  // where explanations begin
	helpWidth  = 104 // where they end
)

// topic is a command with its full name.
type topic struct {
	cmd  *cli.Command
	path string
}

// write prints the help of a command: how it is called, what it does, its
// commands and its options, in the order they are declared.
func (t *topic) write(w io.Writer) error {
	cmd := t.cmd
	var b strings.Builder
	b.WriteString("Usage: " + t.path)
	if len(cmd.VisibleCommands()) > 0 {
		b.WriteString(" COMMAND")
	}
	if len(visibleFlags(cmd)) > 0 {
		b.WriteString(" [options]")
	}
	if cmd.ArgsUsage != "" {
		b.WriteString(" " + cmd.ArgsUsage)
	}
	b.WriteString("\n\n")
	if cmd.Description != "" {
		b.WriteString(cmd.Description + "\n")
	} else {
		b.WriteString(strings.ToUpper(cmd.Usage[:1]) + cmd.Usage[1:] + ".\n")
	}
	if subs := cmd.VisibleCommands(); len(subs) > 0 {
		b.WriteString("\nCommands\n")
		for _, sub := range subs {
			helpLine(&b, sub.Name, sub.Usage)
		}
		fmt.Fprintf(&b, "\nSee %s COMMAND --help.\n", t.path)
	}
	heading := ""
	for _, f := range visibleFlags(cmd) {
		category := "Options"
		if c, ok := f.(cli.CategorizableFlag); ok && c.GetCategory() != "" {
			category = c.GetCategory()
		}
		if category != heading {
			heading = category
			b.WriteString("\n" + heading + "\n")
		}
		flagHelp(&b, f)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func visibleFlags(cmd *cli.Command) []cli.Flag {
	var flags []cli.Flag
	for _, f := range cmd.Flags {
		if v, ok := f.(cli.VisibleFlag); !ok || v.IsVisible() {
			flags = append(flags, f)
		}
	}
	return flags
}

// flagHelp prints one option. A word between backquotes at the start of its
// usage names its value.
func flagHelp(b *strings.Builder, f cli.Flag) {
	usage, value := "", "N"
	if d, ok := f.(cli.DocGenerationFlag); ok {
		usage = d.GetUsage()
	}
	if _, ok := f.(*cli.StringFlag); ok {
		value = "TEXT"
	}
	if rest, ok := strings.CutPrefix(usage, "`"); ok {
		value, usage, _ = strings.Cut(rest, "` ")
	}
	names := f.Names()
	label := "--" + names[0]
	if !isSwitch(f) {
		label += " " + value
	}
	if len(names) > 1 {
		usage += " (also" + unbroken + "--" + strings.Join(names[1:], ","+unbroken+"--") + ")"
	}
	helpLine(b, label, usage)
}

// unbroken is a space at which a line is not wrapped.
const unbroken = "\x00"

// helpLine prints a label and its explanation, wrapped into its column.
func helpLine(b *strings.Builder, label, text string) {
	line := "  " + label
	if len(line) > helpColumn-2 {
		b.WriteString(line + "\n")
		line = ""
	}
	line += strings.Repeat(" ", helpColumn-len(line))
	width := helpColumn
	empty := true
	for _, word := range strings.Fields(text) {
		n := len([]rune(word))
		if !empty && width+1+n > helpWidth {
			b.WriteString(line + "\n")
			line, width, empty = strings.Repeat(" ", helpColumn), helpColumn, true
		}
		if !empty {
			line, width = line+" ", width+1
		}
		line, width, empty = line+strings.ReplaceAll(word, unbroken, " "), width+n, false
	}
	b.WriteString(line + "\n")
}
