package power

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// seedColumns is the least number of fields of a row of the seed's log.
const seedColumns = 7

// ReadSeedLog reads the seed's power log: no header, seven columns (epoch
// seconds, W, %, MiB, MHz, MHz, °C). As in the seed, a line with fewer fields
// or without a number in front is no row (a failed query leaves such lines)
// and is skipped; its count is returned. A row whose other cells are neither
// numbers nor "not available" is a [*SyntaxError].
func ReadSeedLog(r io.Reader, name string) (rows []SeedRow, skipped int, err error) {
	lines := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, readErr := lines.ReadString('\n')
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			row, ok, bad := parseSeedRow(line)
			switch {
			case bad != "":
				return nil, 0, &SyntaxError{File: name, Line: n, What: bad}
			case ok:
				rows = append(rows, row)
			default:
				skipped++
			}
		}
		if readErr == io.EOF {
			return rows, skipped, nil
		}
		if readErr != nil {
			return nil, 0, fmt.Errorf("read %s: %w", name, readErr)
		}
	}
}

func parseSeedRow(line string) (row SeedRow, ok bool, bad string) {
	cells := strings.Split(line, ",")
	if len(cells) < seedColumns {
		return row, false, ""
	}
	epoch, err := strconv.ParseFloat(strings.TrimSpace(cells[0]), 64)
	if err != nil || math.IsNaN(epoch) || math.IsInf(epoch, 0) {
		return row, false, ""
	}
	row = SeedRow{Epoch: epoch, Raw: line}
	fields := []struct {
		name string
		to   **float64
	}{
		{"power", &row.PowerW},
		{"utilization", &row.UtilPct},
		{"memory", &row.MemMiB},
		{"sm clock", &row.SMMHz},
		{"memory clock", &row.MemMHz},
		{"temperature", &row.TempC},
	}
	for i, f := range fields {
		v, why := parseCell(cells[i+1])
		if why == Unreadable {
			return row, false, fmt.Sprintf("%s is %q, want a number or [N/A]", f.name, cells[i+1])
		}
		if why == "" {
			*f.to = &v
		}
	}
	return row, true, ""
}

// parseCell reads a cell of nvidia-smi: a number, with or without its unit, or
// a bracketed remark instead.
func parseCell(cell string) (v float64, why Reason) {
	cell = strings.TrimSpace(cell)
	if why := absentCell(cell); why != "" {
		return 0, why
	}
	number, unit, _ := strings.Cut(cell, " ")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || !knownUnit(unit) {
		return 0, Unreadable
	}
	return v, ""
}

func knownUnit(unit string) bool {
	switch unit {
	case "", "W", "%", "MiB", "MHz", "us", "C":
		return true
	default:
		return false
	}
}

// absentCell tells what nvidia-smi prints in place of a value.
func absentCell(cell string) Reason {
	switch strings.ToLower(strings.Trim(cell, "[]")) {
	case "", "n/a", "not available", "unknown":
		return FieldMissing
	case "not supported", "requested functionality has been deprecated":
		return NotSupported
	case "insufficient permissions":
		return NoPermission
	case "gpu is lost", "gpu requires reset":
		return GPULost
	case "unknown error", "err!", "error":
		return OtherError
	default:
		return ""
	}
}

// seedSeries makes a recording of rows, so that the same windows can be cut
// out of it. The log does not name its card.
func seedSeries(rows []SeedRow) *Series {
	const id = "seed-log-gpu0"
	dev := Device{
		UUID: id, Name: "unknown (the log does not say)", Source: SourceSeedLog, Scope: ScopeGPU,
		AverageWindow: nvidiaAverage, Classes: []Class{ClassGauges},
		Unavailable: map[string]Reason{
			EnergyCounter.String(): FieldMissing,
			PowerSample.String():   FieldMissing,
			PowerInstant.String():  FieldMissing,
		},
	}
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b SeedRow) int { return cmp.Compare(a.Epoch, b.Epoch) })
	var origin time.Time
	if len(rows) > 0 {
		origin = epochTime(rows[0].Epoch)
	}
	s := NewSeries(origin, Description{Source: SourceSeedLog, Devices: []Device{dev}})
	for _, r := range rows {
		at := epochTime(r.Epoch).Sub(origin)
		g := Sample{Kind: KindGauge, GPU: id, Before: at, After: at, Stamp: epochTime(r.Epoch).UnixNano()}
		set := func(sig Signal, v *float64, scale float64) {
			if v == nil {
				g.miss(sig, FieldMissing)
				return
			}
			g.put(sig, *v*scale)
		}
		set(PowerAverage, r.PowerW, 1)
		set(Utilization, r.UtilPct, 1)
		set(MemoryUsed, r.MemMiB, mebi)
		set(ClockSM, r.SMMHz, 1)
		set(ClockMemory, r.MemMHz, 1)
		set(Temperature, r.TempC, 1)
		_ = s.Add(g) // the device is described above
	}
	return s
}

// epochTime converts seconds since 1970 to a time, to the microsecond.
func epochTime(s float64) time.Time {
	whole := math.Floor(s)
	return time.Unix(int64(whole), int64(math.Round((s-whole)*1e6))*1000).UTC()
}
