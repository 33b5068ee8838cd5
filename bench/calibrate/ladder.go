package calibrate

import (
	"fmt"
	"time"
)

// DefaultStreams are the stream counts of a calibration where none are asked
// for.
func DefaultStreams() []int { return []int{64, 256, 1000, 4000, 10000} }

// DefaultRound is the length of one measurement: long enough for a hundred
// steps of a busy engine.
const DefaultRound = 2 * time.Second

const (
	// fastInterval is the step of a 256-stream batch on one B200; slowInterval
	// is what an engine with thousands of streams does at best.
	fastInterval = 17 * time.Millisecond
	slowInterval = 50 * time.Millisecond
	slowStreams  = 4000

	// eventsPerCore bounds the load per core of the machine. An event costs the
	// client some 10 µs and the engine some 5 µs; above half of a core for both
	// together the engine is late on a machine with anything else to do.
	eventsPerCore = 30_000

	// Memory of one stream, both sides together, generously.
	streamMemory = 192 << 10
	// spareFiles are descriptors beside the streams' own.
	spareFiles = 128
	// minTokens is the least length of a stream that has gaps worth a σ.
	minTokens = 8
)

// Skipped is a stream count that this machine cannot carry.
type Skipped struct {
	Streams int    `json:"streams"`
	Reason  string `json:"reason"`
}

// Ladder plans the loads for the given stream counts, both shapes for each, with
// rounds of about the given length. Where the machine has few cores, intervals
// are stretched so that the engine can hold them. What the limits do not allow
// is skipped.
func Ladder(streams []int, round time.Duration, limits Limits) (loads []Load, skipped []Skipped) {
	for _, n := range streams {
		if reason := limits.refuse(n); reason != "" {
			skipped = append(skipped, Skipped{n, reason})
			continue
		}
		interval := interval(n, limits.Cores)
		tokens := max(minTokens, int(round/interval))
		for _, shape := range []Shape{Steps, Phases} {
			loads = append(loads, Load{Streams: n, Shape: shape, Interval: interval, Tokens: tokens})
		}
	}
	return loads, skipped
}

// At is the load with each stream at so many tokens per second, for a round of
// about the given length. Whether the machine can carry it is not asked: a rung
// whose engine was late is void.
func (l Load) At(tokensPerSecond float64, round time.Duration) Load {
	l.Interval = time.Duration(float64(time.Second) / tokensPerSecond)
	l.Tokens = max(minTokens, int(round/l.Interval))
	return l
}

// interval is the shortest one at which cores can carry so many streams, in
// whole milliseconds.
func interval(streams, cores int) time.Duration {
	least := fastInterval
	if streams >= slowStreams {
		least = slowInterval
	}
	perSecond := eventsPerCore * max(cores, 1)
	needed := time.Duration(streams) * time.Second / time.Duration(perSecond)
	return max(least, (needed + time.Millisecond - 1).Truncate(time.Millisecond))
}

// refuse says why a machine with these limits cannot carry so many streams, ""
// where it can.
func (l Limits) refuse(streams int) string {
	if need := uint64(streams + spareFiles); l.Files > 0 && need > l.Files {
		return fmt.Sprintf("%d open files are needed and the limit is %d: raise it (ulimit -Hn)", need, l.Files)
	}
	if need := uint64(streams) * streamMemory; l.Memory > 0 && need > l.Memory/2 {
		return fmt.Sprintf("%d MiB of memory are needed and %d MiB are free", need>>20, l.Memory>>20)
	}
	return ""
}
