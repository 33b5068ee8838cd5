package power

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Format is the layout of a log of power readings.
type Format string

// The formats that [ReadFile] tells apart.
const (
	FormatCSV       Format = "power.csv"
	FormatNvidiaSMI Format = "nvidia-smi"
	FormatSeed      Format = "seed"
	FormatExternal  Format = "external"
)

// Log is a file of power readings.
type Log struct {
	// Format is what the file turned out to be.
	Format Format
	// Series is its content.
	Series *Series
	// SeedRows holds the rows of a seed log as they stood; nil otherwise, and
	// then [Series.SeedRows] makes them.
	SeedRows []SeedRow
	// Skipped counts lines of a seed log that are no rows.
	Skipped int
}

// ReadFile reads a log of power readings of any known format, told by its
// first line. loc is the zone of nvidia-smi's timestamps, nil for UTC.
func ReadFile(path string, loc *time.Location) (*Log, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read power log: %w", err)
	}
	defer f.Close()
	return Read(f, path, loc)
}

// Read is [ReadFile] for an open file; name is used in errors.
func Read(r io.Reader, name string, loc *time.Location) (*Log, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	head, err := in.Peek(1 << 12)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(head) == 0 {
		return nil, &SyntaxError{File: name, Line: 1, What: "empty file"}
	}
	log := &Log{Format: sniff(head)}
	switch log.Format {
	case FormatCSV:
		log.Series, err = ReadCSV(in, name)
	case FormatNvidiaSMI:
		log.Series, err = ReadNvidiaSMI(in, name, loc)
	case FormatExternal:
		log.Series, err = ReadExternal(in, name)
	case FormatSeed:
		log.SeedRows, log.Skipped, err = ReadSeedLog(in, name)
		if err == nil && len(log.SeedRows) == 0 {
			err = &SyntaxError{File: name, Line: 1, What: "not a log of power readings: no header of power.csv, nvidia-smi or a meter, and no row of seven numbers"}
		}
		if err == nil {
			log.Series = seedSeries(log.SeedRows)
		}
	}
	if err != nil {
		return nil, err
	}
	return log, nil
}

// sniff tells the format by the first line; a file without a header is taken
// for the seed's.
func sniff(head []byte) Format {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	first := strings.TrimSpace(string(line))
	switch {
	case strings.HasPrefix(first, "kind,gpu,"):
		return FormatCSV
	case strings.Contains(first, "power_w") && (strings.Contains(first, "utc") || strings.Contains(first, "unix_s")):
		return FormatExternal
	case strings.Contains(first, "timestamp") || strings.Contains(first, "power.draw"):
		return FormatNvidiaSMI
	default:
		return FormatSeed
	}
}
