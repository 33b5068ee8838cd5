package localmaxxing

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// parseTable reads a table of runs: CSV with a header. hf_id and tok_s_out must
// be among the columns; unknown columns are passed over.
func parseTable(data []byte) (*Listing, error) {
	in := csv.NewReader(bytes.NewReader(data))
	header, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("read listing: neither JSON nor a table: %w", err)
	}
	at := make(map[string]int, len(header))
	for i, name := range header {
		name = strings.TrimSpace(name)
		if _, twice := at[name]; twice && name != "" {
			return nil, fmt.Errorf("read listing: line 1: column %s twice", oneLine(name, 40))
		}
		at[name] = i
	}
	for _, name := range []string{"hf_id", "tok_s_out"} {
		if _, ok := at[name]; !ok {
			return nil, fmt.Errorf("read listing: line 1 has no column %s: neither JSON nor a table of runs", name)
		}
	}
	l := &Listing{}
	for {
		cells, err := in.Read()
		if errors.Is(err, io.EOF) {
			return l, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read listing: %w", err)
		}
		line, _ := in.FieldPos(0)
		c := columns{at: at, cells: cells, note: func(text string) { l.note(fmt.Sprintf("line %d: %s", line, text)) }}
		row := c.row()
		if row.HFID == "" && row.TokSOut == nil {
			c.note("neither hf_id nor tok_s_out, left out")
			continue
		}
		l.add(row, nil)
	}
}

// columns reads the cells of one line by the names of their columns. An empty
// cell is not given.
type columns struct {
	at    map[string]int
	cells []string
	note  func(string)
}

func (c columns) row() Row {
	r := Row{
		ID: c.text("run_id"), Name: c.text("run_dir"), URL: c.text("url"),
		Board: c.text("board"), HFID: c.text("hf_id"),
		Engine: c.text("engine"), EngineVersion: c.text("engine_version"), Backend: c.text("backend"),
		Quantization: c.text("quant"), Speculation: first(c.text("spec_detail"), c.text("spec_label")),
		Hardware: Hardware{Name: first(c.text("gpu_canonical_name"), c.text("gpu"))},
		Streams:  c.whole("concurrency"), PromptTokens: c.whole("prompt_tokens"), OutputTokens: c.whole("output_tokens"),
		MaxTokens: c.whole("max_tokens"), ContextLength: c.whole("context_length"),
		TokSOut:    c.number("tok_s_out"),
		PowerWatts: c.number("gpu_power_w"), PeakVRAMGB: c.number("peak_vram_gb"), USDPerHour: c.number("price_usd_h"),
		All: c.standing("rank_all", "total_all"), Single: c.standing("rank_c1", "total_c1"),
	}
	if r.Hardware.Name != "" {
		r.Hardware.Count = c.whole("gpu_count")
	}
	if ms := c.number("ttft_ms"); ms != nil {
		if d, ok := duration(*ms); ok {
			r.TTFT = &d
		} else {
			c.note(fmt.Sprintf("ttft_ms is %g, which is no time to a first token", *ms))
		}
	}
	if sha := c.text("prompt_sha256"); sha != "" {
		if r.PromptSHA256 = hash(sha); r.PromptSHA256 == "" {
			c.note("prompt_sha256 is no sha256 in hex")
		}
	}
	switch text := c.text("verified"); text {
	case "true", "false":
		is := text == "true"
		r.Verified = &is
	case "":
	default:
		c.note(fmt.Sprintf("verified is %q, want true or false", cut(text, 40)))
	}
	r.SubmittedAt = c.time("submitted_utc")
	return r
}

func (c columns) text(name string) string {
	i, ok := c.at[name]
	if !ok {
		return ""
	}
	return oneLine(c.cells[i], maxText)
}

func (c columns) number(name string) *float64 {
	text := c.text(name)
	if text == "" {
		return nil
	}
	n, err := positive(text)
	if err != nil {
		c.note(name + " is " + err.Error())
		return nil
	}
	return n
}

func (c columns) whole(name string) *int {
	text := c.text(name)
	if text == "" {
		return nil
	}
	n, err := wholePositive(text)
	if err != nil {
		c.note(name + " is " + err.Error())
		return nil
	}
	return n
}

func (c columns) time(name string) time.Time {
	text := c.text(name)
	t, ok := parseTime(text)
	if !ok && text != "" {
		c.note(fmt.Sprintf("%s is %q, which is no time", name, cut(text, 40)))
	}
	return t
}

func (c columns) standing(rank, of string) (s Standing) {
	if n := c.whole(rank); n != nil {
		s.Rank = *n
	}
	if n := c.whole(of); n != nil {
		s.Of = *n
	}
	if s.Of > 0 && s.Rank > s.Of {
		c.note(fmt.Sprintf("%s is %d of %d", rank, s.Rank, s.Of))
		return Standing{}
	}
	return s
}
