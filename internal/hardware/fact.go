package hardware

import "strings"

// Origin says how a value is known.
type Origin string

// The origins.
const (
	Measured Origin = "measured" // read on this machine
	Declared Origin = "declared" // said by the user
	Unknown  Origin = "unknown"  // neither
)

// Fact is one value with where it is from. An unknown value is nil, never zero.
type Fact struct {
	// Value is a string, a float64, an int or a bool; nil when unknown.
	Value any `json:"value"`
	// Unit is the unit of a number, "" for a plain count or a text.
	Unit string `json:"unit,omitempty"`
	// Origin says how the value is known.
	Origin Origin `json:"origin"`
	// Source is the file or program, or why there is no value.
	Source string `json:"source,omitempty"`
}

func measured(v any, unit, source string) Fact {
	return Fact{Value: v, Unit: unit, Origin: Measured, Source: source}
}

func declared(v any, unit string) Fact {
	return Fact{Value: v, Unit: unit, Origin: Declared, Source: "given by the user"}
}

func unknown(why string) Fact { return Fact{Origin: Unknown, Source: why} }

// text is a measured text, or unknown when it is empty.
func text(v, source string) Fact {
	if v = strings.TrimSpace(v); v == "" {
		return unknown(source + " does not say")
	}
	return measured(v, "", source)
}
