package loadgen

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Batch is what one batch of requests gave, with what was seen of the client
// while it ran. Times count from the pool's origin.
type Batch struct {
	Records []*Record // in the order of the requests
	Start   time.Duration
	End     time.Duration // the last request ended

	Source   string // "kernel", "user" or "mixed": where the time stamps come from; "" when nothing was read
	Reader   string // "epoll", "goroutine" or "mixed"; "" when no connection was open
	Loops    int
	Dialled  int           // connections opened for this batch
	Opening  time.Duration // median time it took to open those it used, TLS included, whenever that was; 0: it had none
	Reads    int64
	Unasked  int64 // reads without the kernel stamp they should have carried
	Cores    int   // GOMAXPROCS
	CPUUser  time.Duration
	CPUSys   time.Duration
	GCCycles int
	Steps    int           // steps of the wall clock
	Stall    time.Duration // the longest time by which a loop, or a watchdog beside goroutines, looked late
}

// run is the shared state of one batch in flight.
type run struct {
	ctx      context.Context
	count    *counters
	watchdog *watchdog
	release  chan struct{}  // closed when requests may leave
	ready    sync.WaitGroup // readers that stand at the barrier
	done     sync.WaitGroup // readers that have ended
	mu       sync.Mutex     // guards tally; taken once per reader
	tally    tally
}

// tally is what a reader counts for itself and adds once, at its end.
type tally struct {
	kernel, bare int64         // reads with and without the kernel's stamp
	steps        int           // steps of the wall clock
	stall        time.Duration // the longest time by which it looked late
}

// add adds what one reader saw. Every reader sees each step of the clock.
func (r *run) add(t tally) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tally.kernel += t.kernel
	r.tally.bare += t.bare
	r.tally.steps = max(r.tally.steps, t.steps)
	r.tally.stall = max(r.tally.stall, t.stall)
}

// source names where the stamps come from. A stray read without a stamp is
// counted, it does not change the source.
func (t tally) source() string {
	switch {
	case t.kernel == 0 && t.bare == 0:
		return ""
	case t.kernel == 0:
		return "user"
	case t.kernel > 100*t.bare:
		return "kernel"
	}
	return "mixed"
}

// Do sends all requests at once, each over a connection of its own, and
// returns when the last has ended. Cancelling ctx ends the requests in flight
// as Cancelled, and sends none where it comes first. Connections are opened
// first where Open has not done so.
//
// While the batch runs the garbage collector is off (docs/adr/0003).
func (p *Pool) Do(ctx context.Context, requests []*Request) *Batch {
	dialled, _ := p.Open(ctx, len(requests)) // a lane that failed carries its error
	b := &Batch{Dialled: dialled, Cores: runtime.GOMAXPROCS(0), Records: make([]*Record, len(requests))}
	r := &run{ctx: ctx, count: &p.count, watchdog: newWatchdog(p.cfg.Origin), release: make(chan struct{})}
	p.count.events.Store(0)
	p.count.ended.Store(0)

	looped, alone := p.assign(requests)
	p.startLoops(r, looped)
	p.startReaders(r, alone)
	if len(alone) > 0 { // loops watch themselves
		r.watchdog.start()
	}
	r.ready.Wait()
	b.Reader, b.Loops = readerName(len(looped), len(alone)), p.loops(len(looped))
	b.Opening = opening(slices.Concat(looped, alone))
	loud := func() {}
	if !p.collector {
		loud = silence()
	}
	b.measure(r, p.cfg.Origin)
	loud()
	p.collect(b, requests)
	return b
}

// measure opens the barrier, waits for the last request, and takes down what
// the client did meanwhile.
func (b *Batch) measure(r *run, origin time.Time) {
	gc := collections()
	user, sys := cpuTime()
	b.Start = time.Since(origin)
	close(r.release)
	r.done.Wait()
	b.End = time.Since(origin)
	userEnd, sysEnd := cpuTime()
	b.CPUUser, b.CPUSys = userEnd-user, sysEnd-sys
	b.GCCycles = collections() - gc
	b.Stall = max(r.tally.stall, r.watchdog.stop())
	b.Reads, b.Steps = r.tally.kernel+r.tally.bare, r.tally.steps
	b.Source = r.tally.source()
	if r.tally.kernel > 0 {
		b.Unasked = r.tally.bare
	}
}

// opening is the median time that it took to open the lanes, the upper one of
// the middle two.
func opening(lanes []*lane) time.Duration {
	took := make([]time.Duration, len(lanes))
	for i, l := range lanes {
		took[i] = l.opening
	}
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[len(took)/2]
}

func readerName(looped, alone int) string {
	switch {
	case looped == 0 && alone == 0:
		return ""
	case alone == 0:
		return "epoll"
	case looped == 0:
		return "goroutine"
	}
	return "mixed"
}

// assign gives each request its lane and tells the two kinds of reader apart.
func (p *Pool) assign(requests []*Request) (looped, alone []*lane) {
	for i, req := range requests {
		l := p.lanes[i]
		l.s, l.rest = nil, nil
		if !l.open() {
			p.count.ended.Add(1)
			continue
		}
		l.s = newStream(req)
		l.s.rec.T.Connect, l.s.rec.KeptAlive = l.connect, l.served
		l.rest = req.Message
		if l.fd >= 0 {
			looped = append(looped, l)
		} else {
			alone = append(alone, l)
		}
	}
	return looped, alone
}

// collect classifies every request and closes the connections that cannot
// carry another.
func (p *Pool) collect(b *Batch, requests []*Request) {
	with := new(parser)
	for i := range requests {
		l := p.lanes[i]
		if l.s == nil {
			b.Records[i] = l.refused(b.Start)
			continue
		}
		b.Records[i] = l.s.finish(with)
		l.served = l.served || l.s.rec.T.FirstByte != 0
		// A replaced connection is read by a goroutine; the next batch starts
		// with one that its loop can read.
		replaced := l.s.rec.Reconnected && p.looped()
		if l.s.closeAfter || len(l.rest) > 0 || replaced {
			l.close()
		}
		l.s, l.rest = nil, nil
	}
}
