package simserver

import (
	"container/heap"
	"math/rand/v2"
	"time"
)

// phaser is the other clock: each stream has its own phase, first token TTFT
// after its arrival and then one event every ITL. Like the scheduler it is pure
// and owned by one goroutine.
type phaser struct {
	profile Profile
	spec    speculation
	rng     *rand.Rand
	queue   phaseQueue
}

func newPhaser(p Profile, seed uint64) *phaser {
	return &phaser{
		profile: p,
		spec:    newSpeculation(p.Draft, p.Acceptance),
		rng:     rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)),
	}
}

// arrive starts a job; its first token is due TTFT after the arrival.
func (s *phaser) arrive(j *job, at time.Duration) {
	j.arrived, j.admitted = at, at
	heap.Push(&s.queue, phased{at + s.profile.TTFT, j})
}

// cancel takes a job out when its turn comes.
func (s *phaser) cancel(j *job) { j.cancelled = true }

// next is the moment of the earliest yield; false if there is none.
func (s *phaser) next() (time.Duration, bool) {
	for len(s.queue) > 0 && s.queue[0].job.cancelled {
		heap.Pop(&s.queue)
	}
	if len(s.queue) == 0 {
		return 0, false
	}
	return s.queue[0].due, true
}

// pop appends all yields due by now, in order, to buf[:0].
func (s *phaser) pop(now time.Duration, buf []yield) []yield {
	buf = buf[:0]
	for {
		due, ok := s.next()
		if !ok || due > now {
			return buf
		}
		y := s.yield(s.queue[0].job, due)
		buf = append(buf, y)
		if y.last {
			heap.Pop(&s.queue)
			continue
		}
		// The next event follows the plan, not the present; only a phase that is
		// hopelessly late is moved.
		following := due + s.profile.ITL
		if now-following > reanchor {
			following = now
		}
		s.queue[0].due = following
		heap.Fix(&s.queue, 0)
	}
}

func (s *phaser) yield(j *job, at time.Duration) yield {
	y := yield{job: j, at: at, first: j.prefilled < j.prompt}
	n := j.perEvent
	if !y.first {
		y.drafted, y.accepted = s.spec.draft, s.spec.draw(s.rng)
		n *= 1 + y.accepted
	}
	j.prefilled = j.prompt
	y.tokens = min(n, j.limit-j.produced)
	j.produced += y.tokens
	y.last = j.produced >= j.limit
	return y
}

// running is the number of streams.
func (s *phaser) running() int { return len(s.queue) }

type phased struct {
	due time.Duration
	job *job
}

// phaseQueue is a heap by due time.
type phaseQueue []phased

func (q phaseQueue) Len() int           { return len(q) }
func (q phaseQueue) Less(i, j int) bool { return q[i].due < q[j].due }
func (q phaseQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *phaseQueue) Push(x any)        { *q = append(*q, x.(phased)) }
func (q *phaseQueue) Pop() any {
	old := *q
	x := old[len(old)-1]
	old[len(old)-1] = phased{}
	*q = old[:len(old)-1]
	return x
}
