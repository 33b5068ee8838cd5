package power

import (
	"strings"
	"time"
)

// The layout of power.csv, version 1, is described in the package comment.
const (
	csvSchema     = "lmxbench.power/1"
	csvUTCLayout  = "2006-01-02T15:04:05.000Z"
	kindOrigin    = Kind("origin")
	kindDevice    = Kind("device")
	csvFixedHead  = 6 // columns before the signals
	csvFixedTail  = 2 // columns after them
	csvColumns    = csvFixedHead + int(signalCount) + csvFixedTail
	csvMissingCol = csvColumns - 2
	csvNoteCol    = csvColumns - 1
)

// csvHeader returns the column names.
func csvHeader() []string {
	h := make([]string, 0, csvColumns)
	h = append(h, "kind", "gpu", "utc", "before_ns", "after_ns", "stamp_unix_ns")
	for s := range signalCount {
		h = append(h, s.String())
	}
	return append(h, "missing", "note")
}

// csvPrelude is the note of the origin row.
type csvPrelude struct {
	Schema  string    `json:"schema"`
	Source  Source    `json:"source"`
	Version string    `json:"version,omitempty"`
	Skipped []Skipped `json:"skipped,omitempty"`
}

// utcLabel returns the text of the utc column.
func utcLabel(origin time.Time, at time.Duration) string {
	return origin.Add(at).UTC().Format(csvUTCLayout)
}

// csvEscape quotes a field when it has to be.
func csvEscape(field string) string {
	if !strings.ContainsAny(field, ",\"\r\n") && !strings.HasPrefix(field, " ") {
		return field
	}
	return `"` + strings.ReplaceAll(field, `"`, `""`) + `"`
}

// oneLine keeps a note on one line: a row of the file is one line, so that a
// cut file loses its last row only.
func oneLine(note string) string {
	return strings.NewReplacer("\r", " ", "\n", " ").Replace(note)
}
