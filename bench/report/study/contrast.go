package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"lmxbench/bench/report"
	"lmxbench/internal/cost"
	"lmxbench/stats"
)

// contrastLevel is the confidence of comparisons.
const contrastLevel = 0.95

// Outcome is what a comparison shows.
type Outcome string

// The outcomes.
const (
	// Faster and Slower: the second is, by more than the iterations scatter.
	Faster Outcome = "faster"
	Slower Outcome = "slower"
	// Same: no difference beyond the scatter. It may be there and be small.
	Same Outcome = "within noise"
	// TooFew: the iterations are too few to tell.
	TooFew Outcome = "too few iterations"
	// NotCompared: one of the two cannot be used, or they had different work.
	NotCompared Outcome = "not compared"
)

// Contrast compares two subjects that ran the same number of streams.
type Contrast struct {
	// From and To are labels of series; the change is To against From.
	From    string `json:"from"`
	To      string `json:"to"`
	Streams int    `json:"streams"`
	// Metric is the name of a rate, or ttftMs.
	Metric  string  `json:"metric"`
	Outcome Outcome `json:"outcome"`
	// Statement is the result in one sentence.
	Statement string `json:"statement"`

	A     *float64 `json:"a,omitempty"` // medians
	B     *float64 `json:"b,omitempty"`
	Ratio *float64 `json:"ratio,omitempty"` // B ÷ A
	P     *float64 `json:"p,omitempty"`     // two-sided, Mann–Whitney
	// Low and High enclose the change, as a share of A, at Confidence. Absent
	// where there are too few iterations.
	Low         *float64     `json:"low,omitempty"`
	High        *float64     `json:"high,omitempty"`
	Confidence  *float64     `json:"confidence,omitempty"`
	Differences []Difference `json:"differences,omitempty"`

	from, to *Subject
}

// metricTTFT is the name of the median time to first token among metrics.
const metricTTFT = "ttftMs"

// contrast compares every series with the first, at each concurrency they
// share.
func (st *Study) contrast() {
	if len(st.Series) < 2 {
		return
	}
	base := &st.Series[0]
	for i := 1; i < len(st.Series); i++ {
		other := &st.Series[i]
		for _, a := range base.subjects {
			b := other.At(a.Streams)
			if b == nil {
				continue
			}
			for _, metric := range contrastMetrics(a, b) {
				c := Contrast{From: base.Label, To: other.Label, Streams: a.Streams, Metric: metric, from: a, to: b}
				c.Differences = differences([]map[string]string{a.Settings, b.Settings})
				c.judge()
				st.Contrasts = append(st.Contrasts, c)
			}
		}
	}
	st.lead()
}

// lead compares the two fastest series at the most streams that all ran: the
// best of a sweep means nothing when the second best is as good.
func (st *Study) lead() {
	streams, ok := st.CommonStreams()
	if !ok || len(st.Series) < 3 {
		return
	}
	var ranked []*Series
	for i := range st.Series {
		if unusable(st.Series[i].At(streams)) == "" {
			ranked = append(ranked, &st.Series[i])
		}
	}
	if len(ranked) < 2 {
		return
	}
	slices.SortStableFunc(ranked, func(a, b *Series) int {
		return cmp.Compare(b.At(streams).Answer().TokensPerSecond, a.At(streams).Answer().TokensPerSecond)
	})
	best, second := ranked[0], ranked[1]
	c := Contrast{From: second.Label, To: best.Label, Streams: streams, from: second.At(streams), to: best.At(streams)}
	c.Metric = contrastMetrics(c.from, c.to)[0]
	c.Differences = differences([]map[string]string{c.from.Settings, c.to.Settings})
	c.judge()
	st.Lead = &c
}

// CommonStreams is the highest concurrency that every series has.
func (st *Study) CommonStreams() (streams int, ok bool) {
	if len(st.Series) == 0 {
		return 0, false
	}
	for _, s := range st.Series[0].subjects {
		all := true
		for i := range st.Series {
			all = all && st.Series[i].At(s.Streams) != nil
		}
		if all {
			streams, ok = s.Streams, true
		}
	}
	return streams, ok
}

// contrastMetrics are the rate that both are known by, the wall rate and the
// time to the first token, where both have them.
func contrastMetrics(a, b *Subject) []string {
	head := a.Headline
	if head == "" || b.Rate(head) == nil {
		head = first2(b.Headline, a.Headline)
	}
	metrics := []string{string(head)}
	if head != cost.BatchWall && a.Rate(cost.BatchWall) != nil && b.Rate(cost.BatchWall) != nil {
		metrics = append(metrics, string(cost.BatchWall))
	}
	if len(a.TTFTValues) > 0 && len(b.TTFTValues) > 0 {
		metrics = append(metrics, metricTTFT)
	}
	return metrics
}

func first2(a, b cost.Basis) cost.Basis {
	if a != "" {
		return a
	}
	return b
}

// judge fills in the result. Results that are INVALID, interrupted or of other
// work are not compared: the number would be read anyway.
func (c *Contrast) judge() {
	for _, s := range []*Subject{c.from, c.to} {
		if why := unusable(s); why != "" {
			c.refuse("%s is not compared: %s", s.Label, why)
			return
		}
	}
	for _, d := range c.Differences {
		if d.Workload && d.Values[0] != "" && d.Values[1] != "" {
			c.refuse("not compared: different work, %s is %s and %s", d.Name, d.Values[0], d.Values[1])
			return
		}
	}
	a, b := c.sample(c.from), c.sample(c.to)
	if len(a) == 0 || len(b) == 0 {
		c.medians()
		c.Outcome = TooFew
		c.Statement = c.heading() + c.change() + "; the files do not hold the iterations, so nothing says whether that is noise"
		return
	}
	r, err := stats.Compare(a, b, contrastLevel)
	if err != nil {
		c.refuse("not compared: %v", err)
		return
	}
	c.fill(r)
}

// unusable says why a subject's numbers are not to be compared.
func unusable(s *Subject) string {
	switch {
	case s.Partial:
		return "the run was interrupted"
	case s.Status() == report.StatusInvalid:
		return "it is INVALID (" + strings.Join(codes(s.Verdict, report.Invalid), ", ") + ")"
	case s.Answer() == nil:
		return "it has no result"
	}
	return ""
}

func codes(v *report.Verdict, level report.Level) (names []string) {
	for _, f := range v.Codes {
		if f.Level == level {
			names = append(names, f.Code)
		}
	}
	return names
}

func (c *Contrast) refuse(format string, args ...any) {
	c.Outcome = NotCompared
	c.Statement = Plural(c.Streams, "stream") + ": " + fmt.Sprintf(format, args...)
}

func (c *Contrast) sample(s *Subject) []float64 {
	if c.Metric == metricTTFT {
		return s.TTFTValues
	}
	if r := s.Rate(cost.Basis(c.Metric)); r != nil {
		return r.Values
	}
	return nil
}

// medians takes the summaries where the iterations are not known.
func (c *Contrast) medians() {
	a, b := c.from.Rate(cost.Basis(c.Metric)), c.to.Rate(cost.Basis(c.Metric))
	if a == nil || b == nil {
		return
	}
	x, y := a.TokensPerSecond, b.TokensPerSecond
	ratio := y / x
	c.A, c.B, c.Ratio = &x, &y, &ratio
}

func (c *Contrast) fill(r stats.Comparison) {
	a, b := r.MedianA, r.MedianB
	c.A, c.B, c.P = &a, &b, &r.P
	if a > 0 {
		ratio := b / a
		c.Ratio = &ratio
	}
	if r.ShiftInterval == nil || !(a > 0) {
		c.Outcome = TooFew
		c.Statement = fmt.Sprintf("%s%s; %d and %d iterations are too few to tell that from noise (4 of each at least)",
			c.heading(), c.change(), r.CountA, r.CountB)
		return
	}
	low, high := r.ShiftInterval.Lo/a, r.ShiftInterval.Hi/a
	c.Low, c.High, c.Confidence = &low, &high, &r.ShiftInterval.Coverage
	apart := r.P <= 1-contrastLevel && (low > 0 || high < 0)
	interval := fmt.Sprintf("%.0f %% interval %s to %s %%", contrastLevel*100, signed(low*100), signed(high*100))
	if !apart {
		c.Outcome = Same
		c.Statement = fmt.Sprintf("%sno difference beyond the noise of the iterations: %s (%s, p %s)", c.heading(), c.change(), interval, pValue(r.P))
		return
	}
	c.Outcome = Faster
	if better := (b > a) != (c.Metric == metricTTFT); !better {
		c.Outcome = Slower
	}
	c.Statement = fmt.Sprintf("%s%s (%s, p %s): more than the iterations scatter", c.heading(), c.change(), interval, pValue(r.P))
}

func (c *Contrast) heading() string {
	return fmt.Sprintf("%s, %s: ", Plural(c.Streams, "stream"), MetricName(c.Metric))
}

// change is the ratio of the medians in words.
func (c *Contrast) change() string {
	if c.Ratio == nil {
		return "medians not known"
	}
	return fmt.Sprintf("%s is at %s against %s, %s %%", c.To, Number(*c.B), Number(*c.A), signed((*c.Ratio-1)*100))
}

// MetricName is a metric in words, with its unit.
func MetricName(metric string) string {
	switch metric {
	case metricTTFT:
		return "time to first token (ms)"
	case string(cost.InterToken):
		return "tok/s, inter-token"
	case string(cost.ConcurrentRequestWindow):
		return "tok/s, request window"
	case string(cost.BatchWall):
		return "tok/s, batch wall"
	case string(cost.Plateau):
		return "tok/s, plateau"
	}
	return metric
}

// signed writes a change in per cent with its sign.
func signed(x float64) string {
	if math.Abs(x) < 0.05 {
		return "0.0"
	}
	return strings.Replace(fmt.Sprintf("%+.1f", x), "-", "−", 1)
}

func pValue(p float64) string {
	if p < 0.001 {
		return "< 0.001"
	}
	return fmt.Sprintf("%.2g", p)
}
