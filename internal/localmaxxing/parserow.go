package localmaxxing

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseRow reads one result: a row as the site answers it, a payload, a
// run.json of lmx or of this program, or a row written by [Row.MarshalJSON];
// also one that is wrapped as {"payload": …}, {"run": …} or {"benchmark": …}.
// Unknown members are passed over. notes name the values that were left out.
func ParseRow(data []byte) (row Row, notes []string, err error) {
	keep := func(text string) { notes = append(notes, text) }
	f, err := newFields(data, keep)
	if err != nil {
		return Row{}, nil, fmt.Errorf("read row: %w", tidy(data, err))
	}
	for _, name := range []string{"payload", "run", "benchmark", "speedTest"} {
		inner, err := newFields(f.members[name], keep)
		if err == nil && inner.members != nil && f.members["tokSOut"] == nil {
			f = inner
		}
	}
	if !f.looksLikeRow() {
		return Row{}, nil, fmt.Errorf("read row: neither hfId, model nor tokSOut in it")
	}
	return f.row(), notes, nil
}

func (f fields) looksLikeRow() bool {
	for _, name := range []string{"hfId", "model", "tokSOut"} {
		if kind(f.members[name]) != "nothing" {
			return true
		}
	}
	return false
}

// row reads a result. The first path of each list is the site's own, the
// flat ones are those of payloads, scoreboards and our own files.
func (f fields) row() Row {
	r := Row{
		ID: f.text("id"), Name: f.text("name", "dir"), URL: f.text("url"),
		Board: f.text("board"), HFID: f.text("model.hfId", "hfId"),
		BaseHFID: f.text("model.baseModel.hfId", "baseHfId"),

		Engine:        f.text("engine.engineName", "engineName", "engine"),
		EngineVersion: f.text("engine.engineVersion", "engineVersion"),
		Backend:       f.text("engine.backend", "backend"),
		Quantization:  f.text("engine.quantization", "quantization", "quant"),
		Speculation:   f.speculation(),
		Hardware:      f.hardware(),

		Streams:       larger(f.whole("batchSize"), f.whole("engineFlags.concurrency", "concurrency", "conc")),
		PromptTokens:  f.whole("promptTokens"),
		OutputTokens:  f.whole("outputTokens"),
		MaxTokens:     f.whole("engineFlags.maxTokens", "maxTokens"),
		ContextLength: f.whole("contextLength"),

		TokSOut: f.number("tokSOut"), TokSPrefill: f.number("tokSPrefill"), TokSTotal: f.number("tokSTotal"),
		TTFT: f.milliseconds("ttftMs"),

		Verified:   f.flag("verifiedRun", "verification.verified", "verified"),
		PowerWatts: f.number("totalPowerWatts"), PeakVRAMGB: f.number("peakVramGb"), USDPerHour: f.number("usdPerHour"),

		User: f.text("user.username", "user.name", "user"), Status: f.text("status"),
		SubmittedAt: f.time("createdAt", "submittedAt", "at"),
		All:         f.standing("rank", "total"), Single: f.standing("rank_c1", "total_c1"),
	}
	if r.PowerWatts == nil {
		r.PowerWatts = f.sum("gpuPowerWatts")
	}
	if sha := f.text("promptSha256"); sha != "" {
		if r.PromptSHA256 = hash(sha); r.PromptSHA256 == "" {
			f.note("promptSha256 is no sha256 in hex")
		}
	}
	return r
}

// hash is a sha256 in lower-case hex, or empty.
func hash(text string) string {
	text = strings.ToLower(text)
	if raw, err := hex.DecodeString(text); err != nil || len(raw) != 32 {
		return ""
	}
	return text
}

func larger(a, b *int) *int {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

// speculation names the method, with the number of drafted tokens where given.
func (f fields) speculation() string {
	if label := strings.TrimLeft(f.text("speculation", "speclabel"), " +"); label != "" {
		return label
	}
	method := f.text("engineFlags.specMethod")
	if mtp := f.flag("engineFlags.mtpEnabled"); method == "" && mtp != nil && *mtp {
		method = "MTP"
	}
	if on := f.flag("engineFlags.specDecoding"); method == "" && on != nil && *on {
		method = "on"
	}
	if k := f.whole("engineFlags.specNumTokens"); k != nil && method != "" {
		method += " k=" + strconv.Itoa(*k)
	}
	return method
}

// maxTTFTMs keeps a duration exact through its milliseconds.
const maxTTFTMs = 1e9

func (f fields) milliseconds(path string) *time.Duration {
	ms := f.number(path)
	if ms == nil {
		return nil
	}
	d, ok := duration(*ms)
	if !ok {
		f.note(fmt.Sprintf("%s is %g, which is no time to a first token", path, *ms))
		return nil
	}
	return &d
}

func duration(ms float64) (time.Duration, bool) {
	d := time.Duration(math.Round(ms * 1e6))
	return d, ms <= maxTTFTMs && d > 0
}

// timeForms are the ways in which listings write a time.
func timeForms() []string {
	return []string{time.RFC3339Nano, "2006-01-02 15:04Z07:00", "2006-01-02T15:04Z07:00"}
}

func (f fields) time(paths ...string) time.Time {
	text := f.text(paths...)
	if text == "" {
		return time.Time{}
	}
	t, ok := parseTime(text)
	if !ok {
		f.note(fmt.Sprintf("%q is no time", cut(text, 40)))
	}
	return t
}

func parseTime(text string) (time.Time, bool) {
	for _, form := range timeForms() {
		// A year beyond 9999 cannot be written as JSON again.
		if t, err := time.Parse(form, text); err == nil && t.UTC().Year() > 0 && t.UTC().Year() < 10000 {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

func (f fields) standing(rank, of string) (s Standing) {
	if n := f.whole(rank); n != nil {
		s.Rank = *n
	}
	if n := f.whole(of); n != nil {
		s.Of = *n
	}
	if s.Of > 0 && s.Rank > s.Of {
		f.note(fmt.Sprintf("%s is %d of %d", rank, s.Rank, s.Of))
		return Standing{}
	}
	return s
}
