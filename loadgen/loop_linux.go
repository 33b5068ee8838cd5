package loadgen

import (
	"context"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// streamsPerLoop is how many streams one loop reads before there is a second:
// a loop takes more than 100,000 events a second, and a second one costs its
// own wake-ups (docs/adr/0002).
const streamsPerLoop = 256

// loops is how many epoll loops read n streams: at most one per two cores, so
// that a machine shared with the server keeps cores for it.
func (p *Pool) loops(n int) int {
	if n == 0 {
		return 0
	}
	want := p.cfg.Loops
	if want == 0 {
		want = min(runtime.GOMAXPROCS(0)/2, 8, (n+streamsPerLoop-1)/streamsPerLoop)
	}
	return min(max(want, 1), n)
}

// startLoops deals the lanes out to the loops and starts them; they wait at
// the barrier.
func (p *Pool) startLoops(r *run, lanes []*lane) {
	n := p.loops(len(lanes))
	for i := range n {
		lp := newLoop(p, r, n)
		for j := i; j < len(lanes); j += n {
			lp.lanes = append(lp.lanes, lanes[j])
		}
		r.ready.Add(1)
		r.done.Go(lp.serve)
	}
}

// loop reads many streams by level-triggered epoll: one wait, then one recvmsg
// for each socket that has bytes. A socket that has more is ready again at the
// next wait, so no second call asks whether it is empty.
type loop struct {
	pool  *Pool
	run   *run
	lanes []*lane // a lane that has ended is nil
	live  int
	epoll int
	sleep func(epoll int, named []unix.EpollEvent, ms int) (int, error)
	named []unix.EpollEvent
	clock clock
	vigil vigil
	recv  receiver
	with  parser
	buf   []byte
	tally tally

	events  int           // token events of this turn
	checked time.Duration // limits were looked at then
}

const (
	// readSize is the most one read takes.
	readSize = 64 << 10
	// namedSize is the most sockets one wait names.
	namedSize = 512
	// tick is how often limits and a cancelled run are looked for.
	tick = 50 * time.Millisecond
)

// newLoop makes one of n loops.
func newLoop(p *Pool, r *run, n int) *loop {
	lp := &loop{
		pool: p, run: r, clock: p.newClock(), sleep: sleepSilently,
		named: make([]unix.EpollEvent, namedSize), buf: make([]byte, readSize),
	}
	if n >= runtime.GOMAXPROCS(0) { // nobody else could run
		lp.sleep = unix.EpollWait
	}
	return lp
}

// serve is the life of a loop in one batch.
func (lp *loop) serve() {
	err := lp.register()
	lp.run.ready.Done()
	<-lp.run.release
	if err != nil {
		lp.refuse(err)
		return
	}
	lp.send()
	for lp.live > 0 {
		lp.turn()
	}
	unix.Close(lp.epoll)
	lp.tally.steps, lp.tally.stall = lp.clock.steps, lp.vigil.stall
	lp.run.add(lp.tally)
}

// register watches every lane's socket.
func (lp *loop) register() (err error) {
	if lp.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return err
	}
	for i := range lp.lanes {
		if err := lp.watch(unix.EPOLL_CTL_ADD, i, unix.EPOLLIN); err != nil {
			unix.Close(lp.epoll)
			return err
		}
	}
	lp.live = len(lp.lanes)
	return nil
}

// refuse ends every request of a loop that cannot watch its sockets.
func (lp *loop) refuse(err error) {
	for _, l := range lp.lanes {
		l.s.fail(ConnectError, "watch the connection: "+err.Error())
		l.s.rec.ErrorPhase = PhaseConnect
		l.s.end(lp.here())
		lp.run.count.ended.Add(1)
	}
}

// watch asks for events of lane i, whose index comes back as the event's Fd.
func (lp *loop) watch(op, i int, events uint32) error {
	return unix.EpollCtl(lp.epoll, op, lp.lanes[i].fd, &unix.EpollEvent{Events: events, Fd: int32(i)})
}

func (lp *loop) here() moment { return moment{at: lp.clock.now().mono} }

// send writes every request, one after the other; each has its own stamp.
func (lp *loop) send() {
	if lp.run.ctx.Err() != nil {
		lp.check(lp.here())
		return
	}
	lp.vigil.scanned = lp.clock.now().mono
	for i, l := range lp.lanes {
		l.s.rec.T.Send = lp.clock.now().mono
		lp.write(i)
	}
	for _, l := range lp.lanes { // when all have left, so that none waits for it
		if l != nil {
			ackAtOnce(l.fd)
		}
	}
}

// write sends what is left of a request. What the socket does not take now is
// sent when it can be.
func (lp *loop) write(i int) {
	l := lp.lanes[i]
	for len(l.rest) > 0 {
		n, err := unix.SendmsgN(l.fd, l.rest, nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		switch err {
		case nil:
			l.rest = l.rest[n:]
		case unix.EINTR:
		case unix.EAGAIN:
			lp.watch(unix.EPOLL_CTL_MOD, i, unix.EPOLLIN|unix.EPOLLOUT)
			return
		case unix.EPIPE, unix.ECONNRESET: // an early refusal may be there to be read
			lp.watch(unix.EPOLL_CTL_MOD, i, unix.EPOLLIN)
			return
		default:
			lp.lost(i, err, lp.here())
			return
		}
	}
	l.rest = nil
}

// turn waits once, reads each socket that has bytes, and looks at the limits
// when a tick has passed.
func (lp *loop) turn() {
	n := lp.wait()
	for i := range n {
		lp.attend(int(lp.named[i].Fd), lp.named[i].Events)
	}
	if lp.events > 0 { // told once a turn: the counter is shared by all loops
		lp.run.count.events.Add(int64(lp.events))
		lp.events = 0
	}
	if now := lp.clock.last.mono; now-lp.checked >= tick {
		lp.check(moment{at: now})
	}
}

// wait sleeps until sockets are ready or a nap has passed.
func (lp *loop) wait() int {
	before := lp.clock.now().mono
	n, err := lp.sleep(lp.epoll, lp.named, int(nap/time.Millisecond))
	after := lp.clock.now().mono
	if err != nil { // EINTR
		n = 0
	}
	lp.vigil.woke(before, after, n, err == nil && n < len(lp.named))
	if n == 0 {
		runtime.Gosched() // a moment without events is the others' moment
	}
	return n
}

// sleepSilently is epoll_wait without a word to the scheduler: that halves what
// a wake-up costs, and its delay. The price is that one core's share of the
// scheduler sleeps along, for a nap at most; so does whoever must stop the
// world, and the collector, which does, is off.
func sleepSilently(epoll int, named []unix.EpollEvent, ms int) (int, error) {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epoll), uintptr(unsafe.Pointer(&named[0])), uintptr(len(named)), uintptr(ms), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// attend deals with one socket that is ready.
func (lp *loop) attend(i int, events uint32) {
	l := lp.lanes[i]
	if l == nil {
		return
	}
	if events&unix.EPOLLOUT != 0 {
		if lp.write(i); l.rest == nil {
			ackAtOnce(l.fd)
			lp.watch(unix.EPOLL_CTL_MOD, i, unix.EPOLLIN)
		}
	}
	if events&^unix.EPOLLOUT != 0 && lp.lanes[i] != nil {
		lp.read(i)
	}
}

// read takes what a socket holds: the kernel's stamp becomes the moment, and
// the stream does the rest.
func (lp *loop) read(i int) {
	l := lp.lanes[i]
	n, stamp, again, err := lp.recv.receive(l.fd, lp.buf)
	if again {
		return
	}
	r := lp.clock.now()
	if n == 0 || err != nil {
		lp.lost(i, err, moment{at: r.mono})
		return
	}
	m := lp.clock.moment(r, stamp)
	m.blind = lp.vigil.blind(r.mono, m.lag)
	if m.stamped {
		lp.tally.kernel++
	} else {
		lp.tally.bare++
	}
	before := len(l.s.rec.Events.At)
	ended := l.s.read(lp.buf[:n], m, &lp.with)
	lp.events += len(l.s.rec.Events.At) - before
	if ended {
		lp.leave(i)
	}
}

// lost takes the end of a connection. A stale one is handed to a reader of its
// own, which replaces it.
func (lp *loop) lost(i int, err error, m moment) {
	l := lp.lanes[i]
	if !l.s.stale() {
		l.s.eof(err, m)
		lp.leave(i)
		return
	}
	lp.forget(i)
	lp.run.done.Go(func() {
		lp.pool.newReader(lp.run, l).replace()
		lp.run.count.ended.Add(1)
	})
}

// leave stops watching a lane whose request has ended.
func (lp *loop) leave(i int) {
	lp.run.count.ended.Add(1)
	lp.forget(i)
}

func (lp *loop) forget(i int) {
	unix.EpollCtl(lp.epoll, unix.EPOLL_CTL_DEL, lp.lanes[i].fd, nil)
	lp.lanes[i] = nil
	lp.live--
}

// check looks for a cancelled run and for limits that passed.
func (lp *loop) check(now moment) {
	lp.checked = now.at
	cancelled := lp.run.ctx.Err() != nil
	for i, l := range lp.lanes {
		if l == nil {
			continue
		}
		if cancelled {
			l.s.stop(context.Cause(lp.run.ctx), now)
		} else if at, limit, ok := l.s.expiry(&lp.pool.limits); ok && now.at >= at {
			l.s.stop(limit, now)
		}
		if l.s.ended {
			lp.leave(i)
		}
	}
}
