package loadgen_test

import (
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lmxbench/loadgen"
)

// No request leaves before every connection is open, and none before the batch
// has begun.
func TestBarrier(t *testing.T) {
	t.Parallel()
	eachReader(t, func(t *testing.T, secure bool, config func(string) loadgen.Config) {
		const n = 100
		var asked atomic.Int64
		var accepted int
		var srv *server
		all := make(chan struct{})
		srv = serveConns(t, secure, func(p peer) {
			for p.request() == nil {
				if asked.Add(1) == n {
					close(all)
				}
				<-all // nobody is answered before all have asked
				p.play(chunked(keep, whole()...))
			}
		})
		pool := open(t, config(srv.Addr().String()))
		if dialled, err := pool.Open(t.Context(), n); dialled != n || err != nil {
			t.Fatal(dialled, err)
		}
		for accepted < n { // they are open; the server is still taking them in
			accepted = srv.connections()
			runtime.Gosched()
		}
		if asked.Load() != 0 {
			t.Error("a request arrived before the batch")
		}
		b := pool.Do(t.Context(), requests(n))
		if b.Dialled != 0 {
			t.Errorf("%d connections were dialled in the batch", b.Dialled)
		}
		var ready, first time.Duration
		for i, r := range b.Records {
			wantOutcome(t, r, loadgen.OK, "")
			checkRecord(t, r)
			ready = max(ready, r.T.Connect)
			if i == 0 || r.T.Send < first {
				first = r.T.Send
			}
			if r.T.End > b.End {
				t.Errorf("request %d ends %s after the batch", i, r.T.End-b.End)
			}
		}
		if ready > b.Start || b.Start > first {
			t.Errorf("last connection %s, start %s, first send %s: out of order", ready, b.Start, first)
		}
		if events, ended := pool.Progress(); events != 2*n || ended != n {
			t.Errorf("progress: %d events, %d ended", events, ended)
		}
	})
}

func TestBatchDescribesTheClient(t *testing.T) {
	t.Parallel()
	srv := serve(t, false, repeat(chunked(keep, whole()...)))
	address := srv.Addr().String()
	for _, c := range []struct {
		claim          string
		cfg            loadgen.Config
		reader, source string
		loops          int
	}{
		{"a loop and the kernel", loadgen.Config{Loops: 2}, "epoll", "kernel", 2},
		{"a loop and no stamps", loadgen.Config{UserStamps: true}, "epoll", "user", 1},
		{"goroutines and the kernel", loadgen.Config{Goroutines: true}, "goroutine", "kernel", 0},
		{"goroutines and no stamps", loadgen.Config{Goroutines: true, UserStamps: true}, "goroutine", "user", 0},
	} {
		t.Run(c.claim, func(t *testing.T) {
			t.Parallel()
			c.cfg.Address = address
			pool := open(t, c.cfg)
			pool.Do(t.Context(), requests(8)) // a read just after the stamps were switched on may lack one
			b := pool.Do(t.Context(), requests(8))
			if b.Reader != c.reader || b.Source != c.source || b.Loops != c.loops {
				t.Errorf("got reader %q, source %q, %d loops; want %q, %q, %d", b.Reader, b.Source, b.Loops, c.reader, c.source, c.loops)
			}
			if b.Reads < 8 || b.Unasked > b.Reads/100 || b.Cores != runtime.GOMAXPROCS(0) {
				t.Errorf("%d reads, %d without a stamp, %d cores", b.Reads, b.Unasked, b.Cores)
			}
			if b.Start > b.End || pool.Peer() != address {
				t.Errorf("from %s to %s with %q", b.Start, b.End, pool.Peer())
			}
			for _, r := range b.Records {
				for _, lag := range r.Events.Lag {
					if (lag == loadgen.NoStamp) != (c.source == "user") && b.Unasked == 0 {
						t.Errorf("lag %d from source %s", lag, c.source)
					}
				}
			}
		})
	}
}

// TestBatchCountsAStepOfTheClock sets the wall clock back while a stream is
// being read, and holds that the batch says so and the times go on.
func TestBatchCountsAStepOfTheClock(t *testing.T) {
	t.Parallel()
	eachReader(t, func(t *testing.T, secure bool, config func(string) loadgen.Config) {
		for _, stepped := range []bool{true, false} {
			var set atomic.Bool
			pools := make(chan *loadgen.Pool, 1)
			srv := serveConns(t, secure, func(p peer) {
				if p.request() != nil {
					return
				}
				p.play(cut(keep, token("a")))
				pool := <-pools
				for events := int64(0); events == 0; events, _ = pool.Progress() {
					time.Sleep(ms)
				}
				set.Store(stepped)
				io.WriteString(p.conn, strings.Join(chunked(keep, token("b"), token("c"), finish("length"), usage(3, 3), doneEvent).pieces[1:], ""))
				p.r.Peek(1)
			})
			pool := open(t, config(srv.Addr().String()))
			pools <- pool
			pool.ShiftWall(func() time.Duration {
				if set.Load() {
					return -time.Hour
				}
				return 0
			})
			b := pool.Do(t.Context(), requests(1))
			r := only(t, b)
			wantOutcome(t, r, loadgen.OK, "")
			if (b.Steps > 0) != stepped {
				t.Errorf("%d steps counted, clock set: %v", b.Steps, stepped)
			}
			if took := r.T.End - r.T.Send; took < 0 || took > time.Minute {
				t.Errorf("the request took %s", took)
			}
		}
	})
}
