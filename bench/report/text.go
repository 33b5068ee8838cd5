package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"lmxbench/stats"
)

// Text is how a result is shown to a person.
type Text struct {
	// Dir is where the evidence lies; shown last.
	Dir string
	// Power and Ceiling are one line each, in words, from the packages that own
	// these values. Empty is said in two words. Cost, if not empty, replaces the
	// price by what the run itself was told.
	Power, Ceiling, Cost string
}

// Write prints a result on one screen: the answer first, a unit and a meaning
// beside each number, what is unknown in two words, and a line per warning with
// its code and what to do.
func (t Text) Write(w io.Writer, d *Document) error {
	var b bytes.Buffer
	b.WriteString(oneLine(title(d)) + "\n\n")
	t.headline(&b, d)
	if x := d.Bench; x != nil {
		b.WriteByte('\n')
		latencyTable(&b, x)
		b.WriteByte('\n')
		t.facts(&b, x)
		findings(&b, x.Verdict)
	}
	if t.Dir != "" {
		b.WriteString("\n  " + oneLine(t.Dir) + "\n")
	}
	_, err := w.Write(b.Bytes())
	return err
}

// title says what was measured.
func title(d *Document) string {
	parts := []string{orWords(d.HFID, "model unnamed"), strings.TrimSpace(EngineTitle(d.EngineName) + " " + d.EngineVersion)}
	if d.Quantization != "" {
		parts = append(parts, d.Quantization)
	}
	if x := d.Bench; x != nil {
		parts = append(parts, shape(d, &x.Plan.Plan), promptTitle(&x.Plan.Plan))
		if x.Simulated {
			parts = append([]string{"SIMULATED (" + x.Plan.Simulated + ")"}, parts...)
		}
	} else {
		parts = append(parts, count(d.BatchSize, "stream"))
	}
	return strings.Join(parts, " · ")
}

// shape is streams × tokens × iterations. Where the texts ended early, both
// their median length and the cap are shown.
func shape(d *Document, p *Plan) string {
	tokens := count(p.MaxTokens, "token")
	if n := d.OutputTokens; n != nil && *n != int64(p.MaxTokens) {
		tokens = Grouped(*n) + " of " + tokens
	}
	return count(p.Concurrency, "stream") + " × " + tokens + " × " + count(p.Iterations, "iteration")
}

func promptTitle(p *Plan) string {
	if p.PromptName != "" {
		return "prompt " + p.PromptName
	}
	return fmt.Sprintf("own prompt %.8s", p.PromptSHA256)
}

// EngineTitle is an engine's name as it writes itself.
func EngineTitle(name string) string {
	switch name {
	case "vllm":
		return "vLLM"
	case "sglang":
		return "SGLang"
	case "ollama":
		return "Ollama"
	case "":
		return "engine unknown"
	default:
		return name
	}
}

func orWords(text, words string) string {
	if text == "" {
		return words
	}
	return text
}

// headline is the answer, its spread, the verdict, and the formula.
func (t Text) headline(b *bytes.Buffer, d *Document) {
	answer, formula := "no result", ""
	if d.TokSOut != nil {
		answer = number(*d.TokSOut) + " tok/s" + spread(d)
		formula = formulaTitle(d.TokSOutSource)
	}
	if x := d.Bench; x != nil {
		answer = pad(answer, 34) + x.Verdict.Status
		if r := headlineRates(x); d.TokSOut == nil && r != nil {
			formula = fmt.Sprintf("%s tok/s over %d of %d iterations; not a result, see below", number(r.P50), r.Count, x.Plan.Iterations)
		}
	}
	b.WriteString("  " + answer + "\n")
	if formula != "" {
		b.WriteString("  " + formula + "\n")
	}
}

func spread(d *Document) string {
	if d.Bench == nil {
		if s := d.SampleStats; s != nil && s.TokSOut.StdDev != nil {
			return fmt.Sprintf("  ± %s (σ, n %d)", numberLike(*s.TokSOut.StdDev, *d.TokSOut), s.TokSOut.Count)
		}
		return ""
	}
	r := headlineRates(d.Bench)
	switch {
	case r == nil:
		return ""
	case r.StdDev == nil:
		return fmt.Sprintf("  (n %d)", r.Count)
	default:
		return fmt.Sprintf("  ± %s (σ, n %d)", numberLike(*r.StdDev, *d.TokSOut), r.Count)
	}
}

// headlineRates is the summary of the formula behind tokSOut, nil when it has
// none.
func headlineRates(x *Extension) *Rates {
	switch x.Throughput.Headline {
	case headlineInterToken:
		return x.Throughput.InterToken
	case headlineWall:
		return x.Throughput.BatchWall
	default:
		return x.Throughput.ConcurrentRequestWindow
	}
}

func formulaTitle(source string) string {
	switch source {
	case stats.SourceInterToken:
		return "(tokens − 1) / (last token − first token): lmx's rate of one stream"
	case stats.SourceRequestWindow:
		return "tokens / (completion − first token): lmx's rate of a stream in one piece"
	default:
		return "Σ tokens / (last completion − first token): lmx's aggregate"
	}
}

// latencyTable is p50, p90, p99 and max of the pooled requests.
func latencyTable(b *bytes.Buffer, x *Extension) {
	itl, gaps := "ITL (ms/token)", x.Latency.TokenITLMs
	if gaps == nil && x.Latency.InterChunkMs != nil {
		// Without token counts only the gaps between events are known.
		itl, gaps = "event gap (ms)", x.Latency.InterChunkMs
	}
	if x.Latency.TokenITLBasis == "spread" {
		itl += " ≈"
	}
	row(b, "", "p50", "p90", "p99", "max")
	for _, line := range []struct {
		name  string
		s     *Summary
		scale float64
	}{
		{"TTFT (ms)", x.Latency.TTFTMs, 1},
		{itl, gaps, 1},
		{"stream (tok/s)", x.StreamTokS, 1},
		{"end to end (s)", x.Latency.E2EMs, 1e-3},
	} {
		if line.s == nil {
			row(b, line.name, "not known")
			continue
		}
		row(b, line.name, number(line.s.P50*line.scale), number(line.s.P90*line.scale),
			number(line.s.P99*line.scale), number(line.s.Max*line.scale))
	}
}

func row(b *bytes.Buffer, name string, cells ...string) {
	b.WriteString("  " + pad(name, 16))
	for _, c := range cells {
		b.WriteString(strings.Repeat(" ", max(1, 9-utf8.RuneCountInString(c))) + c)
	}
	b.WriteByte('\n')
}

// facts are the lines below the table.
func (t Text) facts(b *bytes.Buffer, x *Extension) {
	wall := "not known"
	if r := x.Throughput.BatchWall; r != nil {
		wall = number(r.P50) + " tok/s"
	}
	fact(b, "batch wall", pad(wall, 18)+"plateau  "+plateauTitle(x))
	fact(b, "power", attached(t.Power, x.Power, "not measured"))
	if t.Ceiling != "" || len(x.Ceiling) > 0 {
		fact(b, "ceiling", attached(t.Ceiling, x.Ceiling, ""))
	}
	switch {
	case t.Cost != "":
		fact(b, "cost", t.Cost)
	case x.Cost != nil:
		fact(b, "cost", costTitle(x.Cost))
	}
	if s := x.Engine.Speculation; s != nil {
		fact(b, "speculation", speculationTitle(s))
	}
	fact(b, "requests", requestsTitle(x))
	fact(b, "client", clientTitle(&x.Client))
}

// attached is the line another package gives for its value, else where the
// value is, else words for having none.
func attached(line string, value json.RawMessage, none string) string {
	switch {
	case line != "":
		return line
	case len(value) > 0:
		return "in run.json"
	default:
		return none
	}
}

func fact(b *bytes.Buffer, name, text string) { b.WriteString("  " + pad(name, 13) + text + "\n") }

func plateauTitle(x *Extension) string {
	p := x.Throughput.Plateau
	switch {
	case p == nil && x.Throughput.BatchWall == nil:
		return "not known"
	case p == nil:
		return "no overlap"
	}
	return fmt.Sprintf("%s tok/s (%s, %s of the window)",
		number(p.P50), span(time.Duration(p.Seconds*1e9)), percent(p.OverlapFraction))
}

func speculationTitle(s *SpeculationCount) string {
	text := fmt.Sprintf("%s of %s drafted tokens accepted", Grouped(int64(s.AcceptedTokens)), Grouped(int64(s.DraftTokens)))
	if s.AcceptanceRate != nil {
		text += " (" + percent(*s.AcceptanceRate) + ")"
	}
	if s.MeanAcceptedLength != nil {
		text += fmt.Sprintf(", %.2f tokens per step", *s.MeanAcceptedLength)
	}
	return text
}

func requestsTitle(x *Extension) string {
	failed := make(map[string]int)
	all := 0
	for name, n := range x.Outcomes {
		all += n
		if name != OutcomeOK && n > 0 {
			failed[name] = n
		}
	}
	counted := 0
	for _, it := range x.Iterations {
		if it.Counted {
			counted++
		}
	}
	return fmt.Sprintf("%s of %s ok%s, %d of %d iterations counted",
		Grouped(int64(x.Outcomes[OutcomeOK])), Grouped(int64(all)), classes(failed), counted, x.Plan.Iterations)
}

// clientTitle says how far the instrument can be trusted.
func clientTitle(c *Client) string {
	text := "lag unknown"
	if l := c.ReadLagUs; l != nil {
		text = fmt.Sprintf("late by %s (p50), %s (p99)", micros(l.P50), micros(l.P99))
	}
	text += ", " + c.TimestampSource + " stamps"
	if c.LateCoalescedShare != nil {
		text += "; " + percent(*c.LateCoalescedShare) + " coalesced"
	}
	if c.CPUShare != nil {
		text += fmt.Sprintf("; %s of %s", percent(*c.CPUShare), count(c.Cores, "core"))
	}
	if k := c.Calibration; k != nil {
		text += fmt.Sprintf("; stamps within %s (p99)", micros(k.StampP99Us))
	}
	return text
}

func micros(us float64) string { return span(time.Duration(us * 1e3)) }

// findings has a line for each warning, and one for the notes together.
func findings(b *bytes.Buffer, v Verdict) {
	var notes []string
	first := true
	for _, f := range v.Codes {
		if f.Level == Info {
			notes = append(notes, f.Code)
			continue
		}
		if first {
			b.WriteByte('\n')
			first = false
		}
		fmt.Fprintf(b, "  %-7s %s: %s", f.Level, f.Code, oneLine(f.Detail))
		if advice := Advice(f.Code); advice != "" {
			b.WriteString(" → " + advice)
		}
		b.WriteByte('\n')
	}
	if len(notes) > 0 {
		if first {
			b.WriteByte('\n')
		}
		fmt.Fprintf(b, "  note    %s\n", strings.Join(notes, ", "))
	}
}

// pad fills text with blanks to a width in characters.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}
