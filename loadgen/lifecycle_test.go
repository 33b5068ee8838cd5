package loadgen_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lmxbench/loadgen"
)

// only returns the one record of a batch.
func only(t *testing.T, b *loadgen.Batch) *loadgen.Record {
	t.Helper()
	if len(b.Records) != 1 {
		t.Fatalf("%d records", len(b.Records))
	}
	checkRecord(t, b.Records[0])
	return b.Records[0]
}

func wantOutcome(t *testing.T, r *loadgen.Record, want loadgen.Outcome, text string) {
	t.Helper()
	if r.Outcome != want || !contains(r.Error, text) {
		t.Errorf("got %s %q, want %s with %q", r.Outcome, r.Error, want, text)
	}
}

func TestLongRequestArrivesWhole(t *testing.T) {
	t.Parallel()
	eachReader(t, func(t *testing.T, secure bool, config func(string) loadgen.Config) {
		body := strings.Repeat("x", 2<<20)
		sums := make(chan [32]byte, 3)
		srv := serveConns(t, secure, func(p peer) {
			for {
				req, err := http.ReadRequest(p.r)
				if err != nil {
					return
				}
				got, err := io.ReadAll(req.Body)
				if err != nil {
					return
				}
				sums <- sha256.Sum256(got)
				p.play(chunked(keep, whole()...))
			}
		})
		pool := open(t, config(srv.Addr().String()))
		req := request()
		req.Message = message(body)
		for i := range 2 {
			b := pool.Do(t.Context(), []*loadgen.Request{req})
			wantOutcome(t, only(t, b), loadgen.OK, "")
			if got := <-sums; got != sha256.Sum256([]byte(body)) {
				t.Error("the server read another body")
			}
			if b.Dialled != 1-i {
				t.Errorf("batch %d dialled %d", i, b.Dialled)
			}
		}
	})
}

// A server that refuses a long request answers before it has read it all. The
// answer must be seen while the request is still being written, and also when
// the unread bytes make the kernel reset the connection behind it.
func TestEarlyRefusal(t *testing.T) {
	t.Parallel()
	for _, server := range []struct {
		claim string
		after func(p peer, gone <-chan struct{})
	}{
		{"keeps the connection", func(_ peer, gone <-chan struct{}) { <-gone }},
		{"closes its half", func(p peer, gone <-chan struct{}) { p.plain.CloseWrite(); <-gone }},
		{"closes", func(peer, <-chan struct{}) {}},
	} {
		t.Run("server "+server.claim, func(t *testing.T) {
			t.Parallel()
			eachReader(t, func(t *testing.T, secure bool, config func(string) loadgen.Config) {
				gone := make(chan struct{})
				srv := serveConns(t, secure, func(p peer) {
					if _, err := http.ReadRequest(p.r); err == nil {
						p.play(sized(keep, "413 Too Large", "", `{"error":{"message":"prompt too long"}}`))
						server.after(p, gone)
					}
				})
				pool := open(t, config(srv.Addr().String()))
				req := request()
				req.Message = message(strings.Repeat("x", 8<<20))
				r := only(t, pool.Do(t.Context(), []*loadgen.Request{req}))
				close(gone)
				wantOutcome(t, r, loadgen.HTTPError, "HTTP status 413: prompt too long")
				if dialled, _ := pool.Open(t.Context(), 1); dialled != 1 {
					t.Error("a connection with half a request on it was kept")
				}
			})
		})
	}
}

// The server goes away in the middle of a long request without a word: the
// process must survive the broken pipe, and nothing is sent twice.
func TestServerGoneWhileWriting(t *testing.T) {
	t.Parallel()
	eachReader(t, func(t *testing.T, secure bool, config func(string) loadgen.Config) {
		srv := serveConns(t, secure, func(p peer) {
			http.ReadRequest(p.r)
			p.plain.SetLinger(0)
			p.plain.Close()
		})
		cfg := config(srv.Addr().String())
		cfg.RequestTimeout = 0
		pool := open(t, cfg)
		req := request()
		req.Message = message(strings.Repeat("x", 8<<20))
		r := only(t, pool.Do(t.Context(), []*loadgen.Request{req}))
		wantOutcome(t, r, loadgen.Truncated, "before the first byte")
		if n := srv.connections(); n != 1 {
			t.Errorf("%d connections", n)
		}
	})
}

// A server that never reads ends in a timeout before the first token.
func TestServerThatNeverReads(t *testing.T) {
	t.Parallel()
	eachReader(t, func(t *testing.T, secure bool, config func(string) loadgen.Config) {
		if secure {
			t.Skip("a TLS handshake needs a server that reads")
		}
		gone := make(chan struct{})
		srv := serveConns(t, secure, func(peer) { <-gone })
		cfg := config(srv.Addr().String())
		cfg.RequestTimeout, cfg.FirstTokenTimeout = 0, limit
		pool := open(t, cfg)
		req := request()
		req.Message = message(strings.Repeat("x", 16<<20))
		r := only(t, pool.Do(t.Context(), []*loadgen.Request{req}))
		close(gone)
		wantOutcome(t, r, loadgen.Timeout, "no token")
	})
}

func TestCancelledBeforeTheBatch(t *testing.T) {
	t.Parallel()
	eachReader(t, func(t *testing.T, secure bool, config func(string) loadgen.Config) {
		srv := serve(t, secure, repeat(chunked(keep, whole()...)))
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("interrupt"))
		pool := open(t, config(srv.Addr().String()))
		for _, r := range pool.Do(ctx, requests(3)).Records {
			wantOutcome(t, r, loadgen.Cancelled, "interrupt")
			if r.T.Send != 0 {
				t.Error("a request was sent")
			}
		}
		if _, ended := pool.Progress(); ended != 3 {
			t.Errorf("%d requests have ended", ended)
		}
	})
}

// The run is stopped when the last connection has just been opened: all stand
// at the barrier, and no request leaves.
func TestCancelledAtTheBarrier(t *testing.T) {
	t.Parallel()
	eachReader(t, func(t *testing.T, secure bool, config func(string) loadgen.Config) {
		var bytes atomic.Int64
		srv := serveConns(t, false, func(p peer) {
			n, _ := io.Copy(io.Discard, p.r)
			bytes.Add(n)
		})
		if secure {
			t.Skip("bytes are counted below TLS")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cfg := config(srv.Addr().String())
		var opened atomic.Int64
		cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
			if opened.Add(1) == 4 {
				cancel()
			}
			return conn, err
		}
		pool := open(t, cfg)
		for _, r := range pool.Do(ctx, requests(4)).Records {
			wantOutcome(t, r, loadgen.Cancelled, "stopped")
		}
		pool.Close()
		srv.stop()
		if n := bytes.Load(); n != 0 {
			t.Errorf("%d bytes were sent", n)
		}
	})
}

func TestCancelledWhileStreaming(t *testing.T) {
	t.Parallel()
	eachReader(t, func(t *testing.T, secure bool, config func(string) loadgen.Config) {
		const n = 8
		ctx, cancel := context.WithCancel(t.Context())
		var streaming sync.WaitGroup
		streaming.Add(n)
		srv := serveConns(t, secure, func(p peer) {
			if p.request() != nil {
				return
			}
			p.play(cut(keep, token("a")))
			streaming.Done()
			io.Copy(io.Discard, p.r)
		})
		cfg := config(srv.Addr().String())
		cfg.RequestTimeout = 0
		pool := open(t, cfg)
		go func() {
			streaming.Wait()
			cancel()
		}()
		b := pool.Do(ctx, requests(n))
		for _, r := range b.Records {
			wantOutcome(t, r, loadgen.Cancelled, "stopped")
			checkRecord(t, r)
			if len(r.Events.At) > 1 {
				t.Errorf("%d events of one", len(r.Events.At))
			}
		}
		if dialled, err := pool.Open(t.Context(), n); dialled != n || err != nil {
			t.Errorf("dialled %d (%v): a cancelled stream's connection was kept", dialled, err)
		}
	})
}

func TestCancelledWhileDialling(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	pool := open(t, loadgen.Config{Address: "example.com:1", Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	for _, r := range pool.Do(ctx, requests(100)).Records {
		wantOutcome(t, r, loadgen.Cancelled, "stopped")
	}
}

func TestOneLaneThatCannotBeDialled(t *testing.T) {
	t.Parallel()
	eachReader(t, func(t *testing.T, secure bool, config func(string) loadgen.Config) {
		srv := serve(t, secure, repeat(chunked(keep, whole()...)))
		cfg := config(srv.Addr().String())
		var dials atomic.Int64
		cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			if dials.Add(1) == 3 {
				return nil, errors.New("no route")
			}
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}
		pool := open(t, cfg)
		outcomes := map[loadgen.Outcome]int{}
		b := pool.Do(t.Context(), requests(8))
		for _, r := range b.Records {
			outcomes[r.Outcome]++
			if r.Outcome == loadgen.ConnectError && (r.ErrorPhase != loadgen.PhaseConnect || !contains(r.Error, "no route")) {
				t.Errorf("phase %q, error %q", r.ErrorPhase, r.Error)
			}
		}
		if outcomes[loadgen.OK] != 7 || outcomes[loadgen.ConnectError] != 1 {
			t.Errorf("outcomes %v, want 7 ok and 1 connect_error", outcomes)
		}
		if _, ended := pool.Progress(); ended != 8 {
			t.Errorf("%d requests have ended", ended)
		}
		if b = pool.Do(t.Context(), requests(8)); b.Dialled != 1 || b.Records[7].Outcome != loadgen.OK {
			t.Errorf("second batch dialled %d, last outcome %s", b.Dialled, b.Records[7].Outcome)
		}
	})
}

// A server that lets connections hang must not cost a timeout for each.
func TestDialThatRunsIntoItsLimitIsNotRepeated(t *testing.T) {
	t.Parallel()
	var dials atomic.Int64
	pool := open(t, loadgen.Config{Address: "example.com:1", ConnectTimeout: 20 * time.Millisecond, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		dials.Add(1)
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	for _, r := range pool.Do(t.Context(), requests(1000)).Records {
		if r.Outcome != loadgen.Timeout || r.ErrorPhase != loadgen.PhaseConnect || !contains(r.Error, "no connection within 20ms") {
			t.Fatalf("%s in %q: %s", r.Outcome, r.ErrorPhase, r.Error)
		}
	}
	if n := dials.Load(); n > 2*64 {
		t.Errorf("%d dials", n)
	}
}

func TestRequestsWithoutFilesEndInConnectError(t *testing.T) {
	t.Parallel()
	srv := serve(t, false, repeat(chunked(keep, whole()...)))
	pool := open(t, loadgen.Config{Address: srv.Addr().String()})
	pool.SetFiles(func(n int) error {
		if n > 2 {
			return errors.New("raise the limit")
		}
		return nil
	})
	if _, err := pool.Open(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	b := pool.Do(t.Context(), requests(4))
	for i, want := range []loadgen.Outcome{loadgen.OK, loadgen.OK, loadgen.ConnectError, loadgen.ConnectError} {
		if got := b.Records[i].Outcome; got != want {
			t.Errorf("request %d: got %s, want %s", i, got, want)
		}
	}
}

func TestNothingListens(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	b := open(t, loadgen.Config{Address: address}).Do(t.Context(), requests(2))
	for _, r := range b.Records {
		wantOutcome(t, r, loadgen.ConnectError, "refused")
	}
	if b.Reader != "" || b.Source != "" || b.Loops != 0 {
		t.Errorf("reader %q, source %q, %d loops of no connection", b.Reader, b.Source, b.Loops)
	}
}

func TestTLSFailuresSayWhatToDo(t *testing.T) {
	t.Parallel()
	srv := serve(t, true, repeat(chunked(keep, whole()...)))
	cfg := loadgen.Config{Address: srv.Addr().String(), TLS: clientTLS()}
	cfg.TLS.RootCAs = nil
	wantOutcome(t, only(t, open(t, cfg).Do(t.Context(), requests(1))), loadgen.ConnectError, "--cacert")

	plain := serveConns(t, false, func(p peer) {
		p.r.Peek(1)
		p.play(sized(shut, "400 Bad", "", "this is HTTP"))
	})
	cfg = loadgen.Config{Address: plain.Addr().String(), TLS: clientTLS()}
	wantOutcome(t, only(t, open(t, cfg).Do(t.Context(), requests(1))), loadgen.ConnectError, "use http://")
}

func TestIdleTLSConnectionsAreKept(t *testing.T) {
	t.Parallel()
	srv := serve(t, true, repeat(chunked(keep, whole()...)))
	pool := open(t, loadgen.Config{Address: srv.Addr().String(), TLS: clientTLS()})
	if dialled, err := pool.Open(t.Context(), 3); dialled != 3 || err != nil {
		t.Fatal(dialled, err)
	}
	for i := range 2 {
		if b := pool.Do(t.Context(), requests(3)); b.Dialled != 0 || b.Records[0].Outcome != loadgen.OK {
			t.Errorf("batch %d dialled %d: %s", i, b.Dialled, b.Records[0].Error)
		}
	}
}

// openFiles is how many descriptors the process has.
func openFiles(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc/self/fd")
	}
	return len(entries)
}

// Not parallel: it counts the descriptors of the whole process.
func TestNoDescriptorLeaks(t *testing.T) {
	answers := []answer{
		chunked(keep, whole()...), cut(shut, token("a")), cut(reset, token("a")), raw(shut),
		sized(keep, "500 Oops", "", "no"), cut(hold, token("a")), raw(keep, chunkedHead+"zz"),
	}
	for _, reader := range readers {
		t.Run("reader="+reader.name, func(t *testing.T) {
			cycle := func() {
				var i atomic.Int64
				srv := serve(t, reader.secure, func(int) answer { return answers[int(i.Add(1))%len(answers)] })
				cfg := loadgen.Config{Address: srv.Addr().String(), RequestTimeout: 60 * time.Millisecond}
				reader.config(&cfg)
				pool := loadgen.New(cfg)
				for range 3 {
					pool.Do(t.Context(), requests(14))
				}
				pool.Close()
				srv.stop()
			}
			cycle() // what is opened once and stays
			before := openFiles(t)
			for range 3 {
				cycle()
			}
			if after := openFiles(t); after > before {
				t.Errorf("%d descriptors before, %d after", before, after)
			}
		})
	}
}
