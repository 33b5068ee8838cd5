package calibrate

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"lmxbench/internal/simserver"
)

// Shape says how the tokens of concurrent streams lie in time.
type Shape string

// The shapes.
const (
	// Steps is continuous batching: all streams get a token in one burst.
	Steps Shape = "steps"
	// Phases gives each stream a clock of its own, started by its request.
	Phases Shape = "phases"
)

// phasesTTFT is the time to the first token where streams have their own clocks.
const phasesTTFT = 50 * time.Millisecond

// Load is what a rung asks for: so many streams at once, each of so many token
// events, one event per stream and interval.
type Load struct {
	Streams  int
	Shape    Shape
	Interval time.Duration // between the token events of one stream
	Tokens   int           // token events of each stream in one round
}

// EventsPerSecond is the rate of token events that all streams bring together.
func (l Load) EventsPerSecond() float64 { return float64(l.Streams) / l.Interval.Seconds() }

// span is how long a round takes from the first token to the last, as planned.
func (l Load) span() time.Duration { return time.Duration(l.Tokens-1) * l.Interval }

// String is the load in words: "256 streams × 58.8 tok/s, steps".
func (l Load) String() string {
	return fmt.Sprintf("%s × %s tok/s, %s", counted(l.Streams, "stream"), short(1/l.Interval.Seconds()), l.Shape)
}

// Profile is the engine that carries the load.
func (l Load) Profile() (simserver.Profile, error) {
	p, err := simserver.LookupProfile("fixed")
	if err != nil {
		return p, err
	}
	p.Tick = l.Interval
	if l.Shape == Phases {
		p.Phase, p.Tick = simserver.StreamPhase, 0
		p.TTFT, p.ITL = phasesTTFT, l.Interval
	}
	return p, nil
}

type loadJSON struct {
	Streams    int     `json:"streams"`
	Shape      Shape   `json:"shape"`
	IntervalMs float64 `json:"intervalMs"`
	Tokens     int     `json:"tokens"`
}

// MarshalJSON writes the interval in milliseconds.
func (l Load) MarshalJSON() ([]byte, error) {
	return json.Marshal(loadJSON{l.Streams, l.Shape, float64(l.Interval) / 1e6, l.Tokens})
}

// UnmarshalJSON refuses what no calibration writes.
func (l *Load) UnmarshalJSON(text []byte) error {
	var j loadJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	ns := math.Round(j.IntervalMs * 1e6)
	if j.Streams < 1 || j.Tokens < 1 || ns < 1 || ns > float64(time.Hour) || (j.Shape != Steps && j.Shape != Phases) {
		return fmt.Errorf("no load: %d streams, shape %q, interval %v ms, %d tokens", j.Streams, j.Shape, j.IntervalMs, j.Tokens)
	}
	*l = Load{j.Streams, j.Shape, time.Duration(ns), j.Tokens}
	return nil
}
