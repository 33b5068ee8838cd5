package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/urfave/cli/v3"

	"lmxbench/internal/localmaxxing"
)

// compareFlags are the options of compare.
type compareFlags struct {
	site         siteFlags
	with         string
	strict, json bool
}

func compareCommand(env *environment) *cli.Command {
	f := &compareFlags{}
	return &cli.Command{
		Name:      "compare",
		Usage:     "a run against a published number, or against another run",
		ArgsUsage: "RUN",
		Description: "Says whether two results measured the same (model, quantisation, hardware, prompt, output\n" +
			"tokens, concurrency) and, if so, how the first compares. RUN is a run directory or a\n" +
			"run.json. What it is compared with is another one, a payload, a saved row or listing, or the\n" +
			"id or address of a published row, looked up in --listing or at --api-url.\n\n" +
			"  lmxbench compare runs/a/b --with cmtplgojv02tcn701uyzagsof --listing runs.csv\n\n" +
			"Exit code 0 whatever comes out; with --strict 2 unless everything is known and agrees.",
		Flags: append([]cli.Flag{
			word("", "`ROW` run directory, file, or id or address of a published row", &f.with, "with"),
		}, append(f.site.flags(),
			toggle("", "exit code 2 unless every criterion is known and agrees", &f.strict, "strict"),
			toggle("", "print one JSON document", &f.json, "json"),
		)...),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			if cmd.Args().Len() != 1 {
				return usagef("invalid_option", "compare takes one run: lmxbench compare RUN --with ROW")
			}
			return f.compare(ctx, env, cmd.Args().First())
		},
	}
}

func (f *compareFlags) compare(ctx context.Context, env *environment, path string) error {
	if f.with == "" {
		return usagef("missing_option", "--with is missing: name what the run is compared with, a file or a published row")
	}
	run, err := readResult("compare", path)
	if err != nil {
		return err
	}
	other, err := f.other(ctx, env, run)
	if err != nil {
		return err
	}
	view := newCompareView(run, other)
	if f.json {
		err = writeJSON(env.stdout, view)
	} else {
		err = view.write(env.stdout)
	}
	if err == nil && f.strict && view.Verdict != localmaxxing.Comparable {
		return &silentError{exitInvalid}
	}
	return err
}

// other finds what the run is compared with.
func (f *compareFlags) other(ctx context.Context, env *environment, run *result) (*result, error) {
	switch {
	case f.site.listing != "" && f.site.apiURL != "":
		return nil, usagef("invalid_option", "--listing and --api-url are two sources of the same rows: give one of them")
	case f.site.listing != "":
		l, err := fileListing(env, "--listing", f.site.listing)
		if err != nil {
			return nil, err
		}
		row := l.Find(f.with)
		if row == nil {
			return nil, usagef("invalid_option", "--with %s: no row of %s has this id, address or name", f.with, f.site.listing)
		}
		return &result{path: rowName(row, f.with), row: *row}, nil
	case f.site.apiURL != "":
		return f.fetch(ctx, env)
	}
	info, err := os.Stat(f.with)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usagef("file_read_error", "--with %s: no such file; for the id of a published row also give --listing FILE, or --api-url https://www.localmaxxing.com", f.with)
	}
	if err == nil && info.IsDir() {
		return readResult("--with", f.with)
	}
	return f.file(env, run)
}

// fetch asks the site for one published run.
func (f *compareFlags) fetch(ctx context.Context, env *environment) (*result, error) {
	c, err := f.site.client()
	if err != nil {
		return nil, err
	}
	row, notes, err := c.Run(ctx, localmaxxing.RunID(f.with))
	var site *localmaxxing.Error
	switch {
	case errors.As(err, &site):
		return nil, newSiteError(err)
	case err != nil:
		return nil, usagef("invalid_option", "--with: %v", err)
	}
	for _, n := range notes {
		fmt.Fprintln(env.stderr, "lmxbench: "+n)
	}
	return &result{path: rowName(&row, f.with), row: row}, nil
}

// file reads a result, or a listing and picks the row that the run is to be
// compared with.
func (f *compareFlags) file(env *environment, run *result) (*result, error) {
	data, err := readBounded(env, "--with", f.with)
	if err != nil {
		return nil, err
	}
	if r, err := parseResult(data); err == nil && r.run.Provenance.CLI != "" {
		r.path = f.with
		return r, nil
	}
	l, err := localmaxxing.ParseListing(data)
	if err != nil {
		return nil, usagef("file_read_error", "--with %s: %v", f.with, err)
	}
	for _, n := range l.Notes {
		fmt.Fprintln(env.stderr, "lmxbench: "+n)
	}
	row, err := pickRow(l.Rows, run)
	if err != nil {
		return nil, usagef("invalid_option", "--with %s: %v", f.with, err)
	}
	return &result{path: rowName(row, f.with), row: *row}, nil
}

// pickRow picks the only row, or the one that differs least from the run. Rows
// that differ alike are for the user to choose from.
func pickRow(rows []localmaxxing.Row, run *result) (*localmaxxing.Row, error) {
	if len(rows) == 1 {
		return &rows[0], nil
	}
	var best []*localmaxxing.Row
	least := 0
	for i := range rows {
		if !strings.EqualFold(rows[i].HFID, run.row.HFID) {
			continue
		}
		c := localmaxxing.Compare(run.row, rows[i])
		differ, unknown := c.Differences()
		switch weight := 100*differ + unknown; {
		case len(best) == 0 || weight < least:
			best, least = []*localmaxxing.Row{&rows[i]}, weight
		case weight == least:
			best = append(best, &rows[i])
		}
	}
	if len(best) == 1 {
		return best[0], nil
	}
	if len(best) == 0 {
		return nil, fmt.Errorf("none of its %s is of %s", plural(len(rows), "row"), run.row.HFID)
	}
	var names []string
	for _, r := range best[:min(5, len(best))] {
		rate := "no rate"
		if r.TokSOut != nil {
			rate = perSecond(*r.TokSOut) + " tok/s"
		}
		names = append(names, strings.TrimSpace(rowName(r, "a row without id")+" "+rate+" "+r.Speculation))
	}
	return nil, fmt.Errorf("%s fit alike: name one with --with ID --listing FILE (%s)", plural(len(best), "row"), strings.Join(names, "; "))
}

// rowName is how a row is named in print.
func rowName(r *localmaxxing.Row, otherwise string) string {
	if r.ID != "" {
		return r.ID
	}
	if r.Name != "" {
		return r.Name
	}
	return otherwise
}

// compareView is what is printed.
type compareView struct {
	Run   string `json:"run"`
	Other string `json:"other"`
	localmaxxing.Comparison
	// Statement is the result in a sentence.
	Statement string   `json:"statement"`
	TokSOut   *float64 `json:"tokSOut"`      // of the run
	Against   *float64 `json:"otherTokSOut"` // of the other
	// StdDev is that of the run's tokSOut over its iterations, null where it is
	// not known.
	StdDev     *float64 `json:"stddev"`
	Iterations int      `json:"iterations,omitempty"`
	Simulated  bool     `json:"simulated,omitempty"` // one of the two was
}

func newCompareView(run, other *result) *compareView {
	v := &compareView{
		Run: run.path, Other: other.path, Comparison: localmaxxing.Compare(run.row, other.row),
		TokSOut: run.row.TokSOut, Against: other.row.TokSOut,
		Simulated: run.simulated() || other.simulated(),
	}
	if run.invalid() {
		v.Refuse("the run: " + run.unfit())
	}
	if other.invalid() {
		v.Refuse("the other: " + other.unfit())
	}
	if run.simulated() != other.simulated() {
		v.Refuse("one of the two was measured on the simulated engine")
	}
	if run.run != nil && run.run.SampleStats != nil {
		v.StdDev, v.Iterations = run.run.SampleStats.TokSOut.StdDev, run.run.SampleStats.TokSOut.Count
	}
	v.Statement = v.sentence()
	return v
}

// sentence is the comparison, the verdict and the reasons for it.
func (v *compareView) sentence() string {
	var reasons []string
	for _, k := range v.Criteria {
		run, other := compareCell(k, k.Run), compareCell(k, k.Other)
		switch {
		case k.State == localmaxxing.Differs:
			reasons = append(reasons, fmt.Sprintf("%s %s against %s", k.Name, run, other))
		case k.State == localmaxxing.Same, v.Ratio == nil:
			// What is not known does not matter beside what differs.
		case k.Run == "" && k.Other == "":
			reasons = append(reasons, k.Name+" not given by either")
		case k.Run == "":
			reasons = append(reasons, k.Name+" not given by the run")
		default:
			reasons = append(reasons, k.Name+" not given by the other")
		}
	}
	text := string(v.Verdict)
	if reasons = append(reasons, v.Refusals...); len(reasons) > 0 {
		text += ": " + strings.Join(reasons, "; ")
	}
	if v.Ratio != nil {
		text = compareLine(*v.TokSOut, *v.Against, *v.Ratio) + ", " + text
	}
	return text
}

// compareCell is a side of a criterion in print.
func compareCell(k localmaxxing.Criterion, text string) string {
	switch {
	case text == "":
		return "not given"
	case k.Name == "prompt sha256":
		return shortHash(text)
	}
	return text
}

// compareLine is the published form: "400.0 vs 407 → 98.3 %".
func compareLine(run, other, ratio float64) string {
	return fmt.Sprintf("%.1f vs %s → %.1f %%", run, strconv.FormatFloat(other, 'f', -1, 64), 100*ratio)
}

// write prints the comparison for a person.
func (v *compareView) write(w io.Writer) error {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"", "run", "other", ""})
	for _, list := range [][]localmaxxing.Criterion{v.Criteria, v.Others} {
		for _, k := range list {
			t.AppendRow(table.Row{k.Name, compareCell(k, k.Run), compareCell(k, k.Other), string(k.State)})
		}
		t.AppendSeparator()
	}
	spread := "spread of the run not known"
	if v.StdDev != nil && v.TokSOut != nil {
		spread = fmt.Sprintf("σ of the run %s tok/s over %s, %s", perSecond(*v.StdDev), plural(v.Iterations, "iteration"), percent(*v.StdDev / *v.TokSOut))
	}
	if v.Simulated {
		spread += " · SIMULATED"
	}
	_, err := fmt.Fprintf(w, "%s\n%s\n\nrun    %s\nother  %s\n%s\n", v.Statement, spread, v.Run, v.Other, t.Render())
	return err
}
