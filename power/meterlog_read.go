package power

import (
	"encoding/csv"
	"errors"
	"io"
)

// meterLog is how the CSV of some other program is understood. Both functions
// say what is wrong with a line, "" for nothing.
type meterLog struct {
	header func(cells []string) (what string)
	// row adds a line to the series; the first line makes it.
	row func(s *Series, cells []string) (*Series, string)
}

// readMeterLog reads such a CSV to its end. An error names the file and the
// line.
func readMeterLog(rows *csv.Reader, name string, log meterLog) (*Series, error) {
	rows.TrimLeadingSpace = true
	rows.ReuseRecord = true
	fail := func(what string) error {
		line, _ := rows.FieldPos(0)
		return &SyntaxError{File: name, Line: line, What: what}
	}
	header, err := rows.Read()
	if err != nil {
		return nil, csvError(name, err)
	}
	if what := log.header(header); what != "" {
		return nil, fail(what)
	}
	var s *Series
	for {
		cells, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, csvError(name, err)
		}
		var what string
		if s, what = log.row(s, cells); what != "" {
			return nil, fail(what)
		}
	}
	if s == nil {
		return nil, &SyntaxError{File: name, Line: 1, What: "a header and no rows"}
	}
	return s, nil
}
