package study

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"lmxbench/bench/report"
	"lmxbench/internal/cost"
)

// Benchfmt writes the results in the Go benchmark format for benchstat. A run of
// lmxbench gives a line for each counted iteration ([report.Benchfmt]); a result
// of lmx gives one for each iteration that its file holds, and one that holds
// only a summary, such as a row of a table, one line with its median, which
// benchstat takes for a sample of one.
func (st *Study) Benchfmt(w io.Writer) error {
	var b bytes.Buffer
	if err := report.Benchfmt(&b, st.Documents()...); err != nil {
		return err
	}
	for _, s := range st.Subjects {
		if s.Document == nil || s.Document.Bench == nil {
			s.benchfmt(&b)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (s *Subject) benchfmt(b *bytes.Buffer) {
	r := s.Answer()
	if r == nil {
		return
	}
	fmt.Fprintf(b, "\n# %s\n", words(s.Label))
	for _, line := range [...][2]string{
		{"engine", s.Engine},
		{"quantization", s.Quantization},
		{"prompt", s.Prompt},
		{"simulated", ""},
		{"speculation", s.Speculation},
		{"gpu", s.GPU},
	} {
		fmt.Fprintf(b, "%s: %s\n", line[0], words(line[1]))
	}
	name := fmt.Sprintf("BenchmarkServe/model=%s/tokens=%d/streams=%d 1", report.BenchName(s.Model), s.MaxTokens, s.Streams)
	values := r.Values
	if len(values) == 0 {
		values = []float64{r.TokensPerSecond}
	}
	wall := s.Rate(cost.BatchWall)
	for _, v := range values {
		line := name + " " + strconv.FormatFloat(v, 'f', -1, 64) + " tok/s"
		if len(r.Values) == 0 {
			if wall != nil {
				line += " " + strconv.FormatFloat(wall.TokensPerSecond, 'f', -1, 64) + " wall-tok/s"
			}
			if s.TTFT != nil {
				line += " " + strconv.FormatFloat(s.TTFT.P50, 'f', -1, 64) + " ttft-ms"
			}
		}
		b.WriteString(line + "\n")
	}
}

// words is text on one line with single blanks.
func words(text string) string { return strings.Join(strings.Fields(text), " ") }
