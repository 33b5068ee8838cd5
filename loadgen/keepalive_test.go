package loadgen_test

import (
	"io"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"lmxbench/loadgen"
)

// A connection that the server has closed since its last use is replaced
// before the batch, so that the dial is no part of a measured time.
func TestConnectionClosedWhileIdleIsReplacedBeforeTheBatch(t *testing.T) {
	t.Parallel()
	eachReader(t, func(t *testing.T, secure bool, config func(string) loadgen.Config) {
		srv := serve(t, secure, repeat(chunked(shut, whole()...)))
		cfg := config(srv.Addr().String())
		pool := open(t, cfg)
		wantOutcome(t, only(t, pool.Do(t.Context(), requests(1))), loadgen.OK, "")
		if cfg.UserStamps {
			return // this connection cannot be asked; it is replaced when used
		}
		for start := time.Now(); ; { // the end of the connection is on its way
			dialled, err := pool.Open(t.Context(), 1)
			if err != nil {
				t.Fatal(err)
			}
			if dialled == 1 {
				break
			}
			if time.Since(start) > 10*time.Second {
				t.Fatal("the closed connection was never noticed")
			}
		}
		r := only(t, pool.Do(t.Context(), requests(1)))
		wantOutcome(t, r, loadgen.OK, "")
		if r.Reconnected || r.KeptAlive {
			t.Errorf("reconnected %v, kept %v", r.Reconnected, r.KeptAlive)
		}
	})
}

// staleServer answers the first request of each of its first n connections and
// drops them at the second. Later connections do what later says.
func staleServer(t *testing.T, secure bool, n int, end ending, later answer) *server {
	var conns atomic.Int64
	return serveConns(t, secure, func(p peer) {
		if conns.Add(1) > int64(n) {
			for p.request() == nil && p.play(later) {
			}
			return
		}
		p.request()
		p.play(chunked(keep, whole()...))
		p.request()
		p.play(raw(end))
	})
}

func TestStaleConnectionIsReplacedOnce(t *testing.T) {
	t.Parallel()
	for _, end := range []struct {
		name string
		ending
	}{{"close", shut}, {"reset", reset}} {
		t.Run("end="+end.name, func(t *testing.T) {
			t.Parallel()
			eachReader(t, func(t *testing.T, secure bool, config func(string) loadgen.Config) {
				const n = 8
				srv := staleServer(t, secure, n, end.ending, chunked(keep, whole()...))
				pool := open(t, config(srv.Addr().String()))
				pool.Do(t.Context(), requests(n))
				b := pool.Do(t.Context(), requests(n))
				for _, r := range b.Records {
					wantOutcome(t, r, loadgen.OK, "")
					checkRecord(t, r)
					if !r.Reconnected || r.KeptAlive || len(r.Events.At) != 2 {
						t.Errorf("reconnected %v, kept %v, %d events", r.Reconnected, r.KeptAlive, len(r.Events.At))
					}
					if r.T.Connect < b.Start || r.T.Send < r.T.Connect {
						t.Errorf("the clock did not start anew: batch at %s, %+v", b.Start, r.T)
					}
				}
				if got := srv.connections(); got != 2*n {
					t.Errorf("%d connections, want %d", got, 2*n)
				}
				b = pool.Do(t.Context(), requests(n))
				if r := b.Records[0]; r.Outcome != loadgen.OK || r.Reconnected {
					t.Errorf("third batch: %s, reconnected %v", r.Outcome, r.Reconnected)
				}
			})
		})
	}
}

func TestReplacedConnectionIsNotReplacedAgain(t *testing.T) {
	t.Parallel()
	eachReader(t, func(t *testing.T, secure bool, config func(string) loadgen.Config) {
		srv := staleServer(t, secure, 1, shut, raw(shut))
		pool := open(t, config(srv.Addr().String()))
		pool.Do(t.Context(), requests(1))
		r := only(t, pool.Do(t.Context(), requests(1)))
		wantOutcome(t, r, loadgen.Truncated, "before the first byte")
		if !r.Reconnected || srv.connections() != 2 {
			t.Errorf("reconnected %v, %d connections", r.Reconnected, srv.connections())
		}
	})
}

func TestConnectionThatCannotBeReplaced(t *testing.T) {
	t.Parallel()
	eachReader(t, func(t *testing.T, secure bool, config func(string) loadgen.Config) {
		srv := staleServer(t, secure, 1, shut, answer{})
		pool := open(t, config(srv.Addr().String()))
		pool.Do(t.Context(), requests(1))
		srv.Close()
		r := only(t, pool.Do(t.Context(), requests(1)))
		wantOutcome(t, r, loadgen.ConnectError, "could not be replaced")
		if r.ErrorPhase != loadgen.PhaseConnect {
			t.Errorf("phase %q", r.ErrorPhase)
		}
	})
}

// A kept connection that gives a part of an answer is no stale one.
func TestKeptConnectionCutInItsAnswerIsTruncated(t *testing.T) {
	t.Parallel()
	eachReader(t, func(t *testing.T, secure bool, config func(string) loadgen.Config) {
		srv := serve(t, secure, inOrder(chunked(keep, whole()...), raw(shut, "HTTP/1.1 200 OK\r\n")))
		pool := open(t, config(srv.Addr().String()))
		pool.Do(t.Context(), requests(1))
		r := only(t, pool.Do(t.Context(), requests(1)))
		wantOutcome(t, r, loadgen.Truncated, "inside the head")
		if r.Reconnected || srv.connections() != 1 {
			t.Errorf("reconnected %v, %d connections", r.Reconnected, srv.connections())
		}
	})
}

// TestFirstTokensAreNotHeldBack measures a server that joins small writes until
// the client has acknowledged the last one (Nagle's algorithm, where nobody set
// TCP_NODELAY). On a connection that has carried a request the client's kernel
// takes 40 ms for its first acknowledgement unless told otherwise, and the first
// tokens arrive in one piece.
func TestFirstTokensAreNotHeldBack(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux is told to acknowledge at once")
	}
	t.Parallel()
	eachReader(t, func(t *testing.T, secure bool, config func(string) loadgen.Config) {
		srv := serveConns(t, secure, func(p peer) {
			p.plain.SetNoDelay(false)
			for p.request() == nil {
				tokens := []string{token("a"), token("b"), token("c"), token("d"), token("e"), token("f")}
				for _, piece := range chunked(keep, append(tokens, finish("length"), usage(3, 6), doneEvent)...).pieces {
					io.WriteString(p.conn, piece)
					time.Sleep(7 * ms)
				}
			}
		})
		pool := open(t, config(srv.Addr().String()))
		fewest := 99
		for i := range 6 {
			r := only(t, pool.Do(t.Context(), requests(1)))
			wantOutcome(t, r, loadgen.OK, "")
			at := r.Events.At
			first := slices.IndexFunc(at, func(t int64) bool { return t != at[0] })
			if first < 0 {
				first = len(at)
			}
			if i > 0 { // the first connection is new
				fewest = min(fewest, first)
			}
		}
		if fewest > 2 {
			t.Errorf("the first read brought %d tokens at the least, want 1", fewest)
		}
	})
}
