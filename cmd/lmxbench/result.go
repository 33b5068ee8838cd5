package main

import (
	"encoding/json"
	"fmt"
	"io"

	"lmxbench/bench"
	"lmxbench/bench/report"
)

// print writes the result to standard output: text, or exactly one document.
func (f *runFlags) print(env *environment, result bench.Result) error {
	switch {
	case f.json:
		return printJSON(env.stdout, result)
	case f.quiet:
		return nil
	}
	for i, r := range result.Rungs {
		if r.Document == nil {
			continue
		}
		if i > 0 {
			fmt.Fprintln(env.stdout)
		}
		if err := (report.Text{Dir: r.Dir, Power: powerLine(r.Document), Ceiling: ceilingLine(r.Document)}).Write(env.stdout, r.Document); err != nil {
			return err
		}
	}
	if result.Sweep == nil {
		return nil
	}
	fmt.Fprintln(env.stdout)
	if err := result.Sweep.Write(env.stdout); err != nil {
		return err
	}
	_, err := fmt.Fprintf(env.stdout, "\n  %s\n", result.SweepPath)
	return err
}

// printJSON writes the one document a run gave: the summary of a ladder, else
// the result. A run without either writes nothing.
func printJSON(w io.Writer, result bench.Result) error {
	var document interface{ JSON() ([]byte, error) }
	switch {
	case result.Sweep != nil:
		document = result.Sweep
	case len(result.Rungs) > 0 && result.Rungs[0].Document != nil:
		document = result.Rungs[0].Document
	default:
		return nil
	}
	text, err := document.JSON()
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// verdictError is nil where every rung may be relied on.
func verdictError(result bench.Result) error {
	if result.Interrupted {
		return &silentError{exitInterrupted}
	}
	for _, r := range result.Rungs {
		if r.Document != nil && r.Document.Bench.Verdict.Status == report.StatusInvalid {
			return &silentError{exitInvalid}
		}
	}
	return nil
}

// printPlan is --dry-run: what would be done, and nothing sent.
func printPlan(w io.Writer, cfg *bench.Config) error {
	plans, err := cfg.Plans()
	if err != nil {
		return err
	}
	return writeJSON(w, map[string]any{"dryRun": true, "plans": plans})
}

func writeJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

// powerLine is what the run says of power in words.
func powerLine(d *report.Document) string {
	var e bench.Energy
	if d.Bench == nil || len(d.Bench.Power) == 0 || json.Unmarshal(d.Bench.Power, &e) != nil {
		return ""
	}
	return e.Line()
}

// ceilingLine is what the run says of ceilings in words.
func ceilingLine(d *report.Document) string {
	var c bench.Ceiling
	if d.Bench == nil || len(d.Bench.Ceiling) == 0 || json.Unmarshal(d.Bench.Ceiling, &c) != nil {
		return ""
	}
	return c.Line()
}
