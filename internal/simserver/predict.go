package simserver

import (
	"slices"
	"time"
)

// Load is a closed batch: Streams requests at once, each with a prompt of
// PromptTokens and OutputTokens to produce, none refilled.
type Load struct {
	Streams      int
	PromptTokens int
	OutputTokens int
	// Spread is the time over which the requests arrive, evenly; 0 for all at once.
	Spread time.Duration
}

// Prediction is what a perfect client would see. Rates are tokens per second;
// a rate whose window is empty is 0.
type Prediction struct {
	// InterToken is (n − 1)/(last − first) of the first stream.
	InterToken float64
	// ConcurrentRequestWindow is Σn ÷ (latest completion − earliest first token).
	ConcurrentRequestWindow float64
	// BatchWall is Σn ÷ (latest completion − earliest send).
	BatchWall float64
	// TTFT holds the median time from a request's arrival to its first token.
	TTFT time.Duration
	// Wall is latest completion − earliest send.
	Wall time.Duration
	// Drafted and Accepted count speculated tokens.
	Drafted, Accepted int
	// Steps is the number of engine steps.
	Steps int
}

// Predict runs the scheduler of a [StepPhase] profile in simulated time, without
// sockets and without waiting. Equal seeds give equal predictions.
func Predict(p Profile, load Load, seed uint64) Prediction {
	s := newScheduler(p, seed)
	arrivals := make([]*job, load.Streams)
	for i := range arrivals {
		arrivals[i] = &job{
			prompt: load.PromptTokens, limit: load.OutputTokens, perEvent: 1,
			arrived: load.Spread * time.Duration(i) / time.Duration(load.Streams),
		}
	}
	first := make(map[*job]time.Duration, load.Streams)
	last := make(map[*job]time.Duration, load.Streams)
	var (
		out     Prediction
		now     time.Duration
		pending = arrivals
		buf     []yield
	)
	for len(pending) > 0 || s.busy() {
		if !s.busy() {
			now = max(now, pending[0].arrived+p.Gather)
		}
		for len(pending) > 0 && pending[0].arrived <= now {
			s.arrive(pending[0], pending[0].arrived)
			pending = pending[1:]
		}
		st := s.begin(now, buf)
		for _, y := range st.yields {
			if y.first {
				first[y.job] = st.end
			}
			last[y.job] = st.end
			out.Drafted += y.drafted
			out.Accepted += y.accepted
		}
		s.finish()
		now, buf = st.end, st.yields
		out.Steps++
	}
	out.summarise(arrivals, first, last)
	return out
}

func (out *Prediction) summarise(jobs []*job, first, last map[*job]time.Duration) {
	if len(jobs) == 0 {
		return
	}
	ttft := make([]time.Duration, len(jobs))
	total, open := 0, first[jobs[0]]
	for i, j := range jobs {
		ttft[i] = first[j] - j.arrived
		total += j.produced
		open = min(open, first[j])
		out.Wall = max(out.Wall, last[j])
	}
	slices.Sort(ttft)
	out.TTFT = (ttft[(len(ttft)-1)/2] + ttft[len(ttft)/2]) / 2
	j := jobs[0]
	out.InterToken = rate(j.produced-1, last[j]-first[j])
	out.ConcurrentRequestWindow = rate(total, out.Wall-open)
	out.BatchWall = rate(total, out.Wall-jobs[0].arrived)
}

// rate is n per second over d, 0 if d is empty.
func rate(n int, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}
