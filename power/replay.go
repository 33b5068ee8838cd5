package power

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// replay plays a recording back as if it happened now.
type replay struct {
	clock Clock
	shift time.Duration // from the recording's axis to the clock's
	desc  Description

	mu   sync.Mutex
	todo [][]Sample // per device, in order of time
	told []bool     // per device: the end was reported
}

// NewReplay returns a meter that plays a recording back in real time, from its
// first sample on: [ClassRing] drains what is due by now. What it reads keeps
// the values and the spacing of the recording; wall-clock stamps are dropped,
// since they would contradict the new ones.
func NewReplay(s *Series, clock Clock) Meter {
	m := &replay{clock: clock, desc: s.Description}
	m.desc.Devices = slices.Clone(s.Description.Devices)
	from, _, _ := s.Span()
	m.shift = clock.Now() - from
	for i, d := range m.desc.Devices {
		t := s.tracks[d.UUID]
		all := slices.Concat(t.gauges, t.counter, t.ring, t.activity, t.processes, t.faults)
		slices.SortStableFunc(all, func(a, b Sample) int { return cmp.Compare(a.After, b.After) })
		m.todo = append(m.todo, all)
		m.desc.Devices[i].Classes = []Class{ClassRing}
	}
	m.told = make([]bool, len(m.todo))
	return m
}

// Describe implements [Meter].
func (m *replay) Describe() Description { return m.desc }

// Read implements [Meter]. After the last sample it reports the end once.
func (m *replay) Read(_ context.Context, class Class, device int) []Sample {
	if class != ClassRing || device < 0 || device >= len(m.todo) {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.clock.Now()
	list := m.todo[device]
	due := 0
	for due < len(list) && list[due].After+m.shift <= now {
		due++
	}
	m.todo[device] = list[due:]
	out := slices.Clone(list[:due])
	for i := range out {
		out[i].Before += m.shift
		out[i].After += m.shift
		out[i].Stamp = 0
	}
	if len(m.todo[device]) == 0 && !m.told[device] {
		m.told[device] = true
		end := Sample{Kind: KindFault, GPU: m.desc.Devices[device].UUID, Before: now, After: now, Note: "the replayed recording is at its end"}
		end.miss(AnySignal, SourceEnded)
		out = append(out, end)
	}
	return out
}

// Close implements [Meter].
func (m *replay) Close() error { return nil }
