package study

import (
	"strconv"

	"lmxbench/bench/report"
	"lmxbench/internal/cost"
)

// Documents are the results that are documents, in the order of the subjects.
func (st *Study) Documents() (all []*report.Document) {
	for _, s := range st.Subjects {
		if s.Document != nil {
			all = append(all, s.Document)
		}
	}
	return all
}

// Rows is one row a result for a spreadsheet, a header first. Numbers are not
// rounded; an empty cell is not known. The price is by the wall rate where that
// is known, else by the rate the result is known by: price_basis says which.
func (st *Study) Rows() [][]string {
	rows := [][]string{{
		"label", "path", "kind", "hf_id", "engine", "engine_version", "quant", "spec", "gpu", "gpu_count", "concurrency", "max_tokens",
		"verdict", "tok_s_out", "tok_s_out_basis", "tok_s_out_stddev", "iterations", "batch_wall_tok_s", "plateau_tok_s", "stream_tok_s",
		"ttft_p50_ms", "ttft_p99_ms", "itl_p50_ms", "itl_p99_ms", "watts", "joules_per_token",
		"usd_per_hour", "price_basis", "usd_per_m_output_tokens", "model_ceiling_tok_s", "hard_ceiling_tok_s",
	}}
	for i, s := range st.Subjects {
		rows = append(rows, st.row(i, s))
	}
	return rows
}

func (st *Study) row(i int, s *Subject) []string {
	var rate, sigma, energy, watts *float64
	basis, iterations := "", 0
	if r := s.Answer(); r != nil {
		rate, sigma, basis, iterations = &r.TokensPerSecond, r.StdDev, string(r.Basis), r.Iterations
	}
	if s.Energy != nil {
		watts, energy = s.Energy.Watts, s.Energy.JoulesPerToken
	}
	hour, by, price := "", "", ""
	if st.Money != nil {
		for _, q := range st.Money.Quotes {
			if q.Subject == i {
				hour, by, price = exact(&q.Tariff.USDPerHour), string(q.Basis), exact(&q.USDPerMillion)
				break
			}
		}
	}
	cells := []string{
		s.Label, s.Path, string(s.Kind), s.Model, s.Engine, s.EngineVersion, s.Quantization, s.Speculation, s.GPU, whole(s.GPUs), whole(s.Streams), whole(s.MaxTokens),
		s.Status(), exact(rate), basis, exact(sigma), whole(iterations), exact(rateOf(s, cost.BatchWall)), exact(rateOf(s, cost.Plateau)), exact(s.PerUser()),
	}
	for _, x := range []*report.Summary{s.TTFT, s.ITL} {
		if x == nil {
			cells = append(cells, "", "")
			continue
		}
		cells = append(cells, exact(&x.P50), exact(&x.P99))
	}
	return append(cells, exact(watts), exact(energy), hour, by, price, exact(st.Roofs[i].Model), exact(st.Roofs[i].Hard))
}

func rateOf(s *Subject, basis cost.Basis) *float64 {
	if r := s.Rate(basis); r != nil {
		return &r.TokensPerSecond
	}
	return nil
}

func exact(x *float64) string {
	if x == nil {
		return ""
	}
	return strconv.FormatFloat(*x, 'f', -1, 64)
}

func whole(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
