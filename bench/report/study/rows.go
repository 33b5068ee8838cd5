package study

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
)

// rowColumns are the columns of a table of published runs that are read. Others
// are passed over; the required ones must be there.
var rowRequired = []string{"hf_id", "engine", "concurrency", "tok_s_out"} //nolint:gochecknoglobals // a constant table

// looksLikeRows reports whether the first line of a file is the header of a
// table of runs.
func looksLikeRows(header string) bool {
	for _, name := range rowRequired {
		if !strings.Contains(","+strings.TrimSpace(header)+",", ","+name+",") {
			return false
		}
	}
	return true
}

// readRows reads a table of published runs.
func readRows(path string) ([]*Subject, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read table: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	subjects, err := parseRows(f, path)
	if err != nil {
		return nil, err
	}
	if len(subjects) == 0 {
		return nil, fmt.Errorf("read table %s: no row below the header", path)
	}
	return subjects, nil
}

func parseRows(r io.Reader, path string) (subjects []*Subject, err error) {
	in := csv.NewReader(r)
	header, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("read table %s: no header: %w", path, err)
	}
	at := make(map[string]int, len(header))
	for i, name := range header {
		if _, twice := at[name]; twice {
			return nil, fmt.Errorf("read table %s:1: column %s twice", path, name)
		}
		at[name] = i
	}
	for _, name := range rowRequired {
		if _, ok := at[name]; !ok {
			return nil, fmt.Errorf("read table %s:1: no column %s: not a table of runs", path, name)
		}
	}
	for {
		cells, err := in.Read()
		if errors.Is(err, io.EOF) {
			return subjects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read table %s: %w", path, err)
		}
		line, _ := in.FieldPos(0)
		row := rowReader{at: at, cells: cells}
		s := row.subject()
		if row.err != nil {
			return nil, fmt.Errorf("read table %s:%d: %w", path, line, row.err)
		}
		s.Path = fmt.Sprintf("%s:%d", path, line)
		subjects = append(subjects, s)
	}
}

// rowReader reads the cells of one row and keeps the first fault.
type rowReader struct {
	at    map[string]int
	cells []string
	err   error
}

func (r *rowReader) subject() *Subject {
	s := &Subject{
		Kind: KindRow, Model: r.text("hf_id"), Board: r.text("board"),
		Engine: r.text("engine"), EngineVersion: r.text("engine_version"), Quantization: r.text("quant"),
		Speculation: first(r.text("spec_detail"), r.text("spec_label")),
		GPU:         first(r.text("gpu_canonical_name"), r.text("gpu")), GPUs: r.whole("gpu_count"),
		Streams: r.whole("concurrency"), MaxTokens: r.whole("max_tokens"), CreatedAt: r.text("submitted_utc"),
	}
	if s.GPUs == 0 && s.GPU != "" {
		s.GPUs = 1
	}
	if r.err == nil && s.Streams < 1 {
		r.err = errors.New("concurrency is missing")
	}
	s.Headline = lmxBasis("", s.Streams)
	if rate := r.number("tok_s_out"); rate != nil {
		s.Rates = []Rate{{Basis: s.Headline, TokensPerSecond: *rate, Iterations: r.whole("iterations")}}
	} else if r.err == nil {
		r.err = errors.New("tok_s_out is missing")
	}
	if ms := r.number("ttft_ms"); ms != nil {
		s.TTFT = summary([]float64{*ms})
	}
	if watts := r.number("gpu_power_w"); watts != nil {
		s.Energy = &Energy{Watts: watts, Window: "published", Source: "gpu_power_w"}
	}
	if price := r.number("price_usd_h"); price != nil {
		s.Price = &Tariff{Name: "rent", USDPerHour: *price, Basis: first(r.text("price_source"), "the table's own")}
	}
	s.Rank = &Rank{
		Verified: r.text("verified") == "true",
		All:      r.whole("rank_all"), AllOf: r.whole("total_all"), SingleStream: r.whole("rank_c1"), SingleOf: r.whole("total_c1"),
	}
	s.Settings = settings(s)
	return s
}

func (r *rowReader) text(name string) string {
	i, ok := r.at[name]
	if !ok {
		return ""
	}
	return strings.TrimSpace(r.cells[i])
}

// number is a value above zero, nil for an empty cell.
func (r *rowReader) number(name string) *float64 {
	text := r.text(name)
	if text == "" {
		return nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		r.fail(name, text, "a number above zero")
		return nil
	}
	return &v
}

func (r *rowReader) whole(name string) int {
	text := r.text(name)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		r.fail(name, text, "a whole number above zero")
		return 0
	}
	return n
}

func (r *rowReader) fail(name, text, want string) {
	if r.err == nil {
		r.err = fmt.Errorf("%s is %q, want %s", name, text, want)
	}
}
