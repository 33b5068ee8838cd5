package report

import (
	"cmp"
	"slices"
)

// Level is how much a finding weighs.
type Level string

// The levels of a finding.
const (
	Info    Level = "INFO"
	Warn    Level = "WARN"
	Invalid Level = "INVALID"
)

// Verdict statuses. A verdict is the worst level of its findings; findings of
// level INFO leave it VALID.
const (
	StatusValid   = "VALID"
	StatusWarn    = "WARN"
	StatusInvalid = "INVALID"
)

// Verdict says whether the result can be used.
type Verdict struct {
	Status string    `json:"status"`
	Codes  []Finding `json:"codes"` // worst first, then by code
}

// Finding is one reason behind a verdict: a code of the catalogue and one
// sentence with the numbers.
type Finding struct {
	Code   string `json:"code"`
	Level  Level  `json:"level"`
	Detail string `json:"detail"`
}

// Has reports whether a code is among the findings.
func (v Verdict) Has(code string) bool {
	return slices.ContainsFunc(v.Codes, func(f Finding) bool { return f.Code == code })
}

func (l Level) weight() int {
	switch l {
	case Invalid:
		return 2
	case Warn:
		return 1
	default:
		return 0
	}
}

// verdict asks every rule of the catalogue and adds what other packages found.
func (a *analysis) verdict(d *Document) Verdict {
	v := Verdict{Codes: []Finding{}}
	for _, rule := range Catalogue() {
		if rule.check == nil {
			continue
		}
		if f := rule.check(a, d); f != nil {
			f.Code = rule.Code
			v.Codes = append(v.Codes, *f)
		}
	}
	for _, f := range a.Attached.Findings {
		v.Codes = append(v.Codes, attach(f))
	}
	slices.SortStableFunc(v.Codes, func(x, y Finding) int {
		return cmp.Or(cmp.Compare(y.Level.weight(), x.Level.weight()), cmp.Compare(x.Code, y.Code))
	})
	v.Status = StatusValid
	if len(v.Codes) > 0 {
		switch v.Codes[0].Level {
		case Invalid:
			v.Status = StatusInvalid
		case Warn:
			v.Status = StatusWarn
		}
	}
	return v
}

// attach takes a finding of another package as it is, but for a level above
// its code's: a power sensor's fault does not make a throughput invalid. A code
// that the catalogue lacks is kept; losing a finding would be worse.
func attach(f Finding) Finding {
	if f.Level != Info && f.Level != Warn && f.Level != Invalid {
		f.Level = Warn
	}
	for _, rule := range Catalogue() {
		if rule.Code == f.Code && f.Level.weight() > rule.worst().weight() {
			f.Level = rule.worst()
		}
	}
	return f
}
