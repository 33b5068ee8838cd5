package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Grouped writes an integer with thousands separators.
func Grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return sign + digits
}

// number writes x for people: four significant digits where there are that
// many before the point, thousands separated, at most three decimals.
func number(x float64) string { return numberLike(x, x) }

// numberLike writes x with the decimals that number gives to another value.
func numberLike(x, like float64) string {
	text := strconv.FormatFloat(x, 'f', Places(like), 64)
	whole, fraction, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return text
	}
	out := Grouped(n)
	if n == 0 && x < 0 {
		out = "-0"
	}
	if fraction != "" {
		out += "." + fraction
	}
	return out
}

// Places is the number of decimals that suit a value.
func Places(x float64) int {
	switch size := math.Abs(x); {
	case size >= 1000, size == 0:
		return 0
	case size >= 10:
		return 1
	case size >= 1:
		return 2
	default:
		return 3
	}
}

// amount is number without decimals where x has none.
func amount(x float64) string {
	if x == math.Trunc(x) {
		return Grouped(int64(x))
	}
	return number(x)
}

// percent writes a share.
func percent(share float64) string {
	switch p := share * 100; {
	case p == 0 || math.Abs(p) >= 10:
		return fmt.Sprintf("%.0f %%", p)
	case math.Abs(p) >= 1:
		return fmt.Sprintf("%.1f %%", p)
	default:
		return fmt.Sprintf("%.2g %%", p)
	}
}

// thresholdShare writes a share that was chosen, in full.
func thresholdShare(share float64) string {
	return strconv.FormatFloat(math.Round(share*1e6)/1e4, 'g', -1, 64) + " %"
}

// span writes a duration with the unit that fits.
func span(d time.Duration) string {
	switch ns := float64(d); {
	case ns >= 1e9:
		return amount(ns/1e9) + " s"
	case ns >= 1e6:
		return amount(ns/1e6) + " ms"
	default:
		return amount(ns/1e3) + " µs"
	}
}

// oneLine replaces control characters, so that text from a server can neither
// break a line nor reach the terminal as a command.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

// count writes a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Grouped(int64(n)) + " " + noun + "s"
}
