package simserver_test

import (
	"bufio"
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"time"

	"lmxbench/internal/simserver"
)

// TestClientLeaves: a client that goes away is noticed, running and queued, and
// its slot serves the next one.
func TestClientLeaves(t *testing.T) {
	t.Parallel()
	p := quick(t)
	p.Slots = 1
	s := start(t, simserver.Config{Profile: p})
	running, queued := dial(t, s), dial(t, s)
	running.ask(t, "POST", "/v1/chat/completions", "", chat(30000, ""))
	if _, err := running.in.ReadByte(); err != nil {
		t.Fatal(err)
	}
	queued.ask(t, "POST", "/v1/chat/completions", "", chat(30000, ""))
	if _, err := queued.in.ReadByte(); err != nil {
		t.Fatal(err)
	}
	_ = queued.Close()
	_ = running.Close()
	runStreams(t, s, 1, 5)
	if st := s.Stats(); st.Aborted != 2 {
		t.Errorf("%d aborted, want 2", st.Aborted)
	}
	aborted := 0
	for _, r := range records(t, s) {
		if r.Outcome == "aborted" {
			aborted++
		}
	}
	if aborted != 2 {
		t.Errorf("%d aborted records, want 2", aborted)
	}
}

// TestSlowReader: a reader that does not read delays nobody, gets everything
// when it does, and is cut off beyond the backlog.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	p := quick(t)
	p.StepCurve[0].Time = 20 * time.Microsecond
	for name, backlog := range map[string]int{"within the backlog": 0, "beyond the backlog": 10_000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, simserver.Config{Profile: p, Backlog: backlog})
			slow := dial(t, s)
			_ = slow.Conn.(*net.TCPConn).SetReadBuffer(64 << 10)
			slow.ask(t, "POST", "/v1/chat/completions", "", chat(30000, ""))
			waitFor(t, "a full socket", func() bool { return s.Stats().QueuedWrites > 0 })
			runStreams(t, s, 1, 5) // the others go on
			if backlog > 0 {
				waitFor(t, "the reader to be cut off", func() bool { return s.Stats().Overruns == 1 })
				return
			}
			if r := slow.get(); !r.ended || !strings.Contains(r.body, `"completion_tokens":30000}`) {
				t.Errorf("slow stream ended with %v after %d chunks", r.err, len(r.chunks))
			}
		})
	}
}

// TestReset: the books start anew.
func TestReset(t *testing.T) {
	t.Parallel()
	s := start(t, simserver.Config{Profile: quick(t)})
	runStreams(t, s, 2, 10)
	c := dial(t, s)
	c.ask(t, "POST", "/sim/reset", "", "")
	if r := c.get(); r.err != nil {
		t.Fatal(r.err)
	}
	if got := records(t, s); len(got) != 0 {
		t.Errorf("%d records after the reset", len(got))
	}
	if st := s.Stats(); st.Tokens != 0 || st.Requests != 0 || st.Event.Count != 0 {
		t.Errorf("stats after the reset: %+v", st)
	}
	if got := scrape(t, s, `vllm:generation_tokens_total{engine="0",model_name="sim-small"}`); got != 0 {
		t.Errorf("generation_tokens_total %v after the reset", got)
	}
}

// TestRecordsBounded: old records go when the bound is met; none are kept below 0.
func TestRecordsBounded(t *testing.T) {
	t.Parallel()
	bounded := start(t, simserver.Config{Profile: quick(t), RecordEvents: 100})
	c := dial(t, bounded)
	for range 10 {
		c.ask(t, "POST", "/v1/chat/completions", "", chat(10, ""))
		c.get()
	}
	got := records(t, bounded)
	if len(got) == 0 || len(got) > 2 || got[len(got)-1].Request != 10 {
		t.Errorf("%d records kept, want the last one or two", len(got))
	}
	if st := bounded.Stats(); st.RecordsDropped != 10-len(got) {
		t.Errorf("%d dropped of 10, %d kept", st.RecordsDropped, len(got))
	}
	none := start(t, simserver.Config{Profile: quick(t), RecordEvents: -1})
	runStreams(t, none, 1, 5)
	if got := records(t, none); len(got) != 0 {
		t.Errorf("%d records kept, want none", len(got))
	}
}

// TestCloseWithOpenStreams: Close ends everything, streams in flight too, and a
// second Close is harmless. Leaks are found by TestMain.
func TestCloseWithOpenStreams(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]simserver.Config{
		"plain": {Profile: quick(t)}, "TLS": {Profile: quick(t), TLS: true},
		"stalled": {Profile: quick(t), Fault: "stall_mid"}, "stalled under TLS": {Profile: quick(t), TLS: true, Fault: "stall_first"},
		"unanswered": {Profile: quick(t), Fault: "hang_accept"}, "late": {Profile: quick(t), Fault: "slow_headers:1h"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, cfg)
			addr := strings.TrimPrefix(strings.TrimPrefix(s.URL(), "https://"), "http://")
			var c net.Conn
			var err error
			if cfg.TLS {
				c, err = tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true})
			} else {
				c, err = net.Dial("tcp", addr)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			(&rawConn{c, bufio.NewReader(c)}).ask(t, "POST", "/v1/chat/completions", "", chat(30000, ""))
			waitFor(t, "the request", func() bool { return s.Stats().Requests == 1 })
			for range 2 {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
