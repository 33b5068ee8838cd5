package study

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"lmxbench/bench/report"
)

// Options say what goes beyond the results themselves.
type Options struct {
	// Mixed allows results of different models, or of different versions of
	// this program, in one study.
	Mixed bool
	// Prices of machines and of hosted services. The zero value knows none.
	Prices Prices
	// Roof is what is known about model and memory. The zero value takes what
	// the results and the tables of package ceiling know.
	Roof RoofInput
}

// Study is one or more results side by side. It marshals to the JSON of
// `lmxbench report --format json`.
type Study struct {
	Schema   int        `json:"schema"`
	Kind     string     `json:"kind"` // report
	Subjects []*Subject `json:"subjects"`
	// Series are the curves: subjects that differ in concurrency only, each
	// ascending. Every usable subject is in exactly one.
	Series []Series `json:"series"`
	// Differences are the settings in which the series differ, values in their
	// order.
	Differences []Difference `json:"differences,omitempty"`
	Contrasts   []Contrast   `json:"comparisons,omitempty"`
	// Lead compares the fastest of three or more series with the runner-up,
	// where all ran; nil else.
	Lead  *Contrast `json:"lead,omitempty"`
	Money *Money    `json:"cost,omitempty"`
	Roofs []Roof    `json:"ceilings,omitempty"` // in the order of Subjects
	// Notes are remarks about the input, one sentence each.
	Notes []string `json:"notes,omitempty"`

	// IsTable says that the results are a list, such as a leaderboard's, and no
	// experiment: prices are worth showing, comparisons are not.
	IsTable bool `json:"table,omitempty"`

	paths []string // the arguments
}

// Open reads the results that the paths name and works out all that can be said
// about them. An error is one line that names the file and what is wrong there.
func Open(paths []string, o Options) (*Study, error) {
	if len(paths) == 0 {
		return nil, errors.New("no result to report on")
	}
	in, err := open(paths)
	if err != nil {
		return nil, err
	}
	st := &Study{Schema: report.Schema, Kind: "report", Subjects: in.subjects, Notes: in.notes, paths: paths}
	st.IsTable = slices.ContainsFunc(st.Subjects, func(s *Subject) bool { return s.Kind == KindRow }) ||
		(o.Mixed && st.models() > 1)
	if err := st.check(o.Mixed); err != nil {
		return nil, err
	}
	st.label()
	st.gather()
	if !st.IsTable {
		st.contrast()
	}
	if err := st.price(o.Prices); err != nil {
		return nil, err
	}
	return st, st.raise(o.Roof)
}

// Single returns the only subject, nil when there are several.
func (st *Study) Single() *Subject {
	if len(st.Subjects) == 1 {
		return st.Subjects[0]
	}
	return nil
}

func (st *Study) models() int {
	seen := map[string]bool{}
	for _, s := range st.Subjects {
		seen[s.Model] = true
	}
	return len(seen)
}

// check refuses what must not stand side by side.
func (st *Study) check(mixed bool) error {
	var measured, simulated, versioned, run *Subject
	for _, s := range st.Subjects {
		if s.Simulated {
			simulated = s
		} else {
			measured = s
		}
		if s.Kind == KindRow {
			continue
		}
		if mixed {
			continue
		}
		if run != nil && s.Model != run.Model {
			return fmt.Errorf("two models: %s measured %s, %s measured %s: one ladder or comparison is of one model; report them apart, or add --mixed",
				run.Path, first(run.Model, "a model without a name"), s.Path, first(s.Model, "a model without a name"))
		}
		run = s
		if s.Document == nil || s.Document.Bench == nil {
			continue
		}
		if versioned != nil && s.Document.Bench.Version != versioned.Document.Bench.Version {
			return fmt.Errorf("two versions: %s was measured by lmxbench %s, %s by %s: measure both with one, or add --mixed",
				versioned.Path, versioned.Document.Bench.Version, s.Path, s.Document.Bench.Version)
		}
		versioned = s
	}
	if measured != nil && simulated != nil {
		return fmt.Errorf("%s is of the simulated engine and %s is not: the two never stand side by side", simulated.Path, measured.Path)
	}
	return nil
}

// label gives every subject a short name of its own: the streams where these
// tell the subjects apart, else with the folder.
func (st *Study) label() {
	unique := func() bool {
		seen := map[string]bool{}
		for _, s := range st.Subjects {
			if seen[s.Label] {
				return false
			}
			seen[s.Label] = true
		}
		return true
	}
	byStreams := func(s *Subject) string { return fmt.Sprintf("c%d", s.Streams) }
	byArgument := func(s *Subject) string { return argName(st.paths[s.arg]) + " " + byStreams(s) }
	ways := []func(*Subject) string{byStreams, byArgument, (*Subject).place}
	if st.models() > 1 {
		ways = []func(*Subject) string{rowName}
	} else if st.IsTable {
		ways = []func(*Subject) string{byStreams, rowName}
	}
	for _, way := range ways {
		for _, s := range st.Subjects {
			s.Label = way(s)
		}
		if unique() {
			return
		}
	}
	for i, s := range st.Subjects {
		s.Label = fmt.Sprintf("%d %s", i+1, s.Label)
	}
}

// argName is an argument as a short name.
func argName(path string) string {
	name := filepath.Base(filepath.Clean(path))
	if name == report.RunFile {
		name = filepath.Base(filepath.Dir(path))
	}
	return strings.TrimSuffix(strings.TrimSuffix(name, ".json"), ".csv")
}

// rowName is a result in a few words, without what it does not state.
func rowName(s *Subject) string {
	_, name, found := strings.Cut(s.Model, "/")
	if !found {
		name = s.Model
	}
	parts := []string{first(name, "model unnamed")}
	for _, word := range []string{shortGPU(s.GPU), s.Speculation} {
		if word != "" {
			parts = append(parts, word)
		}
	}
	return strings.Join(append(parts, fmt.Sprintf("c%d", s.Streams)), " · ")
}

// shortGPU is a card without its vendor.
func shortGPU(name string) string {
	for _, vendor := range []string{"NVIDIA GeForce ", "NVIDIA ", "AMD Instinct ", "AMD "} {
		name = strings.TrimPrefix(name, vendor)
	}
	return name
}
