package calibrate

import (
	"time"

	"lmxbench/internal/simserver"
	"lmxbench/loadgen"
)

// asked is a request as the client sent it and saw it answered.
type asked struct {
	nonce  string
	record *loadgen.Record
}

// pair is one request seen from both ends, with as many events on one as on the
// other.
type pair struct {
	client *loadgen.Record
	server *simserver.Record
}

// joined is a batch with its truth.
type joined struct {
	pairs []pair
	// lost are the requests without a usable counterpart: not ok at the client,
	// unknown to the server, or with another number of token events.
	lost int
}

// join pairs requests with the server's records by nonce. Records of other
// requests are left alone; a nonce that the server has twice has no counterpart.
func join(requests []asked, records []simserver.Record) joined {
	byNonce := make(map[string]*simserver.Record, len(records))
	for i := range records {
		r := &records[i]
		if _, twice := byNonce[r.Nonce]; twice {
			byNonce[r.Nonce] = nil
			continue
		}
		byNonce[r.Nonce] = r
	}
	var j joined
	for _, q := range requests {
		truth := byNonce[q.nonce]
		if truth == nil || q.nonce == "" || q.record.Outcome != loadgen.OK ||
			len(q.record.Events.At) == 0 || len(q.record.Events.At) != len(truth.Events.Sent) {
			j.lost++
			continue
		}
		j.pairs = append(j.pairs, pair{q.record, truth})
	}
	return j
}

// wall turns a time of the client's, counted from its monotonic origin, into
// Unix ns of the clock the server's times are in.
//
//	unix = origin's wall clock + elapsed + (wall − monotonic since the origin)
//
// The last term is the same for a whole batch unless the clock was set.
type wall struct {
	originUnix int64
	shift      time.Duration
}

func (w wall) unix(at int64) int64 { return w.originUnix + at + int64(w.shift) }

// clockShift is how far the wall clock has moved beyond the monotonic one since
// the origin: the median of a few readings, since the two clocks of one reading
// can be torn apart by a preemption.
func clockShift(origin time.Time) time.Duration {
	var shifts [9]float64
	for i := range shifts {
		t := time.Now()
		shifts[i] = float64(time.Duration(t.UnixNano()-origin.UnixNano()) - t.Sub(origin))
	}
	return time.Duration(median(shifts[:]))
}

// maxClockStep is how far both clocks may part within a batch. They are steered
// together, so that only a clock that was set exceeds it.
const maxClockStep = 50 * time.Microsecond
