package calibrate

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"lmxbench/bench/report"
)

// Write prints the calibration for people: how true the times are, what that
// costs, what was void or skipped, and the sentence.
func (c *Calibration) Write(w io.Writer) error {
	title := c.Machine.String()
	if c.LoadBefore != nil {
		title += fmt.Sprintf(" · load average %s before", short(*c.LoadBefore))
	}
	if c.Partial {
		title += " · INTERRUPTED: what was measured until then"
	}
	if _, err := fmt.Fprintf(w, "%s\n\n%s\n\n%s\n", title, c.accuracy(), c.cost()); err != nil {
		return err
	}
	for _, s := range c.Skipped {
		if _, err := fmt.Fprintf(w, "skipped  %s: %s\n", counted(s.Streams, "stream"), s.Reason); err != nil {
			return err
		}
	}
	for i := range c.Rungs {
		if _, err := io.WriteString(w, c.Rungs[i].remarks()); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "\n%s\n", c.Trust.Sentence)
	return err
}

// remarks are the lines on what was left out of a rung and what speaks against
// it.
func (r *Rung) remarks() string {
	text := ""
	if r.Void != "" {
		text += fmt.Sprintf("void     %s: %s\n", r.Load, r.Void)
	}
	for _, reason := range r.VoidRounds {
		text += fmt.Sprintf("left out a round of %s: %s\n", r.Load, reason)
	}
	if r.Void == "" && r.doubt() != "" {
		text += fmt.Sprintf("doubt    %s: %s\n", r.Load, r.doubt())
	}
	return text
}

// accuracy is the table of errors.
func (c *Calibration) accuracy() string {
	const kernel, user, ttft, itl = "kernel stamp late, µs", "user stamp late, µs", "TTFT error, µs", "ITL error, µs"
	t := newTable(
		table.Row{"", "", "", kernel, kernel, kernel, user, user, user, ttft, ttft, itl, itl, "merged", "no"},
		table.Row{"streams", "shape", "tok/s", "p50", "p99", "max", "p50", "p99", "max", "mean", "p99", "σ", "p99", "%", "stamp"},
	)
	for i := range c.Rungs {
		r := &c.Rungs[i]
		row := append(r.title(), r.Kernel.cells()...)
		row = append(row, r.User.cells()...)
		row = append(row, cell(r.TTFT, func(e *TTFTError) float64 { return e.Mean }), cell(r.TTFT, func(e *TTFTError) float64 { return e.P99 }))
		row = append(row, cell(r.ITL, func(e *ITLError) float64 { return e.Sigma }), cell(r.ITL, func(e *ITLError) float64 { return e.P99 }))
		if r.Events == 0 {
			row = append(row, dash, dash)
		} else {
			row = append(row, short(100*r.MergedShare), grouped(int(r.UnstampedRead)))
		}
		t.AppendRow(row)
	}
	return t.Render()
}

// cost is the table of what the client took and what the engine held.
func (c *Calibration) cost() string {
	const cpu, nearest = "CPU per event, µs", "nearest threshold"
	t := newTable(
		table.Row{"", "", "", "in", "load", cpu, cpu, cpu, "CPU", "KiB per", "engine late", nearest, nearest},
		table.Row{"streams", "shape", "tok/s", "flight", "held %", "client", "floor", "ratio", "%", "stream", "p99, µs", "of the verdict", "×"},
	)
	for i := range c.Rungs {
		r := &c.Rungs[i]
		s := r.nearest()
		flight, held, strain := dash, dash, dash
		if r.Events > 0 {
			flight, held, strain = grouped(r.InFlight), short(100*r.LoadHeld), short(s.Of)
		}
		t.AppendRow(append(r.title(),
			flight, held, figure(r.CPUPerEvent, 1), figure(r.FloorPerEvent, 1), figure(r.FloorRatio, 1),
			figure(r.CPUShare, 100), figure(r.StreamMemory, 1.0/1024), figure(r.EngineLate, 1), s.Code, strain,
		))
	}
	return t.Render()
}

const dash = "–"

// title is the rung's size, shape and rate of a stream; void ones are marked.
func (r *Rung) title() table.Row {
	shape := string(r.Load.Shape)
	if r.Void != "" {
		shape += " (void)"
	}
	return table.Row{grouped(r.Load.Streams), shape, short(1 / r.Load.Interval.Seconds())}
}

func (s *Spread) cells() table.Row {
	if s == nil {
		return table.Row{dash, dash, dash}
	}
	return table.Row{short(s.P50), short(s.P99), short(s.Max)}
}

func cell[T any](of *T, value func(*T) float64) string {
	if of == nil {
		return dash
	}
	return short(value(of))
}

func figure(x *float64, scale float64) string {
	if x == nil {
		return dash
	}
	return short(*x * scale)
}

// newTable has two header rows, the first of which spans equal neighbours, and
// right-aligned cells.
func newTable(groups, names table.Row) table.Writer {
	t := report.NewTable()
	var columns []table.ColumnConfig
	for i, name := range names {
		align := text.AlignRight
		if name == "shape" {
			align = text.AlignLeft
		}
		columns = append(columns, table.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align})
	}
	t.SetColumnConfigs(columns)
	t.AppendHeader(groups, table.RowConfig{AutoMerge: true, AutoMergeAlign: text.AlignRight})
	t.AppendHeader(names)
	return t
}
