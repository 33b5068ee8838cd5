package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Files of a run directory. The name of the first may differ (--out).
const (
	RunFile          = "run.json"
	RequestsFile     = "requests.jsonl"
	ObservationsFile = "observations.jsonl"
	StatusFile       = "status.jsonl"
	ManifestFile     = "manifest.json"
)

// States of a manifest.
const (
	StateRunning  = "running"  // written before anything is measured
	StateComplete = "complete" // all files are listed
)

// Manifest is manifest.json: who ran what with which plan, and what the run
// left behind.
type Manifest struct {
	Schema     int             `json:"schema"`
	State      string          `json:"state"`
	CreatedAt  string          `json:"createdAt"` // RFC 3339, UTC
	Tool       Tool            `json:"tool"`
	Args       []string        `json:"args"` // as given, secrets removed by the caller
	Plan       Plan            `json:"plan"`
	PlanSHA256 string          `json:"planSha256"` // of the plan as compact JSON with sorted keys
	Run        string          `json:"run"`        // name of run.json in this directory
	Files      map[string]File `json:"files"`      // every file of the run but the manifest, by name
}

// File is a file of the run as it was when the run ended.
type File struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Lines  *int   `json:"lines,omitempty"` // of files with one JSON value per line
}

// Hash is the plan's fingerprint: the sha256, in hex, of its compact JSON with
// sorted keys.
func (p *Plan) Hash() (string, error) {
	plain, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("encode plan: %w", err)
	}
	tree, err := decodeTree(plain)
	if err != nil {
		return "", fmt.Errorf("encode plan: %w", err)
	}
	sorted, err := json.Marshal(tree)
	if err != nil {
		return "", fmt.Errorf("encode plan: %w", err)
	}
	sum := sha256.Sum256(sorted)
	return hex.EncodeToString(sum[:]), nil
}

// fingerprint hashes a file without holding it in memory.
func fingerprint(path string) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	defer f.Close() //nolint:errcheck // only read
	hash := sha256.New()
	lines := &lineCounter{}
	n, err := io.Copy(io.MultiWriter(hash, lines), f)
	if err != nil {
		return File{}, err
	}
	file := File{Bytes: n, SHA256: hex.EncodeToString(hash.Sum(nil))}
	if strings.HasSuffix(path, ".jsonl") {
		file.Lines = &lines.n
	}
	return file, nil
}

type lineCounter struct{ n int }

func (c *lineCounter) Write(p []byte) (int, error) {
	c.n += bytes.Count(p, []byte{'\n'})
	return len(p), nil
}

// readManifest reads and checks manifest.json.
func readManifest(dir string) (*Manifest, error) {
	path := filepath.Join(dir, ManifestFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	m := new(Manifest)
	if err := decodeStrict(data, m); err != nil {
		return nil, fmt.Errorf("read manifest %s: %w", path, err)
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("read manifest %s: %w", path, err)
	}
	return m, nil
}

func (m *Manifest) check() error {
	switch {
	case m.Schema != Schema:
		return fmt.Errorf("schema %d, this program reads %d", m.Schema, Schema)
	case m.State != StateRunning && m.State != StateComplete:
		return fmt.Errorf("unknown state %q", m.State)
	case !plainName(m.Run):
		return fmt.Errorf("run file %q is not the name of a file in this directory", m.Run)
	}
	for name := range m.Files {
		if !plainName(name) {
			return fmt.Errorf("%q is not the name of a file in this directory", name)
		}
	}
	return nil
}

// plainName reports a file name without a way out of its directory.
func plainName(name string) bool {
	return name != "" && name != "." && name != ".." && name == filepath.Base(name) && !strings.ContainsAny(name, `/\`+"\x00")
}

// encodeManifest is the manifest as it is stored: sorted keys, two spaces.
func encodeManifest(m *Manifest) ([]byte, error) {
	data, err := canonical(m)
	if err != nil {
		return nil, fmt.Errorf("encode manifest: %w", err)
	}
	return data, nil
}
