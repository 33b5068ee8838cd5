package power

import "context"

// Class is a group of signals that are read together, at one cadence.
type Class string

// The classes.
const (
	// ClassGauges reads power, clocks, memory and temperature: microseconds.
	ClassGauges Class = "gauges"
	// ClassCounter reads the energy counter: milliseconds, at times hundreds.
	ClassCounter Class = "counter"
	// ClassRing drains what the source collected by itself since the last call.
	ClassRing Class = "ring"
	// ClassActivity reads means since the last call, such as DRAM traffic.
	ClassActivity Class = "activity"
	// ClassProcesses lists processes and checks that the device is the same.
	ClassProcesses Class = "processes"
)

// Meter reads the sensors of a machine.
//
// Read returns the samples of one class of one device, in order of time; an
// error is a sample with [Missing] entries, so that it reaches the recording.
// It returns nil for a class the device does not offer and when there is
// nothing new. Read may be called from several goroutines, at most one per
// device and class. After Close it returns nothing.
//
// Close stops what the meter started and waits for it, for a bounded time.
type Meter interface {
	Describe() Description
	Read(ctx context.Context, class Class, device int) []Sample
	Close() error
}

// combined joins meters whose devices are numbered one after the other.
type combined struct {
	meters []Meter
	desc   Description
	owner  []int // meter of a device
	local  []int // its number there
}

// Combine returns one meter over the devices of all: a GPU's counter and the
// CPU package's, say. It owns the meters given: Close closes them all. Source
// and version are the first meter's; each device keeps its own source.
func Combine(meters ...Meter) Meter {
	c := &combined{meters: meters}
	for i, m := range meters {
		d := m.Describe()
		if i == 0 {
			c.desc.Source, c.desc.Version = d.Source, d.Version
		}
		c.desc.Skipped = append(c.desc.Skipped, d.Skipped...)
		for j, dev := range d.Devices {
			c.desc.Devices = append(c.desc.Devices, dev)
			c.owner = append(c.owner, i)
			c.local = append(c.local, j)
		}
	}
	return c
}

func (c *combined) Describe() Description { return c.desc }

func (c *combined) Read(ctx context.Context, class Class, device int) []Sample {
	if device < 0 || device >= len(c.owner) {
		return nil
	}
	return c.meters[c.owner[device]].Read(ctx, class, c.local[device])
}

func (c *combined) Close() error {
	var first error
	for _, m := range c.meters {
		if err := m.Close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}
