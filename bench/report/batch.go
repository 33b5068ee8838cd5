package report

import "lmxbench/stats"

// BatchTokSOut is lmx's rate of one iteration, tokens per second rounded to one
// decimal. ok is false unless every request is ok and its tokens are known.
func BatchTokSOut(p *Plan, requests []Request) (tokSOut float64, ok bool) {
	it := new(iteration)
	requests = plausible(requests, p)
	for i := range requests {
		r := &requests[i]
		if r.Outcome != OutcomeOK {
			return 0, false
		}
		it.lmx = append(it.lmx, lmxStream(r, p))
	}
	a := analysis{Evidence: &Evidence{Plan: *p}}
	if len(it.lmx) == 0 || (p.Concurrency == 1 && len(it.lmx) != 1) {
		return 0, false
	}
	tokSOut, _, ok = a.tokSOut(it)
	return tokSOut, ok
}

// Streams turns the requests of one batch into streams as our own formulas see
// them, token events included; see package stats for what can be asked of them.
// ok is false where a request was not ok: the streams beside it had a faster
// server.
func Streams(lines []Request) (streams []stats.Stream, ok bool) {
	streams = make([]stats.Stream, len(lines))
	for i := range lines {
		if lines[i].Outcome != OutcomeOK {
			return nil, false
		}
		streams[i] = withEvents(ownStream(&lines[i]), lines[i].Events)
	}
	return streams, len(streams) > 0
}
