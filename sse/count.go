package sse

// maxCount is the largest count that is taken, 2^53: beyond it JSON readers that
// use floating point no longer agree on integers.
const maxCount = 1 << 53

// Optional is a value that may be missing. Missing is not zero.
type Optional[T any] struct {
	// Value is meaningful only when Known.
	Value T
	// Known is false for a value that was missing, null or invalid.
	Known bool
}

// known wraps a value that is there.
func known[T any](v T) Optional[T] { return Optional[T]{Value: v, Known: true} }

// parseCount reads a JSON value, already checked for syntax, as a count: an
// integer from 0 to maxCount in any spelling of JSON ("2", "2.0", "20e-1").
// It is exact: "1.00000000000000000001" is no count.
func parseCount(raw []byte) (n int64, ok bool) {
	// Let the number be ± mantissa · 10^scale with a mantissa that does not end
	// in 0, unless it is 0. It is an integer iff scale ≥ 0.
	var mantissa uint64
	var zeros, scale int // zeros read since the last other digit; power of ten
	fraction := false
	for i, c := range raw {
		switch {
		case c == '-' && i == 0:
		case c == '.':
			fraction = true
		case c == 'e' || c == 'E':
			return scaled(raw[0] == '-', mantissa, scale+zeros+exponent(raw[i+1:]))
		case !isDigit(c):
			return 0, false
		default:
			if fraction {
				scale--
			}
			if c == '0' {
				zeros++
				continue
			}
			for ; zeros > 0 && mantissa <= maxCount; zeros-- {
				mantissa *= 10
			}
			zeros = 0
			if mantissa = mantissa*10 + uint64(c-'0'); mantissa > maxCount {
				return 0, false // too large, or a fraction whatever the exponent
			}
		}
	}
	return scaled(raw[0] == '-', mantissa, scale+zeros)
}

// scaled returns mantissa · 10^scale if it is a count.
func scaled(negative bool, mantissa uint64, scale int) (int64, bool) {
	if mantissa == 0 {
		return 0, true
	}
	if negative || scale < 0 {
		return 0, false
	}
	for ; scale > 0; scale-- {
		if mantissa *= 10; mantissa > maxCount {
			return 0, false
		}
	}
	return int64(mantissa), true
}

// exponent reads the digits of an exponent with its sign. It stops growing far
// beyond anything that digits of a text of MaxEvent bytes could make up for.
func exponent(p []byte) int {
	const enough = 1 << 26
	e := 0
	for _, c := range p {
		if isDigit(c) && e < enough {
			e = e*10 + int(c-'0')
		}
	}
	if p[0] == '-' {
		return -e
	}
	return e
}
