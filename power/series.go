package power

import (
	"fmt"
	"time"
)

// Series is a recording in memory: what the windows are computed from. Build
// one with [NewSeries] and Add, or with a reader. It is not safe for
// concurrent use while it is being filled; afterwards every method is a pure
// read.
type Series struct {
	// Origin is the wall clock at time zero, in UTC.
	Origin time.Time
	// Description is the meter's, as far as the file tells.
	Description Description
	// Cut is set when the file ended in the middle of a row.
	Cut bool

	tracks map[string]*Track
	clocks []Sample
}

// Track holds the samples of one device by kind, in order of time.
type Track struct {
	// Device describes it.
	Device Device

	gauges    []Sample
	counter   []Sample
	ring      []Sample
	activity  []Sample
	processes []Sample
	faults    []Sample
}

// NewSeries returns an empty recording of the devices in desc.
func NewSeries(origin time.Time, desc Description) *Series {
	s := &Series{Origin: origin.Round(0).UTC(), Description: desc, tracks: map[string]*Track{}}
	s.Description.Devices = nil
	for _, d := range desc.Devices {
		s.addDevice(d)
	}
	return s
}

func (s *Series) addDevice(d Device) {
	s.Description.Devices = append(s.Description.Devices, d)
	s.tracks[d.UUID] = &Track{Device: d}
}

// Track returns the samples of a device, or nil when it is not described.
func (s *Series) Track(uuid string) *Track { return s.tracks[uuid] }

// Add appends a sample; it implements [Sink]. A sample of a device that is not
// described, or of an unknown kind, is an error.
func (s *Series) Add(x Sample) error {
	if x.Kind == KindClock {
		s.clocks = append(s.clocks, x)
		return nil
	}
	t := s.tracks[x.GPU]
	if t == nil {
		return fmt.Errorf("sample of gpu %q, which no device row describes", x.GPU)
	}
	switch x.Kind {
	case KindGauge:
		t.gauges = append(t.gauges, x)
	case KindCounter:
		t.counter = append(t.counter, x)
	case KindRing:
		t.ring = append(t.ring, x)
	case KindActivity:
		t.activity = append(t.activity, x)
	case KindProcess:
		t.processes = append(t.processes, x)
	case KindFault:
		t.faults = append(t.faults, x)
	default:
		return fmt.Errorf("sample of unknown kind %q", x.Kind)
	}
	return nil
}

// At converts a wall-clock time to the recording's axis.
func (s *Series) At(wall time.Time) time.Duration { return wall.Sub(s.Origin) }

// Wall converts a time of the recording's axis to wall-clock time, in UTC.
func (s *Series) Wall(at time.Duration) time.Time { return s.Origin.Add(at) }

// Span returns the first and the last time of any sample of a device; ok is
// false for an empty recording.
func (s *Series) Span() (from, to time.Duration, ok bool) {
	for _, t := range s.tracks {
		for _, list := range [][]Sample{t.gauges, t.counter, t.ring, t.activity} {
			if len(list) == 0 {
				continue
			}
			first, last := list[0].Before, list[len(list)-1].After
			if !ok {
				from, to, ok = first, last, true
			}
			from, to = min(from, first), max(to, last)
		}
	}
	return from, to, ok
}

// clockSteps returns the size of the largest change of wall minus monotonic
// clock between neighbouring clock rows that touch [from, to].
func (s *Series) clockSteps(from, to time.Duration) time.Duration {
	var worst time.Duration
	for i := 1; i < len(s.clocks); i++ {
		a, b := s.clocks[i-1], s.clocks[i]
		if b.Before < from || a.Before > to {
			continue
		}
		step := time.Duration(b.Stamp-a.Stamp) - (b.Before - a.Before)
		if step.Abs() > worst.Abs() {
			worst = step
		}
	}
	return worst
}

// UUIDs returns the described devices in order.
func (s *Series) UUIDs() []string {
	ids := make([]string, len(s.Description.Devices))
	for i, d := range s.Description.Devices {
		ids[i] = d.UUID
	}
	return ids
}
