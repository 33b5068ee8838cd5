package power

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Sink takes the samples of a recording. Add may be called from several
// goroutines.
type Sink interface {
	Add(Sample) error
}

// Writer appends samples to a power.csv. Its memory is one buffer, however
// long the recording. Create one with [NewWriter].
type Writer struct {
	mu     sync.Mutex
	out    *bufio.Writer
	origin time.Time
	known  map[string]bool
	row    []byte
	err    error // the first failure; kept, since later rows would leave a hole
}

// NewWriter writes the header and the description of the recording to w and
// returns the writer of its rows. The caller owns w: it calls Flush and then
// closes it.
func NewWriter(w io.Writer, origin time.Time, desc Description) (*Writer, error) {
	cw := &Writer{
		out:    bufio.NewWriterSize(w, 1<<16),
		origin: origin.Round(0).UTC(),
		known:  map[string]bool{},
	}
	if _, err := cw.out.WriteString(strings.Join(csvHeader(), ",") + "\n"); err != nil {
		return nil, fmt.Errorf("write power csv header: %w", err)
	}
	prelude := csvPrelude{Schema: csvSchema, Source: desc.Source, Version: desc.Version, Skipped: desc.Skipped}
	if err := cw.describe(kindOrigin, "", prelude); err != nil {
		return nil, err
	}
	for _, d := range desc.Devices {
		cw.known[d.UUID] = true
		if err := cw.describe(kindDevice, d.UUID, d); err != nil {
			return nil, err
		}
	}
	return cw, cw.Flush()
}

// describe writes a row whose note is v as JSON.
func (w *Writer) describe(kind Kind, gpu string, v any) error {
	note, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write power csv %s row: %w", kind, err)
	}
	s := Sample{Kind: kind, GPU: gpu, Note: string(note)}
	if kind == kindOrigin {
		s.Stamp = w.origin.UnixNano()
	}
	return w.append(s)
}

// Add appends one row. A sample of a device that the description does not name
// is an error and is not written. A value that is no number is left out: the
// file could not be read again. It implements [Sink].
func (w *Writer) Add(s Sample) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.Kind != KindClock && !w.known[s.GPU] {
		return fmt.Errorf("write power csv row: no device %q in the description", s.GPU)
	}
	return w.append(s)
}

func (w *Writer) append(s Sample) error {
	if w.err != nil {
		return w.err
	}
	w.row = appendRow(w.row[:0], w.origin, &s)
	if _, err := w.out.Write(w.row); err != nil {
		w.err = fmt.Errorf("write power csv row: %w", err)
	}
	return w.err
}

// Flush hands the buffered rows to the underlying writer. The file then ends
// with a whole row.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	if err := w.out.Flush(); err != nil {
		w.err = fmt.Errorf("flush power csv: %w", err)
	}
	return w.err
}

// appendRow appends one line to b.
func appendRow(b []byte, origin time.Time, s *Sample) []byte {
	b = append(b, s.Kind...)
	b = append(b, ',')
	b = append(b, csvEscape(s.GPU)...)
	b = append(b, ',')
	b = append(b, utcLabel(origin, s.Before)...)
	b = append(b, ',')
	b = strconv.AppendInt(b, int64(s.Before), 10)
	b = append(b, ',')
	b = strconv.AppendInt(b, int64(s.After), 10)
	b = append(b, ',')
	if s.Stamp != 0 {
		b = strconv.AppendInt(b, s.Stamp, 10)
	}
	for sig := range signalCount {
		b = append(b, ',')
		if v, ok := s.Values.Get(sig); ok && !math.IsNaN(v) && !math.IsInf(v, 0) {
			b = strconv.AppendFloat(b, v, 'f', -1, 64)
		}
	}
	b = append(b, ',')
	for i, m := range s.Missing {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(b, m.Signal.String()...)
		b = append(b, '=')
		b = append(b, m.Reason...)
	}
	b = append(b, ',')
	b = append(b, csvEscape(oneLine(s.Note))...)
	return append(b, '\n')
}
