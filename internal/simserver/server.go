package simserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Server is a running simulated engine. It is made by [Listen] and may be used
// from any goroutine.
type Server struct {
	cfg       Config
	listener  net.Listener
	origin    time.Time
	created   int64
	modelJSON []byte
	certPEM   []byte

	metrics *metrics
	stats   *counters
	records *records
	writers []*writer
	loops   []loop
	next    atomic.Int64 // shard of the next stream
	readers sync.Pool

	mu     sync.Mutex
	open   map[*conn]struct{}
	closed bool
	// closing is closed with the server.
	closing chan struct{}
	conns   sync.WaitGroup
	run     sync.WaitGroup
	timers  sync.Once
}

// loop is a stepLoop or a phaseLoop.
type loop interface {
	put(*stream) bool
	cancel(*stream)
	close()
	run()
}

// Listen opens the address and starts the engine. Requests are answered once
// [Server.Serve] runs; the kernel queues connections until then. The caller must
// call Close.
func Listen(cfg Config) (*Server, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("simulated engine: %w", err)
	}
	s := &Server{
		cfg: cfg, origin: time.Now(), created: time.Now().Unix(),
		metrics: newMetrics(cfg.Profile.MaxModelLen), stats: &counters{},
		records: &records{limit: cfg.RecordEvents}, open: map[*conn]struct{}{}, closing: make(chan struct{}),
		readers: sync.Pool{New: newReader},
	}
	if s.modelJSON, err = json.Marshal(cfg.Profile.Model); err != nil {
		return nil, fmt.Errorf("simulated engine: encode model name: %w", err)
	}
	if err := s.openWriters(); err != nil {
		return nil, fmt.Errorf("simulated engine: %w", err)
	}
	lc := net.ListenConfig{Control: listenControl, KeepAlive: -1}
	if s.listener, err = lc.Listen(context.Background(), "tcp", cfg.Addr); err != nil {
		s.closeWriters()
		return nil, fmt.Errorf("simulated engine: %w", err)
	}
	if cfg.TLS {
		if err := s.secure(); err != nil {
			s.closeWriters()
			return nil, fmt.Errorf("simulated engine: make certificate: %w", err)
		}
	}
	s.stats.reset()
	for _, l := range s.loops {
		s.run.Go(l.run)
	}
	return s, nil
}

func (s *Server) openWriters() error {
	for range s.cfg.Shards {
		w, err := newWriter(s)
		if err != nil {
			s.closeWriters()
			return fmt.Errorf("open timer: %w", err)
		}
		s.writers = append(s.writers, w)
	}
	if s.cfg.Profile.Phase == StreamPhase {
		for i, w := range s.writers {
			s.loops = append(s.loops, newPhaseLoop(s, w, s.cfg.Seed+uint64(i)))
		}
		return nil
	}
	s.loops = []loop{newStepLoop(s)}
	return nil
}

func (s *Server) closeWriters() {
	for _, w := range s.writers {
		w.sleeper.close()
	}
}

// URL is the base URL without a path, such as "http://127.0.0.1:40123".
func (s *Server) URL() string {
	scheme := "http"
	if s.cfg.TLS {
		scheme = "https"
	}
	return scheme + "://" + s.listener.Addr().String()
}

// CertPEM is the certificate of a TLS server, nil without TLS.
func (s *Server) CertPEM() []byte { return s.certPEM }

// Config is the configuration in force, defaults filled in.
func (s *Server) Config() Config { return s.cfg }

// Serve accepts connections until the context ends or Close is called; then it
// returns nil, after everything has stopped.
func (s *Server) Serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	for id := 1; ; id++ {
		nc, err := s.listener.Accept()
		if err != nil {
			if s.isClosed() {
				return s.Close()
			}
			if ne, ok := err.(net.Error); ok && ne.Timeout() {
				continue
			}
			// Out of descriptors: the next close helps, nothing else does.
			time.Sleep(10 * time.Millisecond)
			continue
		}
		s.adopt(nc, id)
	}
}

// adopt starts a connection's goroutine.
func (s *Server) adopt(nc net.Conn, id int) {
	c := &conn{server: s, nc: nc, sock: newStampedSocket(nc), id: id}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = nc.Close()
		return
	}
	s.open[c] = struct{}{}
	s.stats.connections.Add(1)
	s.conns.Go(func() {
		c.serve()
		s.mu.Lock()
		delete(s.open, c)
		s.mu.Unlock()
	})
}

func (s *Server) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// Close cuts all connections and waits until every goroutine has ended. More
// calls wait for the same.
func (s *Server) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	if first {
		close(s.closing)
		_ = s.listener.Close()
		for _, l := range s.loops {
			l.close()
		}
		for c := range s.open {
			c.close()
		}
	}
	s.mu.Unlock()
	s.run.Wait()
	s.conns.Wait()
	s.timers.Do(s.closeWriters)
	return nil
}

// Reset forgets records and zeroes counters, metrics and lateness. Requests in
// flight go on and are counted from here.
func (s *Server) Reset() {
	s.records.reset()
	s.metrics.reset()
	s.stats.reset()
	for _, w := range s.writers {
		w.timing.reset()
	}
}

// submit gives a stream to its loop.
func (s *Server) submit(st *stream) bool {
	n := int(s.next.Add(1)-1) % len(s.writers)
	st.shard = n
	return s.loops[n%len(s.loops)].put(st)
}

func (s *Server) cancel(st *stream) { s.loops[st.shard%len(s.loops)].cancel(st) }

// drop closes the books on a stream that its loop has given up; one that ended
// by itself, early, is left as it is.
func (s *Server) drop(st *stream) {
	if st.ended {
		return
	}
	st.gone.Store(true)
	st.publish("aborted", unixNano())
	st.end()
}

func (s *Server) startSeconds() float64 { return float64(s.origin.UnixNano()) / 1e9 }
