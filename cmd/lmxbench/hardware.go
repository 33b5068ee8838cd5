package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/urfave/cli/v3"

	"lmxbench/internal/hardware"
	"lmxbench/power"
)

// hardwareFlags are the options of the hardware commands.
type hardwareFlags struct {
	out, gpuName, cpu, os, class   string
	vendor, family, variant        string
	gpuCount                       *int
	vram, ram, unified, powerWatts *float64
	json                           bool
}

func hardwareCommand(env *environment) *cli.Command {
	f := &hardwareFlags{}
	size := func(to **float64) cli.Value { return &number{to, 0, 1e6} }
	declared := []cli.Flag{
		word("", "leaderboard's name of the GPU", &f.gpuName, "gpu-name"),
		option("", "number of equal GPUs (1)", &count{&f.gpuCount, 1}, "gpu-count"),
		option("", "memory of one GPU in GiB", size(&f.vram), "vram-gb"),
		word("", "processor", &f.cpu, "cpu"),
		option("", "memory of the machine in GiB", size(&f.ram), "ram-gb"),
		word("", "operating system", &f.os, "os"),
		option("", "power of the machine in watts", size(&f.powerWatts), "power-watts"),
		word("", "DISCRETE_GPU, UNIFIED or CPU_ONLY", &f.class, "hw-class"),
		word("", "vendor of a chip with shared memory", &f.vendor, "chip-vendor"),
		word("", "family of such a chip", &f.family, "chip-family"),
		word("", "variant of such a chip", &f.variant, "chip-variant"),
		option("", "shared memory of such a chip in GiB", size(&f.unified), "unified-memory-gb"),
	}
	out := word("", "write hardware.json to this file", &f.out, "out")
	json := toggle("", "print everything as JSON", &f.json, "json")
	return &cli.Command{
		Name:  "hardware",
		Usage: "hardware.json: detect, validate, template",
		Commands: []*cli.Command{
			{
				Name: "detect", Usage: "describe this machine by looking at it",
				Description: "What is declared by an option is taken before what is measured. Prints where each value is from.",
				Flags:       append([]cli.Flag{out, json}, declared...),
				Action:      func(ctx context.Context, _ *cli.Command) error { return f.detect(ctx, env) },
			},
			{
				Name: "validate", Usage: "say what the leaderboard would refuse, by field", ArgsUsage: "FILE", Flags: []cli.Flag{json},
				Action: func(_ context.Context, cmd *cli.Command) error {
					if cmd.Args().Len() != 1 {
						return usagef("invalid_option", "hardware validate takes one file: lmxbench hardware validate hardware.json")
					}
					return f.validate(env, cmd.Args().First())
				},
			},
			{
				Name: "template", Usage: "write hardware.json from options alone", Flags: append([]cli.Flag{out}, declared...),
				Action: func(context.Context, *cli.Command) error {
					return f.write(env, hardware.Template(f.declared(), runtime.GOOS))
				},
			},
		},
	}
}

func (f *hardwareFlags) declared() hardware.Document {
	return hardware.Document{
		Class: f.class, GPUName: f.gpuName, GPUCount: orZero(f.gpuCount), VRAMGb: orNone(f.vram),
		ChipVendor: f.vendor, ChipFamily: f.family, ChipVariant: f.variant, UnifiedMemoryGb: orNone(f.unified),
		CPU: f.cpu, RAMGb: orNone(f.ram), OS: f.os, PowerWatts: orNone(f.powerWatts),
	}
}

func orNone(p *float64) float64 {
	if p == nil {
		return 0
	}
	return *p
}

// cards asks NVML, else nvidia-smi, for the cards' static properties.
func cards(ctx context.Context) ([]map[string]string, string, error) {
	clock := power.NewClock(time.Now())
	meter, _, err := power.Open(ctx, power.OpenConfig{Clock: clock, Source: power.SourceNVML})
	if err == nil {
		defer meter.Close()
		d := meter.Describe()
		return d.Facts(), string(d.Source), nil
	}
	facts, smiErr := power.NvidiaSMIFacts(ctx, "")
	if smiErr != nil {
		return nil, "", fmt.Errorf("%w; %w", err, smiErr)
	}
	return facts, string(power.SourceSMI), nil
}

func (f *hardwareFlags) detect(ctx context.Context, env *environment) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	found := hardware.Detect(ctx, hardware.Config{GPUs: cards, Declared: f.declared()})
	switch {
	case f.out != "":
		return f.write(env, found.Document)
	case f.json:
		return writeJSON(env.stdout, found)
	}
	fmt.Fprintln(env.stdout, found.Document.Summary())
	writeFacts(env.stdout, "hardware.json", found.Fields)
	writeFacts(env.stdout, "this machine", found.Environment)
	for i, card := range found.GPUs {
		writeFacts(env.stdout, fmt.Sprintf("GPU %d", i), card)
	}
	writeIssues(env.stdout, hardware.ValidateDocument(found.Document, hardware.Lists{}))
	return nil
}

// writeFacts prints a table of values with where they are from.
func writeFacts(w io.Writer, title string, facts map[string]hardware.Fact) {
	names := make([]string, 0, len(facts))
	for name := range facts {
		names = append(names, name)
	}
	slices.Sort(names)
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{title, "value", "", "source"})
	for _, name := range names {
		f := facts[name]
		value := "–"
		if f.Value != nil {
			value = fmt.Sprint(f.Value)
			if f.Unit != "" {
				value += " " + f.Unit
			}
		}
		t.AppendRow(table.Row{name, value, f.Origin, f.Source})
	}
	fmt.Fprintln(w)
	fmt.Fprintln(w, t.Render())
}

func writeIssues(w io.Writer, issues []hardware.Issue) {
	if len(issues) == 0 {
		return
	}
	fmt.Fprintln(w)
	for _, i := range issues {
		fmt.Fprintf(w, "%-8s %s: %s\n", i.Level, i.Field, i.Message)
	}
}

// validate exits with 2 where the leaderboard would refuse the file.
func (f *hardwareFlags) validate(env *environment, path string) error {
	file, err := hardware.ReadFile(path)
	if err != nil {
		return usagef("invalid_hardware", "%v", err)
	}
	document, issues := hardware.Validate(file.Fields, hardware.Lists{})
	refused := slices.ContainsFunc(issues, func(i hardware.Issue) bool { return i.Level == hardware.Refused })
	if f.json {
		if err := writeJSON(env.stdout, map[string]any{"valid": !refused, "issues": issues, "document": document}); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(env.stdout, document.Summary())
		writeIssues(env.stdout, issues)
	}
	if refused {
		return &silentError{exitInvalid}
	}
	return nil
}

// write puts the document into a new file, or prints it.
func (f *hardwareFlags) write(env *environment, d hardware.Document) error {
	text, err := d.Encode()
	if err != nil {
		return err
	}
	if f.out == "" {
		_, err = env.stdout.Write(text)
		return err
	}
	file, err := os.OpenFile(f.out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return usagef("invalid_option", "--out %s is already there and is not overwritten: give another path", f.out)
	}
	if err != nil {
		return usagef("file_read_error", "--out %s cannot be written: %v", f.out, underlying(err))
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", f.out, err)
	}
	fmt.Fprintf(env.stdout, "%s: %s\n", f.out, d.Summary())
	writeIssues(env.stderr, hardware.ValidateDocument(d, hardware.Lists{}))
	return nil
}
