package study_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lmxbench/bench/report/study"
)

// The published pipeline's figures, recomputed: 36 rows of its board, its cost
// table, and what its text derives from them. The document that
// TestPublishedFigures writes is the proof; the tests above it assert.
const seedDocument = "../../../docs/seed-figures.md"

// seed is the table and the figures of the text.
type seed struct {
	*study.Study
	said map[string]float64
}

func readSeed(t *testing.T) seed {
	t.Helper()
	s := seed{said: map[string]float64{}}
	rows := readCSV(t, "../../../testdata/seed/published.csv")
	for _, r := range rows[1:] {
		v, err := strconv.ParseFloat(r[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		s.said[r[0]] = v
	}
	s.Study = openSeed(t, study.Prices{APIs: []study.API{{Name: "hosted", USDPerMillion: s.said["api_usd_per_m"]}}})
	return s
}

func readCSV(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// find returns the only row of a model, card and concurrency.
func (s seed) find(t *testing.T, model, gpu string, streams int, speculation string) *study.Subject {
	t.Helper()
	var found *study.Subject
	for _, x := range s.Subjects {
		if x.Model == model && strings.Contains(x.GPU, gpu) && x.Streams == streams && strings.Contains(x.Speculation, speculation) && (speculation != "" || x.Speculation == "") {
			if found != nil {
				t.Fatalf("two rows of %s on %s at %d", model, gpu, streams)
			}
			found = x
		}
	}
	if found == nil {
		t.Fatalf("no row of %s on %s at %d", model, gpu, streams)
	}
	return found
}

// price is the quote of a row.
func (s seed) price(t *testing.T, x *study.Subject) study.Quote {
	t.Helper()
	i := slices.Index(s.Subjects, x)
	for _, q := range s.Money.Quotes {
		if q.Subject == i {
			return q
		}
	}
	t.Fatalf("no price of %s", x.Label)
	return study.Quote{}
}

const (
	qwen     = "Qwen/Qwen3.6-35B-A3B-FP8"
	nemotron = "nvidia/NVIDIA-Nemotron-3.5-Lightning-30B-A3B-NVFP4"
	gemma    = "unsloth/gemma-4-26B-A4B-it-GGUF"
)

// costRow is a row of the published cost table.
type costRow struct {
	name, model, gpu, spec string
	streams                int
	exact, printed         string
}

func costTable() []costRow {
	return []costRow{
		{"Qwen3.6 FP8, B200, 1 stream", qwen, "B200", "", 1, "7.05787", "$7.06"},
		{"Qwen3.6 FP8, B200, 64 streams", qwen, "B200", "", 64, "0.25204", "$0.25"},
		{"Qwen3.6 FP8, B200, 128 streams", qwen, "B200", "", 128, "0.15888", "$0.16"},
		{"Qwen3.6 FP8, B200, 256 streams", qwen, "B200", "", 256, "0.10728", "$0.107"},
		{"Qwen3.6 FP8, H100 SXM, 256 streams", qwen, "H100", "", 256, "0.03378", "$0.034"},
		{"Qwen3.6 FP8, H200 SXM, 256 streams", qwen, "H200", "", 256, "0.06941", "$0.069"},
		{"Nemotron NVFP4 + DSpark, RTX 5090, 1 stream", nemotron, "5090", "DSpark", 1, "0.24048", "$0.24"},
		{"gemma GGUF + MTP, RTX 5090, 1 stream", gemma, "5090", "draft-mtp", 1, "0.40950", "$0.41"},
	}
}

// exactPrice writes a price with the decimals of the published table.
func exactPrice(x float64) string { return strconv.FormatFloat(x, 'f', 5, 64) }

func TestThePublishedCostTableDigitForDigit(t *testing.T) {
	t.Parallel()
	s := readSeed(t)
	for _, c := range costTable() {
		q := s.price(t, s.find(t, c.model, c.gpu, c.streams, c.spec))
		if got := exactPrice(q.USDPerMillion); got != c.exact {
			t.Errorf("%s: got %s, published %s", c.name, got, c.exact)
		}
		if got := study.Dollars(q.USDPerMillion); got != c.printed {
			t.Errorf("%s: printed %s, published %s", c.name, got, c.printed)
		}
	}
}

// TestEveryPriceOfTheTable compares with the table's own column.
func TestEveryPriceOfTheTable(t *testing.T) {
	t.Parallel()
	s := readSeed(t)
	rows := readCSV(t, seedTable)
	column := slices.Index(rows[0], "usd_per_m_output_tokens")
	for i, x := range s.Subjects {
		if got := strconv.FormatFloat(s.price(t, x).USDPerMillion, 'f', 6, 64); got != rows[i+1][column] {
			t.Errorf("%s: got %s, the table has %s", x.Path, got, rows[i+1][column])
		}
	}
}

func TestDerivedClaimsAreReproducedOrShownToDiffer(t *testing.T) {
	t.Parallel()
	s := readSeed(t)
	want := map[string]string{
		"B200 at 256 streams against the hosted price":           "6.525×",
		"H100 at 256 streams against it":                         "20.72×",
		"H200 at 256 streams against it":                         "10.08×",
		"one user on the B200 against it":                        "10.08×",
		"break-even rate of the B200":                            "2,222.2 tok/s",
		"rate of one stream among 64 on the B200":                "96.436 tok/s",
		"break-even of the B200":                                 "between 12.4 and 22.2 streams (log–log 17.9, monotone cubic 21.1)",
		"B200 session":                                           "$3.780",
		"gemma session":                                          "$0.270",
		"returned H100 PCIe":                                     "$0.050",
		"all sessions together":                                  "$6.59 of it itemised",
		"Qwen3.8 GGUF against the record of 217.9":               "5.8 % short",
		"Nemotron with DSpark against plain":                     "2.19×",
		"gemma with MTP against plain":                           "1.90×",
		"best n-max of gemma":                                    "5",
		"best k of Qwen3.6 with MTP on the H100":                 "5",
		"scatter of B200 at 256 streams":                         "0.74 %",
		"scatter of Nemotron with DSpark":                        "1.06 %",
		"scatter of gemma with MTP":                              "2.95 %",
		"acceptance and tokens per step of Nemotron with DSpark": "0.7702 and 3.311",
		"acceptance and tokens per step of gemma with MTP":       "0.6084 and 4.042",
		"what the 14,499.4 of the B200 is":                       "131,072 tokens ÷ 9.0398 s",
		"price of the B200 by the wall rate":                     "$0.10897 at 14275.1 tok/s",
	}
	seen := map[string]bool{}
	for _, c := range s.claims(t) {
		seen[c.text] = true
		if ours, ok := want[c.text]; ok && c.ours != ours {
			t.Errorf("%s: got %s, want %s", c.text, c.ours, ours)
		}
	}
	for text := range want {
		if !seen[text] {
			t.Errorf("nothing about: %s", text)
		}
	}
}

// counts are the sums over the table that the text states.
func (s seed) counts() (rows [][3]string) {
	is := func(f func(*study.Subject) bool) int {
		n := 0
		for _, x := range s.Subjects {
			if f(x) {
				n++
			}
		}
		return n
	}
	different := func(f func(*study.Subject) (string, bool)) int {
		set := map[string]bool{}
		for _, x := range s.Subjects {
			if key, ok := f(x); ok {
				set[key] = true
			}
		}
		return len(set)
	}
	add := func(what, published string, n int) { rows = append(rows, [3]string{what, published, strconv.Itoa(n)}) }
	add("runs", "36", len(s.Subjects))
	add("verified", "20", is(func(x *study.Subject) bool { return x.Rank.Verified }))
	add("of several streams", "15", is(func(x *study.Subject) bool { return x.Streams > 1 }))
	add("of one stream", "21", is(func(x *study.Subject) bool { return x.Streams == 1 }))
	add("with speculation", "10", is(func(x *study.Subject) bool { return x.Speculation != "" }))
	add("vLLM", "29", is(func(x *study.Subject) bool { return x.Engine == "vllm" }))
	add("llama.cpp", "7", is(func(x *study.Subject) bool { return x.Engine == "llama.cpp" }))
	add("boards", "8", different(func(x *study.Subject) (string, bool) { return x.Board, true }))
	add("boards led", "7", different(func(x *study.Subject) (string, bool) { return x.Board, x.Rank.All == 1 }))
	add("boards led at one stream", "4", different(func(x *study.Subject) (string, bool) { return x.Board, x.Rank.SingleStream == 1 }))
	for _, g := range []struct{ gpu, published string }{{"B200", "11"}, {"H100 80GB SXM", "9"}, {"RTX 5090", "6"}, {"RTX PRO 6000 Blackwell", "6"}, {"H200 SXM", "4"}} {
		add("on "+g.gpu, g.published, is(func(x *study.Subject) bool { return strings.HasSuffix(x.GPU, g.gpu) }))
	}
	return rows
}

// TestRanksFollowFromTheRates checks order: on one board a better rank never
// has a lower rate.
func TestRanksFollowFromTheRates(t *testing.T) {
	t.Parallel()
	s := readSeed(t)
	for _, c := range s.counts() {
		if c[1] != c[2] {
			t.Errorf("%s: got %s, published %s", c[0], c[2], c[1])
		}
	}
	for _, a := range s.Subjects {
		for _, b := range s.Subjects {
			if a.Board == b.Board && a.Rank.All < b.Rank.All && a.Answer().TokensPerSecond < b.Answer().TokensPerSecond {
				t.Errorf("%s: rank %d at %v, rank %d at %v", a.Board, a.Rank.All, a.Answer().TokensPerSecond, b.Rank.All, b.Answer().TokensPerSecond)
			}
		}
	}
}

// TestPublishedFigures writes docs/seed-figures.md.
func TestPublishedFigures(t *testing.T) {
	t.Parallel()
	s := readSeed(t)
	var b strings.Builder
	b.WriteString(`# Published figures, recomputed

Written by a test (` + "`go test ./bench/report/study -update`" + `) from [testdata/seed](../testdata/seed):
` + "`runs.csv`" + `, the 36 rows of a published benchmark series, and ` + "`published.csv`" + `, figures of
its text. ` + "`lmxbench report testdata/seed/runs.csv --api-price hosted=0.70`" + ` prints the
prices of all rows. Nothing here was measured by lmxbench.

## Cost of a million output tokens

$/M = $ per hour ÷ (tok/s × 0.0036), by the rate of the row. Printed are two
decimals from $0.15, else three. All 36 prices of the table agree in all six of
their decimals.

| run | $/h | tok/s | $/M | printed | published |
|---|---:|---:|---:|---:|---:|
`)
	for _, c := range costTable() {
		x := s.find(t, c.model, c.gpu, c.streams, c.spec)
		q := s.price(t, x)
		fmt.Fprintf(&b, "| %s | %.2f | %.1f | %s | %s | %s |\n", c.name, q.Tariff.USDPerHour, q.TokensPerSecond, exactPrice(q.USDPerMillion), study.Dollars(q.USDPerMillion), c.printed)
	}
	b.WriteString("\n## Claims of the text\n\n| claim | published | from the data | | why |\n|---|---|---|---|---|\n")
	for _, c := range s.claims(t) {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", c.text, c.published, c.ours, c.verdict, c.why)
	}
	b.WriteString("\n## Counts and ranks\n\nOn every board a better rank has the higher rate.\n\n| what | published | counted |\n|---|---:|---:|\n")
	for _, c := range s.counts() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", c[0], c[1], c[2])
	}
	golden(t, seedDocument, []byte(b.String()))
}
