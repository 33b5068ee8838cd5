package study

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Series is a curve over concurrency: subjects that differ in nothing else that
// is known, ascending. One subject alone is a series too.
type Series struct {
	// Label says in what it differs from the other series, or where it came
	// from when no setting tells it apart.
	Label string `json:"label"`
	// Members are indexes into the study's subjects.
	Members []int `json:"members"`

	subjects []*Subject
}

// Subjects are the members, ascending by streams.
func (s *Series) Subjects() []*Subject { return s.subjects }

// At returns the member that ran a number of streams, nil without one.
func (s *Series) At(streams int) *Subject {
	for _, x := range s.subjects {
		if x.Streams == streams {
			return x
		}
	}
	return nil
}

// IsLadder reports whether at least two concurrencies have a result that may be
// used.
func (s *Series) IsLadder() bool {
	n := 0
	for _, x := range s.subjects {
		if x.usable() {
			n++
		}
	}
	return n > 1
}

// gather groups the subjects into series: by settings; where one concurrency
// then appears twice, also by argument; where it still does, by turn.
func (st *Study) gather() {
	byArg := func(s *Subject) string { return fmt.Sprint(s.arg) }
	var groups [][]*Subject
	for _, g := range groupBy(st.Subjects, (*Subject).fingerprint) {
		if !repeats(g) {
			groups = append(groups, g)
			continue
		}
		for _, h := range groupBy(g, byArg) {
			groups = append(groups, byTurn(h)...)
		}
	}
	slices.SortStableFunc(groups, func(a, b []*Subject) int { return st.index(a[0]) - st.index(b[0]) })
	for _, g := range groups {
		slices.SortStableFunc(g, func(a, b *Subject) int { return cmp.Compare(a.Streams, b.Streams) })
		s := Series{subjects: g}
		for _, x := range g {
			s.Members = append(s.Members, st.index(x))
		}
		st.Series = append(st.Series, s)
	}
	st.name()
}

func (st *Study) index(s *Subject) int { return slices.Index(st.Subjects, s) }

// groupBy keeps the order of first appearance.
func groupBy(all []*Subject, key func(*Subject) string) (groups [][]*Subject) {
	at := map[string]int{}
	for _, s := range all {
		k := key(s)
		i, ok := at[k]
		if !ok {
			i = len(groups)
			at[k] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], s)
	}
	return groups
}

func repeats(group []*Subject) bool {
	seen := map[int]bool{}
	for _, s := range group {
		if seen[s.Streams] {
			return true
		}
		seen[s.Streams] = true
	}
	return false
}

// byTurn splits a group so that the n-th appearance of each concurrency stands
// in the n-th part.
func byTurn(group []*Subject) (parts [][]*Subject) {
	turn := map[int]int{}
	for _, s := range group {
		n := turn[s.Streams]
		turn[s.Streams]++
		if n == len(parts) {
			parts = append(parts, nil)
		}
		parts[n] = append(parts[n], s)
	}
	return parts
}

// name labels the series by what they differ in.
func (st *Study) name() {
	if len(st.Series) < 2 {
		for i := range st.Series {
			st.Series[i].Label = first(st.Series[i].subjects[0].Quantization, st.Series[i].subjects[0].Engine)
		}
		return
	}
	sets := make([]map[string]string, len(st.Series))
	for i := range st.Series {
		sets[i] = st.Series[i].subjects[0].Settings
	}
	st.Differences = differences(sets)
	if st.IsTable {
		for i := range st.Series {
			st.Series[i].Label = seriesName(st.Series[i].subjects[0])
		}
	} else {
		for i := range st.Series {
			st.Series[i].Label = st.differenceLabel(i)
		}
	}
	st.tellApart()
}

// maxLabelled is the number of differing settings a label can carry.
const maxLabelled = 3

// differenceLabel is what a series has that others have not, for people.
func (st *Study) differenceLabel(i int) string {
	var parts []string
	for _, d := range st.Differences {
		if d.Name == settingTokens && len(st.Differences) > 1 {
			continue
		}
		value := d.Values[i]
		switch {
		case value == "":
			value = "no " + d.Name
		case value == "true":
			value = d.Name
		case value == "false":
			value = "no " + d.Name
		case d.Name == "model" || d.Name == "engine" || d.Name == "quantization" || d.Name == "GPU" || d.Name == "speculation":
			value = clip(value, 40)
		default:
			value = d.Name + " " + clip(value, 24)
		}
		parts = append(parts, value)
	}
	if len(parts) > maxLabelled {
		parts = nil // the folder's name says more than half a list
	}
	return strings.Join(parts, ", ")
}

// seriesName is a row's series without its concurrency.
func seriesName(s *Subject) string {
	name := rowName(s)
	return strings.TrimSuffix(name, fmt.Sprintf(" · c%d", s.Streams))
}

// tellApart adds the place to labels that are empty or not the only one.
func (st *Study) tellApart() {
	count := map[string]int{}
	for i := range st.Series {
		count[st.Series[i].Label]++
	}
	for i := range st.Series {
		s := &st.Series[i]
		if s.Label != "" && count[s.Label] == 1 {
			continue
		}
		place := st.place(s)
		if s.Label == "" {
			s.Label = place
		} else {
			s.Label += " (" + place + ")"
		}
	}
	seen := map[string]int{}
	for i := range st.Series {
		s := &st.Series[i]
		seen[s.Label]++
		if n := seen[s.Label]; n > 1 {
			s.Label = fmt.Sprintf("%s #%d", s.Label, n)
		}
	}
}

// place is where a series came from: its argument where that is its own, else
// the folder of its first subject.
func (st *Study) place(s *Series) string {
	arg := s.subjects[0].arg
	for i := range st.Series {
		for _, x := range st.Series[i].subjects {
			mine := &st.Series[i] == s
			if mine != (x.arg == arg) {
				return s.subjects[0].place()
			}
		}
	}
	return argName(st.paths[arg])
}
