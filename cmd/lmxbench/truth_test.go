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

// truth URL DIR recomputes tokSOut, its σ and ttftMs of a run above one stream
// from the simulated engine's books alone: when it received each request and
// when it wrote each token. They must agree with run.json within what both
// sides say of their own lateness.
func truth(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: truth URL DIR")
	}
	var result truthResult
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(filepath.Join(args[1], "run.json"))), &result))
	books := serverBooks(ts, args[0])
	iterations := map[int]*serverWindow{}
	var ttft []float64
	for _, r := range requests(ts, args[1]) {
		if r.Phase != "timed" {
			continue
		}
		b, ok := books[r.Nonce]
		if !ok || len(b.Events.Sent) == 0 {
			ts.Fatalf("the server knows no tokens of nonce %s", r.Nonce)
		}
		w := iterations[r.Iteration]
		if w == nil {
			w = &serverWindow{first: math.Inf(1)}
			iterations[r.Iteration] = w
		}
		w.first, w.last = min(w.first, b.Events.Sent[0]), max(w.last, b.Finish)
		w.tokens += b.OutputTokens
		ttft = append(ttft, (b.Events.Sent[0]-b.Recv)/1e6)
	}
	late := result.lateness(ts, args[0])
	var rates []float64
	worst := 0.0
	for _, w := range iterations {
		span := w.last - w.first
		rates = append(rates, w.tokens/span*1e9)
		worst = max(worst, w.tokens/(span-late)*1e9-w.tokens/span*1e9)
	}
	if span := worst + 0.1; !(span < middle(rates)) {
		ts.Fatalf("both sides were %.1f ms late, which is as long as the run", late/1e6)
	}
	agree(ts, "tokSOut", result.TokSOut, middle(rates), worst+0.1)
	agree(ts, "sampleStats.tokSOut.stddev", result.SampleStats.TokSOut.Stddev, spread(rates), 2*worst+0.1)
	agree(ts, "ttftMs", result.TTFTMs, middle(ttft), late/1e6+0.01)
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

func serverBooks(ts *testscript.TestScript, url string) map[string]serverRecord {
	books := map[string]serverRecord{}
	d := json.NewDecoder(strings.NewReader(string(get(ts, url+"/sim/records"))))
	for d.More() {
		var r serverRecord
		ts.Check(d.Decode(&r))
		books[r.Nonce] = r
	}
	return books
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
