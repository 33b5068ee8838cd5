package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
)

// Run is a run directory in memory.
type Run struct {
	Dir      string
	Manifest Manifest
	Evidence Evidence
	// Result is the result file's bytes, nil in a directory whose run was cut
	// off before it was written.
	Result []byte
	// Torn names the lines that were cut off when the run was killed, and were
	// left out. A complete run has none.
	Torn []string
}

// Load reads the evidence of a run directory, strictly: an unknown key, a
// missing newline, a value that no run writes, are errors that name file and
// line. Only in a directory whose manifest was never completed may the last
// lines be cut off.
//
// Memory is that of the decoded events, 20 bytes each.
func Load(dir string) (*Run, error) {
	m, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	r := &Run{Dir: dir, Manifest: *m}
	r.Evidence.Tool, r.Evidence.Plan = m.Tool, m.Plan
	r.Evidence.Unfinished = m.State != StateComplete
	if err := errors.Join(r.loadObservations(), r.loadRequests()); err != nil {
		return nil, err
	}
	r.Result, err = os.ReadFile(filepath.Join(dir, m.Run))
	if err != nil && !(r.Evidence.Unfinished && errors.Is(err, os.ErrNotExist)) {
		return nil, fmt.Errorf("read result: %w", err)
	}
	return r, nil
}

func (r *Run) loadRequests() error {
	return r.read(RequestsFile, func(f io.Reader) (err error) {
		r.Evidence.Requests, err = ReadRequests(f)
		return err
	})
}

func (r *Run) loadObservations() error {
	return r.read(ObservationsFile, func(f io.Reader) error {
		seen := 0
		err := eachLine(f, func(line []byte) error {
			o := new(Observation)
			if err := decodeStrict(line, o); err != nil {
				return err
			}
			seen++
			return r.Evidence.take(o, seen)
		})
		if err == nil && seen == 0 && !r.Evidence.Unfinished {
			return errors.New("no session in it")
		}
		return err
	})
}

// read opens a file of the run and names it in errors. The last line may be
// torn in a run that was cut off.
func (r *Run) read(name string, use func(io.Reader) error) error {
	path := filepath.Join(r.Dir, name)
	f, err := os.Open(path)
	if err != nil {
		if r.Evidence.Unfinished && errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return fmt.Errorf("read evidence: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	err = use(f)
	var fault *LineError
	if r.Evidence.Unfinished && errors.Is(err, errTorn) && errors.As(err, &fault) {
		r.Torn = append(r.Torn, fmt.Sprintf("%s:%d", name, fault.Line))
		return nil
	}
	switch {
	case err == nil:
		return nil
	case errors.As(err, &fault):
		return fmt.Errorf("read %s:%d: %w", path, fault.Line, fault.Err)
	default:
		return fmt.Errorf("read %s: %w", path, err)
	}
}

// take adds an observation. The session comes first and once.
func (e *Evidence) take(o *Observation, line int) error {
	set := 0
	if o.Session != nil {
		set++
		if line != 1 {
			return errors.New("the session is the first line and no other")
		}
		e.Session = *o.Session
	}
	if o.Batch != nil {
		set++
		if err := o.Batch.check(); err != nil {
			return err
		}
		e.Batches = append(e.Batches, *o.Batch)
	}
	if o.Attached != nil {
		set++
		if !e.Attached.empty() {
			return errors.New("attached twice")
		}
		e.Attached = *o.Attached
	}
	switch {
	case set != 1:
		return fmt.Errorf("%d observations in one line", set)
	case line == 1 && o.Session == nil:
		return errors.New("the first line is not the session")
	}
	return nil
}

func (a *Attached) empty() bool {
	return len(a.Power) == 0 && len(a.Ceiling) == 0 && len(a.Findings) == 0
}

func (b *Batch) check() error {
	switch {
	case b.Phase != PhaseWarmup && b.Phase != PhaseTimed:
		return fmt.Errorf("unknown phase %q", b.Phase)
	case b.Iteration < 1:
		return fmt.Errorf("iteration %d: iterations count from 1", b.Iteration)
	case b.StartNs < 0 || b.EndNs < b.StartNs:
		return fmt.Errorf("batch from %d to %d ns", b.StartNs, b.EndNs)
	}
	return nil
}

// ReadDocument reads a result, ours or lmx's own, also one that is wrapped as
// {"payload": …}. Unknown keys are passed over.
func ReadDocument(path string) (*Document, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read result: %w", err)
	}
	d, err := ParseDocument(data)
	if err != nil {
		return nil, fmt.Errorf("read result %s: %w", path, err)
	}
	return d, nil
}

// ParseDocument is [ReadDocument] for bytes.
func ParseDocument(data []byte) (*Document, error) {
	var wrapper struct {
		Payload json.RawMessage `json:"payload"`
	}
	if err := json.Unmarshal(data, &wrapper); err != nil {
		return nil, err
	}
	if len(wrapper.Payload) > 0 {
		data = wrapper.Payload
	}
	data, err := wholeMedians(data)
	if err != nil {
		return nil, err
	}
	d := new(Document)
	if err := json.Unmarshal(data, d); err != nil {
		return nil, err
	}
	if d.EngineName == "" && d.HFID == "" && d.TokSOut == nil {
		return nil, errors.New("neither engineName, hfId nor tokSOut in it: not a result of lmx or lmxbench")
	}
	return d, nil
}

// wholeMedians rounds the token medians of a result up to whole tokens, as
// [Build] does: lmx writes x.5 where two requests of an even number differ.
func wholeMedians(data []byte) ([]byte, error) {
	tree, err := decodeTree(data)
	if err != nil {
		return nil, err
	}
	object, ok := tree.(map[string]any)
	if !ok {
		return data, nil
	}
	changed := false
	for _, key := range []string{"promptTokens", "outputTokens"} {
		n, ok := object[key].(json.Number)
		if !ok {
			continue
		}
		if f, err := n.Float64(); err == nil && f != math.Trunc(f) && math.Abs(f) < 1<<53 {
			object[key] = json.Number(strconv.FormatInt(int64(math.Ceil(f)), 10))
			changed = true
		}
	}
	if !changed {
		return data, nil
	}
	return json.Marshal(object)
}
