package bench

import "time"

// Observer is told what a run does. Its methods are called from the goroutine
// of Run, never while a timed batch is in flight, except that a Stage may be
// asked for its counts at any time.
type Observer interface {
	// Status takes one of lmx's status events. Fields that are nil or "" are
	// to be left out.
	Status(event string, fields map[string]any)
	// Stage takes the part of the run that begins now.
	Stage(Stage)
	// Note takes one line for a person.
	Note(text string)
}

// Stage is a part of a run that takes time.
type Stage struct {
	Name        string // probe, connect, warm-up, iteration, write
	Rung        int    // concurrency
	Index, Of   int    // batch Index of Of, from 1; 0 where there are no batches
	Streams     int
	Tokens      int // output tokens the batch brings at most
	Started     time.Time
	Counts      func() (tokenEvents, ended int64) // nil where nothing is counted
	BatchesLeft int                               // batches of this kind and later ones still to come, this one included
}

type silent struct{}

func (silent) Status(string, map[string]any) {}
func (silent) Stage(Stage)                   {}
func (silent) Note(string)                   {}
