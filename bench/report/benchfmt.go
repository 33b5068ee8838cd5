package report

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
)

// Benchfmt writes results in the Go benchmark format, one line per counted
// iteration, so that benchstat summarises and compares them:
//
//	lmxbench report --format benchfmt old > old.txt
//	lmxbench report --format benchfmt new > new.txt
//	benchstat old.txt new.txt
//
// Left out are results of lmx, which have no iterations of this kind, and runs
// that were not good enough for a result: benchstat knows no verdicts.
func Benchfmt(w io.Writer, documents ...*Document) error {
	var b bytes.Buffer
	b.WriteString("Unit tok/s better=higher\nUnit wall-tok/s better=higher\nUnit plateau-tok/s better=higher\nUnit ttft-ms better=lower\n")
	for _, d := range documents {
		if d.Bench == nil || d.TokSOut == nil {
			continue
		}
		benchConfig(&b, d)
		for i := range d.Bench.Iterations {
			benchLine(&b, d, &d.Bench.Iterations[i])
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// benchConfig is what keeps results apart: benchstat puts those of different
// keys into different tables. So what is to be compared, such as two versions of
// an engine, stands in a comment. Keys are repeated before each result, since
// they keep their value until they are set again.
func benchConfig(b *bytes.Buffer, d *Document) {
	p := &d.Bench.Plan
	about := fmt.Sprintf("# %s %s, verdict %s, measured %s", d.EngineName, d.EngineVersion, d.Bench.Verdict.Status, d.Provenance.CreatedAt)
	b.WriteString("\n" + oneLine(about) + "\n")
	for _, line := range [...][2]string{
		{"engine", d.EngineName},
		{"quantization", d.Quantization},
		{"prompt", orWords(p.PromptName, p.PromptSHA256)},
		{"simulated", p.Simulated},
	} {
		fmt.Fprintf(b, "%s: %s\n", line[0], strings.Join(strings.Fields(line[1]), " "))
	}
}

// benchLine writes one iteration. The streams come last in the name: benchstat
// takes a number behind a trailing dash for GOMAXPROCS.
func benchLine(b *bytes.Buffer, d *Document, it *Iteration) {
	if !it.Counted {
		return
	}
	p := &d.Bench.Plan
	line := fmt.Sprintf("BenchmarkServe/model=%s/tokens=%d/streams=%d 1", BenchName(d.HFID), p.MaxTokens, p.Concurrency)
	values := 0
	for _, v := range []struct {
		x    *float64
		unit string
	}{{it.TokSOut, "tok/s"}, {it.BatchWall, "wall-tok/s"}, {it.Plateau, "plateau-tok/s"}, {it.TTFTMs, "ttft-ms"}} {
		if v.x != nil {
			line += " " + strconv.FormatFloat(*v.x, 'f', -1, 64) + " " + v.unit
			values++
		}
	}
	if values > 0 {
		b.WriteString(line + "\n")
	}
}

// BenchName is an hf-id as part of a benchmark's name: no blanks, no slash.
func BenchName(hfID string) string {
	if hfID == "" {
		return "unnamed"
	}
	return strings.Map(func(r rune) rune {
		if r == '/' || unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, hfID)
}
