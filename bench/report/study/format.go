package study

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"lmxbench/bench/report"
)

// Number writes x for people: thousands separated, four significant digits
// where there are that many before the point, at most three decimals.
func Number(x float64) string { return NumberLike(x, x) }

// NumberLike writes x with the decimals that [Number] gives to another value,
// so that a column or an error bar lines up with its number.
func NumberLike(x, like float64) string {
	return Fixed(x, report.Places(like))
}

// Spread writes a standard deviation with the decimals of its number, and with
// more where that would read as zero.
func Spread(sigma, number float64) string {
	if text := NumberLike(sigma, number); sigma == 0 || strings.Trim(text, "0.") != "" {
		return text
	}
	return strconv.FormatFloat(sigma, 'g', 1, 64)
}

// Fixed writes x with a number of decimals, thousands separated.
func Fixed(x float64, decimals int) string {
	text := strconv.FormatFloat(x, 'f', decimals, 64)
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "−", text[1:]
		if strings.Trim(text, "0.") == "" {
			sign = ""
		}
	}
	whole, fraction, _ := strings.Cut(text, ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return sign + whole
}

// Dollars writes a price per million tokens: two decimals from 0.15, else
// three, and below a tenth of a cent two significant digits. It is the rule
// that reproduces every price of the published cost table.
func Dollars(x float64) string {
	switch {
	case x == 0:
		return "$0"
	case math.Abs(x) < 0.001:
		return "$" + strconv.FormatFloat(x, 'g', 2, 64)
	case math.Abs(x) < 0.15:
		return "$" + Fixed(x, 3)
	}
	return "$" + Fixed(x, 2)
}

// Percent writes a share.
func Percent(share float64) string {
	switch p := share * 100; {
	case p == 0 || math.Abs(p) >= 10:
		return Fixed(p, 0) + " %"
	case math.Abs(p) >= 1:
		return Fixed(p, 1) + " %"
	default:
		return fmt.Sprintf("%.2g %%", p)
	}
}

// Seconds writes a time in seconds with the unit that fits.
func Seconds(s float64) string {
	switch {
	case s >= 1 || s == 0:
		return Number(s) + " s"
	case s >= 1e-3:
		return Number(s*1e3) + " ms"
	default:
		return Number(s*1e6) + " µs"
	}
}

// Millis writes a time in milliseconds with the unit that fits.
func Millis(ms float64) string { return Seconds(ms / 1e3) }

// Plural writes a number with its noun.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Fixed(float64(n), 0) + " " + noun + "s"
}
