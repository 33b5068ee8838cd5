package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// runJSON FILE [-absent FIELD…] holds a result of streamed requests against
// what lmx's readers expect: form, fields, types, rounding, and the arithmetic
// between them, recomputed here from requests.jsonl. FIELDs are those that this
// run does not have.
func runJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: runjson FILE [-absent FIELD…]")
	}
	text := []byte(ts.ReadFile(args[0]))
	var tree map[string]any
	ts.Check(decodeExact(text, &tree))
	c := &resultCheck{tree: tree}
	c.form(text)
	c.fields(args[1:])
	if c.float("engineFlags.iterations")*c.float("engineFlags.concurrency") > 1 { // lmx writes none for one request
		c.rounding()
		c.samples()
	}
	c.windows(requests(ts, filepath.Dir(args[0])))
	if len(c.faults) > 0 {
		ts.Fatalf("%s:\n%s", args[0], strings.Join(c.faults, "\n"))
	}
}

// resultCheck collects what is wrong with a result.
type resultCheck struct {
	tree   map[string]any
	faults []string
}

func (c *resultCheck) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

// form: one object, keys sorted at every level, two spaces, a newline at the
// end, and no HTML in it. Encoding a map again gives just that.
func (c *resultCheck) form(text []byte) {
	var want bytes.Buffer
	e := json.NewEncoder(&want)
	e.SetIndent("", "  ")
	if err := e.Encode(c.tree); err != nil {
		c.fault("%v", err)
	}
	if !bytes.Equal(want.Bytes(), text) {
		c.fault("keys are not sorted, or the indent is not two spaces")
	}
}

// The fields of lmx's document, each with the form of its value as JSON.
var lmxFields = map[string]string{
	"engineName": `"[^"]+"`, "hfId": `"[^"]+"`, "modelRevision": `"[^"]+"`, "quantization": `"[^"]+"`,
	"backend": `"[^"]+"`, "benchmarkMode": `"remote"`, "detectedEngines": `\[\]`,
	"hardware": `\{.*\}`, "hardwareSource": `"(file|missing_remote)"`,
	"prompt": `".+"`, "outputText": `".+"`, "promptTokens": `[1-9]\d*`, "outputTokens": `[1-9]\d*`, "prefillTokens": `\d+`,
	"batchSize": `[1-9]\d*`, "contextLength": `[1-9]\d*`,
	"tokSOut": decimals(2), "tokSTotal": decimals(2), "tokSPrefill": decimals(2), "ttftMs": decimals(2),
	"tokSOutSource":     `"(inter_token|request_window|concurrent_request_window)"`,
	"tokSPrefillSource": `"estimated_from_ttft"`, "ttftSource": `"stream_first_token"`,
	"timingSource": `"client_observed_http"`, "metricSource": `"remote_endpoint"`,
	"tokenSources": `\{"output":"endpoint_usage","prompt":"endpoint_usage"\}`,
	"samples":      `\[\{.*\}\]`, "sampleStats": `\{.*\}`, "quantizationResolution": `\{.*"status":"(matched|mismatch)".*\}`,
	"engineFlags.mode": `"remote"`, "engineFlags.baseUrl": `"https?://[^"]*"`, "engineFlags.servedModel": `"[^"]+"`,
	"engineFlags.servedModelSource": `"(explicit|v1_models|hf_id_fallback)"`, "engineFlags.stream": `true`,
	"engineFlags.maxTokens": `[1-9]\d*`, "engineFlags.timeoutSeconds": `[1-9]\d*`, "engineFlags.warmup": `\d+`,
	"engineFlags.iterations": `[1-9]\d*`, "engineFlags.concurrency": `[1-9]\d*`,
	"engineFlags.promptSource": `"(default|inline|file|stdin|synthesized_prompt_tokens)"`, "engineFlags.promptFile": `"[^"]*"`,
	"engineFlags.prefixCacheBust": `"leading_nonce_per_request"`, "engineFlags.temperature": `[0-9.]+`,
	"engineFlags.commandSnippet": `".+"`,
	"provenance.cli":             `"lmxbench"`, "provenance.benchmarkMode": `"remote"`, "provenance.metricSource": `"remote_endpoint"`,
	"provenance.timingSource": `"client_observed_http"`, "provenance.ttftSource": `"stream_first_token"`,
	"provenance.createdAt": `"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"`,
	"lmxbench.schema":      `1`, "lmxbench.version": `"[^"]+"`, "lmxbench.verdict.status": `"(VALID|WARN|INVALID)"`,
	"lmxbench.origin.unixNs": `\d{19}`, "lmxbench.plan": `\{.*\}`, "lmxbench.client": `\{.*\}`, "lmxbench.engine": `\{.*\}`,
	"lmxbench.throughput.headline": `"(interToken|concurrentRequestWindow|batchWall)"`, "lmxbench.latency": `\{.*\}`,
	"lmxbench.outcomes": `\{.*\}`, "lmxbench.iterations": `\[\{.*\}\]`, "lmxbench.environment": `\{.*\}`,
}

// decimals is a number above 0 with at most n decimals.
func decimals(n int) string { return fmt.Sprintf(`\d+(\.\d{1,%d})?`, n) }

func (c *resultCheck) fields(without []string) {
	for name, form := range lmxFields {
		value, there := c.at(name)
		switch {
		case slices.Contains(without, name) && there:
			c.fault("%s is there: %.80s", name, value)
		case slices.Contains(without, name):
		case !there:
			c.fault("%s is missing", name)
		case !regexp.MustCompile(`(?s)^(?:` + form + `)$`).MatchString(value):
			c.fault("%s is %.80s, want %s", name, value, form)
		}
	}
	served, _ := c.at("engineFlags.servedModel")
	id, _ := c.at("hfId")
	if _, there := c.at("modelResolution"); there != !strings.EqualFold(served, id) {
		c.fault("modelResolution is there: %v, for hf-id %s served as %s", there, id, served)
	}
	n, _ := c.at("engineFlags.concurrency")
	if size, _ := c.at("batchSize"); size != n {
		c.fault("batchSize is %s, concurrency is %s", size, n)
	}
}

// at returns the JSON of a value by its path.
func (c *resultCheck) at(path string) (string, bool) {
	var node any = c.tree
	for key := range strings.SplitSeq(path, ".") {
		object, _ := node.(map[string]any)
		var there bool
		if node, there = object[key]; !there {
			return "", false
		}
	}
	text, err := json.Marshal(node)
	return string(text), err == nil
}

func (c *resultCheck) float(path string) float64 {
	text, _ := c.at(path)
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		c.fault("%s is %q, want a number", path, text)
	}
	return f
}

// rounding: lmx's summaries have two decimals and these keys.
func (c *resultCheck) rounding() {
	for _, name := range []string{"tokSOut", "tokSTotal", "ttftMs"} {
		stats, _ := c.tree["sampleStats"].(map[string]any)
		summary, _ := stats[name].(map[string]any)
		want := []string{"count", "max", "mean", "min", "p50"}
		if n, _ := c.at("sampleStats." + name + ".count"); n != "1" {
			want = append(want, "stddev")
		}
		if got := slices.Sorted(maps.Keys(summary)); !slices.Equal(got, want) {
			c.fault("sampleStats.%s has the keys %v, want %v", name, got, want)
		}
		for key, value := range summary {
			if !regexp.MustCompile(`^\d+(\.\d{1,2})?$`).MatchString(fmt.Sprint(value)) {
				c.fault("sampleStats.%s.%s is %v: more than two decimals", name, key, value)
			}
		}
		if p50, own := c.float("sampleStats."+name+".p50"), c.float(name); p50 != own {
			c.fault("%s is %g, its p50 is %g", name, own, p50)
		}
	}
}

// samples: one per counted request, in order, and the summaries follow from
// them as far as their decimals go.
func (c *resultCheck) samples() {
	list, _ := c.tree["samples"].([]any)
	streams, iterations := int(c.float("engineFlags.concurrency")), int(c.float("engineFlags.iterations"))
	if len(list) != streams*iterations {
		c.fault("%d samples, want %d", len(list), streams*iterations)
		return
	}
	var ttft, rate []float64
	for i, s := range list {
		sample, _ := s.(map[string]any)
		place := fmt.Sprint(sample["iteration"], " ", sample["request"])
		if want := fmt.Sprint(i/streams+1, " ", i%streams+1); place != want {
			c.fault("sample %d is of iteration and request %s, want %s", i+1, place, want)
		}
		for key, form := range map[string]string{
			"promptTokens": `[1-9]\d*`, "outputTokens": `[1-9]\d*`,
			"tokSOut": decimals(1), "ttftMs": decimals(2), "tokSPrefill": decimals(1),
		} {
			if value, ok := sample[key]; ok && !regexp.MustCompile(`^`+form+`$`).MatchString(fmt.Sprint(value)) {
				c.fault("sample %d: %s is %v, want %s", i+1, key, value, form)
			}
		}
		ttft, rate = appendNumber(ttft, sample["ttftMs"]), appendNumber(rate, sample["tokSOut"])
	}
	c.near("the median of the samples' ttftMs", middle(ttft), c.float("ttftMs"), 0.0101)
	c.near("the spread of the samples' ttftMs", spread(ttft), c.float("sampleStats.ttftMs.stddev"), 0.0201)
	if streams == 1 {
		c.near("the median of the samples' tokSOut", middle(rate), c.float("tokSOut"), 0.0051)
		c.near("the spread of the samples' tokSOut", spread(rate), c.float("sampleStats.tokSOut.stddev"), 0.0051)
	}
}

// windows: the rate of each iteration and their median, from the stamps.
func (c *resultCheck) windows(all []requestLine) {
	streams := int(c.float("engineFlags.concurrency"))
	var rates, totals []float64
	for i := range int(c.float("engineFlags.iterations")) {
		w := newWindow()
		for _, r := range all {
			if r.Phase == "timed" && r.Iteration == i+1 {
				w.add(r)
			}
		}
		rate := w.output / (w.end - w.firstToken) * 1e9
		if streams == 1 {
			rate = (w.output - 1) / (w.lastToken - w.firstToken) * 1e9
		}
		rates = append(rates, math.Round(rate*10)/10)
		totals = append(totals, math.Round((w.output+w.prompt)/(w.end-w.send)*1e10)/10)
	}
	c.near("tokSOut from the stamps", middle(rates), c.float("tokSOut"), 0.0051)
	if len(rates) > 1 {
		c.near("σ of tokSOut from the stamps", spread(rates), c.float("sampleStats.tokSOut.stddev"), 0.0051)
	}
	c.near("tokSTotal from the stamps", middle(totals), c.float("tokSTotal"), 0.0051)
}

func (c *resultCheck) near(what string, got, want, within float64) {
	if !(math.Abs(got-want) <= within) {
		c.fault("%s is %g, the document has %g", what, got, want)
	}
}
