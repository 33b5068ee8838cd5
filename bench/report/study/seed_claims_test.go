package study_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lmxbench/bench/report/study"
	"lmxbench/internal/ceiling"
	"lmxbench/internal/cost"
	"lmxbench/stats"
)

// verdicts on a claim.
const (
	agrees   = "agrees"
	differs  = "differs"
	unproven = "not checkable"
	added    = "not claimed there"
)

// claim is a statement of the published text beside what follows from the data.
type claim struct{ text, published, ours, verdict, why string }

func (s seed) claims(t *testing.T) (all []claim) {
	t.Helper()
	add := func(text, published, ours, verdict, why string) {
		all = append(all, claim{text, published, ours, verdict, why})
	}
	rate := func(x *study.Subject) float64 { return x.Answer().TokensPerSecond }
	b1, b64, b256 := s.find(t, qwen, "B200", 1, ""), s.find(t, qwen, "B200", 64, ""), s.find(t, qwen, "B200", 256, "")
	h100, h200 := s.find(t, qwen, "H100", 256, ""), s.find(t, qwen, "H200", 256, "")
	dspark, mtp := s.find(t, nemotron, "5090", 1, "DSpark"), s.find(t, gemma, "5090", 1, "draft-mtp")
	api := s.said["api_usd_per_m"]

	by := s.price(t, b256).Against[0].CheaperBy
	add("B200 at 256 streams against the hosted price", "6.5× cheaper", fmt.Sprintf("%.3f×", by), agrees, "")
	by = s.price(t, h100).Against[0].CheaperBy
	add("H100 at 256 streams against it", "20× cheaper", fmt.Sprintf("%.2f×", by), agrees, "rounded down; 21× by rounding")
	add("H200 at 256 streams against it", "–", fmt.Sprintf("%.2f×", s.price(t, h200).Against[0].CheaperBy), added, "")
	add("one user on the B200 against it", "10× dearer", fmt.Sprintf("%.2f×", 1/s.price(t, b1).Against[0].CheaperBy), agrees, "")

	even, ok := cost.BreakEvenRate(s.price(t, b256).Tariff.USDPerHour, api)
	if !ok {
		t.Fatal("no break-even rate")
	}
	add("break-even rate of the B200", "2,222 tok/s", study.Fixed(even, 1)+" tok/s", agrees, "")
	add("rate of one stream among 64 on the B200", "96.4 tok/s", study.Fixed(*b64.PerUser(), 3)+" tok/s", agrees, "")
	short, _ := cost.StreamsAtRungRate(cost.Rung{Streams: 64, TokensPerSecond: rate(b64)}, even)
	add("break-even of the B200", "about 23 streams", s.bracket(t, b64), differs,
		fmt.Sprintf("the text divides by the rate of one stream among 64, which gives %.2f; at fewer streams each is faster, so that lies above the bracket", short))
	evenH100, _ := cost.BreakEvenRate(s.price(t, h100).Tariff.USDPerHour, api)
	shortH100, _ := cost.StreamsAtRungRate(cost.Rung{Streams: 64, TokensPerSecond: rate(s.find(t, qwen, "H100", 64, ""))}, evenH100)
	add("break-even of the H100", "–", s.bracket(t, h100), added, fmt.Sprintf("the same short cut would give %.1f", shortH100))

	rent := func(text, published string, usdPerHour float64, minutes string) {
		m := s.said[minutes]
		got := cost.Rent(usdPerHour, time.Duration(m*float64(time.Minute)))
		add(text, published, fmt.Sprintf("$%.3f", got), agrees, fmt.Sprintf("%g min at $%.2f an hour", m, usdPerHour))
	}
	rent("B200 session", fmt.Sprintf("$%.2f", s.said["session_b200_usd"]), 5.60, "session_b200_minutes")
	rent("gemma session", fmt.Sprintf("$%.2f", s.said["session_gemma_usd"]), 0.60, "session_gemma_minutes")
	rent("returned H100 PCIe", fmt.Sprintf("$%.2f", s.said["session_h100pcie_usd"]), s.said["session_h100pcie_usd_h"], "session_h100pcie_minutes")
	parts := s.said["session_b200_usd"] + s.said["session_pro6000_usd"] + s.said["session_dropped_usd"] + s.said["session_h100pcie_usd"]
	add("all sessions together", fmt.Sprintf("$%.2f", s.said["total_usd"]), fmt.Sprintf("$%.2f of it itemised", parts), unproven, "the H100 and H200 sessions have no price of their own")

	dflash := s.find(t, "unsloth/Qwen3.8-27B-GGUF", "5090", 1, "DFlash2")
	gap := 1 - rate(dflash)/s.said["record_counting"]
	add("Qwen3.8 GGUF against the record of 217.9", "3 % short", study.Percent(gap)+" short", differs, fmt.Sprintf("%.1f ÷ 217.9 = %.3f; the record is of a short counting task besides", rate(dflash), 1-gap))
	plain := s.find(t, nemotron, "PRO 6000", 1, "")
	add("Nemotron with DSpark against plain", "681.5 and 311.2", fmt.Sprintf("%.2f×", rate(dspark)/rate(plain)), agrees, "as the text says itself, of two different cards")
	add("gemma with MTP against plain", "1.90×", fmt.Sprintf("%.2f×", rate(mtp)/s.said["gemma_plain"]), agrees, "same card")
	add("best n-max of gemma", "5", s.best("nmax_"), agrees, s.sweep("nmax_"))
	add("best k of Qwen3.6 with MTP on the H100", "5", s.best("mtp_k"), agrees, s.sweep("mtp_k"))

	for _, x := range []struct {
		text, published, sigma string
		of                     *study.Subject
		n                      int
	}{{"B200 at 256 streams", "0.74 %", "sigma_b200_c256", b256, 3}, {"Nemotron with DSpark", "1.06 %", "sigma_dspark", dspark, 5}, {"gemma with MTP", "2.95 %", "sigma_gemma", mtp, 5}} {
		half, ok := stats.StudentHalfWidth(x.n, 0.95)
		if !ok {
			t.Fatal("no interval")
		}
		sigma := s.said[x.sigma]
		add("scatter of "+x.text, x.published, fmt.Sprintf("%.2f %%", sigma/rate(x.of)*100), agrees,
			fmt.Sprintf("σ %g of %d iterations: the mean is known to ± %.1f at 95 %%", sigma, x.n, half*sigma))
	}
	for _, x := range []struct {
		text, draft, accepted, published string
		k                                int
	}{{"Nemotron with DSpark", "draft_dspark", "accepted_dspark", "0.7702 and 3.311", 3}, {"gemma with MTP", "draft_gemma", "accepted_gemma", "0.6084", 5}} {
		drafted, accepted := s.said[x.draft], s.said[x.accepted]
		length, ok := ceiling.AcceptedLength(int64(drafted), int64(accepted), x.k)
		if !ok {
			t.Fatal("no accepted length")
		}
		passes := drafted / float64(x.k)
		add("acceptance and tokens per step of "+x.text, x.published, fmt.Sprintf("%.4f and %.3f", accepted/drafted, length), agrees,
			fmt.Sprintf("%.1f passes + %g accepted = %.1f of 1,024 tokens", passes, accepted, passes+accepted))
	}
	s.energy(&all, b256, dspark, mtp)
	s.windows(&all, b256)
	return all
}

// bracket is the break-even of a row's ladder.
func (s seed) bracket(t *testing.T, x *study.Subject) string {
	t.Helper()
	for _, b := range s.Money.BreakEvens {
		if slices.Contains(s.Series[b.Series].Subjects(), x) {
			return b.Bracket() + fmt.Sprintf(" streams (log–log %.1f, monotone cubic %.1f)", b.Methods["logLog"], b.Methods["monotoneCubic"])
		}
	}
	t.Fatalf("no break-even of %s", x.Label)
	return ""
}

// best is the end of the name of the highest figure with a prefix.
func (s seed) best(prefix string) (best string) {
	most := 0.0
	for name, v := range s.said {
		if rest, ok := strings.CutPrefix(name, prefix); ok && v > most {
			most, best = v, rest
		}
	}
	return best
}

func (s seed) sweep(prefix string) string {
	var parts []string
	for name, v := range s.said {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			parts = append(parts, fmt.Sprintf("%s: %g", rest, v))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// energy is not claimed there, but follows from power and rate.
func (s seed) energy(all *[]claim, subjects ...*study.Subject) {
	for _, x := range subjects {
		for _, e := range s.Money.Energy {
			if s.Subjects[e.Subject] == x {
				*all = append(*all, claim{"energy of " + x.Label, "–", fmt.Sprintf("%.4f J/token, %.2f Wh per million", e.JoulesPerToken, e.WattHoursPerMillion), added, e.How})
			}
		}
	}
}

// windows recovers the two windows of the 256 streams from the two rates that
// are published of them.
func (s seed) windows(all *[]claim, x *study.Subject) {
	tokens, prompt := 256*512.0, 256*s.said["b200_c256_prompt"]
	window, wall := tokens/x.Answer().TokensPerSecond, (tokens+prompt)/s.said["b200_c256_total"]
	q, err := cost.NewQuote(cost.BatchWall, tokens/wall, x.Price.USDPerHour)
	if err != nil {
		return
	}
	*all = append(*all, claim{
		"what the 14,499.4 of the B200 is", "sum of per-stream rates", fmt.Sprintf("131,072 tokens ÷ %.4f s", window), differs,
		fmt.Sprintf("tokSTotal gives a wall of %.4f s, so this is the window from the first token: a sum of rates would be about a tenth higher", wall),
	}, claim{
		"price of the B200 by the wall rate", "–", fmt.Sprintf("$%.5f at %.1f tok/s", q.USDPerMillion, q.TokensPerSecond), added, "what the burst cost; the published $0.107 leaves out the wait for the first token",
	})
}
