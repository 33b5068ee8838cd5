package stats

// The words lmx writes into tokSOutSource.
const (
	SourceInterToken              = "inter_token"
	SourceRequestWindow           = "request_window"
	SourceConcurrentRequestWindow = "concurrent_request_window"
)

// DecodeThroughput is lmx's rate of one request, tokens per second rounded to
// one decimal, and the name of the rule that gave it:
//
//	inter_token     (n − 1)/(last − first)       n > 1 and last after first
//	request_window  n/(end − first token)        else; from Send without a token
//
// ok is false when the count is unknown or the rate is not positive; lmx then
// leaves the field out.
func DecodeThroughput(s Stream) (rate float64, source string, ok bool) {
	if rate, ok := InterToken(s); ok {
		return positive(Round1(rate), SourceInterToken)
	}
	from := s.FirstToken
	if s.NoToken {
		from = s.Send
	}
	if s.OutputTokens <= 0 || s.End <= from {
		return 0, "", false
	}
	return positive(Round1(perSecond(float64(s.OutputTokens), s.End-from)), SourceRequestWindow)
}

func positive(rate float64, source string) (float64, string, bool) {
	if rate <= 0 {
		return 0, "", false
	}
	return rate, source, true
}

// BatchThroughput is lmx's tokSOut of one iteration, rounded to one decimal,
// and its source: [DecodeThroughput] for a single stream,
// [ConcurrentRequestWindow] for more.
func BatchThroughput(streams []Stream) (rate float64, source string, ok bool) {
	if len(streams) == 1 {
		return DecodeThroughput(streams[0])
	}
	rate, ok = ConcurrentRequestWindow(streams)
	if !ok {
		return 0, "", false
	}
	return positive(Round1(rate), SourceConcurrentRequestWindow)
}

// PrefillThroughput is lmx's tokSPrefill of one request: prompt tokens ÷ TTFT,
// tokens per second rounded to one decimal. Above one stream the TTFT includes
// queueing and the figure is no measure of prefill speed. ok is false without
// a token, without a prompt count, or when the TTFT is not positive.
func PrefillThroughput(s Stream) (rate float64, ok bool) {
	ttft, ok := TTFT(s)
	if !ok || ttft <= 0 || s.PromptTokens <= 0 {
		return 0, false
	}
	return Round1(perSecond(float64(s.PromptTokens), ttft)), true
}

// TotalThroughput is lmx's tokSTotal of one iteration, rounded to one decimal:
//
//	(Σ prompt + Σ output tokens) / (latest end − earliest send)
//
// ok is false when any of the counts is unknown or no time passed.
func TotalThroughput(streams []Stream) (rate float64, ok bool) {
	w, ok := RequestWindow(streams)
	total, known := OutputTokens(streams)
	if !ok || !known {
		return 0, false
	}
	for _, s := range streams {
		if s.PromptTokens <= 0 {
			return 0, false
		}
		total += s.PromptTokens
	}
	return Round1(perSecond(float64(total), w.To-w.From)), true
}

// MetricSummary is a summary in the form of lmx's sampleStats. Fields are in
// the order of their JSON keys; all but Count are absent for an empty pool, and
// StdDev also for a single value. Values are rounded to two decimals.
type MetricSummary struct {
	Count  int      `json:"count"`
	Max    *float64 `json:"max,omitempty"`
	Mean   *float64 `json:"mean,omitempty"`
	Min    *float64 `json:"min,omitempty"`
	P50    *float64 `json:"p50,omitempty"`
	StdDev *float64 `json:"stddev,omitempty"`
}

// SummarizeMetric is lmx's metricSummary. The values are those of the
// iterations or requests, already rounded where lmx rounds per item. The error
// is [ErrNotFinite]; an empty pool is none.
func SummarizeMetric(xs []float64) (MetricSummary, error) {
	if len(xs) == 0 {
		return MetricSummary{}, nil
	}
	s, err := Summarize(xs)
	if err != nil {
		return MetricSummary{}, err
	}
	m := MetricSummary{
		Count: s.Count,
		Max:   rounded(s.Max), Mean: rounded(s.Mean), Min: rounded(s.Min), P50: rounded(s.P50),
	}
	if s.StdDev != nil {
		m.StdDev = rounded(*s.StdDev)
	}
	return m, nil
}

func rounded(x float64) *float64 {
	r := Round2(x)
	return &r
}
