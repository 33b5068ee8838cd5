package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// find makes a finding; the code is the rule's.
func find(level Level, format string, args ...any) *Finding {
	return &Finding{Level: level, Detail: oneLine(fmt.Sprintf(format, args...))}
}

func failedRequests(a *analysis, _ *Document) *Finding {
	failed := make(map[string]int)
	requests, bad := 0, 0
	for r := range a.timedRequests() {
		requests++
		if r.Outcome == OutcomeOK || (r.Outcome == OutcomeCancelled && a.partial) {
			continue
		}
		failed[r.Outcome]++
		bad++
	}
	short := a.good() < a.Plan.Iterations && !a.partial
	if bad == 0 && !short {
		return nil
	}
	detail := fmt.Sprintf("%s of %s ended otherwise than ok%s; %d of %d iterations count",
		Grouped(int64(bad)), count(requests, "timed request"), classes(failed), a.good(), a.Plan.Iterations)
	if a.okBasis {
		detail += "; the rates are those of the requests that were ok"
	}
	return find(Invalid, "%s", detail)
}

// classes lists outcomes by frequency: " (3 timeout, 1 truncated)".
func classes(n map[string]int) string {
	if len(n) == 0 {
		return ""
	}
	names := slices.SortedFunc(maps.Keys(n), func(x, y string) int {
		return cmp.Or(cmp.Compare(n[y], n[x]), cmp.Compare(x, y))
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%d %s", n[name], name)
	}
	return " (" + strings.Join(names, ", ") + ")"
}

func tokenCountMissing(a *analysis, _ *Document) *Finding {
	ok, missing := 0, 0
	for r := range a.timedRequests() {
		if r.Outcome != OutcomeOK {
			continue
		}
		ok++
		if r.OutputTokens == nil || *r.OutputTokens <= 0 {
			missing++
		}
	}
	if missing == 0 {
		return nil
	}
	return find(Invalid, "%s of %s came without an output token count", Grouped(int64(missing)), count(ok, "response"))
}

func usageInvalid(a *analysis, _ *Document) *Finding {
	n := 0
	for r := range a.timedRequests() {
		if r.UsageInvalid {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return find(Invalid, "the usage of %s was no token count and was dropped", count(n, "timed request"))
}

// tokenCountMismatch holds usage against everything else that counts.
func tokenCountMismatch(a *analysis, _ *Document) *Finding {
	var doubts []string
	for _, doubt := range []string{a.counterDoubt(), a.timingsDoubt(), a.eventsDoubt(), a.capDoubt()} {
		if doubt != "" {
			doubts = append(doubts, doubt)
		}
	}
	if len(doubts) == 0 {
		return nil
	}
	return find(Invalid, "%s", strings.Join(doubts, "; "))
}

// counterSlack is how far counter and usage may lie apart.
func counterSlack(requests int, usage int64) float64 {
	return max(float64(CounterSlackTokens*requests), CounterSlackShare*float64(usage))
}

// counterDelta is the movement of the server's token counter over the clean
// batches, with the number of their requests and the sum of usage.
func (a *analysis) counterDelta() (moved float64, requests int, usage int64, ok bool) {
	moved, ok = movedOver(a.clean, generationTokens)
	return moved, a.cleanRequests(), a.usage, ok
}

func (a *analysis) cleanRequests() (n int) {
	for _, it := range a.clean {
		n += len(it.ok)
	}
	return n
}

func (a *analysis) counterDoubt() string {
	moved, requests, usage, ok := a.counterDelta()
	if !ok || float64(usage)-moved <= counterSlack(requests, usage) {
		return ""
	}
	return fmt.Sprintf("usage adds up to %s tokens, the server's counter moved by %s", Grouped(usage), Grouped(int64(moved)))
}

func (a *analysis) timingsDoubt() string {
	bad := 0
	example := ""
	for r := range a.timedRequests() {
		t := parseTimings(r.Timings)
		if t.PredictedN == nil || r.OutputTokens == nil {
			continue
		}
		if d := *t.PredictedN - float64(*r.OutputTokens); d > CounterSlackTokens || d < -CounterSlackTokens {
			bad++
			example = fmt.Sprintf("%d tokens by usage, %.0f by timings.predicted_n", *r.OutputTokens, *t.PredictedN)
		}
	}
	if bad == 0 {
		return ""
	}
	return fmt.Sprintf("%s: %s", count(bad, "request"), example)
}

func (a *analysis) eventsDoubt() string {
	bad := 0
	for r := range a.timedRequests() {
		if r.Events == nil || len(r.Events.Tokens) == 0 || r.OutputTokens == nil {
			continue
		}
		var sum int64
		for _, n := range r.Events.Tokens {
			sum += int64(n)
		}
		if sum > *r.OutputTokens {
			bad++
		}
	}
	if bad == 0 {
		return ""
	}
	return fmt.Sprintf("the events of %s carry more tokens than its usage", count(bad, "request"))
}

// aboveCap reports whether a request has more tokens than the cap.
func (a *analysis) aboveCap(r *Request) bool {
	return r.OutputTokens != nil && *r.OutputTokens > int64(a.Plan.MaxTokens+CapSlackTokens)
}

// capDoubt: without as many events as tokens the cap may have been kept, and
// usage be wrong.
func (a *analysis) capDoubt() string {
	n, example := 0, int64(0)
	for r := range a.timedRequests() {
		if a.aboveCap(r) && r.Events.Len() <= a.Plan.MaxTokens+CapSlackTokens {
			n, example = n+1, max(example, *r.OutputTokens)
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("usage of %s is above the cap of %d (up to %s) without as many events",
		count(n, "request"), a.Plan.MaxTokens, Grouped(example))
}

// capIgnored: an event holds at least one token, so as many events as tokens
// above the cap prove it.
func capIgnored(a *analysis, _ *Document) *Finding {
	n, example := 0, int64(0)
	for r := range a.timedRequests() {
		if a.aboveCap(r) && r.Events.Len() > a.Plan.MaxTokens+CapSlackTokens {
			n, example = n+1, max(example, *r.OutputTokens)
		}
	}
	if n == 0 {
		return nil
	}
	return find(Invalid, "%s brought up to %s tokens, the cap was %d", count(n, "request"), Grouped(example), a.Plan.MaxTokens)
}

func outputShort(a *analysis, _ *Document) *Finding {
	if n := a.belowDemand(); n > 0 {
		return find(Invalid, "%s brought fewer than the %d tokens demanded", count(n, "timed request"), a.Plan.DemandedTokens())
	}
	var asked, got int64
	for r := range a.countedRequests() {
		if r.OutputTokens != nil && *r.OutputTokens > 0 {
			asked += int64(a.Plan.MaxTokens)
			got += min(*r.OutputTokens, int64(a.Plan.MaxTokens))
		}
	}
	if float64(got) >= (1-ShortOutputShare)*float64(asked) {
		return nil
	}
	return find(Warn, "%s tokens came of the %s asked for (%s)", Grouped(got), Grouped(asked), percent(float64(got)/float64(asked)))
}

func (a *analysis) belowDemand() (n int) {
	demanded := int64(a.Plan.DemandedTokens())
	for r := range a.timedRequests() {
		known := r.OutputTokens != nil && *r.OutputTokens > 0
		if r.Outcome == OutcomeShort || (r.Outcome == OutcomeOK && known && *r.OutputTokens < demanded) {
			n++
		}
	}
	return n
}

func foreignTraffic(a *analysis, _ *Document) *Finding {
	moved, requests, usage, ok := a.counterDelta()
	if !ok {
		return a.foreignRequests()
	}
	extra := moved - float64(usage)
	if extra <= counterSlack(requests, usage) || extra <= ForeignWarn*float64(usage) {
		return nil
	}
	level := Warn
	if extra > ForeignInvalid*float64(usage) {
		level = Invalid
	}
	return find(level, "the server generated %s tokens while ours were %s (%s beside them)",
		Grouped(int64(moved)), Grouped(usage), percent(extra/float64(usage)))
}

// foreignRequests is for servers without a token counter.
func (a *analysis) foreignRequests() *Finding {
	ours := a.cleanRequests()
	if n, ok := movedOver(a.clean, func(m *Metrics) *float64 { return m.Requests }); ok && n > float64(ours) {
		return find(Warn, "the server finished %s requests while ours were %s", Grouped(int64(n)), Grouped(int64(ours)))
	}
	for _, b := range a.batches {
		if m := b.MetricsBefore; m != nil && m.GenerationTokens == nil && m.Running != nil && *m.Running > 0 {
			return find(Warn, "%s running just before iteration %d began", count(int(*m.Running), "foreign request"), b.Iteration)
		}
	}
	return nil
}

// fromCache reports a prompt of which more than the template's head was cached.
// The head was measured with two prompts; a server whose cache ignores what the
// prompt says makes it look as long as the prompt, so there is a second bound.
func (a *analysis) fromCache(r *Request) bool {
	if r.CachedTokens == nil {
		return false
	}
	if *r.CachedTokens > int64(a.Session.TemplateHead+CacheSlackTokens) {
		return true
	}
	computed := int64(NonceMinTokens + len(a.Plan.Prompt)/PromptBytesPerToken)
	return *r.CachedTokens > 0 && r.PromptTokens != nil && *r.PromptTokens-*r.CachedTokens < computed
}

func cacheHit(a *analysis, _ *Document) *Finding {
	n, most := 0, int64(0)
	for r := range a.timedRequests() {
		if a.fromCache(r) {
			n, most = n+1, max(most, *r.CachedTokens)
		}
	}
	if n == 0 {
		return nil
	}
	return find(Warn, "%s had up to %s prompt tokens in the cache, the template's head is %d",
		count(n, "timed request"), Grouped(most), a.Session.TemplateHead)
}

// shortened cuts text from a server to a number of characters.
func shortened(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

func finishNotLength(a *analysis, _ *Document) *Finding {
	other := make(map[string]int)
	all := 0
	for r := range a.countedRequests() {
		all++
		if r.FinishReason == nil {
			other["without a reason"]++
		} else if *r.FinishReason != "length" {
			other[shortened(*r.FinishReason, 40)]++
		}
	}
	if len(other) == 0 {
		return nil
	}
	n := 0
	for _, k := range other {
		n += k
	}
	return find(Warn, "%d of %s ended otherwise than by length%s", n, count(all, "request"), classes(other))
}
