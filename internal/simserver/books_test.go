package simserver_test

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"lmxbench/internal/simserver"
)

// records fetches /sim/records.
func records(t *testing.T, s *simserver.Server) []simserver.Record {
	t.Helper()
	c := dial(t, s)
	c.ask(t, "GET", "/sim/records", "", "")
	var out []simserver.Record
	for dec := json.NewDecoder(strings.NewReader(c.get().body)); ; {
		var r simserver.Record
		if err := dec.Decode(&r); err == io.EOF {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
}

// scrape reads one series of /metrics.
func scrape(t *testing.T, s *simserver.Server, series string) float64 {
	t.Helper()
	c := dial(t, s)
	c.ask(t, "GET", "/metrics", "", "")
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(series) + ` (\S+)$`).FindStringSubmatch(c.get().body)
	if m == nil {
		t.Fatalf("no series %s", series)
	}
	var v float64
	if _, err := fmt.Sscan(m[1], &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestBooksAgree: usage, metrics, records and what arrived tell one story, with
// and without speculation, in both phases, with one and with several writers.
func TestBooksAgree(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*simserver.Config){
		"steps":                     func(*simserver.Config) {},
		"steps with three writers":  func(c *simserver.Config) { c.Shards = 3 },
		"steps on a grid":           func(c *simserver.Config) { c.Profile.Tick = time.Millisecond },
		"speculation":               func(c *simserver.Config) { c.Profile.Draft, c.Profile.Acceptance = 3, 0.7 },
		"queueing on two slots":     func(c *simserver.Config) { c.Profile.Slots = 2 },
		"phases":                    func(c *simserver.Config) { phases(c) },
		"phases with three writers": func(c *simserver.Config) { phases(c); c.Shards = 3 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := simserver.Config{Profile: quick(t)}
			change(&cfg)
			s := start(t, cfg)
			const streams, tokens = 7, 40
			events := runStreams(t, s, streams, tokens)
			const labels = `{engine="0",model_name="sim-small"}`
			if got := scrape(t, s, "vllm:generation_tokens_total"+labels); got != streams*tokens {
				t.Errorf("generation_tokens_total %v, want %d", got, streams*tokens)
			}
			if got := scrape(t, s, `vllm:request_success_total{engine="0",finished_reason="length",model_name="sim-small"}`); got != streams {
				t.Errorf("request_success_total %v, want %d", got, streams)
			}
			if got := scrape(t, s, "vllm:time_to_first_token_seconds_count"+labels); got != streams {
				t.Errorf("time_to_first_token_seconds_count %v, want %d", got, streams)
			}
			if got := scrape(t, s, "vllm:inter_token_latency_seconds_count"+labels); got != float64(events-streams) {
				t.Errorf("inter_token_latency_seconds_count %v, want %d", got, events-streams)
			}
			if got := scrape(t, s, "vllm:num_requests_running"+labels); got != 0 {
				t.Errorf("num_requests_running %v, want 0", got)
			}
			checkRecords(t, records(t, s), streams, tokens, events)
			st := s.Stats()
			if st.Tokens != streams*tokens || st.Requests != streams || st.Aborted != 0 {
				t.Errorf("stats %+v", st)
			}
		})
	}
}

func phases(c *simserver.Config) {
	c.Profile.Phase, c.Profile.TTFT, c.Profile.ITL = simserver.StreamPhase, 2*time.Millisecond, time.Millisecond
}

// runStreams runs streams side by side and returns the number of token events.
func runStreams(t *testing.T, s *simserver.Server, streams, tokens int) int {
	t.Helper()
	var group sync.WaitGroup
	var mu sync.Mutex
	events := 0
	for i := range streams {
		c := dial(t, s)
		c.ask(t, "POST", "/v1/chat/completions", "", strings.Replace(chat(tokens, ""), "hello",
			fmt.Sprintf("[LocalMaxxing cache-bust nonce: %032x]\\nhello", i), 1))
		group.Go(func() {
			r := c.get()
			if !r.ended || !strings.Contains(r.body, fmt.Sprintf(`"completion_tokens":%d}`, tokens)) {
				t.Errorf("stream %d: %v, %s", i, r.err, clip(r.raw))
			}
			mu.Lock()
			defer mu.Unlock()
			events += (sight{response: r}).tokens()
		})
	}
	group.Wait()
	return events
}

func checkRecords(t *testing.T, list []simserver.Record, streams, tokens, events int) {
	t.Helper()
	if len(list) != streams {
		t.Fatalf("%d records, want %d", len(list), streams)
	}
	seen := map[string]bool{}
	for _, r := range list {
		seen[r.Nonce] = true
		total := int32(0)
		last := r.Recv
		for i, at := range r.Events.Sent {
			total += r.Events.Tokens[i]
			if at < last {
				t.Errorf("request %d: event %d sent at %d, before %d", r.Request, i, at, last)
			}
			last = at
		}
		events -= len(r.Events.Sent)
		if total != int32(tokens) || r.OutputTokens != tokens || r.FinishReason != "length" || r.Outcome != "done" || r.Finish != last {
			t.Errorf("record %+v", r)
		}
	}
	if len(seen) != streams || seen[""] {
		t.Errorf("%d different nonces, want %d", len(seen), streams)
	}
	if events != 0 {
		t.Errorf("records and streams differ by %d events", events)
	}
}

// TestSpeculationCounters: drafts, drafted and accepted tokens add up to the
// tokens served, cut at the cap.
func TestSpeculationCounters(t *testing.T) {
	t.Parallel()
	p := quick(t)
	p.Draft, p.Acceptance = 3, 0.77
	s := start(t, simserver.Config{Profile: p})
	runStreams(t, s, 1, 400)
	const labels = `{engine="0",model_name="sim-small"}`
	drafts := scrape(t, s, "vllm:spec_decode_num_drafts_total"+labels)
	drafted := scrape(t, s, "vllm:spec_decode_num_draft_tokens_total"+labels)
	accepted := scrape(t, s, "vllm:spec_decode_num_accepted_tokens_total"+labels)
	if drafted != 3*drafts {
		t.Errorf("%v drafted in %v drafts of 3", drafted, drafts)
	}
	// One token without a draft, one and the accepted ones per draft, and at
	// most three thrown away at the cap.
	if over := 1 + drafts + accepted - 400; over < 0 || over > 3 {
		t.Errorf("%v drafts and %v accepted tokens for 400 tokens", drafts, accepted)
	}
	perPos := 0.0
	for i := range 3 {
		perPos += scrape(t, s, fmt.Sprintf(`vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="sim-small",position="%d"}`, i))
	}
	if perPos != accepted {
		t.Errorf("positions add up to %v, accepted are %v", perPos, accepted)
	}
}

// TestKernelStamps: on Linux the arrival of a request is the kernel's, and lies
// before the server read it.
func TestKernelStamps(t *testing.T) {
	t.Parallel()
	s := start(t, simserver.Config{Profile: quick(t)})
	before := time.Now().UnixNano()
	runStreams(t, s, 1, 1)
	r := records(t, s)[0]
	if r.RecvSource != "kernel" {
		t.Skipf("arrival times come from the %s clock here", r.RecvSource)
	}
	if r.Recv < before || r.Recv > r.Read {
		t.Errorf("received at %d, want between %d (sent) and %d (read)", r.Recv, before, r.Read)
	}
}
