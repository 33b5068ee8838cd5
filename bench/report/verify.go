package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// Difference is one thing in a run directory that does not follow from its
// evidence.
type Difference struct {
	Path     string // a key of run.json such as lmxbench.client.reads, or a file, or file:line
	File     string // what the directory says, as JSON or in words; "absent" where it says nothing
	Computed string // what the evidence gives
}

// String is one line.
func (d Difference) String() string {
	return oneLine(fmt.Sprintf("%s: file has %s, evidence gives %s", d.Path, d.File, d.Computed))
}

const absent = "absent"

// Verify recomputes a run directory from its evidence and compares everything:
// the fingerprint of every file, the plan's hash, the requests of every batch,
// and every field of the result, verdict included. No difference means that
// run.json says what the evidence says, bit for bit. It is no proof that the
// evidence is true.
//
// The error is for a directory that is no finished run, or cannot be read.
// Evidence that is damaged is a difference, and the rest is still compared.
func Verify(dir string) ([]Difference, error) {
	m, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	if m.State != StateComplete {
		return nil, fmt.Errorf("verify %s: the run was cut off before its files were listed; `report` shows what it left", dir)
	}
	all, err := verifyFiles(dir, m)
	if err != nil {
		return nil, err
	}
	if hash, err := m.Plan.Hash(); err != nil || hash != m.PlanSHA256 {
		all = append(all, Difference{ManifestFile + " planSha256", m.PlanSHA256, hash})
	}
	run, err := Load(dir)
	if err != nil {
		return append(all, Difference{"evidence", "unreadable: " + err.Error(), "readable files"}), nil
	}
	all = append(all, verifyOrder(&run.Evidence)...)
	all = append(all, verifyCounts(&run.Evidence)...)
	return append(all, verifyResult(run)...), nil
}

// verifyFiles compares size, lines and sha256 of every file of the manifest.
func verifyFiles(dir string, m *Manifest) (all []Difference, err error) {
	for _, name := range []string{m.Run, RequestsFile, ObservationsFile, StatusFile} {
		if _, ok := m.Files[name]; !ok {
			all = append(all, Difference{ManifestFile + " files." + name, absent, "an entry"})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		want := m.Files[name]
		got, err := fingerprint(filepath.Join(dir, name))
		if os.IsNotExist(err) {
			all = append(all, Difference{name, absent, "a file of " + strconv.FormatInt(want.Bytes, 10) + " bytes"})
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("verify %s: %w", name, err)
		}
		if got.Bytes != want.Bytes {
			all = append(all, Difference{name + " bytes", strconv.FormatInt(got.Bytes, 10), strconv.FormatInt(want.Bytes, 10) + " in the manifest"})
		}
		if want.Lines != nil && got.Lines != nil && *got.Lines != *want.Lines {
			all = append(all, Difference{name + " lines", strconv.Itoa(*got.Lines), strconv.Itoa(*want.Lines) + " in the manifest"})
		}
		if got.SHA256 != want.SHA256 {
			all = append(all, Difference{name + " sha256", got.SHA256, want.SHA256 + " in the manifest"})
		}
	}
	return all, nil
}

// verifyOrder finds lines that are out of place or written twice.
func verifyOrder(e *Evidence) (all []Difference) {
	rank := map[string]int{PhaseProbe: 0, PhaseWarmup: 1, PhaseTimed: 2}
	for i := 1; i < len(e.Requests); i++ {
		before, here := &e.Requests[i-1], &e.Requests[i]
		order := slices.Compare(
			[]int{rank[before.Phase], before.Iteration, before.Request},
			[]int{rank[here.Phase], here.Iteration, here.Request})
		if order >= 0 {
			all = append(all, Difference{
				fmt.Sprintf("%s:%d", RequestsFile, i+1),
				here.place(), "a request after " + before.place(),
			})
		}
	}
	return all
}

// place names a request.
func (r *Request) place() string {
	return fmt.Sprintf("%s iteration %d request %d", r.Phase, r.Iteration, r.Request)
}

// verifyCounts compares the requests of each batch with its observation, and
// the batches with the plan.
func verifyCounts(e *Evidence) (all []Difference) {
	type batch struct {
		phase     string
		iteration int
	}
	lines := make(map[batch]int)
	for i := range e.Requests {
		r := &e.Requests[i]
		lines[batch{r.Phase, r.Iteration}]++
	}
	for i := range e.Batches {
		b := &e.Batches[i]
		key := batch{b.Phase, b.Iteration}
		if lines[key] != b.Concurrency {
			all = append(all, Difference{
				fmt.Sprintf("%s %s iteration %d", RequestsFile, b.Phase, b.Iteration),
				count(lines[key], "request"), strconv.Itoa(b.Concurrency) + " by its observation",
			})
		}
		if b.Phase == PhaseTimed && b.Concurrency != e.Plan.Concurrency {
			all = append(all, Difference{
				fmt.Sprintf("%s timed iteration %d concurrency", ObservationsFile, b.Iteration),
				strconv.Itoa(b.Concurrency), strconv.Itoa(e.Plan.Concurrency) + " by the plan",
			})
		}
		delete(lines, key)
	}
	for i := range e.Requests {
		r := &e.Requests[i]
		key := batch{r.Phase, r.Iteration}
		if n := lines[key]; n > 0 && r.Phase != PhaseProbe {
			all = append(all, Difference{
				fmt.Sprintf("%s %s iteration %d", RequestsFile, r.Phase, r.Iteration),
				count(n, "request"), "no such batch in " + ObservationsFile,
			})
			delete(lines, key)
		}
	}
	return all
}

// verifyResult builds the result again and compares it key by key.
func verifyResult(run *Run) []Difference {
	name := run.Manifest.Run
	d, err := Build(run.Evidence)
	if err != nil {
		return []Difference{{"evidence", "contradicts itself: " + err.Error(), "a result"}}
	}
	want, err := d.JSON()
	if err != nil {
		return []Difference{{"evidence", "no result: " + err.Error(), "a result"}}
	}
	if _, err := decodeTree(run.Result); err != nil {
		return []Difference{{name, "no JSON: " + err.Error(), "a JSON object"}}
	}
	all := CompareJSON("", run.Result, want)
	if len(all) == 0 && !bytes.Equal(want, run.Result) {
		all = append(all, Difference{name + " formatting", "other white space or key order", "sorted keys, two spaces"})
	}
	return all
}

// compare walks two JSON trees. Numbers are equal when they are written alike.
func compare(path string, file, computed any) (all []Difference) {
	switch want := computed.(type) {
	case map[string]any:
		got, ok := file.(map[string]any)
		if !ok {
			break
		}
		keys := maps.Clone(got)
		maps.Copy(keys, want)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			all = append(all, compareAt(join(path, key), got, want, key)...)
		}
		return all
	case []any:
		got, ok := file.([]any)
		if !ok {
			break
		}
		for i := range max(len(got), len(want)) {
			at := fmt.Sprintf("%s[%d]", path, i)
			switch {
			case i >= len(got):
				all = append(all, Difference{at, absent, show(want[i])})
			case i >= len(want):
				all = append(all, Difference{at, show(got[i]), absent})
			default:
				all = append(all, compare(at, got[i], want[i])...)
			}
		}
		return all
	default:
		if file == computed {
			return nil
		}
	}
	return []Difference{{path, show(file), show(computed)}}
}

func compareAt(path string, got, want map[string]any, key string) []Difference {
	g, inFile := got[key]
	w, inEvidence := want[key]
	switch {
	case !inFile:
		return []Difference{{path, absent, show(w)}}
	case !inEvidence:
		return []Difference{{path, show(g), absent}}
	default:
		return compare(path, g, w)
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// show writes a JSON value on one line, cut where it is long.
func show(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	const most = 120
	if len(data) > most {
		return fmt.Sprintf("%.*s… (%d bytes)", most, data, len(data))
	}
	return string(data)
}
