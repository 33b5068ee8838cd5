package power

// Joules is an amount of energy.
type Joules float64

// Watts is a power.
type Watts float64

// What sensors speak, per unit. Integers are divided by these, never multiplied
// by the inverse: the quotient is the nearest double and prints as it was read.
const (
	milli = 1e3 // thousandths per unit
	micro = 1e6
	one   = 1
	mebi  = 1 << 20 // bytes per MiB
)

// ptr returns a pointer to a copy of v: results mark a missing value by nil.
func ptr[T any](v T) *T { return &v }
