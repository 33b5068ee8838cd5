package main

import (
	"bufio"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// requestLine is what these tests read of a line of requests.jsonl.
type requestLine struct {
	Phase              string
	Iteration, Request int
	Outcome, Error     string
	Nonce              string
	PromptTokens       float64
	OutputTokens       float64
	T                  struct{ Send, FirstToken, LastToken, End float64 } // ns
}

// requests reads requests.jsonl of a run directory.
func requests(ts *testscript.TestScript, dir string) []requestLine {
	var all []requestLine
	lines := bufio.NewScanner(strings.NewReader(ts.ReadFile(filepath.Join(dir, "requests.jsonl"))))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var r requestLine
		ts.Check(json.Unmarshal(lines.Bytes(), &r))
		all = append(all, r)
	}
	return all
}

// window is a batch from the outside, ns.
type window struct{ send, firstToken, lastToken, end, prompt, output float64 }

func newWindow() *window { return &window{send: math.Inf(1), firstToken: math.Inf(1)} }

func (w *window) add(r requestLine) {
	w.send, w.firstToken = min(w.send, r.T.Send), min(w.firstToken, r.T.FirstToken)
	w.lastToken, w.end = max(w.lastToken, r.T.LastToken), max(w.end, r.T.End)
	w.prompt, w.output = w.prompt+r.PromptTokens, w.output+r.OutputTokens
}

// middle is the median.
func middle(xs []float64) float64 {
	n := len(xs)
	if n == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(xs))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// spread is the sample's standard deviation.
func spread(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	mean := sum / float64(len(xs))
	squares := 0.0
	for _, x := range xs {
		squares += (x - mean) * (x - mean)
	}
	return math.Sqrt(squares / float64(len(xs)-1))
}

func appendNumber(xs []float64, v any) []float64 {
	n, ok := v.(json.Number)
	if !ok {
		return xs
	}
	f, err := n.Float64()
	if err != nil {
		return xs
	}
	return append(xs, f)
}

func itoa(n int) string { return strconv.Itoa(n) }

func atoi(ts *testscript.TestScript, text string) int {
	n, err := strconv.Atoi(text)
	ts.Check(err)
	return n
}
