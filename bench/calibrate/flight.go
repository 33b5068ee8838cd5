package calibrate

import (
	"cmp"
	"slices"

	"lmxbench/internal/simserver"
)

// inFlight is the most streams that were open at the engine at one moment, from
// the arrival of a request to its last send.
func inFlight(records []simserver.Record) int {
	type edge struct {
		at   int64
		step int
	}
	edges := make([]edge, 0, 2*len(records))
	for i := range records {
		r := &records[i]
		if r.Recv == 0 || r.Finish == 0 {
			continue
		}
		edges = append(edges, edge{r.Recv, 1}, edge{r.Finish, -1})
	}
	// A stream that ends as another arrives was not beside it.
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.step, b.step)) })
	open, most := 0, 0
	for _, e := range edges {
		open += e.step
		most = max(most, open)
	}
	return most
}

// loadHeld is the share of the asked load that the engine really carried: the
// planned time from first to last token ÷ the true time from the first send of
// any stream to the last of any. Requests that leave one after the other and an
// engine that falls behind both lower it. 0 without events.
func loadHeld(l Load, records []simserver.Record) float64 {
	var first, last int64
	for i := range records {
		sent := records[i].Events.Sent
		if len(sent) == 0 {
			continue
		}
		if first == 0 || sent[0] < first {
			first = sent[0]
		}
		last = max(last, sent[len(sent)-1])
	}
	if last <= first {
		return 0
	}
	return min(1, float64(l.span())/float64(last-first))
}
