package power

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxRecording bounds times in a file, in ns: some 18 years keep every sum of
// two of them representable.
const maxRecording = 1 << 59

// SyntaxError says where a file of power readings is not what it should be.
type SyntaxError struct {
	// File is the name given to the reader.
	File string
	// Line counts from 1.
	Line int
	// What is wrong there.
	What string
}

// Error implements error, in the form file:line: what.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.What)
}

// ReadCSV reads a power.csv. name is used in errors only. The reader is
// strict: an unknown column, kind, device or signal, a number that is not
// finite, a time that runs backwards within one device and kind, or a label
// that contradicts the time beside it is a [*SyntaxError]. One thing is
// forgiven: a last line without its line end is what an interrupted write
// leaves, so it is dropped and [Series.Cut] is set.
func ReadCSV(r io.Reader, name string) (*Series, error) {
	tail := &tailReader{r: r}
	p := csvParser{name: name, rows: csv.NewReader(tail), last: map[string]time.Duration{}}
	p.rows.FieldsPerRecord = -1
	p.rows.ReuseRecord = true
	if err := p.prelude(); err != nil {
		return nil, err
	}
	for {
		rec, err := p.rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if tail.cut && tail.done() && p.rows.InputOffset() >= tail.n {
			p.series.Cut = true
			break
		}
		if err != nil {
			return nil, csvError(p.name, err)
		}
		if err := p.row(rec); err != nil {
			return nil, err
		}
	}
	return p.series, nil
}

// tailReader watches whether the stream ends with a line end.
type tailReader struct {
	r    io.Reader
	n    int64
	last byte
	eof  bool
	cut  bool
}

func (t *tailReader) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	if n > 0 {
		t.n += int64(n)
		t.last = p[n-1]
	}
	if errors.Is(err, io.EOF) {
		t.eof = true
		t.cut = t.n > 0 && t.last != '\n'
	}
	return n, err
}

func (t *tailReader) done() bool { return t.eof }

// csvParser holds the state of one read.
type csvParser struct {
	name   string
	rows   *csv.Reader
	series *Series
	last   map[string]time.Duration // per device and kind
	begun  bool                     // a sample row was seen
}

// csvError gives an error of the CSV layer the form of the package's own.
func csvError(name string, err error) error {
	var pe *csv.ParseError
	if errors.As(err, &pe) {
		return &SyntaxError{File: name, Line: pe.StartLine, What: pe.Err.Error()}
	}
	if errors.Is(err, io.EOF) {
		return &SyntaxError{File: name, Line: 1, What: "empty file"}
	}
	return fmt.Errorf("read %s: %w", name, err)
}

func (p *csvParser) fail(format string, args ...any) error {
	line, _ := p.rows.FieldPos(0)
	return &SyntaxError{File: p.name, Line: line, What: fmt.Sprintf(format, args...)}
}

// prelude reads the header and the origin row.
func (p *csvParser) prelude() error {
	head, err := p.rows.Read()
	if errors.Is(err, io.EOF) {
		return &SyntaxError{File: p.name, Line: 1, What: "empty file, want the header of power.csv"}
	}
	if err != nil {
		return csvError(p.name, err)
	}
	want := csvHeader()
	if !slices.Equal(head, want) {
		return p.fail("%s", headerDifference(head, want))
	}
	rec, err := p.rows.Read()
	if errors.Is(err, io.EOF) {
		return &SyntaxError{File: p.name, Line: 2, What: "no origin row"}
	}
	if err != nil {
		return csvError(p.name, err)
	}
	if len(rec) != csvColumns || Kind(rec[0]) != kindOrigin {
		return p.fail("want a row of kind origin and %d fields, got kind %q and %d", csvColumns, rec[0], len(rec))
	}
	return p.origin(rec)
}

func headerDifference(got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("column %d is %q, want %q", i+1, got[i], want[i])
		}
	}
	return fmt.Sprintf("%d columns, want %d", len(got), len(want))
}

func (p *csvParser) origin(rec []string) error {
	var pre csvPrelude
	if err := strictJSON(rec[csvNoteCol], &pre); err != nil {
		return p.fail("origin note: %v", err)
	}
	if pre.Schema != csvSchema {
		return p.fail("schema %q, want %q", pre.Schema, csvSchema)
	}
	ns, err := strconv.ParseInt(rec[5], 10, 64)
	if err != nil || ns == 0 {
		return p.fail("stamp_unix_ns of the origin is %q, want ns since 1970", rec[5])
	}
	p.series = NewSeries(time.Unix(0, ns), Description{Source: pre.Source, Version: pre.Version, Skipped: pre.Skipped})
	if rec[2] != utcLabel(p.series.Origin, 0) || rec[3] != "0" || rec[4] != "0" {
		return p.fail("origin row: utc, before_ns and after_ns contradict stamp_unix_ns")
	}
	return nil
}

// row reads a device or sample row.
func (p *csvParser) row(rec []string) error {
	if len(rec) != csvColumns {
		return p.fail("%d fields, want %d", len(rec), csvColumns)
	}
	if Kind(rec[0]) == kindDevice {
		return p.device(rec)
	}
	p.begun = true
	s, err := p.sample(rec)
	if err != nil {
		return err
	}
	key := string(s.Kind) + "\x00" + s.GPU
	if prev, ok := p.last[key]; ok && s.Kind != KindRing && s.Before < prev {
		return p.fail("before_ns %d runs backwards from %d", s.Before, prev)
	}
	p.last[key] = s.Before
	if err := p.series.Add(s); err != nil {
		return p.fail("%v", err)
	}
	return nil
}

func (p *csvParser) device(rec []string) error {
	var d Device
	if err := strictJSON(rec[csvNoteCol], &d); err != nil {
		return p.fail("device note: %v", err)
	}
	switch {
	case p.begun:
		return p.fail("device row after the first sample")
	case d.UUID == "" || d.UUID != rec[1]:
		return p.fail("device row: gpu %q, uuid %q in the note", rec[1], d.UUID)
	case d.implausible() != "":
		return p.fail("device %q: %s", d.UUID, d.implausible())
	case p.series.Track(d.UUID) != nil:
		return p.fail("device %q described twice", d.UUID)
	}
	p.series.addDevice(d)
	return nil
}

func (p *csvParser) sample(rec []string) (Sample, error) {
	s := Sample{Kind: Kind(rec[0]), GPU: strings.Clone(rec[1]), Note: strings.Clone(rec[csvNoteCol])}
	switch s.Kind {
	case KindGauge, KindCounter, KindRing, KindActivity, KindProcess, KindFault:
	case KindClock:
		if rec[1] != "" {
			return s, p.fail("clock row names a gpu")
		}
	default:
		return s, p.fail("unknown kind %q", rec[0])
	}
	before, err1 := strconv.ParseInt(rec[3], 10, 64)
	after, err2 := strconv.ParseInt(rec[4], 10, 64)
	if err1 != nil || err2 != nil || after < before {
		return s, p.fail("before_ns %q, after_ns %q: want two whole numbers in order", rec[3], rec[4])
	}
	if before < -maxRecording || after > maxRecording {
		return s, p.fail("before_ns %q, after_ns %q: years away from the origin", rec[3], rec[4])
	}
	s.Before, s.After = time.Duration(before), time.Duration(after)
	if want := utcLabel(p.series.Origin, s.Before); rec[2] != want {
		return s, p.fail("utc is %q, before_ns says %q", rec[2], want)
	}
	if rec[5] != "" {
		ns, err := strconv.ParseInt(rec[5], 10, 64)
		if err != nil {
			return s, p.fail("stamp_unix_ns %q is not a whole number", rec[5])
		}
		s.Stamp = ns
	}
	return s, p.values(&s, rec)
}

func (p *csvParser) values(s *Sample, rec []string) error {
	for sig := range signalCount {
		text := rec[csvFixedHead+int(sig)]
		if text == "" {
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
			return p.fail("%s is %q, want a finite number", sig, text)
		}
		s.Values.Set(sig, v)
	}
	for entry := range strings.FieldsSeq(rec[csvMissingCol]) {
		name, why, ok := strings.Cut(entry, "=")
		sig, known := parseSignal(name)
		if !ok || !known || why == "" {
			return p.fail("missing: %q, want signal=reason", entry)
		}
		s.miss(sig, Reason(strings.Clone(why)))
	}
	return nil
}

// strictJSON decodes one object and refuses unknown keys and trailing text.
func strictJSON(text string, v any) error {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return err
	}
	if dec.More() {
		return errors.New("text after the object")
	}
	return nil
}
