package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/urfave/cli/v3"

	"lmxbench/power"
)

// powerFlags are the options of the power commands.
type powerFlags struct {
	source, out, from, to, rule string
	seconds                     time.Duration
	json                        bool
}

func powerCommand(env *environment) *cli.Command {
	f := &powerFlags{}
	source := word("", "nvml, smi, hwmon, rapl or amd-smi (the first that answers)", &f.source, "source")
	json := toggle("", "print JSON instead of text", &f.json, "json")
	length := func(usage string) cli.Flag { return option("", usage, &seconds{&f.seconds}, "seconds") }
	return &cli.Command{
		Name:  "power",
		Usage: "the card's sensors: probe, record, cut a window out of a recording",
		Commands: []*cli.Command{
			{
				Name: "probe", Usage: "how the card's sensors behave: update periods, averaging, length of a call",
				Description: "The averaging window shows only where the load changes meanwhile: start and stop one.",
				Flags:       []cli.Flag{source, length("time per device (20)"), json},
				Action:      func(ctx context.Context, _ *cli.Command) error { return f.probe(ctx, env) },
			},
			{
				Name: "record", Usage: "record power into a file until interrupted",
				Flags: []cli.Flag{
					source, length("end after this time (never)"),
					word("", "file to write (power.csv)", &f.out, "out"),
				},
				Action: func(ctx context.Context, _ *cli.Command) error { return f.record(ctx, env) },
			},
			{
				Name: "window", Usage: "energy and power between two times of a recording", ArgsUsage: "FILE",
				Description: "FILE is a power.csv of this program, a log of nvidia-smi with a header, or the 7-column log\n" +
					"of the published pipeline. Times are RFC 3339 or seconds since 1970.",
				Flags: []cli.Flag{
					word("", "begin of the window", &f.from, "from"), word("", "end of the window", &f.to, "to"),
					word("", "seed: the published rule instead of the energy", &f.rule, "rule"),
					word("", "folder to write power_window.json (and .csv, with --rule seed) to", &f.out, "out"), json,
				},
				Action: func(_ context.Context, cmd *cli.Command) error {
					if cmd.Args().Len() != 1 {
						return usagef("invalid_option", "power window takes one file: lmxbench power window FILE --from TIME --to TIME")
					}
					return f.window(env, cmd.Args().First())
				},
			},
		},
	}
}

// openMeter opens the source asked for.
func (f *powerFlags) openMeter(ctx context.Context, clock power.Clock) (power.Meter, error) {
	source := power.Source(f.source)
	if f.source == "smi" {
		source = power.SourceSMI
	}
	known := []power.Source{"", power.SourceNVML, power.SourceSMI, power.SourceHwmon, power.SourceRAPL, power.SourceAMDSMI}
	if !slices.Contains(known, source) {
		return nil, usagef("invalid_option", "--source %q: write nvml, smi, hwmon, rapl or amd-smi", f.source)
	}
	meter, tried, err := power.Open(ctx, power.OpenConfig{Clock: clock, Source: source})
	if err == nil {
		return meter, nil
	}
	var parts []string
	for _, a := range tried {
		parts = append(parts, fmt.Sprintf("%s: %s", a.Source, a.Detail))
	}
	return nil, fmt.Errorf("%w: %s", errNoSensor, strings.Join(parts, "; "))
}

// errNoSensor is a machine without a power sensor that can be read.
var errNoSensor = errors.New("no power sensor can be read")

func (f *powerFlags) probe(ctx context.Context, env *environment) error {
	clock := power.NewClock(time.Now())
	meter, err := f.openMeter(ctx, clock)
	if err != nil {
		return err
	}
	defer meter.Close()
	result := power.Probe(ctx, meter, power.ProbeConfig{Clock: clock, Duration: f.seconds})
	if f.json {
		return writeJSON(env.stdout, result)
	}
	return writeProbe(env.stdout, result)
}

// writeProbe prints a table for each device.
func writeProbe(w io.Writer, result power.ProbeResult) error {
	for _, d := range result.Devices {
		fmt.Fprintf(w, "%s · %s %s · %s\n\n", d.Name, result.Source, result.Version, d.UUID)
		t := table.NewWriter()
		t.SetStyle(table.StyleLight)
		t.AppendHeader(table.Row{"signal", "changes", "new value every (p50)", "reason"})
		names := make([]string, 0, len(d.Signals))
		for name := range d.Signals {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			s := d.Signals[name]
			t.AppendRow(table.Row{name, s.Changes, spanOrDash(s.Update), s.Reason})
		}
		fmt.Fprintln(w, t.Render())
		c := table.NewWriter()
		c.SetStyle(table.StyleLight)
		c.AppendHeader(table.Row{"call", "count", "p50", "p90", "p99", "max"})
		classes := make([]string, 0, len(d.Calls))
		for class := range d.Calls {
			classes = append(classes, string(class))
		}
		slices.Sort(classes)
		for _, class := range classes {
			p := d.Calls[power.Class(class)]
			c.AppendRow(table.Row{class, p.Count, p.P50, p.P90, p.P99, p.Max})
		}
		fmt.Fprintln(w, c.Render())
		fmt.Fprintf(w, "ring buffer: %d entries, %s apart, %s deep\n", d.Ring.Entries, spanOrDash(d.Ring.Spacing), d.Ring.Depth.Round(time.Millisecond))
		fmt.Fprintf(w, "averaging window: %s %s\n", spanOrDash(d.AverageWindow), d.AverageReason)
		fmt.Fprintf(w, "steps that may alias with the sampler: %v\n\n", d.AliasPeriods)
	}
	return nil
}

func spanOrDash(d *time.Duration) string {
	if d == nil {
		return "–"
	}
	return d.Round(10 * time.Microsecond).String()
}

// record streams readings into a new file until interrupted.
func (f *powerFlags) record(ctx context.Context, env *environment) error {
	if f.out == "" {
		f.out = "power.csv"
	}
	origin := time.Now()
	clock := power.NewClock(origin)
	meter, err := f.openMeter(ctx, clock)
	if err != nil {
		return err
	}
	defer meter.Close()
	file, err := os.OpenFile(f.out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return usagef("invalid_option", "--out %s is already there and is not overwritten: give another path", f.out)
	}
	if err != nil {
		return usagef("file_read_error", "--out %s cannot be written: %v", f.out, underlying(err))
	}
	defer file.Close()
	sink, err := power.NewWriter(file, origin, meter.Describe())
	if err != nil {
		return fmt.Errorf("record power: %w", err)
	}
	recorder := power.Start(context.WithoutCancel(ctx), meter, sink, power.RecorderConfig{Clock: clock})
	fmt.Fprintf(env.stderr, "lmxbench: recording %s into %s; interrupt to end\n", meter.Describe().Source, f.out)
	wait := ctx
	if f.seconds > 0 {
		var cancel context.CancelFunc
		wait, cancel = context.WithTimeout(ctx, f.seconds)
		defer cancel()
	}
	<-wait.Done()
	if err := errors.Join(recorder.Stop(), file.Sync()); err != nil {
		return fmt.Errorf("record power: %w", err)
	}
	fmt.Fprintf(env.stdout, "%s: %s recorded\n", f.out, time.Since(origin).Round(time.Second))
	return nil
}

// window cuts a span out of a recording.
func (f *powerFlags) window(env *environment, path string) error {
	if f.rule != "" && f.rule != "seed" {
		return usagef("invalid_option", "--rule %q: write seed, or leave it out for the energy", f.rule)
	}
	from, err := f.time("--from", f.from)
	if err != nil {
		return err
	}
	to, err := f.time("--to", f.to)
	if err != nil {
		return err
	}
	if !to.After(from) {
		return usagef("invalid_option", "--to %s is not after --from %s", f.to, f.from)
	}
	log, err := power.ReadFile(path, time.Local)
	if err != nil {
		return err
	}
	s := log.Series
	request := power.WindowRequest{Name: "window", From: s.At(from), To: s.At(to)}
	var seed *power.SeedWindow
	var kept []power.SeedRow
	if f.rule == "seed" {
		rows := log.SeedRows
		if uuids := s.UUIDs(); rows == nil && len(uuids) > 0 {
			rows = s.SeedRows(uuids[0])
		}
		window, used := power.ReduceSeed(rows, epoch(from), epoch(to))
		seed, kept = &window, used
	}
	file := power.NewWindowFile(s, []power.WindowRequest{request}, seed)
	text, err := file.Encode()
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := f.save(text, kept); err != nil {
			return err
		}
	}
	if f.json {
		_, err = env.stdout.Write(text)
		return err
	}
	return writeWindow(env.stdout, file)
}

func epoch(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

func (f *powerFlags) time(name, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, usagef("missing_option", "%s is missing: give the window as --from TIME --to TIME", name)
	}
	t, err := power.ParseTime(text)
	if err != nil {
		return t, usagef("invalid_option", "%s %q is no time: write RFC 3339, or seconds since 1970", name, text)
	}
	return t, nil
}

// save writes the window, and the rows the published rule kept.
func (f *powerFlags) save(text []byte, rows []power.SeedRow) error {
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return usagef("file_read_error", "--out %s: %v", f.out, underlying(err))
	}
	files := map[string][]byte{"power_window.json": text}
	if rows != nil {
		var lines strings.Builder
		for _, r := range rows {
			lines.WriteString(r.Raw + "\n")
		}
		files["power_window.csv"] = []byte(lines.String())
	}
	for name, content := range files {
		path := filepath.Join(f.out, name)
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if errors.Is(err, fs.ErrExist) {
			return usagef("invalid_option", "%s is already there and is not overwritten: give another --out", path)
		}
		if err != nil {
			return usagef("file_read_error", "%s cannot be written: %v", path, underlying(err))
		}
		_, err = file.Write(content)
		if err = errors.Join(err, file.Close()); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
	}
	return nil
}

// writeWindow prints a window for a person.
func writeWindow(w io.Writer, file power.WindowFile) error {
	for _, win := range file.Lmxbench.Windows {
		fmt.Fprintf(w, "%.3f s", win.Seconds)
		if win.Energy == nil {
			fmt.Fprintf(w, " · energy not known: %s\n", win.EnergyReason)
		} else {
			fmt.Fprintf(w, " · %.1f J ± %.1f · %.1f W · by %s\n", float64(*win.Energy), float64(*win.Uncertainty), float64(*win.MeanWatts), win.EnergySource)
		}
		for _, g := range win.GPUs {
			fmt.Fprintf(w, "  %s %s", g.UUID, g.Name)
			if g.Energy != nil {
				fmt.Fprintf(w, " · %.1f J", float64(*g.Energy))
			}
			if g.PeakWatts != nil {
				fmt.Fprintf(w, " · peak %.1f W (%s)", float64(*g.PeakWatts), g.PeakSource)
			}
			fmt.Fprintln(w)
		}
		for _, finding := range win.Findings {
			fmt.Fprintf(w, "  %-7s %s: %s\n", finding.Level, finding.Code, finding.Detail)
		}
	}
	if s := file.SeedWindow; s != nil {
		fmt.Fprintf(w, "published rule: %d of %d readings active", s.ActiveSamples, s.Samples)
		if s.PowerMean != nil {
			fmt.Fprintf(w, ", mean %.1f W", float64(*s.PowerMean))
		}
		fmt.Fprintln(w)
	}
	return nil
}
