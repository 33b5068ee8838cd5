package calibrate

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// What a rung must hold to be trusted, beside tripping no threshold of the
// verdict and losing no request.
const (
	// TrustStampShare of the interval is how far stamps may lie from the truth
	// (p99): more shows in the tail of the ITL.
	TrustStampShare = 0.05
	// TrustMergedShare of the events may bear the stamp of a later one.
	TrustMergedShare = 0.005
)

// doubt says why a rung's numbers are not to be trusted, "" where they are. A
// void rung is neither.
func (r *Rung) doubt() string {
	share := func(x float64) string { return short(100*x) + " %" }
	if r.Lost > 0 {
		return fmt.Sprintf("%s of %d failed or do not match the engine's books", counted(r.Lost, "request"), r.Requests)
	}
	if s := r.nearest(); s.Of >= 1 {
		return fmt.Sprintf("%s trips (%s × its threshold)", s.Code, short(s.Of))
	}
	if r.MergedShare > TrustMergedShare {
		return fmt.Sprintf("%s of the events were read together with a later one", share(r.MergedShare))
	}
	stamp := r.stamp()
	if stamp == nil {
		return "no event has a stamp"
	}
	if limit := TrustStampShare * float64(r.Load.Interval) / 1e3; stamp.P99 > limit {
		return fmt.Sprintf("stamps are %s late (p99), %s of the interval", span(stamp.P99), share(stamp.P99*1e3/float64(r.Load.Interval)))
	}
	return ""
}

// stamp is the error of the stamps that the client reports: the kernel's where
// it stamps, else the time after the read.
func (r *Rung) stamp() *Spread {
	if r.TimestampSource == "user" || r.Kernel == nil {
		return r.User
	}
	return r.Kernel
}

// Trust is what the rungs say together.
type Trust struct {
	// Streams is the largest stream count up to which every rung that was not
	// void can be trusted, EventsPerSecond the rate of the fastest rung there.
	// 0: none can.
	Streams         int     `json:"streams"`
	EventsPerSecond float64 `json:"eventsPerSecond"`
	// First is the verdict code that trips first beyond it, or comes nearest.
	First Strain `json:"first"`
	// Sentence says it in words.
	Sentence string `json:"sentence"`
}

// trust judges rungs in any order.
func trust(rungs []Rung) Trust {
	sorted := slices.Clone(rungs)
	slices.SortStableFunc(sorted, func(a, b Rung) int { return a.Load.Streams - b.Load.Streams })
	var good []*Rung // sound and trusted, up to the first doubt
	var bad *Rung    // the first that is not to be trusted
	var void *Rung   // the first void one beyond the last good one
	for i := range sorted {
		r := &sorted[i]
		switch {
		case r.Void != "":
			if void == nil {
				void = r
			}
		case r.doubt() != "":
			if bad == nil {
				bad = r
			}
		case bad == nil:
			good, void = append(good, r), nil
		}
	}
	if bad != nil {
		// Steps and phases of one stream count stand or fall together.
		good = slices.DeleteFunc(good, func(r *Rung) bool { return r.Load.Streams >= bad.Load.Streams })
	}
	t := Trust{}
	for _, r := range good {
		t.Streams = max(t.Streams, r.Load.Streams)
		t.EventsPerSecond = max(t.EventsPerSecond, r.Load.EventsPerSecond())
	}
	t.First = first(good, bad)
	t.Sentence = sentence(t, good, bad, void)
	return t
}

// first is the strain that trips in the first rung that is not to be trusted,
// else the largest seen.
func first(good []*Rung, bad *Rung) Strain {
	if bad != nil && bad.nearest().Of >= 1 {
		return bad.nearest()
	}
	var most Strain
	for _, r := range good {
		if s := r.nearest(); s.Of > most.Of || most.Code == "" {
			most = s
		}
	}
	if bad != nil {
		if s := bad.nearest(); s.Of > most.Of {
			most = s
		}
	}
	return most
}

// sentence puts it in words: up to what load, how well, and what breaks first.
func sentence(t Trust, good []*Rung, bad, void *Rung) string {
	if len(good) == 0 {
		switch {
		case bad != nil:
			return fmt.Sprintf("No load tried here can be trusted: at %s, %s.", bad.Load, bad.doubt())
		case void != nil:
			return fmt.Sprintf("Nothing can be said about this machine: at %s, %s.", void.Load, void.Void)
		}
		return "Nothing was measured."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Up to %s and %s token events/s this machine's numbers can be trusted", counted(t.Streams, "stream"), grouped(int(t.EventsPerSecond)))
	if bad == nil && void == nil {
		b.Reset()
		fmt.Fprintf(&b, "Up to at least %s and %s token events/s, all that was tried, this machine's numbers can be trusted", counted(t.Streams, "stream"), grouped(int(t.EventsPerSecond)))
	}
	fmt.Fprintf(&b, ", with time stamps within %s (p99)", span(worst(good)))
	switch {
	case bad != nil && bad.nearest().Of >= 1:
		fmt.Fprintf(&b, "; beyond, %s trips first (%s × its threshold at %s).", t.First.Code, short(t.First.Of), bad.Load)
	case bad != nil:
		fmt.Fprintf(&b, "; at %s, %s, while no verdict code trips (nearest is %s at %s × its threshold).", bad.Load, bad.doubt(), t.First.Code, short(t.First.Of))
	case void != nil:
		what := "heavier rungs are void"
		if void.Load.Streams <= t.Streams { // the other shape of the same stream count
			what = void.Load.String() + " is void"
		}
		fmt.Fprintf(&b, "; %s, since %s; %s comes nearest to its threshold so far (%s ×).", what, void.Void, t.First.Code, short(t.First.Of))
	default:
		fmt.Fprintf(&b, "; %s comes nearest to its threshold (%s ×).", t.First.Code, short(t.First.Of))
	}
	return b.String()
}

// worst is the largest p99 of the stamp errors, in µs.
func worst(rungs []*Rung) float64 {
	most := 0.0
	for _, r := range rungs {
		most = max(most, r.stamp().P99)
	}
	return most
}

// span writes µs for people.
func span(us float64) string { return brief(time.Duration(us * 1e3)) }
