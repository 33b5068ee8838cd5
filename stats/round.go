package stats

import "math"

// Round1 rounds to one decimal, halves away from zero, as lmx rounds rates of
// single requests and batches.
func Round1(x float64) float64 { return math.Round(x*10) / 10 }

// Round2 rounds to two decimals, halves away from zero, as lmx rounds
// summaries. A decimal half that binary floating point cannot hold (1.005 is
// stored slightly below) follows its stored value.
func Round2(x float64) float64 { return math.Round(x*100) / 100 }
