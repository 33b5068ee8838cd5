package report

import "time"

func clockStep(a *analysis, _ *Document) *Finding {
	steps := 0
	for _, b := range a.batches {
		if b.TimestampSource != "user" {
			steps += b.ClockSteps
		}
	}
	if steps == 0 {
		return nil
	}
	return find(Invalid, "the wall clock was set %s during the timed batches", count(steps, "time"))
}

func clientSaturated(a *analysis, d *Document) *Finding {
	if share := d.Bench.Client.CPUShare; share != nil && *share >= SaturatedShare {
		return find(Invalid, "the client used %s of its %d cores", percent(*share), d.Bench.Client.Cores)
	}
	if a.lag.count > 0 {
		return nil // how late the readers were is known
	}
	for _, b := range a.batches {
		took := b.EndNs - b.StartNs
		if b.StallNs >= int64(SaturatedStall) && float64(b.StallNs) >= SaturatedStallShare*float64(took) {
			return find(Invalid, "the client stood still for %s of the %s of iteration %d",
				span(time.Duration(b.StallNs)), span(time.Duration(took)), b.Iteration)
		}
	}
	return nil
}

func clientLate(a *analysis, d *Document) *Finding {
	if a.readGap <= 0 {
		return nil
	}
	gap := float64(a.readGap)
	if a.lag.count == 0 {
		if stall := d.Bench.Client.StallMs * 1e6; stall > LateStallWarn*gap {
			return find(Warn, "read lag not measured, longest stall %s at a median gap of %s", span(time.Duration(stall)), span(a.readGap))
		}
		return nil
	}
	level := lateLevel(a, gap)
	if level == "" {
		return nil
	}
	return find(level, "reads came %s late (p50), %s (p99), at a median gap of %s, %s stamps",
		span(a.lag.p50), span(a.lag.p99), span(a.readGap), d.Bench.Client.TimestampSource)
}

func lateLevel(a *analysis, gap float64) Level {
	if a.kernelStamped() {
		switch {
		case float64(a.lag.p50) > LateKernelInvalid*gap:
			return Invalid
		case float64(a.lag.p99) > LateKernelWarn*gap:
			return Warn
		}
		return ""
	}
	switch {
	case float64(a.lag.p99) > LateUserInvalid*gap:
		return Invalid
	case float64(a.lag.p99) > LateUserWarn*gap:
		return Warn
	}
	return ""
}

// kernelStamped reports whether practically all stamps are the kernel's. A few
// reads come without one, most often just after stamping was switched on.
func (a *analysis) kernelStamped() bool {
	var reads, unstamped int64
	for _, b := range a.batches {
		if b.TimestampSource == "user" {
			return false
		}
		reads += b.Reads
		unstamped += b.UnstampedReads
	}
	return unstamped*100 <= reads
}

func clientCoalesced(a *analysis, _ *Document) *Finding {
	if a.events == 0 {
		return nil
	}
	share := float64(a.lateMerge) / float64(a.events)
	if share <= CoalescedWarn || a.lateMerge < CoalescedMinEvents {
		return nil
	}
	level := Warn
	if share > CoalescedInvalid {
		level = Invalid
	}
	return find(level, "%s of %s token events were read with an earlier one because the client was late (%s)",
		Grouped(a.lateMerge), Grouped(a.events), percent(share))
}

func cpuSteal(a *analysis, _ *Document) *Finding {
	use := a.processorUse()
	if use.ticks <= 0 || use.steal < StealMinTicks {
		return nil
	}
	share := float64(use.steal) / float64(use.ticks)
	if share <= StealWarn {
		return nil
	}
	level := Warn
	if share > StealInvalid {
		level = Invalid
	}
	return find(level, "the hypervisor took %s of the processor time", percent(share))
}
