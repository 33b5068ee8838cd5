package report

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Write prints a ladder as one table, a row per rung. What a rung does not
// have is a dash.
func (s *Sweep) Write(w io.Writer) error {
	t := NewTable()
	t.AppendHeader(table.Row{"streams", "tok/s", "± σ", "n", "wall tok/s", "plateau tok/s", "stream tok/s", "TTFT p50 ms", "p99", "ITL p50 ms", "p99", "verdict"})
	var columns []table.ColumnConfig
	for i := 1; i < 12; i++ {
		columns = append(columns, table.ColumnConfig{Number: i, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(columns)
	for _, r := range s.Rungs {
		t.AppendRow(table.Row{
			Grouped(int64(r.Concurrency)), dash(r.TokSOut), dash(r.StdDev), r.Iterations, dash(r.BatchWall), dash(r.Plateau),
			dash(r.StreamTokS), dash(r.TTFTP50Ms), dash(r.TTFTP99Ms), dash(r.ITLP50Ms), dash(r.ITLP99Ms), r.verdict(),
		})
	}
	title := fmt.Sprintf("%s · %s", orWords(s.HFID, "model unnamed"), EngineTitle(s.EngineName))
	if s.Simulated {
		title = "SIMULATED · " + title
	}
	_, err := fmt.Fprintf(w, "%s\n\n%s\n", oneLine(title), t.Render())
	return err
}

func dash(x *float64) string {
	if x == nil {
		return "–"
	}
	return number(*x)
}

// verdict is the status and the codes that made it, notes left out.
func (r *Rung) verdict() string {
	text := r.Verdict.Status
	separator := " "
	for _, f := range r.Verdict.Codes {
		if f.Level != Info {
			text += separator + f.Code
			separator = ", "
		}
	}
	return text
}
