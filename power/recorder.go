package power

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// RecorderConfig sets the cadences of a recording. The zero value of each
// field means the default given beside it.
type RecorderConfig struct {
	// Clock must be the meter's. Required.
	Clock Clock
	// GaugePeriod is between readings of the gauges: 50 ms.
	GaugePeriod time.Duration
	// RingPeriod is between drains of the ring buffer, which must be shorter
	// than the buffer is deep (2.4 s on an H200): 1.5 s.
	RingPeriod time.Duration
	// ActivityPeriod is between readings of the activity: 250 ms.
	ActivityPeriod time.Duration
	// CounterPeriod is between readings of the energy counter away from the
	// edges of a window: 1 s.
	CounterPeriod time.Duration
	// ProcessPeriod is between lists of processes: 1 s.
	ProcessPeriod time.Duration
	// EdgeHalfWidth is how long before and after a mark the counter is read
	// back to back, to catch a tick on both sides: 120 ms.
	EdgeHalfWidth time.Duration
	// EdgePause is the pause between two such readings, on top of the call's
	// own time: 1 ms.
	EdgePause time.Duration
	// ClockPeriod is between pairs of monotonic and wall clock, and between
	// flushes of the sink: 1 s.
	ClockPeriod time.Duration
	// StopTimeout bounds the wait for calls in the driver: 5 s.
	StopTimeout time.Duration
}

func (c *RecorderConfig) defaults() {
	set := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	set(&c.GaugePeriod, 50*time.Millisecond)
	set(&c.RingPeriod, 1500*time.Millisecond)
	set(&c.ActivityPeriod, 250*time.Millisecond)
	set(&c.CounterPeriod, time.Second)
	set(&c.ProcessPeriod, time.Second)
	set(&c.EdgeHalfWidth, 120*time.Millisecond)
	set(&c.EdgePause, time.Millisecond)
	set(&c.ClockPeriod, time.Second)
	set(&c.StopTimeout, 5*time.Second)
}

// Recorder streams a meter's readings into a sink: one goroutine per device
// and class from Start to Stop, nothing kept in memory. It owns neither meter
// nor sink.
//
// Start it at least 3 s before the first window and stop it 2 s after the
// last, so that both ends of every window are bracketed and the trailing mean
// has a past.
type Recorder struct {
	cfg    RecorderConfig
	meter  Meter
	sink   Sink
	cancel context.CancelFunc
	done   chan struct{} // closed when every goroutine has ended
	edges  []*edges      // one per counter

	mu     sync.Mutex
	err    error
	active map[string]bool // goroutines still running, by name
	stop   error
	once   sync.Once
}

// Start begins to record. ctx ends the recording like Stop does, without
// waiting.
func Start(ctx context.Context, meter Meter, sink Sink, cfg RecorderConfig) *Recorder {
	cfg.defaults()
	ctx, cancel := context.WithCancel(ctx)
	r := &Recorder{cfg: cfg, meter: meter, sink: sink, cancel: cancel, done: make(chan struct{}), active: map[string]bool{}}
	var running sync.WaitGroup
	launch := func(name string, f func(context.Context)) {
		r.active[name] = true
		running.Go(func() {
			f(ctx)
			r.mu.Lock()
			delete(r.active, name)
			r.mu.Unlock()
		})
	}
	r.mu.Lock() // until all are launched
	launch("clock", r.clock)
	for i, d := range meter.Describe().Devices {
		for _, class := range d.Classes {
			name := fmt.Sprintf("%s of %s", class, d.UUID)
			if class == ClassCounter {
				e := newEdges(cfg.EdgeHalfWidth)
				r.edges = append(r.edges, e)
				launch(name, func(ctx context.Context) { r.count(ctx, i, e, d.ReadPeriod) })
				continue
			}
			launch(name, func(ctx context.Context) { r.sample(ctx, class, i, max(r.period(class), d.ReadPeriod)) })
		}
	}
	r.mu.Unlock()
	go func() {
		running.Wait()
		close(r.done)
	}()
	return r
}

// period returns a class's cadence.
func (r *Recorder) period(class Class) time.Duration {
	switch class {
	case ClassGauges:
		return r.cfg.GaugePeriod
	case ClassActivity:
		return r.cfg.ActivityPeriod
	case ClassProcesses:
		return r.cfg.ProcessPeriod
	default:
		return r.cfg.RingPeriod
	}
}

// lostPeriod is the cadence at which a device that stopped answering is asked
// again.
const lostPeriod = time.Second

// sample reads one class of one device at its cadence. The last reading is
// taken after the end, so that a window that ends with the recording is
// bracketed.
func (r *Recorder) sample(ctx context.Context, class Class, device int, period time.Duration) {
	last := context.WithoutCancel(ctx)
	next := r.cfg.Clock.Now()
	for {
		list := r.meter.Read(last, class, device)
		r.write(list)
		if ctx.Err() != nil {
			return
		}
		step := period
		if silent(list) {
			step = max(period, lostPeriod)
		}
		next = r.schedule(next, step)
		r.wait(ctx, next-r.cfg.Clock.Now(), nil)
	}
}

// silent reports that a reading carried nothing but reasons.
func silent(list []Sample) bool {
	for i := range list {
		if !list[i].Values.Empty() || len(list[i].Missing) == 0 {
			return false
		}
	}
	return len(list) > 0
}

// schedule returns the next time of a fixed cadence; times that have passed
// are skipped, not made up for.
func (r *Recorder) schedule(last, period time.Duration) time.Duration {
	next := last + period
	if now := r.cfg.Clock.Now(); next < now {
		next += (now - next + period - 1) / period * period
	}
	return next
}

// wait sleeps, until the end or a wake-up.
func (r *Recorder) wait(ctx context.Context, d time.Duration, wake <-chan struct{}) {
	timer := time.NewTimer(max(0, d))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-wake:
	}
}

// clock pairs the clocks and flushes the sink.
func (r *Recorder) clock(ctx context.Context) {
	for {
		r.write([]Sample{r.cfg.Clock.Pair()})
		if f, ok := r.sink.(interface{ Flush() error }); ok {
			r.fail(f.Flush())
		}
		if ctx.Err() != nil {
			return
		}
		r.wait(ctx, r.cfg.ClockPeriod, nil)
	}
}

func (r *Recorder) write(list []Sample) {
	for i := range list {
		r.fail(r.sink.Add(list[i]))
	}
}

// fail keeps the first error.
func (r *Recorder) fail(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
}

// Err returns the first failure of the sink so far.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Stop ends the recording, waits for its goroutines, flushes the sink and
// returns its first failure. A call that does not come back from the driver is
// waited for [RecorderConfig.StopTimeout] and then named. Further calls return
// the same.
func (r *Recorder) Stop() error {
	r.once.Do(func() { r.stop = r.finish() })
	return r.stop
}

func (r *Recorder) finish() error {
	r.cancel()
	timer := time.NewTimer(r.cfg.StopTimeout)
	defer timer.Stop()
	select {
	case <-r.done:
	case <-timer.C:
		return errors.Join(r.Err(), &Error{Op: "stop recording", Reason: Timeout, Err: errors.New("still in the driver: " + r.running())})
	}
	if f, ok := r.sink.(interface{ Flush() error }); ok {
		r.fail(f.Flush())
	}
	return r.Err()
}

func (r *Recorder) running() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var names []string
	for n := range r.active {
		names = append(names, n)
	}
	return strings.Join(names, ", ")
}
