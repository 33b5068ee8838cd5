package loadgen

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Config says where the requests go and how long they may take. It is not
// changed by the pool.
type Config struct {
	// Address is the host:port to dial. Required.
	Address string
	// TLS is the client's TLS configuration; nil means plain TCP. ServerName
	// must be set in it unless verification is off.
	TLS *tls.Config
	// Origin is the run's monotonic origin; every stamp counts from it. It must
	// lie before the first dial. Zero means the moment of New.
	Origin time.Time

	// ConnectTimeout bounds dial and TLS together. Zero means 30 s.
	ConnectTimeout time.Duration
	// RequestTimeout bounds a request from its first byte to the end of the
	// body. Zero means none. It is the only limit of a request that is not for a
	// stream.
	RequestTimeout time.Duration
	// FirstTokenTimeout bounds the wait for the first token. Zero means that
	// only RequestTimeout does.
	FirstTokenTimeout time.Duration
	// StallTimeout bounds the silence between tokens after the first. Zero
	// means none.
	StallTimeout time.Duration

	// Dial replaces the dialler; its connections are read by a goroutine each
	// and without kernel stamps unless they are *net.TCPConn.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Goroutines reads plain connections by a goroutine each as well.
	Goroutines bool
	// UserStamps takes the time after the read instead of the kernel's.
	UserStamps bool
	// Loops is the number of epoll loops; 0 lets the pool choose by cores.
	Loops int
}

// Request is one prepared request.
type Request struct {
	Message []byte // the bytes that go over the wire, from [Message]
	Stream  bool   // an event stream is expected; false: one JSON body
	// ExpectEvents is the number of token events to reserve memory for, so that
	// none is allocated while the batch runs; more may come.
	ExpectEvents int
	// Demand is the number of output tokens below which a clean answer is
	// Short. Zero demands none.
	Demand int
	// KeepText keeps the output text in the record.
	KeepText bool
}

// Pool holds the connections of a run and sends batches over them. Its methods
// are not safe for concurrent use, except Progress.
type Pool struct {
	cfg Config
	limits
	files     func(n int) error // makes sure that n connections may be open
	collector bool              // stays on during a batch; tests compare
	ask       func() reading    // the clocks; nil asks the system, tests answer themselves
	lanes     []*lane
	count     counters
}

// counters are what a display may read while a batch runs.
type counters struct {
	events atomic.Int64 // token events of the batch so far
	ended  atomic.Int64 // requests of the batch that have ended
}

// New returns a pool without connections.
func New(cfg Config) *Pool {
	if cfg.Origin.IsZero() {
		cfg.Origin = time.Now()
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = 30 * time.Second
	}
	return &Pool{cfg: cfg, files: ensureFiles, limits: limits{
		request: cfg.RequestTimeout, firstToken: cfg.FirstTokenTimeout, stall: cfg.StallTimeout, grace: decidedGrace,
	}}
}

// Progress reports the token events and the ended requests of the current or
// last batch. It may be called at any time from any goroutine.
func (p *Pool) Progress() (events, ended int64) {
	return p.count.events.Load(), p.count.ended.Load()
}

// Peer is the address the first open connection leads to, or "".
func (p *Pool) Peer() string {
	for _, l := range p.lanes {
		if l.peer != "" {
			return l.peer
		}
	}
	return ""
}

// dialling is how many connections are opened at a time: the listen backlog of
// a server is finite, and a dropped SYN costs a second.
const dialling = 64

// Open makes sure that n connections are open, replacing those the server has
// closed since their last use, and returns how many were dialled and the first
// error. Requests of connections that could not be opened end in ConnectError,
// Timeout or Cancelled; the others run. After a dial that ran into its limit no
// new one is begun: a server that does not answer is waited for once.
func (p *Pool) Open(ctx context.Context, n int) (dialled int, err error) {
	for len(p.lanes) < n {
		p.lanes = append(p.lanes, &lane{fd: -1})
	}
	noFiles := p.files(n)
	var overdue atomic.Pointer[lane] // its dial ran into the limit
	slots := make(chan struct{}, dialling)
	var wait sync.WaitGroup
	for _, l := range p.lanes[:n] {
		if l.alive() {
			continue
		}
		if noFiles != nil {
			l.refuse(ConnectError, noFiles)
			continue
		}
		slots <- struct{}{}
		if first := overdue.Load(); first != nil {
			l.refuse(first.outcome, first.err)
			<-slots
			continue
		}
		dialled++
		wait.Go(func() {
			defer func() { <-slots }()
			if p.dial(ctx, l, false); l.outcome == Timeout {
				overdue.Store(l)
			}
		})
	}
	wait.Wait()
	for i, l := range p.lanes[:n] {
		if !l.open() {
			return dialled, fmt.Errorf("open connection %d of %d to %s: %w", i+1, n, p.cfg.Address, l.err)
		}
	}
	return dialled, nil
}

// newClock is the clock of one reader.
func (p *Pool) newClock() clock {
	c := newClock(p.cfg.Origin)
	c.ask = p.ask
	return c
}

// Close closes every connection.
func (p *Pool) Close() {
	for _, l := range p.lanes {
		l.close()
	}
	p.lanes = nil
}
