package study

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lmxbench/bench/report"
)

// maxDepth is how far below an argument results are looked for: a folder of
// models, their runs, a ladder's rungs.
const maxDepth = 4

// opener collects the subjects of one argument after the other.
type opener struct {
	subjects []*Subject
	notes    []string
	arg      int
}

// open reads everything that the arguments name. Order is that of the
// arguments; within a folder, by concurrency and then by name.
func open(paths []string) (*opener, error) {
	o := new(opener)
	for i, path := range paths {
		o.arg = i
		before := len(o.subjects)
		if err := o.argument(path); err != nil {
			return nil, err
		}
		if len(o.subjects) == before {
			return nil, fmt.Errorf("%s holds no result: want a run directory (with %s), a run.json, a table of runs (.csv), or a folder of these", path, report.ManifestFile)
		}
		slices.SortStableFunc(o.subjects[before:], func(a, b *Subject) int {
			if a.Kind == KindRow || b.Kind == KindRow {
				return 0 // a table keeps its order
			}
			return a.Streams - b.Streams
		})
	}
	return o, nil
}

func (o *opener) argument(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist", path)
	case err != nil:
		return fmt.Errorf("open result: %w", err)
	case info.IsDir():
		return o.folder(path, 0)
	}
	return o.file(path, true)
}

// folder takes a run directory whole, and looks into any other folder.
func (o *opener) folder(dir string, depth int) error {
	if exists(filepath.Join(dir, report.ManifestFile)) {
		return o.runDirectory(dir)
	}
	if lines, run := filepath.Join(dir, report.RequestsFile), filepath.Join(dir, report.RunFile); exists(lines) || exists(filepath.Join(dir, report.ObservationsFile)) {
		return fmt.Errorf("%s has evidence but no %s: half a run directory; give %s alone to report what it says", dir, report.ManifestFile, run)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("open folder: %w", err)
	}
	if exists(filepath.Join(dir, report.RunFile)) {
		return o.file(filepath.Join(dir, report.RunFile), true)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir():
			if depth < maxDepth {
				err = o.folder(path, depth+1)
			}
		case strings.HasSuffix(e.Name(), ".json"), strings.HasSuffix(e.Name(), ".csv"):
			err = o.file(path, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// companions are files that stand beside results and are none.
func companions() []string {
	return []string{
		"sweep.json", "payload.json", "hardware.json", "meta.json", "power_window.json", "calibration.json",
		"companion_response.json", "dryrun_response.json", "submit_response.json", "lmx_stdout.json", "scoreboard.json",
	}
}

// file reads a result or a table. One that was not named by the user but found
// in a folder may also be something else, and is then passed over with a note.
func (o *opener) file(path string, named bool) error {
	if !named && slices.Contains(companions(), filepath.Base(path)) {
		return nil
	}
	if strings.HasSuffix(path, ".csv") {
		ok, err := isTable(path)
		if err != nil {
			return err
		}
		if !ok && !named {
			o.notes = append(o.notes, path+" is no table of runs and is left out")
			return nil
		}
		rows, err := readRows(path)
		for _, s := range rows {
			o.add(s)
		}
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read result: %w", err)
	}
	d, err := parseResult(data)
	var other *notResult
	if errors.As(err, &other) && !named {
		o.notes = append(o.notes, path+" is no result and is left out")
		return nil
	}
	if err != nil {
		return fmt.Errorf("read result %s: %w", path, err)
	}
	o.add(fromDocument(path, d))
	return nil
}

func (o *opener) add(s *Subject) {
	s.arg = o.arg
	o.subjects = append(o.subjects, s)
}

func isTable(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, fmt.Errorf("read table: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	line, err := bufio.NewReader(io.LimitReader(f, 1<<16)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read table %s: %w", path, err)
	}
	return looksLikeRows(line), nil
}

// notResult is JSON that is something else.
type notResult struct{ error }

// parseResult reads a result and refuses what no run writes.
func parseResult(data []byte) (*report.Document, error) {
	if err := wellFormed(data); err != nil {
		return nil, err
	}
	d, err := report.ParseDocument(data)
	if err != nil {
		return nil, &notResult{err}
	}
	return d, checkDocument(d)
}

// wellFormed names the place of a fault, which is what a number such as NaN
// written by hand needs.
func wellFormed(data []byte) error {
	var any json.RawMessage
	err := json.Unmarshal(data, &any)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		at := min(int(syntax.Offset), len(data))
		line := 1 + bytes.Count(data[:at], []byte{'\n'})
		start := bytes.LastIndexByte(data[:max(0, at-1)], '\n') + 1
		end := len(data)
		if n := bytes.IndexByte(data[start:], '\n'); n >= 0 {
			end = start + n
		}
		return fmt.Errorf("line %d is no JSON: %q", line, clip(strings.TrimSpace(string(data[start:end])), 60))
	}
	return err
}

func clip(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// checkDocument finds values that are no measurement.
func checkDocument(d *report.Document) error {
	for _, f := range []struct {
		name string
		v    *float64
	}{{"tokSOut", d.TokSOut}, {"tokSTotal", d.TokSTotal}, {"ttftMs", d.TTFTMs}} {
		if f.v != nil && !(*f.v > 0) {
			return fmt.Errorf("%s is %v, which is no measurement", f.name, *f.v)
		}
	}
	if d.BatchSize < 0 {
		return fmt.Errorf("batchSize is %d, which is no number of streams", d.BatchSize)
	}
	if d.Bench == nil {
		return nil
	}
	if d.Bench.Schema != report.Schema {
		return fmt.Errorf("schema %d of lmxbench, this program reads %d: use the version that wrote it (%s)", d.Bench.Schema, report.Schema, first(d.Bench.Version, "unknown"))
	}
	t := &d.Bench.Throughput
	for _, r := range []*report.Rates{t.InterToken, t.ConcurrentRequestWindow, t.BatchWall, t.SumOfStreamRates} {
		if r != nil && !(r.P50 > 0) {
			return fmt.Errorf("a rate under lmxbench.throughput is %v, which is no measurement", r.P50)
		}
	}
	if p := t.Plateau; p != nil && !(p.P50 > 0) {
		return fmt.Errorf("lmxbench.throughput.plateau is %v, which is no measurement", p.P50)
	}
	if d.Bench.Plan.Concurrency < 1 || d.Bench.Verdict.Status == "" {
		return errors.New("lmxbench.plan.concurrency or lmxbench.verdict.status is missing: not a result of a run")
	}
	return nil
}

// runDirectory reads the result of a run directory, and makes one from the
// evidence where the run was cut off before it had one.
func (o *opener) runDirectory(dir string) error {
	m, err := readManifest(dir)
	if err != nil {
		return err
	}
	if m.State != report.StateComplete {
		return o.cutOff(dir)
	}
	if err := checkFiles(dir, m); err != nil {
		return err
	}
	path := filepath.Join(dir, m.Run)
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read result: %w", err)
	}
	d, err := parseResult(data)
	if err != nil {
		return fmt.Errorf("read result %s: %w", path, err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != m.Files[m.Run].SHA256 {
		return fmt.Errorf("%s is not the file that the run wrote: its sha256 is not the one in %s; see lmxbench verify %s", path, report.ManifestFile, dir)
	}
	switch {
	case d.Bench == nil:
		return fmt.Errorf("%s has no lmxbench key although %s lists it", path, report.ManifestFile)
	case d.Bench.Version != m.Tool.Version:
		return fmt.Errorf("%s mixes two versions: %s was written by %s, %s by %s", dir, report.ManifestFile, m.Tool.Version, m.Run, d.Bench.Version)
	}
	s := fromDocument(dir, d)
	s.dir = dir
	o.add(s)
	return nil
}

// cutOff makes the result that a killed run did not come to write.
func (o *opener) cutOff(dir string) error {
	run, err := report.Load(dir)
	if err != nil {
		return err
	}
	d, err := report.Build(run.Evidence)
	if err != nil {
		return fmt.Errorf("read %s: %w", dir, err)
	}
	s := fromDocument(dir, d)
	s.Kind, s.dir, s.run = KindRun, dir, run
	o.notes = append(o.notes, dir+" was cut off before its result was written: this is what its evidence gives")
	o.add(s)
	return nil
}

func readManifest(dir string) (*report.Manifest, error) {
	path := filepath.Join(dir, report.ManifestFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	if err := wellFormed(data); err != nil {
		return nil, fmt.Errorf("read manifest %s: %w", path, err)
	}
	m := new(report.Manifest)
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("read manifest %s: %w", path, err)
	}
	switch {
	case m.Schema != report.Schema:
		return nil, fmt.Errorf("read manifest %s: schema %d, this program reads %d: use the version that wrote it (%s)", path, m.Schema, report.Schema, first(m.Tool.Version, "unknown"))
	case m.State != report.StateComplete && m.State != report.StateRunning:
		return nil, fmt.Errorf("read manifest %s: unknown state %q", path, m.State)
	case m.Run == "" || m.Run != filepath.Base(m.Run):
		return nil, fmt.Errorf("read manifest %s: %q is not the name of a file in this directory", path, m.Run)
	}
	return m, nil
}

// checkFiles finds a directory of which a part is gone. Contents are compared
// by verify.
func checkFiles(dir string, m *report.Manifest) error {
	for name, want := range m.Files {
		info, err := os.Stat(filepath.Join(dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%s is half a run directory: %s is gone", dir, name)
		case err != nil:
			return fmt.Errorf("open run directory: %w", err)
		case info.Size() != want.Bytes:
			return fmt.Errorf("%s is not as the run left it: %s has %d bytes, %s says %d; see lmxbench verify %s", dir, name, info.Size(), report.ManifestFile, want.Bytes, dir)
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
