package report

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Start is what a run knows before anything is measured.
type Start struct {
	Dir  string // of the run; made if it is not there
	Run  string // name of the result file in Dir, default run.json
	Tool Tool
	Args []string // command line with secrets removed
	Plan Plan
	Now  time.Time
}

// Writer keeps a run on disk while it is measured.
//
// Lines are buffered until [Writer.EndBatch], which hands them to the kernel
// and waits for the disk. A process that is killed therefore loses at most the
// batch in flight, and so does a machine that loses power. After an error every
// later call gives the same error: a run that cannot be stored does not end as
// a success.
//
// A Writer is not safe for concurrent use.
type Writer struct {
	dir      string
	manifest Manifest
	requests *lineFile
	observed *lineFile
	status   *lineFile
	line     []byte
	err      error
}

// Create makes the run directory and its first files. It refuses, with
// [ErrExists], a directory that holds a run already. The plan is on disk when
// Create returns: what is measured afterwards was decided before.
func Create(s Start) (*Writer, error) {
	if s.Run == "" {
		s.Run = RunFile
	}
	if !plainName(s.Run) || slices.Contains([]string{RequestsFile, ObservationsFile, StatusFile, ManifestFile}, s.Run) {
		return nil, fmt.Errorf("%q cannot be the name of the result", s.Run)
	}
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("make run directory: %w", err)
	}
	for _, name := range []string{s.Run, ManifestFile, RequestsFile, ObservationsFile, StatusFile} {
		if _, err := os.Lstat(filepath.Join(s.Dir, name)); err == nil {
			return nil, fmt.Errorf("%s %w", filepath.Join(s.Dir, name), ErrExists)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("look for an earlier run: %w", err)
		}
	}
	hash, err := s.Plan.Hash()
	if err != nil {
		return nil, err
	}
	w := &Writer{dir: s.Dir, manifest: Manifest{
		Schema: Schema, State: StateRunning, CreatedAt: s.Now.UTC().Format(time.RFC3339),
		Tool: s.Tool, Args: append([]string{}, s.Args...), Plan: s.Plan, PlanSHA256: hash, Run: s.Run, Files: map[string]File{},
	}}
	return w, w.open()
}

func (w *Writer) open() error {
	data, err := encodeManifest(&w.manifest)
	if err != nil {
		return err
	}
	if err := writeNew(filepath.Join(w.dir, ManifestFile), data); err != nil {
		return err
	}
	for _, f := range []struct {
		file **lineFile
		name string
	}{{&w.requests, RequestsFile}, {&w.observed, ObservationsFile}, {&w.status, StatusFile}} {
		if *f.file, err = newLineFile(filepath.Join(w.dir, f.name)); err != nil {
			w.fail(err) //nolint:errcheck // returned by Close
			return w.Close()
		}
		w.manifest.Files[f.name] = File{}
	}
	return nil
}

// Dir is the run directory.
func (w *Writer) Dir() string { return w.dir }

// Path is the path of the result file.
func (w *Writer) Path() string { return filepath.Join(w.dir, w.manifest.Run) }

// Request appends a line to requests.jsonl. The request may be reused when
// Request returns.
func (w *Writer) Request(r *Request) error {
	if w.err != nil {
		return w.err
	}
	line, err := AppendRequest(w.line[:0], r)
	if err != nil {
		return w.fail(err)
	}
	w.line = line
	return w.fail(w.requests.write(line))
}

// Session appends what was learned before the first batch.
func (w *Writer) Session(s *Session) error { return w.observe(Observation{Session: s}) }

// Batch appends what was observed around a batch. Call it after the batch's
// requests and before [Writer.EndBatch].
func (w *Writer) Batch(b *Batch) error { return w.observe(Observation{Batch: b}) }

// Attach appends what other packages say about the run. At most once.
func (w *Writer) Attach(a *Attached) error { return w.observe(Observation{Attached: a}) }

func (w *Writer) observe(o Observation) error {
	if w.err != nil {
		return w.err
	}
	line, err := json.Marshal(o)
	if err != nil {
		return w.fail(fmt.Errorf("encode observation: %w", err))
	}
	return w.fail(w.observed.write(append(line, '\n')))
}

// Status appends an event to status.jsonl; see [StatusLine].
func (w *Writer) Status(event string, at time.Time, fields map[string]any) error {
	if w.err != nil {
		return w.err
	}
	line, err := StatusLine(event, at, fields)
	if err != nil {
		return w.fail(err)
	}
	return w.fail(w.status.write(line))
}

// EndBatch makes durable what was appended so far. The requests come first: an
// observation without its requests would claim a batch that is lost.
func (w *Writer) EndBatch() error {
	for _, f := range []*lineFile{w.requests, w.observed, w.status} {
		if w.err != nil {
			return w.err
		}
		w.fail(f.sync()) //nolint:errcheck // looked at above and below
	}
	return w.err
}

// Add writes one more file of the run, such as hardware.json.
func (w *Writer) Add(name string, data []byte) error {
	if w.err != nil {
		return w.err
	}
	if !plainName(name) {
		return w.fail(fmt.Errorf("%q is not the name of a file", name))
	}
	if err := writeNew(filepath.Join(w.dir, name), data); err != nil {
		return w.fail(err)
	}
	w.manifest.Files[name] = File{}
	return nil
}

// Claim takes a file that was written into the run directory by others, such
// as power.csv, into the manifest. It must be complete when Finish is called.
func (w *Writer) Claim(name string) error {
	if w.err != nil {
		return w.err
	}
	if !plainName(name) {
		return w.fail(fmt.Errorf("%q is not the name of a file", name))
	}
	w.manifest.Files[name] = File{}
	return nil
}

// Finish writes the result and completes the manifest. The writer is closed
// afterwards, also after an error.
func (w *Writer) Finish(d *Document) error {
	data, err := d.JSON()
	if err != nil {
		w.fail(fmt.Errorf("encode result: %w", err)) //nolint:errcheck // returned by Close below
	}
	w.EndBatch() //nolint:errcheck // returned by Close
	if err := w.Close(); err != nil {
		return err
	}
	if err := writeNew(w.Path(), data); err != nil {
		return err
	}
	w.manifest.Files[w.manifest.Run] = File{}
	for name := range w.manifest.Files {
		file, err := fingerprint(filepath.Join(w.dir, name))
		if err != nil {
			return fmt.Errorf("list files of the run: %w", err)
		}
		w.manifest.Files[name] = file
	}
	w.manifest.State = StateComplete
	manifest, err := encodeManifest(&w.manifest)
	if err != nil {
		return err
	}
	return replace(filepath.Join(w.dir, ManifestFile), manifest)
}

// Close ends writing without a result; the directory can still be loaded.
// After Finish it does nothing.
func (w *Writer) Close() error {
	for _, f := range []*lineFile{w.requests, w.observed, w.status} {
		if f != nil {
			w.fail(f.close()) //nolint:errcheck // returned below
		}
	}
	return w.err
}

// fail keeps the first error.
func (w *Writer) fail(err error) error {
	if w.err == nil {
		w.err = err
	}
	return w.err
}

// lineFile appends lines to a file that must be new.
type lineFile struct {
	path   string
	file   *os.File
	buffer *bufio.Writer
	closed bool
}

func newLineFile(path string) (*lineFile, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("create run file: %w", err)
	}
	return &lineFile{path: path, file: f, buffer: bufio.NewWriterSize(f, 1<<18)}, nil
}

func (f *lineFile) write(line []byte) error {
	if _, err := f.buffer.Write(line); err != nil {
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	return nil
}

func (f *lineFile) sync() error {
	if err := f.buffer.Flush(); err != nil {
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	if err := f.file.Sync(); err != nil {
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	return nil
}

func (f *lineFile) close() error {
	if f.closed {
		return nil
	}
	f.closed = true
	err := f.buffer.Flush()
	if closeErr := f.file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	return nil
}
