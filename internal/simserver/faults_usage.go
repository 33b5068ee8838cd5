package simserver

import (
	"fmt"
	"strconv"
)

// usageFaults report counts wrongly or in unusual places.
func usageFaults() []Fault {
	return []Fault{
		countFault("nan_usage", "completion_tokens is NaN, which is not JSON", func(int) string { return "NaN" }),
		countFault("negative_usage", "completion_tokens is negative", func(n int) string { return strconv.Itoa(-n) }),
		countFault("string_usage", "completion_tokens is a string", func(n int) string { return `"` + strconv.Itoa(n) + `"` }),
		countFault("fractional_usage", "completion_tokens has a fraction", func(n int) string { return strconv.Itoa(n) + ".5" }),
		countFault("huge_usage", "completion_tokens is beyond the cap by orders of magnitude", func(int) string { return "1000000000000" }),
		countFault("wrong_usage", "completion_tokens is twice what was served and counted", func(n int) string { return strconv.Itoa(2 * n) }),
		countFault("null_usage", "completion_tokens is null", func(int) string { return "null" }),
		{"no_usage", "usage never comes, although asked for", plan{prepare: func(st *stream) { st.usage = noUsage }}},
		{"usage_everywhere", "cumulative usage on every event", plan{prepare: func(st *stream) { st.usage = continuousUsage }}},
		{"usage_no_choices", "usage in an event without a choices key", plan{
			prepare: func(st *stream) { st.usage = max(st.usage, finalUsage) },
			edit: func(w *wire, e event) {
				if e.kind == usageEvent {
					e = replaced(e, `"choices":[],`, "")
				}
				w.put(e)
			},
		}},
		{"usage_with_text", "usage beside the text of the last event, not in one of its own", plan{
			prepare: func(st *stream) { st.usage = finalUsage },
			edit: func(w *wire, e event) {
				switch e.kind {
				case finishEvent:
					w.put(inserted(e, stampOpen, string(w.st.appendUsage(nil))))
				case usageEvent:
				default:
					w.put(e)
				}
			},
		}},
		{"cached_tokens", "all of the prompt but one token is reported as cached", plan{prepare: func(st *stream) {
			st.cached = st.job.prompt - 1
		}}},
	}
}

// countFault writes completion_tokens in a way of its own.
func countFault(name, about string, count func(n int) string) Fault {
	return Fault{name, about, plan{
		prepare: func(st *stream) { st.usage = max(st.usage, finalUsage) },
		usage: func(b []byte, prompt, output int) []byte {
			return fmt.Appendf(b, `"prompt_tokens":%d,"total_tokens":%d,"completion_tokens":%s`, prompt, prompt+output, count(output))
		},
	}}
}

// declareLength announces a body length that the stream can't exceed; the rest
// is filled with comments at the end.
func declareLength(w *wire) string {
	st := w.st
	perEvent := len(st.pre) + len(st.post) + 512
	w.plain, w.length = true, (st.job.limit+4)*perEvent
	return fmt.Sprintf("content-length: %d\r\n", w.length)
}
