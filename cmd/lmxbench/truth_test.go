package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// serverRecord is the simulated engine's own account of a request, ns since
// 1970.
type serverRecord struct {
	Nonce        string
	Recv         float64 `json:"recv_unix_ns"`
	Finish       float64 `json:"finish_unix_ns"`
	OutputTokens float64 `json:"output_tokens"`
	Events       struct {
		Sent []float64 `json:"sent_unix_ns"`
	}
}

// truth URL measures a run of eight streams and recomputes its tokSOut, the σ of
// that and ttftMs from the simulated engine's books alone: when it received
// each request and when it wrote each token. They must agree with run.json
// within what both sides say of their own lateness. A busy machine makes that
// wide; so it measures again, a few times, until it is a tenth of the window.
func truth(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: truth URL")
	}
	const attempts = 4
	for i := range attempts {
		dir := "truth" + itoa(i)
		reset(ts, args[0])
		exits(ts, false, []string{
			"0", "lmxbench", "run", "--base-url", args[0], "--power", "off", "--concurrency", "8", "--iterations", "3",
			"--max-tokens", "100", "--warmup", "1", "--quiet", "--out", dir + "/run.json",
		})
		b := readBooks(ts, args[0], dir)
		if b.late < b.shortest/10 || i == attempts-1 {
			b.compare(ts)
			return
		}
		ts.Logf("both sides were %.1f ms late: once more", b.late/1e6)
	}
}

// books are a run's result and what the server's books give for it.
type books struct {
	result         truthResult
	rates, ttft    []float64 // by iteration, tok/s; by request, ms
	worst          float64   // what the lateness can do to a rate
	late, shortest float64   // ns: lateness of both sides, shortest window
}

func readBooks(ts *testscript.TestScript, url, dir string) *books {
	b := &books{shortest: math.Inf(1)}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(filepath.Join(dir, "run.json"))), &b.result))
	records := serverRecords(ts, url)
	iterations := map[int]*serverWindow{}
	for _, r := range requests(ts, dir) {
		if r.Phase != "timed" {
			continue
		}
		s, ok := records[r.Nonce]
		if !ok || len(s.Events.Sent) == 0 {
			ts.Fatalf("the server knows no tokens of nonce %s", r.Nonce)
		}
		w := iterations[r.Iteration]
		if w == nil {
			w = &serverWindow{first: math.Inf(1)}
			iterations[r.Iteration] = w
		}
		w.first, w.last = min(w.first, s.Events.Sent[0]), max(w.last, s.Finish)
		w.tokens += s.OutputTokens
		b.ttft = append(b.ttft, (s.Events.Sent[0]-s.Recv)/1e6)
	}
	b.late = b.result.lateness(ts, url)
	for _, w := range iterations {
		span := w.last - w.first
		b.shortest = min(b.shortest, span)
		b.rates = append(b.rates, w.tokens/span*1e9)
		b.worst = max(b.worst, w.tokens/max(span-b.late, 1)*1e9-w.tokens/span*1e9)
	}
	return b
}

func (b *books) compare(ts *testscript.TestScript) {
	agree(ts, "tokSOut", b.result.TokSOut, middle(b.rates), b.worst+0.1)
	agree(ts, "sampleStats.tokSOut.stddev", b.result.SampleStats.TokSOut.Stddev, spread(b.rates), 2*b.worst+0.1)
	agree(ts, "ttftMs", b.result.TTFTMs, middle(b.ttft), b.late/1e6+0.01)
}

type serverWindow struct{ first, last, tokens float64 }

type truthResult struct {
	TokSOut, TTFTMs float64
	SampleStats     struct{ TokSOut struct{ Stddev float64 } }
	Lmxbench        struct {
		Client struct {
			ReadLagUs             struct{ Max float64 }
			StallMs, SendSpreadMs float64
			TimestampSource       string
		}
	}
}

// lateness bounds, in ns, how far client and server stamps of one moment lie
// apart: how late the client read, woke and sent, and how late the server was
// with the last write of a step.
func (r *truthResult) lateness(ts *testscript.TestScript, url string) float64 {
	var server struct {
		StepEnd struct {
			Max float64 `json:"max_us"`
		} `json:"step_end_lateness"`
	}
	ts.Check(json.Unmarshal(get(ts, url+"/sim/stats"), &server))
	c := r.Lmxbench.Client
	late := c.ReadLagUs.Max*1e3 + (c.StallMs+c.SendSpreadMs)*1e6 + server.StepEnd.Max*1e3
	ts.Logf("tolerance %.3f ms: read lag %.0f µs, stall %.3f ms, send spread %.3f ms, server %.0f µs, stamps %s",
		late/1e6, c.ReadLagUs.Max, c.StallMs, c.SendSpreadMs, server.StepEnd.Max, c.TimestampSource)
	return late
}

func agree(ts *testscript.TestScript, what string, got, want, within float64) {
	if !(math.Abs(got-want) <= within) {
		ts.Fatalf("%s is %g, the server's books give %.3f ± %.3f", what, got, want, within)
	}
	ts.Logf("%s is %g, the server's books give %.3f ± %.3f", what, got, want, within)
}

func serverRecords(ts *testscript.TestScript, url string) map[string]serverRecord {
	all := map[string]serverRecord{}
	d := json.NewDecoder(strings.NewReader(string(get(ts, url+"/sim/records"))))
	for d.More() {
		var r serverRecord
		ts.Check(d.Decode(&r))
		all[r.Nonce] = r
	}
	return all
}

// reset has the server forget its records and its lateness.
func reset(ts *testscript.TestScript, url string) {
	resp, err := http.Post(url+"/sim/reset", "", nil)
	ts.Check(err)
	ts.Check(resp.Body.Close())
}

func get(ts *testscript.TestScript, url string) []byte {
	resp, err := http.Get(url)
	ts.Check(err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	ts.Check(err)
	if resp.StatusCode != http.StatusOK {
		ts.Fatalf("%s", fmt.Sprint(url, ": ", resp.Status))
	}
	return body
}
