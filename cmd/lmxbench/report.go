package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"lmxbench/bench/report"
	"lmxbench/bench/report/page"
	"lmxbench/bench/report/study"
	"lmxbench/internal/ceiling"
	"lmxbench/internal/cost"
)

// reportFlags are the options of report.
type reportFlags struct {
	format, out, rows                string
	prices                           priceFlags
	own, years                       *float64
	apis                             []study.API
	bandwidth, peak, weights         *float64
	weightBits, cacheBits, stateBits *float64
	modelConfig                      string
	mixed                            bool
}

// The formats of report.
var reportFormats = []string{"text", "html", "csv", "json", "benchfmt"} //nolint:gochecknoglobals // a constant list

// The categories of report's help.
const (
	catShow  = "Output"
	catPrice = "Prices"
	catRoof  = "Ceiling"
)

func reportCommand(env *environment) *cli.Command {
	f := &reportFlags{}
	return &cli.Command{
		Name:      "report",
		Usage:     "show results: one run, a ladder, a comparison, what a token costs",
		ArgsUsage: "DIR…",
		Description: "Takes run directories, run.json files of lmx, tables of published runs (.csv), and folders\n" +
			"of any of these. One run is shown with its evidence; several as a ladder over concurrency,\n" +
			"as a comparison of what differs (against the first), or as a list of prices.",
		Flags:  f.flags(),
		Action: func(_ context.Context, cmd *cli.Command) error { return f.run(env, cmd.Args().Slice()) },
	}
}

func (f *reportFlags) flags() []cli.Flag {
	amount := func(to **float64) cli.Value { return &number{to, 0, 1e12} }
	return slices.Concat([]cli.Flag{
		word(catShow, "`FORMAT` "+strings.Join(reportFormats, ", ")+" (text, or what the name of --out says)", &f.format, "format"),
		word(catShow, "`FILE` to write; never overwritten (standard output)", &f.out, "out"),
		word(catShow, "`ROWS` of --format csv: results, iterations or requests (results)", &f.rows, "rows"),
		toggle(catShow, "allow results of different models or versions side by side", &f.mixed, "mixed"),
	}, f.prices.flags("as the result's hardware says"), []cli.Flag{
		option(catPrice, "`USD` purchase price of the machine, in dollars", amount(&f.own), "own-usd"),
		option(catPrice, "`YEARS` over which it is written off", &number{&f.years, 0.01, 100}, "life-years"),
		option(catPrice, "`NAME=USD` hosted price to compare with, per million output tokens; repeatable", &apiPrices{&f.apis}, "api-price"),
		option(catRoof, "`GB/S` memory bandwidth of all GPUs together", amount(&f.bandwidth), "bandwidth-gbps"),
		option(catRoof, "`TFLOPS` dense peak of all GPUs together", amount(&f.peak), "peak-tflops"),
		word(catRoof, "`FILE` config.json of the model, as on the Hugging Face hub", &f.modelConfig, "model-config", "config"),
		option(catRoof, "`GB` size of the checkpoint", amount(&f.weights), "weights-gb"),
		option(catRoof, "bits per weight (by the quantization)", &number{&f.weightBits, 0.5, 64}, "weight-bits"),
		option(catRoof, "bits per cache element (16)", &number{&f.cacheBits, 0.5, 64}, "kv-bits"),
		option(catRoof, "bits per element of a recurrent state (32)", &number{&f.stateBits, 0.5, 64}, "state-bits"),
	})
}

// apiPrices collects NAME=DOLLARS; a number alone is named "API".
type apiPrices struct{ to *[]study.API }

func (a *apiPrices) Set(text string) error {
	name, price, named := strings.Cut(text, "=")
	if !named {
		name, price = "API", text
	}
	name = strings.TrimSpace(name)
	usd, err := strconv.ParseFloat(strings.TrimSpace(price), 64)
	if err != nil || !(usd > 0) || usd > 1e9 || name == "" {
		return errors.New("not a price; write NAME=DOLLARS per million output tokens, such as hosted=0.70")
	}
	for _, old := range *a.to {
		if old.Name == name {
			return fmt.Errorf("%s has a price already; give each service its own name, such as other=0.90", name)
		}
	}
	*a.to = append(*a.to, study.API{Name: name, USDPerMillion: usd})
	return nil
}

func (a *apiPrices) Get() any { return *a.to }

func (a *apiPrices) String() string { return "" }

// run is the command: read, compute, render whole, and only then write.
func (f *reportFlags) run(env *environment, paths []string) error {
	if len(paths) == 0 {
		return usagef("missing_option", "report needs a result: lmxbench report DIR, where DIR is a run directory, a run.json, a table (.csv) or a folder of these")
	}
	if err := f.check(); err != nil {
		return err
	}
	options, err := f.options()
	if err != nil {
		return err
	}
	st, err := study.Open(paths, options)
	if err != nil {
		return err
	}
	for _, note := range st.Notes {
		fmt.Fprintln(env.stderr, "lmxbench: "+note)
	}
	var b bytes.Buffer
	if err := f.render(&b, st); err != nil {
		return err
	}
	if f.out == "" {
		_, err := env.stdout.Write(b.Bytes())
		return err
	}
	if err := writeNewFile(f.out, b.Bytes()); err != nil {
		return err
	}
	fmt.Fprintln(env.stderr, "lmxbench: wrote "+f.out)
	return nil
}

// check completes the format and finds options that do not go together.
func (f *reportFlags) check() error {
	if f.format == "" {
		f.format = "text"
		switch strings.ToLower(filepath.Ext(f.out)) {
		case ".html", ".htm":
			f.format = "html"
		case ".csv":
			f.format = "csv"
		case ".json":
			f.format = "json"
		}
	}
	if !slices.Contains(reportFormats, f.format) {
		return usagef("invalid_option", "--format %q: write one of %s", f.format, strings.Join(reportFormats, ", "))
	}
	if f.rows != "" && f.format != "csv" {
		return usagef("invalid_option", "--rows is for --format csv")
	}
	if f.rows != "" && !slices.Contains([]string{"results", "iterations", "requests"}, f.rows) {
		return usagef("invalid_option", "--rows %q: write results, iterations or requests", f.rows)
	}
	if (f.own == nil) != (f.years == nil) {
		return usagef("missing_option", "--own-usd and --life-years go together: the price is spread over the years")
	}
	if err := f.prices.check(); err != nil {
		return err
	}
	if f.out != "" {
		if _, err := os.Lstat(f.out); err == nil {
			return usagef("file_read_error", "--out %s is already there: choose another name", f.out)
		}
	}
	return nil
}

func (f *reportFlags) options() (study.Options, error) {
	o := study.Options{
		Mixed: f.mixed,
		Prices: study.Prices{
			GPUHourUSD: f.prices.gpuHour, GPUs: orZero(f.prices.gpus), USDPerKWh: f.prices.kwh, PUE: orZeroFloat(f.prices.pue),
			APIs: f.apis, Date: f.prices.priceDate,
		},
		Roof: study.RoofInput{
			BandwidthGBps: orZeroFloat(f.bandwidth), PeakTFLOPS: orZeroFloat(f.peak), WeightsGB: orZeroFloat(f.weights),
			Widths: ceiling.Widths{Weight: orZeroFloat(f.weightBits), Cache: orZeroFloat(f.cacheBits), State: orZeroFloat(f.stateBits)},
		},
	}
	if f.own != nil {
		o.Prices.Own = &cost.Owned{USD: *f.own, LifeYears: *f.years}
	}
	if f.modelConfig == "" {
		return o, nil
	}
	a, err := readModelConfig("--model-config", f.modelConfig)
	o.Roof.Architecture = a
	return o, err
}

// readModelConfig reads a model's shape from its config.json.
func readModelConfig(flag, path string) (*ceiling.Architecture, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, usagef("file_read_error", "%s %s cannot be read: %v", flag, path, underlying(err))
	}
	a, err := ceiling.ParseConfig(data)
	if err != nil {
		return nil, usagef("invalid_option", "%s %s: %v", flag, path, err)
	}
	return &a, nil
}

func (f *reportFlags) render(b *bytes.Buffer, st *study.Study) error {
	switch f.format {
	case "html":
		var trace *study.Trace
		if s := st.Single(); s != nil && s.HasEvidence() {
			var err error
			if trace, err = s.Trace(); err != nil {
				return err
			}
		}
		return page.Write(b, st, trace)
	case "json":
		return writeJSON(b, st)
	case "benchfmt":
		return f.benchfmt(b, st)
	case "csv":
		return f.csv(b, st)
	}
	return st.WriteText(b)
}

// benchfmt is for benchstat.
func (f *reportFlags) benchfmt(b *bytes.Buffer, st *study.Study) error {
	before := b.Len()
	if err := st.Benchfmt(b); err != nil {
		return err
	}
	if !bytes.Contains(b.Bytes()[before:], []byte("\nBenchmark")) {
		return usagef("invalid_option", "nothing for benchstat: none of the results has a rate")
	}
	return nil
}

func (f *reportFlags) csv(b *bytes.Buffer, st *study.Study) error {
	switch f.rows {
	case "iterations":
		return report.IterationsCSV(b, st.Documents()...)
	case "requests":
		s := st.Single()
		if s == nil || !s.HasEvidence() {
			return usagef("invalid_option", "--rows requests is for one run directory")
		}
		run, err := s.Evidence()
		if err != nil {
			return err
		}
		return report.RequestsCSV(b, run.Requests)
	}
	return csv.NewWriter(b).WriteAll(st.Rows())
}

func orZeroFloat(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
}

// writeNewFile writes a file that must not be there, whole or not at all.
func writeNewFile(path string, data []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return usagef("file_read_error", "--out %s cannot be written: %v", path, underlying(err))
	}
	defer os.Remove(temp.Name()) //nolint:errcheck // a left-over temporary file does no harm
	_, err = temp.Write(data)
	err = errors.Join(err, temp.Chmod(0o644), temp.Close())
	if err == nil {
		err = os.Link(temp.Name(), path) // unlike a rename it does not replace
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist):
		return usagef("file_read_error", "--out %s is already there: choose another name", path)
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, fs.ErrPermission): // a file system without links
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return usagef("file_read_error", "--out %s cannot be written: %v", path, underlying(err))
	}
	return nil
}
