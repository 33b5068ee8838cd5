package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v3"
)

// The values of options. Each parses itself and says in its error what to write
// instead; the library adds the option's name.

// count is a whole number of at least min, up to maxCount; with anyWhole as min
// it is any. A nil *int means not given.
type count struct {
	to  **int
	min int
}

const (
	maxCount = 1_000_000_000 // sums of what is counted stay within an int
	anyWhole = math.MinInt
)

func (c *count) Set(text string) error {
	n, err := strconv.Atoi(text)
	switch {
	case err != nil && c.min == anyWhole:
		return errors.New("not a whole number of 64 bits")
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("not a whole number; write one from %d to %d", c.min, maxCount)
	case n > maxCount && c.min != anyWhole:
		return fmt.Errorf("too large; write a whole number up to %d", maxCount)
	case n < c.min:
		return fmt.Errorf("too small; write a whole number of at least %d", c.min)
	}
	*c.to = &n
	return nil
}

func (c *count) Get() any { return *c.to }

func (c *count) String() string {
	if c.to == nil || *c.to == nil {
		return ""
	}
	return strconv.Itoa(**c.to)
}

// number is a finite number within [low, high].
type number struct {
	to        **float64
	low, high float64
}

func (n *number) Set(text string) error {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Errorf("not a number; write one from %g to %g", n.low, n.high)
	}
	if f < n.low || f > n.high {
		return fmt.Errorf("out of range; write a number from %g to %g", n.low, n.high)
	}
	*n.to = &f
	return nil
}

func (n *number) Get() any { return *n.to }

func (n *number) String() string {
	if n.to == nil || *n.to == nil {
		return ""
	}
	return strconv.FormatFloat(**n.to, 'g', -1, 64)
}

// seconds is a positive time in seconds; fractions are allowed.
type seconds struct{ to *time.Duration }

func (s *seconds) Set(text string) error {
	f, err := strconv.ParseFloat(text, 64)
	d := time.Duration(f * float64(time.Second))
	if err != nil || math.IsNaN(f) || f > 1e6 || d <= 0 {
		return errors.New("not a time in seconds; write a number above 0 and up to 1000000")
	}
	*s.to = d
	return nil
}

func (s *seconds) Get() any { return *s.to }

func (s *seconds) String() string {
	if s.to == nil || *s.to == 0 {
		return ""
	}
	return strconv.FormatFloat(s.to.Seconds(), 'g', -1, 64)
}

// ladder is one or more stream counts, separated by commas.
type ladder struct{ to *[]int }

func (l *ladder) Set(text string) error {
	*l.to = nil
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		switch {
		case err != nil && !errors.Is(err, strconv.ErrRange):
			return fmt.Errorf("%q is not a whole number; write one such as 64, or a ladder such as 1,64,128,256", part)
		case n < 1:
			return fmt.Errorf("%s streams cannot run; write whole numbers from 1 to %d", part, maxStreams)
		case n > maxStreams:
			return fmt.Errorf("%s streams are more than this program opens; write whole numbers up to %d", part, maxStreams)
		}
		for _, old := range *l.to {
			if old == n {
				return fmt.Errorf("%d stands in the ladder twice", n)
			}
		}
		*l.to = append(*l.to, n)
	}
	return nil
}

// maxStreams is bounded by the ports one address has for connections to one
// server address.
const maxStreams = 60000

func (l *ladder) Get() any { return *l.to }

func (l *ladder) String() string {
	if l.to == nil {
		return ""
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(*l.to), " ", ","), "[]")
}

// watts is a list of positive numbers, separated by commas.
type watts struct{ to *[]float64 }

func (w *watts) Set(text string) error {
	*w.to = nil
	for part := range strings.SplitSeq(text, ",") {
		f, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || math.IsNaN(f) || f <= 0 || f > 10000 {
			return fmt.Errorf("%q is not a power; write watts above 0 and up to 10000, one for each GPU, such as 700,698", part)
		}
		*w.to = append(*w.to, f)
	}
	return nil
}

func (w *watts) Get() any { return *w.to }

func (w *watts) String() string {
	if w.to == nil {
		return ""
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(*w.to), " ", ","), "[]")
}

// option builds a flag around a value; names are the option's name and its
// other spellings.
func option(category, usage string, value cli.Value, names ...string) cli.Flag {
	return &cli.GenericFlag{Name: names[0], Aliases: names[1:], Usage: usage, Value: value, Category: category, HideDefault: true}
}

func word(category, usage string, to *string, names ...string) cli.Flag {
	return &cli.StringFlag{Name: names[0], Aliases: names[1:], Usage: usage, Destination: to, Category: category, HideDefault: true}
}

func toggle(category, usage string, to *bool, names ...string) cli.Flag {
	return &cli.BoolFlag{Name: names[0], Aliases: names[1:], Usage: usage, Destination: to, Category: category, HideDefault: true}
}
