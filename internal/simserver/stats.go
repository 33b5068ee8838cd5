package simserver

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Lateness is a distribution of times in microseconds. Count 0 means nothing
// was observed and the rest is 0.
type Lateness struct {
	Count int64   `json:"count"`
	P50   float64 `json:"p50_us"`
	P99   float64 `json:"p99_us"`
	Max   float64 `json:"max_us"`
}

// Stats is the server's account of itself since its start or the last reset.
type Stats struct {
	// Steps counts engine steps, or wake-ups where each stream has its own phase.
	// Events counts server-sent events, Tokens the tokens in them, Writes the
	// system calls for streams without a fault.
	Steps  int64 `json:"steps"`
	Events int64 `json:"events"`
	Tokens int64 `json:"tokens"`
	Writes int64 `json:"writes"`
	// Requests counts accepted requests, Aborted those whose client left.
	Requests int64 `json:"requests"`
	Aborted  int64 `json:"aborted"`
	// StepStart is how late the first write of a step began, StepEnd how late
	// its last write was over, Event how late each stream's write began, all
	// against the plan. StepEnd includes the time the burst itself takes.
	StepStart Lateness `json:"step_start_lateness"`
	StepEnd   Lateness `json:"step_end_lateness"`
	Event     Lateness `json:"event_lateness"`
	// Reanchored counts the times the engine gave up on its schedule.
	Reanchored int64 `json:"reanchored"`
	// QueuedWrites counts writes that met a full socket buffer, Overruns the
	// readers cut off for keeping too much of it.
	QueuedWrites int64 `json:"queued_writes"`
	Overruns     int64 `json:"overruns"`
	// MaxInFlight is the most requests ever open at once, MaxRunning the most
	// that were in the batch.
	MaxInFlight int64 `json:"max_in_flight"`
	MaxRunning  int64 `json:"max_running"`
	// Connections counts accepted connections.
	Connections int64 `json:"connections"`
	// KernelStamps and UserStamps count the sources of request arrival times.
	KernelStamps int64 `json:"kernel_stamps"`
	UserStamps   int64 `json:"user_stamps"`
	// CPUSeconds is user and system time of the process since the reset;
	// WriterCPUSeconds that of the writing threads, sampled at the end of a burst.
	CPUSeconds       float64 `json:"cpu_seconds"`
	WriterCPUSeconds float64 `json:"writer_cpu_seconds"`
	// RecordsDropped counts records forgotten to stay within the bound.
	RecordsDropped int `json:"records_dropped"`
	// Profile and Simulated say what this is.
	Profile   string `json:"profile"`
	Simulated bool   `json:"simulated"`
}

// counters are the parts of Stats that any goroutine adds to.
type counters struct {
	requests, aborted, reanchored     atomic.Int64
	queued, overruns                  atomic.Int64
	inFlight, maxInFlight, maxRunning atomic.Int64
	connections, kernel, user         atomic.Int64
	steps                             atomic.Int64
	cpuAtReset                        atomic.Int64
}

func (c *counters) stepCount() int64 { return c.steps.Load() }

// open books a new request and returns its ordinal.
func (c *counters) open() int {
	raise(&c.maxInFlight, c.inFlight.Add(1))
	return int(c.requests.Add(1))
}

func raise(to *atomic.Int64, v int64) {
	for {
		old := to.Load()
		if v <= old || to.CompareAndSwap(old, v) {
			return
		}
	}
}

func (c *counters) reset() {
	for _, v := range []*atomic.Int64{
		&c.requests, &c.aborted, &c.reanchored, &c.queued, &c.overruns, &c.maxRunning,
		&c.connections, &c.kernel, &c.user, &c.steps,
	} {
		v.Store(0)
	}
	c.maxInFlight.Store(c.inFlight.Load())
	c.cpuAtReset.Store(int64(processCPU()))
}

// timing is one writer's account; the writer holds its lock during a burst.
type timing struct {
	mu                     sync.Mutex
	start, end, event      *hdrhistogram.Histogram
	events, tokens, writes int64
	cpu, cpuAtReset        time.Duration
	bursts                 int
}

// Lateness is kept in ns up to a minute at three digits.
const maxLateness = time.Minute

func newTiming() *timing {
	h := func() *hdrhistogram.Histogram { return hdrhistogram.New(1, int64(maxLateness), 3) }
	return &timing{start: h(), end: h(), event: h()}
}

// late records how far a moment lay behind its plan; early counts as on time.
func late(h *hdrhistogram.Histogram, d time.Duration) {
	_ = h.RecordValue(int64(min(max(d, 0), maxLateness)))
}

// sampleCPU reads the thread's CPU time after a burst of that many streams; after
// small ones only now and then, since the call costs a tenth of a write.
func (t *timing) sampleCPU(streams int) {
	if t.bursts++; streams >= 16 || t.bursts%16 == 1 {
		t.cpu = threadCPU()
	}
}

func (t *timing) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.start.Reset()
	t.end.Reset()
	t.event.Reset()
	t.events, t.tokens, t.writes = 0, 0, 0
	t.cpuAtReset = t.cpu
}

// Stats returns the server's account of itself. It waits for a burst in
// progress.
func (s *Server) Stats() Stats {
	c := s.stats
	_, dropped := s.records.snapshot()
	out := Stats{
		Requests: c.requests.Load(), Aborted: c.aborted.Load(), Steps: c.steps.Load(),
		Reanchored: c.reanchored.Load(), QueuedWrites: c.queued.Load(), Overruns: c.overruns.Load(),
		MaxInFlight: c.maxInFlight.Load(), MaxRunning: c.maxRunning.Load(),
		Connections: c.connections.Load(), KernelStamps: c.kernel.Load(), UserStamps: c.user.Load(),
		CPUSeconds:     (processCPU() - time.Duration(c.cpuAtReset.Load())).Seconds(),
		RecordsDropped: dropped, Profile: s.cfg.Profile.Name, Simulated: true,
	}
	sum := newTiming()
	for _, w := range s.writers {
		w.timing.mu.Lock()
		sum.start.Merge(w.timing.start)
		sum.end.Merge(w.timing.end)
		sum.event.Merge(w.timing.event)
		out.Events += w.timing.events
		out.Tokens += w.timing.tokens
		out.Writes += w.timing.writes
		out.WriterCPUSeconds += (w.timing.cpu - w.timing.cpuAtReset).Seconds()
		w.timing.mu.Unlock()
	}
	out.StepStart, out.StepEnd, out.Event = lateness(sum.start), lateness(sum.end), lateness(sum.event)
	return out
}

func lateness(h *hdrhistogram.Histogram) Lateness {
	if h.TotalCount() == 0 {
		return Lateness{}
	}
	us := func(ns int64) float64 { return float64(ns) / 1e3 }
	return Lateness{
		Count: h.TotalCount(), P50: us(h.ValueAtQuantile(50)), P99: us(h.ValueAtQuantile(99)), Max: us(h.Max()),
	}
}
