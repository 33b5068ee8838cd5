package loadgen_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttputil"

	"lmxbench/loadgen"
)

// line is one write of a scripted server: bytes, and the pause before them.
type line struct {
	pause time.Duration
	bytes string
}

const ms = time.Millisecond

// onPipe carries one request over an in-memory connection whose server writes
// the lines and then holds the connection. Inside a synctest bubble the time of
// every byte is exact.
func onPipe(t *testing.T, ctx context.Context, cfg loadgen.Config, lines ...line) (*loadgen.Record, *loadgen.Batch) {
	t.Helper()
	client, server := net.Pipe()
	var play sync.WaitGroup
	play.Go(func() {
		r := bufio.NewReader(server)
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		io.Copy(io.Discard, req.Body)
		for _, l := range lines {
			time.Sleep(l.pause)
			io.WriteString(server, l.bytes)
		}
		io.Copy(io.Discard, r)
	})
	cfg.Dial = func(context.Context, string, string) (net.Conn, error) { return client, nil }
	pool := loadgen.New(cfg)
	defer play.Wait()
	defer server.Close()
	defer pool.Close()
	time.Sleep(ms) // so that no stamp is zero
	b := pool.Do(ctx, requests(1))
	checkRecord(t, b.Records[0])
	return b.Records[0], b
}

// stream makes the lines of a chunked stream: its head at once, then each event
// after its pause.
func stream(lines ...line) []line {
	out := []line{{bytes: chunkedHead}}
	for _, l := range lines {
		a := cut(hold, l.bytes)
		out = append(out, line{l.pause, a.pieces[1]})
	}
	return out
}

func TestTimesAreExact(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		lines := stream(line{250 * ms, roleEvent + token("a")})
		for range 9 {
			lines = append(lines, stream(line{20 * ms, token("b")})[1])
		}
		lines = append(lines, stream(line{5 * ms, finish("length") + usage(3, 10) + doneEvent})[1], line{7 * ms, "0\r\n\r\n"})
		r, _ := onPipe(t, t.Context(), loadgen.Config{}, lines...)
		wantOutcome(t, r, loadgen.OK, "")
		since := func(d time.Duration) time.Duration { return d - r.T.Send }
		for _, c := range []struct {
			name      string
			got, want time.Duration
		}{
			{"first byte", since(r.T.FirstByte), 0},
			{"first event", since(r.T.FirstEvent), 250 * ms},
			{"first token", since(r.T.FirstToken), 250 * ms},
			{"first content", since(r.T.FirstContent), 250 * ms},
			{"last token", since(r.T.LastToken), 430 * ms},
			{"finish", since(r.T.Finish), 435 * ms},
			{"end", since(r.T.End), 442 * ms},
		} {
			if c.got != c.want {
				t.Errorf("%s: got %s, want %s", c.name, c.got, c.want)
			}
		}
		for i := 1; i < len(r.Events.At); i++ {
			if gap := time.Duration(r.Events.At[i] - r.Events.At[i-1]); gap != 20*ms {
				t.Errorf("gap %d: got %s, want 20ms", i, gap)
			}
		}
		if len(r.Events.At) != 10 || r.Events.Lag[0] != loadgen.NoStamp || r.LateMerged != 0 {
			t.Errorf("%d events, lag %d, %d merged", len(r.Events.At), r.Events.Lag[0], r.LateMerged)
		}
	})
}

// The same with a server that knows HTTP itself.
func TestTimesAreExactOverHTTP(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		listener := fasthttputil.NewInmemoryListener()
		srv := &fasthttp.Server{NoDefaultDate: true, NoDefaultServerHeader: true, Handler: func(ctx *fasthttp.RequestCtx) {
			ctx.SetBodyStreamWriter(func(w *bufio.Writer) {
				for i := range 5 {
					time.Sleep([]time.Duration{250 * ms, 20 * ms}[min(i, 1)])
					w.WriteString(token("x"))
					w.Flush()
				}
				w.WriteString(finish("stop") + doneEvent)
			})
		}}
		go srv.Serve(listener)
		pool := loadgen.New(loadgen.Config{Dial: func(context.Context, string, string) (net.Conn, error) { return listener.Dial() }})
		time.Sleep(ms)
		for _, r := range pool.Do(t.Context(), requests(3)).Records {
			wantOutcome(t, r, loadgen.OK, "")
			if ttft := r.T.FirstToken - r.T.Send; ttft != 250*ms {
				t.Errorf("time to first token: got %s, want 250ms", ttft)
			}
			if span := r.T.LastToken - r.T.FirstToken; span != 80*ms {
				t.Errorf("first to last token: got %s, want 80ms", span)
			}
		}
		pool.Close()
		listener.Close()
		srv.Shutdown()
		time.Sleep(time.Minute) // fasthttp's cleaners end
	})
}

func TestLimitsPassWhenTheySay(t *testing.T) {
	t.Parallel()
	ping := line{60 * ms, ": ping\n\n"}
	role := line{60 * ms, roleEvent}
	empty := line{60 * ms, `data: {"choices":[{"index":0,"delta":{"content":""}}]}` + "\n\n"}
	a := line{60 * ms, token("a")}
	end := line{60 * ms, finish("stop")}
	counts := line{60 * ms, usage(1, 1)}
	done := line{60 * ms, doneEvent}
	failure := line{60 * ms, "data: {\"error\":\"x\"}\n\n"}
	for _, c := range []struct {
		claim   string
		cfg     loadgen.Config
		lines   []line
		outcome loadgen.Outcome
		phase   loadgen.Phase
		end     time.Duration // of the record, from its send
		over    time.Duration // of the batch; 0 for the same
	}{
		{claim: "silence", cfg: loadgen.Config{FirstTokenTimeout: 100 * ms}, outcome: loadgen.Timeout, phase: loadgen.PhaseFirstToken, end: 100 * ms},
		{claim: "silence behind the head", cfg: loadgen.Config{FirstTokenTimeout: 100 * ms}, lines: stream(), outcome: loadgen.Timeout, phase: loadgen.PhaseFirstToken, end: 100 * ms},
		{claim: "comments and a role stop no clock", cfg: loadgen.Config{FirstTokenTimeout: 200 * ms}, lines: stream(ping, role, ping, ping), outcome: loadgen.Timeout, phase: loadgen.PhaseFirstToken, end: 200 * ms},
		{claim: "the limit of the request is shorter", cfg: loadgen.Config{FirstTokenTimeout: 200 * ms, RequestTimeout: 50 * ms}, outcome: loadgen.Timeout, phase: loadgen.PhaseFirstToken, end: 50 * ms},
		{claim: "the first token's limit ends with it", cfg: loadgen.Config{FirstTokenTimeout: 100 * ms, RequestTimeout: 400 * ms}, lines: stream(a, a, a), outcome: loadgen.Timeout, phase: loadgen.PhaseTotal, end: 400 * ms},
		{claim: "silence between tokens alone is limited", cfg: loadgen.Config{StallTimeout: 100 * ms}, lines: stream(a, a), outcome: loadgen.Timeout, phase: loadgen.PhaseBetweenTokens, end: 220 * ms},
		{claim: "silence between tokens with a long limit of the request", cfg: loadgen.Config{StallTimeout: 100 * ms, RequestTimeout: time.Hour}, lines: stream(a, a), outcome: loadgen.Timeout, phase: loadgen.PhaseBetweenTokens, end: 220 * ms},
		{claim: "comments between tokens stop no clock", cfg: loadgen.Config{StallTimeout: 100 * ms}, lines: stream(a, ping, ping), outcome: loadgen.Timeout, phase: loadgen.PhaseBetweenTokens, end: 160 * ms},
		{claim: "an event of a token without text is progress", cfg: loadgen.Config{StallTimeout: 100 * ms}, lines: stream(a, empty, empty), outcome: loadgen.Timeout, phase: loadgen.PhaseBetweenTokens, end: 280 * ms},
		{claim: "silence behind the finish reason", cfg: loadgen.Config{StallTimeout: 100 * ms}, lines: stream(a, end), outcome: loadgen.Timeout, phase: loadgen.PhaseTotal, end: 220 * ms},
		{claim: "silence behind the usage: the answer ended with what was last read", cfg: loadgen.Config{StallTimeout: 100 * ms}, lines: stream(a, end, counts), outcome: loadgen.OK, end: 180 * ms, over: 220 * ms},
		{claim: "silence behind [DONE] is waited for two seconds, and no part of the answer", lines: stream(a, done), outcome: loadgen.OK, end: 120 * ms, over: 2120 * ms},
		{claim: "silence behind an error is waited for two seconds", lines: stream(a, failure), outcome: loadgen.StreamError, end: 2120 * ms},
		{claim: "talk behind an error is heard for two seconds", lines: stream(failure, line{1500 * ms, token("a")}, line{1500 * ms, token("a")}), outcome: loadgen.StreamError, end: 2060 * ms},
		{claim: "an error body is waited for two seconds", lines: []line{{bytes: "HTTP/1.1 500 Oops\r\nContent-Length: 9\r\n\r\nx"}}, outcome: loadgen.HTTPError, end: 2000 * ms},
	} {
		t.Run(c.claim, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r, b := onPipe(t, t.Context(), c.cfg, c.lines...)
				if r.Outcome != c.outcome || r.ErrorPhase != c.phase {
					t.Errorf("got %s in phase %q, want %s in %q (%s)", r.Outcome, r.ErrorPhase, c.outcome, c.phase, r.Error)
				}
				if got := r.T.End - r.T.Send; got != c.end {
					t.Errorf("end: got %s, want %s", got, c.end)
				}
				if got := b.End - r.T.Send; got != max(c.end, c.over) {
					t.Errorf("end of the batch: got %s, want %s", got, max(c.end, c.over))
				}
			})
		})
	}
}

func TestCancelIsNoticedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*ms)
		defer cancel()
		r, _ := onPipe(t, ctx, loadgen.Config{StallTimeout: 60 * ms}, stream(line{50 * ms, token("a")}, line{20 * ms, token("a")})...)
		wantOutcome(t, r, loadgen.Cancelled, "deadline exceeded")
		if got := r.T.End - r.T.Connect; got != 99*ms {
			t.Errorf("end: got %s after the connection, want 99ms", got)
		}
	})
}

// Two events in one write, read at once, are the server's own packing.
func TestPackedEventsAreNotLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		packed := line{20 * ms, token("a") + token("b")}
		r, _ := onPipe(t, t.Context(), loadgen.Config{}, stream(packed, packed, packed, line{ms, finish("stop") + doneEvent})...)
		if len(r.Events.At) != 6 || r.LateMerged != 0 {
			t.Errorf("%d events, %d counted as merged by lateness", len(r.Events.At), r.LateMerged)
		}
	})
}
