package simserver

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// drawProfile draws an engine with every knob turned somewhere.
func drawProfile(t *rapid.T) Profile {
	return Profile{
		Slots:         rapid.IntRange(0, 5).Draw(t, "slots"),
		PrefillBudget: rapid.SampledFrom([]int{0, 1, 7, 64, 8192}).Draw(t, "budget"),
		PrefillRate:   rapid.SampledFrom([]float64{0, 1000}).Draw(t, "rate"),
		Tick:          rapid.SampledFrom([]time.Duration{0, 0, time.Millisecond}).Draw(t, "tick"),
		Jitter:        rapid.SampledFrom([]float64{0, 0.1}).Draw(t, "jitter"),
		Draft:         rapid.IntRange(0, 4).Draw(t, "draft"),
		Acceptance:    rapid.Float64Range(0, 1).Draw(t, "acceptance"),
		StepCurve:     []StepPoint{{1, time.Millisecond}, {4, 2 * time.Millisecond}},
	}
}

// drawJobs draws requests in order of arrival.
func drawJobs(t *rapid.T) []*job {
	jobs := make([]*job, rapid.IntRange(1, 12).Draw(t, "jobs"))
	at := time.Duration(0)
	for i := range jobs {
		at += time.Duration(rapid.IntRange(0, 5).Draw(t, "gap")) * time.Millisecond
		jobs[i] = &job{
			prompt:   rapid.IntRange(1, 40).Draw(t, "prompt"),
			limit:    rapid.IntRange(0, 30).Draw(t, "limit"),
			perEvent: rapid.IntRange(1, 2).Draw(t, "perEvent"),
			arrived:  at,
		}
	}
	return jobs
}

// TestSchedulerProperties: whatever the engine and the arrivals, never more than
// slots run, nobody starts before an earlier arrival, everybody gets exactly
// their tokens, once first and once last, and time only goes forward.
func TestSchedulerProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t)
		jobs := drawJobs(t)
		s := newScheduler(p, rapid.Uint64().Draw(t, "seed"))
		seen := map[*job][]yield{}
		now, pending := time.Duration(0), jobs
		for steps := 0; len(pending) > 0 || s.busy(); steps++ {
			if steps > 10_000 {
				t.Fatalf("no end after %d steps: %d waiting, %d running", steps, len(s.waiting), len(s.running))
			}
			if !s.busy() {
				now = max(now, pending[0].arrived)
			}
			for len(pending) > 0 && pending[0].arrived <= now {
				s.arrive(pending[0], pending[0].arrived)
				pending = pending[1:]
			}
			st := s.begin(now, nil)
			if st.end <= st.start {
				t.Fatalf("step from %v to %v", st.start, st.end)
			}
			if p.Slots > 0 && len(s.running) > p.Slots {
				t.Fatalf("%d running in %d slots", len(s.running), p.Slots)
			}
			for _, y := range st.yields {
				seen[y.job] = append(seen[y.job], y)
			}
			s.finish()
			now = st.end
		}
		checkJobs(t, jobs, seen)
	})
}

func checkJobs(t *rapid.T, jobs []*job, seen map[*job][]yield) {
	for i, j := range jobs {
		total, firsts, lasts := 0, 0, 0
		for k, y := range seen[j] {
			total += y.tokens
			if y.first {
				firsts++
			}
			if y.last {
				lasts++
			}
			if y.first != (k == 0) || y.last != (k == len(seen[j])-1) {
				t.Fatalf("job %d: yield %d of %d is first %v, last %v", i, k+1, len(seen[j]), y.first, y.last)
			}
			if k > 0 && y.at <= seen[j][k-1].at {
				t.Fatalf("job %d: yield %d is due at %v, not after %v", i, k+1, y.at, seen[j][k-1].at)
			}
		}
		if total != j.limit || firsts != 1 || lasts != 1 {
			t.Fatalf("job %d: %d of %d tokens, %d first and %d last yields", i, total, j.limit, firsts, lasts)
		}
		if i > 0 && j.admitted < jobs[i-1].admitted {
			t.Fatalf("job %d admitted at %v, before job %d at %v", i, j.admitted, i-1, jobs[i-1].admitted)
		}
	}
}

// TestPhaserProperties: each stream gets its tokens at arrival + TTFT + k·ITL.
func TestPhaserProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t)
		p.TTFT, p.ITL = 50*time.Millisecond, 10*time.Millisecond
		jobs := drawJobs(t)
		s := newPhaser(p, 1)
		seen := map[*job][]yield{}
		for _, j := range jobs {
			s.arrive(j, j.arrived)
		}
		last := time.Duration(0)
		for {
			due, ok := s.next()
			if !ok {
				break
			}
			if due < last {
				t.Fatalf("due at %v after %v", due, last)
			}
			last = due
			for _, y := range s.pop(due, nil) {
				seen[y.job] = append(seen[y.job], y)
			}
		}
		for i, j := range jobs {
			total := 0
			for k, y := range seen[j] {
				total += y.tokens
				if want := j.arrived + p.TTFT + time.Duration(k)*p.ITL; y.at != want {
					t.Fatalf("job %d: event %d at %v, want %v", i, k+1, y.at, want)
				}
			}
			if total != j.limit {
				t.Fatalf("job %d: %d of %d tokens", i, total, j.limit)
			}
		}
	})
}

// TestSchedulerCancel: a cancelled job frees its slot at the next step.
func TestSchedulerCancel(t *testing.T) {
	t.Parallel()
	s := newScheduler(Profile{Slots: 1, StepCurve: []StepPoint{{1, time.Millisecond}}}, 1)
	a := &job{prompt: 1, limit: 100, perEvent: 1}
	b := &job{prompt: 1, limit: 1, perEvent: 1}
	s.arrive(a, 0)
	s.arrive(b, 0)
	first := s.begin(0, nil)
	s.finish()
	s.cancel(a)
	second := s.begin(first.end, nil)
	if len(second.yields) != 1 || second.yields[0].job != b {
		t.Errorf("got yields %+v, want one for the waiting job", second.yields)
	}
}

// TestTickGrid: with a tick, steps end on its grid whatever the batch.
func TestTickGrid(t *testing.T) {
	t.Parallel()
	const tick = 17 * time.Millisecond
	s := newScheduler(Profile{Tick: tick}, 1)
	for range 300 {
		s.arrive(&job{prompt: 1000, limit: 5, perEvent: 1}, 0)
	}
	now := 40 * time.Millisecond
	for k := 3; s.busy(); k++ {
		st := s.begin(now, nil)
		if want := time.Duration(k) * tick; st.end != want || len(st.yields) != 300 {
			t.Fatalf("got %d yields at %v, want 300 at %v", len(st.yields), st.end, want)
		}
		s.finish()
		now = st.end
	}
}

// TestSpeculation: the dealt tokens meet the published share to within a
// hundredth, and later positions are never accepted more often than earlier ones.
func TestSpeculation(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		draft int
		share float64
	}{{1, 0.5}, {3, 714.0 / 927.0}, {5, 769.0 / 1264.0}, {4, 0}, {4, 1}, {8, 0.1}} {
		t.Run(fmt.Sprintf("draft %d share %.2f", tt.draft, tt.share), func(t *testing.T) {
			t.Parallel()
			s := newScheduler(Profile{Draft: tt.draft, Acceptance: tt.share}, 3)
			perPos := make([]int, tt.draft)
			const n = 20 * deckSize
			for range n {
				for i := range s.spec.draw(s.rng) {
					perPos[i]++
				}
			}
			sum := 0
			for i, k := range perPos {
				sum += k
				if i > 0 && k > perPos[i-1] {
					t.Errorf("position %d accepted %d times, position %d %d", i, k, i-1, perPos[i-1])
				}
			}
			if got := float64(sum) / float64(n*tt.draft); math.Abs(got-tt.share) > 0.01 {
				t.Errorf("accepted share %.4f, want %.4f", got, tt.share)
			}
		})
	}
}

// TestProse: the text is a function of its seed, has one word per token and
// needs no escape in JSON.
func TestProse(t *testing.T) {
	t.Parallel()
	a, b, c := newProse(7), newProse(7), newProse(9)
	one, two, other := a.appendTokens(nil, 200), []byte(nil), c.appendTokens(nil, 200)
	for range 200 {
		before := len(two)
		two = b.appendToken(two)
		if len(two) == before {
			t.Fatal("an empty token")
		}
	}
	if diff := cmp.Diff(string(one), string(two)); diff != "" {
		t.Errorf("same seed, other text (-want +got):\n%s", diff)
	}
	if string(one) == string(other) {
		t.Error("other seed, same text")
	}
	for _, r := range string(one) {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			t.Fatalf("character %q needs an escape", r)
		}
	}
}
