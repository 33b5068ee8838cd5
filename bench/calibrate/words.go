package calibrate

import (
	"math"
	"strconv"
	"time"

	"lmxbench/bench/report"
)

// counted is a count with its noun: "1 stream", "1,000 streams".
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return grouped(n) + " " + noun
}

// grouped writes an integer with thousands separators.
func grouped(n int) string { return report.Grouped(int64(n)) }

// short writes a number with at most three significant digits and no exponent.
func short(x float64) string {
	switch size := math.Abs(x); {
	case size == 0: // also the negative zero
		return "0"
	case size >= 100:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case size >= 10:
		return trimmed(x, 1)
	case size >= 1:
		return trimmed(x, 2)
	default:
		return trimmed(x, 3)
	}
}

// trimmed writes x with so many decimals at most.
func trimmed(x float64, decimals int) string {
	scale := math.Pow10(decimals)
	return strconv.FormatFloat(math.Round(x*scale)/scale+0, 'f', -1, 64) // + 0: no minus before a zero
}

// brief writes a time with three significant digits in the unit that suits it.
func brief(d time.Duration) string {
	switch size := d.Abs(); {
	case size < time.Millisecond:
		return short(float64(d)/1e3) + " µs"
	case size < time.Second:
		return short(float64(d)/1e6) + " ms"
	default:
		return short(d.Seconds()) + " s"
	}
}
