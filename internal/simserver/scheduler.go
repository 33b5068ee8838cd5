package simserver

import (
	"math"
	"math/rand/v2"
	"time"
)

// job is one request as the scheduler sees it. The first block is set by the
// owner before arrive; the second belongs to the scheduler.
type job struct {
	prompt   int // tokens to prefill, at least 1
	limit    int // tokens to produce in all; 0 ends with the prefill
	perEvent int // tokens per decode step and draft position, normally 1
	stream   *stream

	prefilled int
	produced  int
	arrived   time.Duration
	admitted  time.Duration
	cancelled bool
}

// yield is what one job gets at one moment.
type yield struct {
	job    *job
	at     time.Duration // when it is due, since the server's origin
	tokens int
	// first marks the end of the prefill, last the end of the job.
	first, last bool
	// drafted and accepted count speculation in this step, before the cut at
	// the job's limit, as engines count it.
	drafted, accepted int
}

// step is one turn of the engine. Times are since the server's origin.
type step struct {
	start, end time.Duration
	yields     []yield
	prefill    int // prompt tokens processed
}

// scheduler is continuous batching as a pure function of arrivals and time: no
// clock, no socket, no lock. One goroutine owns it.
//
//	arrive ─► waiting (FIFO) ─► running ≤ slots ─► yields at the end of each step
type scheduler struct {
	profile Profile
	spec    speculation
	rng     *rand.Rand
	waiting []*job
	running []*job
}

func newScheduler(p Profile, seed uint64) *scheduler {
	return &scheduler{
		profile: p,
		spec:    newSpeculation(p.Draft, p.Acceptance),
		rng:     rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)),
	}
}

// arrive queues a job behind all earlier ones.
func (s *scheduler) arrive(j *job, at time.Duration) {
	j.arrived = at
	s.waiting = append(s.waiting, j)
}

// cancel takes a job out at the next step.
func (s *scheduler) cancel(j *job) { j.cancelled = true }

// busy reports whether there is anything to do.
func (s *scheduler) busy() bool { return len(s.waiting)+len(s.running) > 0 }

// begin plans the step that starts now: who takes part, what it processes and
// when it ends. It returns a step without yields if all it did was prefill a
// part of a prompt. The yields are appended to buf[:0].
func (s *scheduler) begin(now time.Duration, buf []yield) step {
	s.drop()
	st := step{start: now, yields: buf[:0]}
	budget := s.profile.PrefillBudget
	if budget == 0 {
		budget = math.MaxInt
	}
	for _, j := range s.running {
		if j.prefilled >= j.prompt {
			budget -= 1 + s.spec.draft
			st.yields = append(st.yields, s.decode(j))
		}
	}
	sequences := len(st.yields)
	for _, j := range s.running {
		if j.prefilled < j.prompt && budget > 0 {
			sequences++
			s.prefill(j, &st, &budget)
		}
	}
	for budget > 0 && s.admit(now) {
		sequences++
		s.prefill(s.running[len(s.running)-1], &st, &budget)
	}
	st.end = s.endOf(now, sequences, st.prefill)
	for i := range st.yields {
		st.yields[i].at = st.end
	}
	return st
}

// finish takes the jobs that end with the current step out of the running set.
func (s *scheduler) finish() {
	kept := s.running[:0]
	for _, j := range s.running {
		if j.prefilled < j.prompt || j.produced < j.limit {
			kept = append(kept, j)
		}
	}
	clear(s.running[len(kept):])
	s.running = kept
}

// admit moves the oldest waiting job into a free slot.
func (s *scheduler) admit(now time.Duration) bool {
	if len(s.waiting) == 0 || s.profile.Slots > 0 && len(s.running) >= s.profile.Slots {
		return false
	}
	j := s.waiting[0]
	s.waiting[0] = nil
	s.waiting = s.waiting[1:]
	j.admitted = now
	s.running = append(s.running, j)
	return true
}

// prefill gives a job as much of the budget as it needs; a prompt that is
// through yields its first token in the same step.
func (s *scheduler) prefill(j *job, st *step, budget *int) {
	chunk := min(j.prompt-j.prefilled, *budget)
	j.prefilled += chunk
	*budget -= chunk
	st.prefill += chunk
	if j.prefilled < j.prompt {
		return
	}
	n := min(j.perEvent, j.limit)
	j.produced = n
	st.yields = append(st.yields, yield{job: j, tokens: n, first: true, last: n >= j.limit})
}

// decode draws the tokens of one running job.
func (s *scheduler) decode(j *job) yield {
	accepted := s.spec.draw(s.rng)
	n := min((1+accepted)*j.perEvent, j.limit-j.produced)
	j.produced += n
	return yield{job: j, tokens: n, last: j.produced >= j.limit, drafted: s.spec.draft, accepted: accepted}
}

// endOf is start + curve(sequences)·jitter + prompt tokens ÷ prefill rate, or
// the next point of the grid.
func (s *scheduler) endOf(start time.Duration, sequences, prefill int) time.Duration {
	p := &s.profile
	if p.Tick > 0 {
		return (start/p.Tick + 1) * p.Tick
	}
	d := float64(p.StepTime(sequences))
	if p.Jitter > 0 {
		d *= 1 + p.Jitter*max(-3, min(3, s.rng.NormFloat64()))
	}
	if p.PrefillRate > 0 {
		d += float64(prefill) / p.PrefillRate * float64(time.Second)
	}
	return start + time.Duration(d)
}

// drop removes cancelled jobs, wherever they are.
func (s *scheduler) drop() {
	s.running = keepLive(s.running)
	s.waiting = keepLive(s.waiting)
}

func keepLive(jobs []*job) []*job {
	kept := jobs[:0]
	for _, j := range jobs {
		if !j.cancelled {
			kept = append(kept, j)
		}
	}
	clear(jobs[len(kept):])
	return kept
}
