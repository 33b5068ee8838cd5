package localmaxxing

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Listing is a set of rows as they were asked for or saved.
type Listing struct {
	Rows []Row
	// HFID is the model whose board was asked for; every row then stands on it.
	// Empty where the listing does not say.
	HFID string
	// Total is the number of rows the site says there are; nil: not said.
	Total *int
	// Source is where the rows come from: an address, or empty.
	Source string
	// At is when the site was asked or the listing was made; zero: not said.
	At time.Time
	// Age is how long a cache in between had held the answer; nil: not said.
	Age *time.Duration
	// Limits are those of the last answer; the zero value where none was asked
	// for.
	Limits RateLimit
	// Notes say, one line each, what was left out of the rows and why.
	Notes []string

	raw   []json.RawMessage // the rows as they came, one for each of Rows; nil for a table
	ids   map[string]bool   // of Rows
	noted int               // notes met, kept or not
}

// maxNotes bounds the notes of a listing: a broken column has one for each row.
const maxNotes = 20

// ParseListing reads a listing from a file: the site's answer to
// /api/leaderboard or /api/speed-tests, a scoreboard, a single row, what
// [Listing.Snapshot] wrote, or a table of runs as CSV with a header
// (docs/boards.md names its columns). What is no listing is an error that says
// where; a value that cannot be meant is left out and noted.
func ParseListing(data []byte) (*Listing, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	trimmed := bytes.TrimLeft(data, " \t\r\n")
	switch {
	case len(trimmed) == 0:
		return nil, errors.New("read listing: it is empty")
	case trimmed[0] == '{':
		return parseEnvelope(data)
	case trimmed[0] == '[':
		l := &Listing{}
		return l, l.takeArray(data)
	case trimmed[0] == '<':
		return nil, errors.New("read listing: it is a web page; save the answer of /api/leaderboard, which is JSON")
	}
	return parseTable(data)
}

// envelopeNames are the members under which answers hold their rows.
func envelopeNames() []string {
	return []string{"rows", "benchmarks", "speedTests", "runs", "data", "items"}
}

func parseEnvelope(data []byte) (*Listing, error) {
	l := &Listing{}
	f, err := newFields(data, l.note)
	if err != nil {
		return nil, fmt.Errorf("read listing: %w", tidy(data, err))
	}
	for _, name := range envelopeNames() {
		if rows := f.members[name]; kind(rows) == "an array" {
			l.HFID = f.text("board")
			l.Source = f.text("source")
			l.At = f.time("fetchedAt", "generated_utc")
			l.Total = f.count("total")
			return l, l.takeArray(rows)
		}
	}
	row, notes, err := ParseRow(data)
	if err != nil {
		return nil, fmt.Errorf("read listing: no array of rows in it (looked for %s), and it is no row", strings.Join(envelopeNames(), ", "))
	}
	for _, n := range notes {
		l.note(n)
	}
	l.Rows, l.raw = []Row{row}, []json.RawMessage{data}
	return l, nil
}

// count is a whole number that may be 0.
func (f fields) count(name string) *int {
	if string(bytes.TrimSpace(f.members[name])) == "0" {
		zero := 0
		return &zero
	}
	return f.whole(name)
}

func (l *Listing) takeArray(array json.RawMessage) error {
	var objects []json.RawMessage
	if err := json.Unmarshal(array, &objects); err != nil {
		return fmt.Errorf("read listing: %w", tidy(array, err))
	}
	for i, o := range objects {
		where := fmt.Sprintf("row %d", i+1)
		f, err := newFields(o, func(text string) { l.note(where + ": " + text) })
		switch {
		case err != nil || f.members == nil:
			return fmt.Errorf("read listing: row %d is %s, want an object", i+1, kind(o))
		case !f.looksLikeRow():
			return fmt.Errorf("read listing: row %d has neither hfId, model nor tokSOut", i+1)
		}
		if id := f.text("id"); id != "" {
			where += " (" + id + ")"
		}
		l.add(f.row(), o)
	}
	return nil
}

// add takes a row unless its id is there already.
func (l *Listing) add(row Row, raw json.RawMessage) {
	if l.ids[row.ID] {
		l.note(fmt.Sprintf("row %s is listed twice, the first is kept", row.ID))
		return
	}
	if row.ID != "" {
		if l.ids == nil {
			l.ids = make(map[string]bool)
		}
		l.ids[row.ID] = true
	}
	l.Rows = append(l.Rows, row)
	if raw != nil {
		l.raw = append(l.raw, raw)
	}
}

// note keeps a line about what was left out, and counts those beyond the bound.
func (l *Listing) note(text string) {
	l.noted++
	switch {
	case l.noted <= maxNotes:
		l.Notes = append(l.Notes, text)
	case l.noted == maxNotes+1:
		l.Notes = append(l.Notes, "1 more")
	default:
		l.Notes[maxNotes] = fmt.Sprintf("%d more", l.noted-maxNotes)
	}
}

// Find returns the row that a user calls text: its id, its name, or the address
// of its page. nil where there is none.
func (l *Listing) Find(text string) *Row {
	for i := range l.Rows {
		if l.Rows[i].is(text) {
			return &l.Rows[i]
		}
	}
	return nil
}

// Snapshot writes the listing as one JSON document with the rows as they came,
// for [ParseListing] to read: ranks computed from it can be computed again.
func (l *Listing) Snapshot() ([]byte, error) {
	rows := l.raw
	if len(rows) != len(l.Rows) {
		rows = rows[:0:0]
		for _, r := range l.Rows {
			raw, err := json.Marshal(r)
			if err != nil {
				return nil, fmt.Errorf("write listing: %w", err)
			}
			rows = append(rows, raw)
		}
	}
	if rows == nil {
		rows = []json.RawMessage{}
	}
	out := struct {
		Board  string            `json:"board,omitempty"`
		At     *time.Time        `json:"fetchedAt,omitempty"`
		Source string            `json:"source,omitempty"`
		Total  *int              `json:"total,omitempty"`
		Rows   []json.RawMessage `json:"rows"`
	}{Board: l.HFID, Source: l.Source, Total: l.Total, Rows: rows}
	if !l.At.IsZero() {
		at := l.At.UTC()
		out.At = &at
	}
	text, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write listing: %w", err)
	}
	return append(text, '\n'), nil
}

// tidy says where a JSON document breaks.
func tidy(data []byte, err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		at := min(max(int(syntax.Offset), 0), len(data))
		return fmt.Errorf("line %d is no JSON: %w", 1+bytes.Count(data[:at], []byte{'\n'}), err)
	}
	var other *json.UnmarshalTypeError
	if errors.As(err, &other) {
		return fmt.Errorf("it is %s, want an object", kind(data))
	}
	return err
}
