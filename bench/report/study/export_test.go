package study

import (
	"io"

	"lmxbench/bench/report"
)

// ParseRows and ParseResult read bytes, for the fuzz targets.
func ParseRows(r io.Reader) ([]*Subject, error)         { return parseRows(r, "table.csv") }
func ParseResult(data []byte) (*report.Document, error) { return parseResult(data) }
func FromDocument(d *report.Document) *Subject          { return fromDocument("run.json", d) }
func ReadPowerRecording(r io.Reader) ([]PowerPoint, error) {
	rec := recording{points: map[string]map[string][]PowerPoint{}}
	err := rec.read(r, 0)
	return sumOfCards(rec.points["power_sample_w"]), err
}
