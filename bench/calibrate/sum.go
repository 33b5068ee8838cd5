package calibrate

import (
	"fmt"
	"math"
	"time"
)

// sift parts the rounds that say something from those that do not. Where none
// does, the rung is void and shows what it saw.
func sift(l Load, rounds []*round) (use []*round, reasons []string, void string) {
	for _, r := range rounds {
		if reason := voidReason(l, r); reason != "" {
			reasons = append(reasons, reason)
			continue
		}
		use = append(use, r)
	}
	if len(use) == 0 {
		return rounds, nil, reasons[0]
	}
	return use, reasons, ""
}

// sumUp makes a rung of its rounds, at least one. Events of all rounds are
// pooled; of what each round has one figure of, the worse counts.
func sumUp(l Load, rounds []*round) Rung {
	out := Rung{Load: l, InFlight: math.MaxInt, LoadHeld: 1}
	rounds, out.VoidRounds, out.Void = sift(l, rounds)
	out.Rounds = len(rounds)
	var s samples
	var cost costs
	for _, r := range rounds {
		s.add(r.pairs, r.wall)
		cost.add(r)
		out.Requests += len(r.batch.Records)
		out.Lost += r.lost
		out.Reads += r.batch.Reads
		out.UnstampedRead += r.batch.Unasked
		out.InFlight = min(out.InFlight, inFlight(r.records))
		out.LoadHeld = min(out.LoadHeld, loadHeld(l, r.records))
		out.Reader, out.Loops = r.batch.Reader, r.batch.Loops
		if out.TimestampSource != "" && out.TimestampSource != r.batch.Source {
			out.TimestampSource = "mixed"
		} else {
			out.TimestampSource = r.batch.Source
		}
		late := tenth(r.stats.StepStart.P99)
		if out.EngineLate == nil || late > *out.EngineLate {
			out.EngineLate = &late
		}
	}
	out.LoadHeld = math.Round(out.LoadHeld*1e4) / 1e4
	out.Events, out.MergedReads = s.events, s.mergedReads
	if s.events > 0 {
		out.MergedShare = math.Round(float64(s.merged)/float64(s.events)*1e6) / 1e6
	}
	out.Kernel, out.User, out.TTFT, out.ITL = spread(s.kernel), spread(s.user), s.ttftError(), s.itlError()
	cost.fill(&out)
	out.Strains = strains(observe(&s, &cost, out.TimestampSource, out.Reads, out.UnstampedRead))
	return out
}

// costs adds up what the client and the floor took.
type costs struct {
	cpu, coreTime, floorCPU  time.Duration
	events                   int
	floorEvents, floorRounds int
	rounds                   int
	memory                   float64 // bytes per stream of the first round
	stall, stallTook         time.Duration
}

func (c *costs) add(r *round) {
	took := r.batch.End - r.batch.Start
	c.cpu += r.batch.CPUUser + r.batch.CPUSys
	c.coreTime += took * time.Duration(cores())
	for _, rec := range r.batch.Records {
		c.events += len(rec.Events.At)
	}
	if c.rounds == 0 && r.grown > 0 {
		// Later rounds find memory that the first one took.
		c.memory = float64(r.grown) / float64(len(r.batch.Records))
	}
	if r.batch.Stall > c.stall || c.rounds == 0 {
		c.stall, c.stallTook = r.batch.Stall, took
	}
	c.rounds++
	if r.floor != nil {
		// Both sides are charged per token event; the floor does not tell those
		// from the others it reads, but it asked for as many.
		c.floorCPU += r.floor.CPU
		c.floorEvents += r.floorTokens
		c.floorRounds++
	}
}

func (c *costs) fill(out *Rung) {
	if c.events > 0 && c.cpu > 0 {
		per := c.cpu.Seconds() * 1e6 / float64(c.events)
		share := c.cpu.Seconds() / c.coreTime.Seconds()
		out.CPUPerEvent, out.CPUShare = pointer(hundredth(per)), pointer(math.Round(share*1e4)/1e4)
		if c.floorRounds == c.rounds && c.floorEvents > 0 && c.floorCPU > 0 {
			floor := c.floorCPU.Seconds() * 1e6 / float64(c.floorEvents)
			out.FloorPerEvent, out.FloorRatio = pointer(hundredth(floor)), pointer(hundredth(per/floor))
		}
	}
	if c.memory > 0 {
		out.StreamMemory = pointer(math.Round(c.memory))
	}
}

func observe(s *samples, c *costs, source string, reads, unstamped int64) observed {
	o := observed{
		// As package report decides it: a few reads without a stamp are no change of source.
		kernelStamps: source != "user" && unstamped*100 <= reads,
		readGap:      s.readGap(), lateMerged: s.lateMerged, events: s.events,
		stall: c.stall, took: c.stallTook,
	}
	o.lagP99, o.hasLag = s.lagQuantile(0.99)
	if c.coreTime > 0 {
		o.cpuShare = c.cpu.Seconds() / c.coreTime.Seconds()
	}
	return o
}

// EngineLateShare of the interval is how late the p99 of the engine's bursts may
// begin. The send times stay true beyond it, but the load is then no longer the
// one that was asked for.
const EngineLateShare = 0.25

// voidReason says why a round says nothing about the client, "" for a sound one.
func voidReason(l Load, r *round) string {
	limit := time.Duration(EngineLateShare * float64(l.Interval))
	late := time.Duration(r.stats.StepStart.P99 * 1e3)
	switch {
	case r.stepped:
		return "the wall clock was set while the round ran"
	case r.stats.RecordsDropped > 0:
		return fmt.Sprintf("the engine lost %s of its own books", counted(r.stats.RecordsDropped, "request"))
	case r.stats.StepStart.Count == 0:
		return "the engine sent nothing"
	case r.stats.Reanchored > 0:
		return fmt.Sprintf("the engine was late: it gave up its schedule %s", counted(int(r.stats.Reanchored), "time"))
	case late > limit:
		return fmt.Sprintf("the engine was late: its bursts began up to %s behind plan (p99), allowed are %s", brief(late), brief(limit))
	case len(r.pairs) == 0:
		return fmt.Sprintf("none of %s can be compared with the engine's books", counted(len(r.batch.Records), "request"))
	}
	return ""
}

func pointer(x float64) *float64 { return &x }

func hundredth(x float64) float64 { return math.Round(x*100) / 100 }
