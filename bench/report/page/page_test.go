package page_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"lmxbench/bench/report"
	"lmxbench/bench/report/page"
	"lmxbench/bench/report/runtest"
	"lmxbench/bench/report/study"
)

const seedTable = "../../../testdata/seed/runs.csv"

// maxPage is the largest page, whatever was measured.
const maxPage = 2 << 20

func ptr[T any](v T) *T { return &v }

func options() study.Options {
	return study.Options{Prices: study.Prices{
		GPUHourUSD: ptr(5.6), USDPerKWh: ptr(0.12), APIs: []study.API{{Name: "hosted", USDPerMillion: 0.7}}, Date: "2026-11-30",
	}}
}

// render is the page of some results.
func render(t testing.TB, o study.Options, paths ...string) string {
	t.Helper()
	st, err := study.Open(paths, o)
	if err != nil {
		t.Fatal(err)
	}
	var tr *study.Trace
	if s := st.Single(); s != nil && s.HasEvidence() {
		if tr, err = s.Trace(); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := page.Write(&b, st, tr); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// pages are all shapes that a page can have.
func pages(t testing.TB) map[string]string {
	t.Helper()
	parent := t.TempDir()
	store := func(name string, l runtest.Load) string { return runtest.Store(t, parent, name, l) }
	all := map[string]string{}

	l := runtest.Burst(64)
	l.Attached.Power = json.RawMessage(`{"source":"nvml","windows":{"lmx":{"meanWatts":764.8,"joulesPerToken":0.0527,"energySource":"counter"}}}`)
	powered := store("power", l)
	runtest.StorePower(t, powered, l.Evidence(), 764.8)
	o := options()
	o.Roof.WeightsGB = 2
	all["power"] = render(t, o, powered)

	known := runtest.Burst(256)
	known.Iterations, known.Tokens, known.Step = 3, 512, 14*time.Millisecond
	known.Change = func(p *report.Plan) { p.HFID = "Qwen/Qwen3.6-35B-A3B-FP8" }
	all["roof"] = render(t, options(), store("roof", known))
	all["single"] = render(t, options(), store("c1", runtest.Single()))
	all["plain"] = render(t, study.Options{}, store("plain", runtest.Burst(3)))

	failed := runtest.Burst(12)
	failed.Failed, failed.Iterations = 2, 1
	all["failed"] = render(t, options(), store("failed", failed))
	cut := runtest.Burst(12)
	cut.Cut = true
	all["cut"] = render(t, options(), store("cut", cut))
	drafted := runtest.Single()
	drafted.PerEvent, drafted.Tokens = 4, 256
	drafted.Change = func(p *report.Plan) { p.Simulated = "rtx5090-gemma-mtp" }
	all["simulated"] = render(t, options(), store("simulated", drafted))
	all["lmx"] = render(t, options(), "../study/testdata/lmx-c2.json")
	all["table"] = render(t, study.Options{Prices: study.Prices{APIs: options().Prices.APIs}}, seedTable)

	for _, n := range []int{1, 2, 8, 32, 128} {
		for name, step := range map[string]float64{"a": 1, "b": 0.9} {
			l := runtest.Burst(n)
			l.Tokens, l.Seed = 64, uint64(len(name))
			l.Step = time.Duration(float64(l.Step) * step)
			l.Change = func(p *report.Plan) { p.ServeFlags = map[string]any{"prefixCaching": name == "a"} }
			runtest.Store(t, filepath.Join(parent, name), fmt.Sprintf("c%d", n), l)
		}
	}
	all["ladder"] = render(t, options(), filepath.Join(parent, "a"))
	all["comparison"] = render(t, options(), filepath.Join(parent, "a"), filepath.Join(parent, "b"))
	var sweep []string
	for k := range 8 {
		l := runtest.Single()
		l.Iterations, l.Tokens, l.Seed = 6, 128, uint64(k)
		l.Step += time.Duration((k-4)*(k-4)) * 60 * time.Microsecond
		l.Change = func(p *report.Plan) {
			p.ServeFlags = map[string]any{"attentionBackend": fmt.Sprintf("a-backend-with-a-rather-long-name-%d", k)}
		}
		sweep = append(sweep, store(fmt.Sprintf("s%d", k), l))
	}
	all["sweep"] = render(t, options(), sweep...)
	return all
}

func TestPages(t *testing.T) {
	t.Parallel()
	all := pages(t)
	for _, c := range []struct {
		sentence string
		check    func(*testing.T, map[string]string)
	}{
		{"are well-formed and small", wellFormed},
		{"need nothing from outside", selfContained},
		{"have the numbers of every figure", numbered},
		{"say what the result says", faithful},
		{"are legible in Chromium, light and dark, on a desk and on a phone", legible},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			t.Parallel()
			c.check(t, all)
		})
	}
}

func wellFormed(t *testing.T, all map[string]string) {
	for name, text := range all {
		t.Run(name, func(t *testing.T) {
			if len(text) > maxPage {
				t.Errorf("%d bytes, want %d at most", len(text), maxPage)
			}
			c := walk(t, text)
			if c.svg == 0 || c.svg != c.titled || c.svg != c.described {
				t.Errorf("%d drawings, %d with a title, %d with a description", c.svg, c.titled, c.described)
			}
			for id, n := range c.ids {
				if n != 1 {
					t.Errorf("id %q stands on the page %d times", id, n)
				}
			}
			for _, ref := range c.refs {
				if c.ids[ref] == 0 {
					t.Errorf("nothing has the id %q, which a drawing is labelled by", ref)
				}
			}
			if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") || strings.Contains(text, "ZgotmplZ") {
				t.Error("a value that is none, or one that the template refused")
			}
		})
	}
}

// census is what stands on a page.
type census struct {
	svg, titled, described int
	ids                    map[string]int
	refs                   []string
}

// walk parses the page strictly: pages are written so that they are XML too.
func walk(t *testing.T, text string) census {
	t.Helper()
	c := census{ids: map[string]int{}}
	var open []string
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return c
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			name := x.Name.Local
			switch name {
			case "script", "link", "img", "iframe", "object", "embed", "base", "form", "image", "use", "foreignObject", "a":
				t.Errorf("a page must not hold <%s>", name)
			}
			key := false
			for _, a := range x.Attr {
				key = key || (a.Name.Local == "aria-hidden" && a.Value == "true")
				switch a.Name.Local {
				case "id":
					c.ids[a.Value]++
				case "aria-labelledby":
					c.refs = append(c.refs, strings.Fields(a.Value)...)
				case "src", "href", "srcset", "style", "action", "onclick", "onload", "xlink":
					t.Errorf("<%s> has the attribute %s", name, a.Name.Local)
				}
			}
			if name == "svg" && !key {
				c.svg++
			}
			if len(open) > 0 && open[len(open)-1] == "svg" {
				switch name {
				case "title":
					c.titled++
				case "desc":
					c.described++
				}
			}
			open = append(open, name)
		case xml.EndElement:
			open = open[:len(open)-1]
		}
	}
}

var outside = regexp.MustCompile(`(?i)(url\(|@import|@font-face|src=|href=|https?://|//[a-z])`)

func selfContained(t *testing.T, all map[string]string) {
	for name, text := range all {
		if found := outside.FindString(text); found != "" {
			t.Errorf("%s: %q stands on the page", name, found)
		}
		for _, want := range []string{"prefers-color-scheme: dark", `name="viewport"`, "<title>", `lang="en"`} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %s", name, want)
			}
		}
	}
}

func numbered(t *testing.T, all map[string]string) {
	for name, text := range all {
		for _, part := range strings.Split(text, "<figure")[1:] {
			body, _, _ := strings.Cut(part, "</figure>")
			heading, _, _ := strings.Cut(body[strings.Index(body, "<h3>")+4:], "</h3>")
			caption := strings.Contains(body, "<figcaption>") && strings.Contains(body, "<p>")
			inTable := strings.Contains(body, "<table") || strings.Contains(body, "table of results") || strings.Contains(body, "cost table") ||
				strings.Contains(body, "comparison table") || strings.Contains(body, "table beside it")
			if !caption || !inTable || strings.Count(body, `class="wide"`) != 1 || strings.Count(body, `class="narrow"`) != 1 {
				t.Errorf("%s: figure %q: caption %v, numbers %v", name, heading, caption, inTable)
			}
		}
	}
}

func faithful(t *testing.T, all map[string]string) {
	for _, c := range []struct {
		page string
		want []string
		not  []string
	}{
		{"power", []string{">VALID<", "J/token", "0.053", "764.8 W over the lmx window", "What did it draw, and when?", "20 ms samples", "Dense fallback"}, []string{"not measured"}},
		{"roof", []string{"model ceiling", "hard ceiling", "of what its memory bandwidth allows", "plateau", "concurrentRequestWindow", "batchWall", "cheaper"}, nil},
		{"single", []string{"inter-token", "(tokens − 1) ÷ (last token − first token)", "Whole answer", "dearer"}, []string{"plateau: every stream decodes"}},
		{"plain", []string{"no price given", "not known", "not measured"}, []string{"$/M"}},
		{"failed", []string{"No result", ">INVALID<", "failed_requests", "no price", "<code>outcome</code>", `class="failed"`}, []string{"cheaper"}},
		{"cut", []string{"Interrupted: this run did not finish", "No result", "was cut off"}, nil},
		{"simulated", []string{"Simulated engine (rtx5090-gemma-mtp): made-up speed"}, nil},
		{"lmx", []string{"198.1", "± 3.3", "not judged", "holds no evidence", "derived: tokSTotal"}, []string{"What happened in the batch?"}},
		{"table", []string{"36 results of 8 models", "$0.034", "the cheapest: Qwen3.6-35B-A3B-FP8 · H100 80GB SXM · c256", "$7.06", "between 12.4 and 22.2", "20.7 × cheaper"}, []string{"Does the change show?"}},
		{"ladder", []string{"Ladder", "What does more load bring?", "How long is the wait for the first token?", "trade between one user and all", "What does load do to the price?", ">c128<"}, nil},
		{"comparison", []string{"more than the iterations scatter", "prefixCaching", "no prefixCaching", "95 % interval", "Does the change show?"}, nil},
		{"sweep", []string{"Which setting is fastest at 1 stream?", "Against the runner-up", "attentionBackend"}, nil},
	} {
		for _, want := range c.want {
			if !strings.Contains(all[c.page], want) {
				t.Errorf("%s: no %q", c.page, want)
			}
		}
		for _, not := range c.not {
			if strings.Contains(all[c.page], not) {
				t.Errorf("%s: it says %q", c.page, not)
			}
		}
	}
}

func TestTextsOfTheServerCannotBecomeMarkup(t *testing.T) {
	t.Parallel()
	l := runtest.Burst(2)
	l.Iterations, l.Tokens = 1, 16
	const evil = `<script>alert("x")</script>&'"</style>`
	l.Change = func(p *report.Plan) {
		p.HFID, p.Engine, p.EngineVersion, p.Quantization, p.PromptName = evil, evil, evil, evil, evil
		p.ServeFlags = map[string]any{evil: evil}
		p.Hardware = []byte(`{"gpuName":"<b>card</b>","gpuCount":1}`)
	}
	a := runtest.Store(t, t.TempDir(), "a", l)
	l.Change = func(p *report.Plan) { p.HFID = evil }
	b := runtest.Store(t, t.TempDir(), "b", l)
	o := study.Options{Prices: study.Prices{GPUHourUSD: ptr(1.0), APIs: []study.API{{Name: evil, USDPerMillion: 1}}, Date: evil}}
	for _, text := range []string{render(t, o, a), render(t, o, a, b)} {
		walk(t, text)
		if strings.Contains(text, "<script") || strings.Contains(text, "<b>") {
			t.Error("a text became markup")
		}
	}
}

// A thousand streams of a thousand tokens make a page of the same size as one.
func TestSizeDoesNotGrowWithTokens(t *testing.T) {
	t.Parallel()
	l := runtest.Burst(1000)
	l.Iterations, l.Tokens, l.Warmup = 1, 1024, 0
	big := render(t, options(), runtest.Store(t, t.TempDir(), "r", l))
	if len(big) > maxPage/4 {
		t.Errorf("got %d bytes", len(big))
	}
}

// nice go test ./bench/report/page -run '^$' -bench . -benchtime 5x
func BenchmarkReport(b *testing.B) {
	l := runtest.Burst(1000)
	l.Iterations, l.Tokens, l.Prefill, l.Step = 3, 1024, time.Millisecond, 20*time.Millisecond
	dir := runtest.Store(b, b.TempDir(), "r", l)
	b.ReportAllocs()
	size := 0
	for b.Loop() {
		size = len(render(b, options(), dir))
	}
	b.ReportMetric(float64(size), "page-bytes")
}
