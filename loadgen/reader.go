package loadgen

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// Sizes of a goroutine's buffer, no smaller than a TLS record, and of the
// requests that are written before the reading begins.
const (
	readerBuffer = 16 << 10
	shortMessage = 32 << 10
)

// refusalWait is how long the answer to a request that could not be written
// may take: a server that refuses early has answered already.
const refusalWait = 100 * time.Millisecond

// reader carries one request over a net.Conn: a goroutine's whole life.
type reader struct {
	pool   *Pool
	run    *run
	lane   *lane
	s      *stream
	clock  clock
	with   parser
	buf    []byte
	last   time.Duration // end of the read before
	armed  time.Duration // the deadline that is set; 0 for none
	reads  int64
	broken atomic.Bool // the request could not be written
}

func (p *Pool) newReader(r *run, l *lane) *reader {
	return &reader{pool: p, run: r, lane: l, s: l.s, clock: p.newClock(), buf: make([]byte, readerBuffer)}
}

// startReaders starts a goroutine for each lane; they wait at the barrier.
func (p *Pool) startReaders(r *run, lanes []*lane) {
	for _, l := range lanes {
		rd := p.newReader(r, l)
		r.ready.Add(1)
		r.done.Go(func() {
			r.ready.Done()
			<-r.release
			if rd.carry(); !rd.s.ended {
				rd.replace()
			}
			r.count.ended.Add(1)
		})
	}
}

// replace opens a new connection in place of a kept-alive one that closed
// without one byte of answer, and carries the request anew, once.
func (rd *reader) replace() {
	l, s := rd.lane, rd.s
	l.close()
	rd.pool.dial(rd.run.ctx, l, true)
	if !l.open() {
		refused := l.refused(time.Since(rd.pool.cfg.Origin))
		s.rec.ErrorPhase = refused.ErrorPhase
		s.fail(refused.Outcome, "the kept connection was closed by the server and could not be replaced: "+refused.Error)
		s.end(moment{at: refused.T.End})
		return
	}
	s.rec.T = Stamps{Connect: l.connect}
	s.rec.Reconnected, s.rec.KeptAlive = true, false
	rd.broken.Store(false)
	l.rest = s.req.Message
	rd.carry()
}

// carry sends the request and reads the answer. It leaves the stream open only
// where the connection was stale.
func (rd *reader) carry() {
	ctx, conn := rd.run.ctx, rd.lane.conn
	if rd.lane.stamps != nil {
		rd.lane.stamps.restart()
	}
	cancelled := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		conn.SetDeadline(longAgo)
		close(cancelled)
	})
	defer func() {
		if !stop() {
			<-cancelled
		}
		rd.run.add(rd.tally())
	}()
	if ctx.Err() != nil {
		rd.s.stop(context.Cause(ctx), rd.here())
		return
	}
	rd.s.rec.T.Send = rd.clock.now().mono
	rd.arm()
	sent := rd.send(conn)
	rd.read(conn)
	conn.SetWriteDeadline(longAgo) // nobody waits for the rest of the request
	if <-sent {
		rd.lane.rest = nil
	}
}

var longAgo = time.Unix(1, 0)

// send writes the request and tells the channel whether it left whole. A long
// request is written while the answer is read, since a server may refuse it
// before it has read it all.
func (rd *reader) send(conn net.Conn) <-chan bool {
	sent := make(chan bool, 1)
	write := func() {
		_, err := conn.Write(rd.lane.rest)
		rd.lane.ackAtOnce()
		if err != nil && !isTimeout(err) {
			rd.broken.Store(true)
			conn.SetReadDeadline(time.Now().Add(refusalWait))
		}
		sent <- err == nil
	}
	if len(rd.lane.rest) <= shortMessage {
		write()
	} else {
		go write()
	}
	return sent
}

// read reads until the stream has ended or the connection turns out stale.
func (rd *reader) read(conn net.Conn) {
	s := rd.s
	for !s.ended {
		before := rd.before()
		n, err := conn.Read(rd.buf)
		if n > 0 {
			events := len(s.rec.Events.At)
			s.read(rd.buf[:n], rd.moment(before), &rd.with)
			rd.run.count.events.Add(int64(len(s.rec.Events.At) - events))
			rd.tighten()
		}
		if err == nil || s.ended {
			continue
		}
		if stale := rd.failed(err); stale {
			return
		}
	}
}

// before is the time before a read, where the moment after it needs that.
func (rd *reader) before() time.Duration {
	if rd.lane.stamps != nil {
		return 0
	}
	return rd.clock.now().mono
}

// moment places the read that just ended.
func (rd *reader) moment(before time.Duration) moment {
	if stamps := rd.lane.stamps; stamps != nil {
		m := stamps.last
		m.blind = max(m.blind, rd.run.watchdog.lateness(m.at+m.lag))
		return m
	}
	rd.reads++
	now := rd.clock.now()
	m := moment{at: now.mono, blind: rd.run.watchdog.lateness(now.mono)}
	if now.mono-before < quickWait && rd.last > 0 { // it did not sleep: the bytes were there
		m.blind = max(m.blind, now.mono-rd.last)
	}
	rd.last = now.mono
	return m
}

// failed deals with the error of a read, and reports whether the connection was
// stale. A deadline that was set for an earlier state of the stream is set anew.
func (rd *reader) failed(err error) (stale bool) {
	s, now := rd.s, rd.here()
	switch {
	case rd.run.ctx.Err() != nil:
		s.stop(context.Cause(rd.run.ctx), now)
	case isTimeout(err) && !rd.broken.Load():
		if at, limit, ok := s.expiry(&rd.pool.limits); ok && now.at >= at {
			s.stop(limit, now)
		} else {
			rd.arm()
		}
	case s.stale():
		return true
	case errors.Is(err, io.EOF):
		s.eof(nil, now)
	default:
		s.eof(err, now)
	}
	return false
}

func (rd *reader) here() moment { return moment{at: rd.clock.now().mono} }

// arm sets the connection's deadline to the stream's next limit. A cancelled
// run and a failed write set deadlines of their own, from other goroutines;
// whichever came before is asked for afterwards.
func (rd *reader) arm() {
	conn, deadline := rd.lane.conn, time.Time{}
	at, _, ok := rd.s.expiry(&rd.pool.limits)
	if rd.armed = 0; ok {
		rd.armed, deadline = at, rd.pool.cfg.Origin.Add(at)
	}
	conn.SetDeadline(deadline)
	if rd.run.ctx.Err() != nil {
		conn.SetDeadline(longAgo)
	} else if rd.broken.Load() {
		conn.SetReadDeadline(time.Now().Add(refusalWait))
	}
}

// tighten sets the deadline anew where the stream's next limit has come closer.
// One that has moved away is noticed when the old one passes.
func (rd *reader) tighten() {
	at, _, ok := rd.s.expiry(&rd.pool.limits)
	if ok && (rd.armed == 0 || at < rd.armed) {
		rd.arm()
	}
}

func (rd *reader) tally() tally {
	if stamps := rd.lane.stamps; stamps != nil {
		return stamps.tally
	}
	return tally{bare: rd.reads, steps: rd.clock.steps}
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || (errors.As(err, &t) && t.Timeout())
}
