package simserver

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// idle is a server that no one serves, for the parts that need its fields.
func idle(t *testing.T, name string) *Server {
	t.Helper()
	p, err := LookupProfile(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Listen(Config{Profile: p})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestEventAllocations: an event costs no allocation from the yield to the
// stamped bytes, counters and record included, nor in the write itself.
func TestEventAllocations(t *testing.T) {
	for _, name := range []string{"default", "rtx5090-nemotron-dspark", "rtx5090-gemma-mtp"} {
		t.Run(name, func(t *testing.T) {
			s := idle(t, name)
			const runs = 500
			st := &stream{
				server: s, chat: true, streaming: true, usage: continuousUsage, finish: "length",
				id: "chatcmpl-0000000000000000", prose: newProse(1), record: &Record{},
				dialect: dialectFor(s.cfg.Profile.Flavor, true),
			}
			s.records.reserve(st.record, runs+10)
			st.encodeHead()
			st.job = job{prompt: 10, limit: 1 << 20, perEvent: 1, stream: st}
			var (
				b      burst
				out    []byte
				stamps []int
			)
			one := func() {
				y := yield{job: &st.job, at: time.Second, tokens: 3, drafted: 3, accepted: 2}
				s.metrics.count(st, y)
				b.fill(st, y)
				out, stamps = appendChunked(out[:0], stamps[:0], b.events)
				for _, i := range stamps {
					putStamp(out[i:], unixNano())
				}
				st.record.add(1, y.tokens)
			}
			one() // the buffers grow once
			if n := testing.AllocsPerRun(runs, one); n != 0 {
				t.Errorf("%v allocations per event, want 0", n)
			}
		})
	}
}

// TestWriteAllocations: the raw write allocates nothing.
func TestWriteAllocations(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	near, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = near.Close() }()
	far, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = far.Close() }()
	sock := newStampedSocket(near)
	if sock == nil {
		t.Skip("no raw sockets on this system: writes go through the net package")
	}
	msg := []byte(strings.Repeat("x", 100))
	if n := testing.AllocsPerRun(100, func() {
		if n, err := sock.write(msg); n != len(msg) || err != nil {
			t.Errorf("wrote %d bytes, %v", n, err)
		}
	}); n != 0 {
		t.Errorf("%v allocations per write, want 0", n)
	}
}

// TestPutStamp: the digits land in the blank, no more and no less.
func TestPutStamp(t *testing.T) {
	t.Parallel()
	b := []byte("<" + stampBlank + ">")
	putStamp(b[1:], 1764531234567890123)
	if string(b) != "<1764531234567890123>" {
		t.Errorf("got %s", b)
	}
}

// TestExpositionParses: a Prometheus parser reads /metrics of both flavours, and
// histograms are cumulative with their sum.
func TestExpositionParses(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"rtx5090-nemotron-dspark", "rtx5090-gemma-mtp"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := idle(t, name)
			for _, d := range []time.Duration{time.Millisecond, 20 * time.Millisecond, time.Hour} {
				s.metrics.itl.addDuration(d)
			}
			text := s.vllmMetrics()
			if s.cfg.Profile.Flavor == LlamaCPP {
				text = s.llamaMetrics()
			}
			parser := expfmt.NewTextParser(model.UTF8Validation)
			families, err := parser.TextToMetricFamilies(strings.NewReader(text))
			if err != nil || len(families) < 8 {
				t.Fatalf("%d families, %v", len(families), err)
			}
			if f := families["vllm:inter_token_latency_seconds"]; f != nil {
				checkHistogram(t, f.GetMetric()[0].GetHistogram())
			}
		})
	}
}

func checkHistogram(t *testing.T, h *dto.Histogram) {
	t.Helper()
	if h.GetSampleCount() != 3 || h.GetSampleSum() != 3600.021 {
		t.Errorf("count %d, sum %v; want 3 and 3600.021", h.GetSampleCount(), h.GetSampleSum())
	}
	got := map[float64]uint64{}
	for _, b := range h.GetBucket() {
		got[b.GetUpperBound()] = b.GetCumulativeCount()
	}
	for edge, want := range map[float64]uint64{0.01: 1, 0.025: 2, 80: 2} {
		if got[edge] != want {
			t.Errorf("bucket %v holds %d, want %d", edge, got[edge], want)
		}
	}
}

// pieces keeps every write apart.
type pieces struct {
	net.Conn
	writes []string
}

func (p *pieces) Write(b []byte) (int, error) {
	p.writes = append(p.writes, string(b))
	return len(b), nil
}

// TestOutboxTrickle: byte_by_byte writes every byte by itself; otherwise what
// waits goes out in one piece.
func TestOutboxTrickle(t *testing.T) {
	t.Parallel()
	for trickle, want := range map[bool][]string{true: {"a", "b", "c"}, false: {"abc"}} {
		p := &pieces{}
		if err := (&outbox{trickle: trickle}).write(&conn{nc: p}, []byte("abc")); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, p.writes); diff != "" {
			t.Errorf("trickle %v (-want +got):\n%s", trickle, diff)
		}
	}
}

// TestRecordsReserve: streams in flight never hold more events than the bound;
// beyond it they are recorded without events, and the room comes back.
func TestRecordsReserve(t *testing.T) {
	t.Parallel()
	r := &records{limit: 100}
	a, b, c := &Record{}, &Record{}, &Record{}
	r.reserve(a, 80)
	r.reserve(b, 30)
	b.add(1, 1)
	if a.EventsDropped || !b.EventsDropped || len(b.Events.Sent) != 0 {
		t.Errorf("80 of 100: dropped %v; 30 more: dropped %v with %d events", a.EventsDropped, b.EventsDropped, len(b.Events.Sent))
	}
	r.add(a)
	r.reserve(c, 30)
	if c.EventsDropped {
		t.Error("dropped although there is room again")
	}
}

// FuzzRequest: whatever the body, a request is refused with a 4xx or asks for a
// sane amount, and the prompt's text survives the search for its nonce.
func FuzzRequest(f *testing.F) {
	for _, seed := range []string{
		`{"model":"sim-small","messages":[{"role":"user","content":"hi"}],"max_tokens":5,"stream":true}`,
		`{"model":"sim-small","messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"max_completion_tokens":5}`,
		`{"model":"sim-small","prompt":["hi"],"min_tokens":1e300,"n":null}`,
		`{"model":"sim-small","prompt":[1,2],"max_tokens":-1,"stream_options":{"include_usage":1}}`,
		`[LocalMaxxing cache-bust nonce: 0123456789abcdef0123456789abcdef]`,
		`{`, `null`, `[]`, "\xff",
	} {
		f.Add([]byte(seed))
	}
	profiles := Profiles()
	f.Fuzz(func(t *testing.T, body []byte) {
		if nonce, rest := splitNonce(body); len(nonce) != 0 && len(nonce) != nonceDigits || len(rest) > len(body) {
			t.Fatalf("nonce %q, rest of %d of %d bytes", nonce, len(rest), len(body))
		}
		req, refused := parseRequest(body)
		for i := range profiles {
			for _, chat := range []bool{true, false} {
				var d demand
				if req != nil {
					d, refused = req.validate(&profiles[i], chat)
				}
				if refused != nil {
					if refused.status < 400 || refused.status > 499 || !utf8.ValidString(jsonString(t, refused)) {
						t.Fatalf("refused with %+v", refused)
					}
					continue
				}
				if d.limit < 1 || d.prompt < 1 || d.prompt+d.limit > profiles[i].MaxModelLen {
					t.Fatalf("%s: accepted %d prompt and %d output tokens", profiles[i].Name, d.prompt, d.limit)
				}
			}
		}
	})
}

func jsonString(t *testing.T, r *refusal) string {
	a := jsonAnswer(r.status, errorBody(VLLM, r))
	if a.status != r.status {
		t.Fatalf("%+v can't be encoded", r)
	}
	return string(a.body)
}

// TestStampedRead: bytes that arrived before they were asked for carry a stamp,
// and the end of the stream is an end, not an empty read.
func TestStampedRead(t *testing.T) {
	t.Parallel()
	lc := net.ListenConfig{Control: listenControl}
	ln, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	near, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	before := unixNano()
	if _, err := near.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	_ = near.Close()
	far, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = far.Close() }()
	sock := newStampedSocket(far)
	if sock == nil {
		t.Skip("no raw sockets on this system: stamps are user-space")
	}
	if ok, err := sock.wait(); !ok || err != nil {
		t.Fatalf("wait: %v, %v", ok, err)
	}
	b, err := io.ReadAll(io.LimitReader(sock, 5))
	if string(b) != "hello" || err != nil {
		t.Fatalf("read %q, %v", b, err)
	}
	if s := sock.kernelStamp(); s != 0 && (s < before || s > unixNano()) {
		t.Errorf("stamp %d lies outside the test", s)
	}
	if n, err := sock.Read(make([]byte, 5)); n != 0 || err == nil {
		t.Errorf("read %d bytes, %v after the end", n, err)
	}
	if ok, _ := sock.wait(); ok {
		t.Error("wait says that there is more after the end")
	}
}
