package localmaxxing

import (
	"fmt"
	"strconv"
	"strings"

	"lmxbench/internal/hardware"
)

// State says how two results stand to each other in one respect.
type State string

// The states.
const (
	Same    State = "same"
	Differs State = "differs"
	Unknown State = "not known" // one of the two does not say
)

// Criterion is one respect in which two results must agree to be compared.
type Criterion struct {
	Name  string `json:"name"`
	Run   string `json:"run,omitempty"`   // as it is written; empty: not given
	Other string `json:"other,omitempty"` // same
	State State  `json:"state"`
}

// Verdict says whether two results may be compared.
type Verdict string

// The verdicts.
const (
	// Comparable: both give every criterion, and alike.
	Comparable Verdict = "comparable"
	// AsFarAsKnown: nothing differs, but something is not given.
	AsFarAsKnown Verdict = "comparable as far as known"
	// NotComparable: something differs, or one of the two is no result.
	NotComparable Verdict = "not comparable"
)

// Comparison sets a run against another result.
type Comparison struct {
	Verdict  Verdict     `json:"verdict"`
	Criteria []Criterion `json:"criteria"`
	// Others are respects that tell how the two were made. They may explain a
	// difference and do not forbid the comparison.
	Others []Criterion `json:"others"`
	// Refusals are reasons against a comparison that lie in one of the two.
	Refusals []string `json:"refusals,omitempty"`
	// Ratio is the run's tokSOut ÷ the other's; nil where they are not
	// comparable.
	Ratio *float64 `json:"ratio,omitempty"`
}

// Compare sets a run against another result: a row of a board, or another run.
//
// They are compared when they measured the same: model, quantisation, hardware,
// prompt, output tokens and concurrency. Names are compared without regard to
// case, to the maker's name before a card's, and to the two ways of writing
// Unsloth's dynamic quantisations. Where a result gives no number of output
// tokens, the cap of both stands in.
func Compare(run, other Row) Comparison {
	c := Comparison{Criteria: []Criterion{
		criterion("hf-id", run.HFID, other.HFID, strings.ToLower),
		criterion("quantization", run.Quantization, other.Quantization, quantizationKey),
		criterion("hardware", run.Hardware.String(), other.Hardware.String(), nil),
		criterion("prompt sha256", run.PromptSHA256, other.PromptSHA256, nil),
		tokens(run, other),
		criterion("concurrency", wholeText(run.Streams), wholeText(other.Streams), nil),
	}}
	if a, b := run.Hardware, other.Hardware; a.Name != "" && b.Name != "" {
		c.Criteria[2].State = stateOf(a.key() == b.key())
	}
	c.Others = []Criterion{
		criterion("engine", run.Engine, other.Engine, strings.ToLower),
		criterion("engine version", run.EngineVersion, other.EngineVersion, nil),
		speculation(run, other),
	}
	c.Verdict = Comparable
	for _, k := range c.Criteria {
		switch {
		case k.State == Differs:
			c.Verdict = NotComparable
		case k.State == Unknown && c.Verdict == Comparable:
			c.Verdict = AsFarAsKnown
		}
	}
	if c.Verdict != NotComparable && run.TokSOut != nil && other.TokSOut != nil {
		ratio := *run.TokSOut / *other.TokSOut
		c.Ratio = &ratio
	}
	if run.TokSOut == nil {
		c.Refuse("the run has no tokSOut")
	}
	if other.TokSOut == nil {
		c.Refuse("the other has no tokSOut")
	}
	return c
}

// Refuse makes the two not comparable for a reason that lies in one of them.
func (c *Comparison) Refuse(reason string) {
	c.Verdict, c.Ratio = NotComparable, nil
	c.Refusals = append(c.Refusals, reason)
}

// Differences is the number of criteria that differ and that are not known.
func (c *Comparison) Differences() (differ, unknown int) {
	for _, k := range c.Criteria {
		switch k.State {
		case Differs:
			differ++
		case Unknown:
			unknown++
		}
	}
	return differ, unknown
}

func stateOf(same bool) State {
	if same {
		return Same
	}
	return Differs
}

// criterion compares two texts by their keys; nil takes them as they are.
func criterion(name, run, other string, key func(string) string) Criterion {
	k := Criterion{Name: name, Run: run, Other: other, State: Unknown}
	if run == "" || other == "" {
		return k
	}
	if key != nil {
		run, other = key(run), key(other)
	}
	k.State = stateOf(run == other)
	return k
}

// tokens compares what each request gave, or may give at most.
func tokens(run, other Row) Criterion {
	if (run.OutputTokens == nil || other.OutputTokens == nil) && run.MaxTokens != nil && other.MaxTokens != nil {
		return criterion("token cap", wholeText(run.MaxTokens), wholeText(other.MaxTokens), nil)
	}
	return criterion("output tokens", wholeText(run.OutputTokens), wholeText(other.OutputTokens), nil)
}

// speculation differs where one of the two names a method and the other does
// not. Two names are free text, and only the same where they read alike.
func speculation(run, other Row) Criterion {
	k := criterion("speculation", run.Speculation, other.Speculation, strings.ToLower)
	if k.State == Differs {
		k.State = Unknown
	}
	if (run.Speculation == "") != (other.Speculation == "") {
		k.State = Differs
	}
	return k
}

// key is the leaderboard's name of the hardware without its maker, and how many
// there are. One card is what a name without a number means.
func (h Hardware) key() string {
	name := h.Name
	for _, full := range []string{name, "NVIDIA " + name, "NVIDIA GeForce " + name} {
		if a, ok := hardware.Canonical(full); ok {
			name = a.Canonical
			break
		}
	}
	words := strings.Fields(strings.ToLower(name))
	kept := words[:0]
	for _, w := range words {
		switch w {
		case "nvidia", "geforce", "amd", "intel":
		default:
			kept = append(kept, w)
		}
	}
	count := 1
	if h.Count != nil {
		count = *h.Count
	}
	return fmt.Sprintf("%d %s", count, strings.Join(kept, " "))
}

// quantizationKey takes case and separators off; "UD-" is how files write what
// the leaderboard calls Unsloth-Dynamic.
func quantizationKey(text string) string {
	key := strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(text))
	if rest, ok := strings.CutPrefix(key, "unslothdynamic"); ok {
		return "ud" + rest
	}
	return key
}

func wholeText(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}
