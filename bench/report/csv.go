package report

import (
	"encoding/csv"
	"io"
	"strconv"
)

// RequestsCSV writes one row per request with a header line. Times are
// milliseconds from the request's own send; an empty cell is a value that the
// request does not have.
func RequestsCSV(w io.Writer, requests []Request) error {
	out := csv.NewWriter(w)
	rows := [][]string{{
		"phase", "iteration", "request", "outcome", "status", "finish_reason", "prompt_tokens", "output_tokens", "cached_tokens",
		"token_events", "ttft_ms", "first_content_ms", "last_token_ms", "e2e_ms", "tpot_ms", "stream_tok_s", "send_ns", "error",
	}}
	for i := range requests {
		rows = append(rows, requestRow(&requests[i]))
	}
	return out.WriteAll(rows)
}

func requestRow(r *Request) []string {
	since := func(t int64) string {
		if t == 0 || r.T.Send == 0 {
			return ""
		}
		return strconv.FormatFloat(millis(t-r.T.Send), 'f', -1, 64)
	}
	finish := ""
	if r.FinishReason != nil {
		finish = *r.FinishReason
	}
	tpot, streamRate := "", ""
	if s := ownStream(r); !s.NoToken && s.OutputTokens > 1 && s.LastToken > s.FirstToken {
		seconds := (s.LastToken - s.FirstToken).Seconds()
		tpot = cell(decimals(seconds*1e3/float64(s.OutputTokens-1), timeDecimals))
		streamRate = cell(decimals(float64(s.OutputTokens-1)/seconds, rateDecimals))
	}
	return []string{
		r.Phase, strconv.Itoa(r.Iteration), strconv.Itoa(r.Request), r.Outcome, zeroEmpty(r.Status), finish,
		wholeCell(r.PromptTokens), wholeCell(r.OutputTokens), wholeCell(r.CachedTokens), strconv.Itoa(r.Events.Len()),
		since(r.T.FirstToken), since(r.T.FirstContent), since(r.T.LastToken), since(r.T.End), tpot, streamRate,
		strconv.FormatInt(r.T.Send, 10), r.Error,
	}
}

// IterationsCSV writes one row per iteration of each result with a header
// line. Results of lmx, without our key, give no rows.
func IterationsCSV(w io.Writer, documents ...*Document) error {
	out := csv.NewWriter(w)
	rows := [][]string{{
		"hf_id", "engine", "concurrency", "iteration", "counted", "requests", "ok", "output_tokens", "tok_s_out", "source",
		"inter_token_tok_s", "window_tok_s", "batch_wall_tok_s", "plateau_tok_s", "sum_of_stream_rates_tok_s", "total_tok_s",
		"ttft_p50_ms", "overlap_fraction", "send_spread_ms", "verdict",
	}}
	for _, d := range documents {
		if d.Bench == nil {
			continue
		}
		for i := range d.Bench.Iterations {
			rows = append(rows, iterationRow(d, &d.Bench.Iterations[i]))
		}
	}
	return out.WriteAll(rows)
}

func iterationRow(d *Document, it *Iteration) []string {
	return []string{
		d.HFID, d.EngineName, strconv.Itoa(d.BatchSize), strconv.Itoa(it.Iteration), strconv.FormatBool(it.Counted),
		strconv.Itoa(it.Requests), strconv.Itoa(it.OK), wholeCell(it.OutputTokens), cell(it.TokSOut), it.TokSOutSource,
		cell(it.InterToken), cell(it.ConcurrentRequestWindow), cell(it.BatchWall), cell(it.Plateau), cell(it.SumOfStreamRates),
		cell(it.TokSTotal), cell(it.TTFTMs), cell(it.OverlapFraction), cell(it.SendSpreadMs), d.Bench.Verdict.Status,
	}
}

func cell(x *float64) string {
	if x == nil {
		return ""
	}
	return strconv.FormatFloat(*x, 'f', -1, 64)
}

func wholeCell(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

func zeroEmpty(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
