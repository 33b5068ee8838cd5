package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lmxbench/bench/report"
	"lmxbench/internal/localmaxxing"
)

// result is a result as it is ranked and compared.
type result struct {
	path string // as the user named it
	row  localmaxxing.Row
	run  *resultDocument // nil for a published row
}

// resultDocument is what a run.json says beside what rows have. Only this is
// read of it: a file of lmx may hold numbers, such as half a token, that the
// whole document has no room for.
type resultDocument struct {
	Prompt      string              `json:"prompt"`
	SampleStats *report.SampleStats `json:"sampleStats"`
	Provenance  report.Provenance   `json:"provenance"`
	Bench       struct {
		Simulated bool           `json:"simulated"`
		Partial   bool           `json:"partial"`
		Verdict   report.Verdict `json:"verdict"`
	} `json:"lmxbench"`
}

// readResult reads a run directory or a run.json, ours or lmx's.
func readResult(option, path string) (*result, error) {
	file := path
	info, err := os.Stat(path)
	if err != nil {
		return nil, usagef("file_read_error", "%s %s cannot be read: %v", option, path, underlying(err))
	}
	if info.IsDir() {
		if file, err = resultFile(path); err != nil {
			return nil, usagef("file_read_error", "%s %s: %v", option, path, err)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, usagef("file_read_error", "%s %s cannot be read: %v", option, file, underlying(err))
	}
	r, err := parseResult(data)
	if err != nil {
		return nil, usagef("file_read_error", "%s %s: %v", option, file, err)
	}
	r.path = path
	return r, nil
}

// resultFile is the result in a run directory.
func resultFile(dir string) (string, error) {
	data, err := os.ReadFile(filepath.Join(dir, report.ManifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		file := filepath.Join(dir, report.RunFile)
		if _, err := os.Stat(file); err != nil {
			return "", fmt.Errorf("neither %s nor %s lies in it: give a run directory, or a run.json", report.ManifestFile, report.RunFile)
		}
		return file, nil
	}
	if err != nil {
		return "", underlying(err)
	}
	var m report.Manifest
	switch err := json.Unmarshal(data, &m); {
	case err != nil:
		return "", fmt.Errorf("%s cannot be read: %w", report.ManifestFile, err)
	case m.Run == "" || m.Run != filepath.Base(m.Run):
		return "", fmt.Errorf("%s names no result", report.ManifestFile)
	case m.State != report.StateComplete:
		return "", errors.New("the run was cut off before its result was written")
	}
	return filepath.Join(dir, m.Run), nil
}

// parseResult takes a result, also one that is wrapped as {"payload": …}. Its
// prompt is hashed as it stands there, without a nonce.
func parseResult(data []byte) (*result, error) {
	row, _, err := localmaxxing.ParseRow(data)
	if err != nil {
		return nil, fmt.Errorf("no result of lmx or lmxbench: %w", err)
	}
	var wrapper struct {
		Payload json.RawMessage `json:"payload"`
	}
	if json.Unmarshal(data, &wrapper) == nil && len(wrapper.Payload) > 0 {
		data = wrapper.Payload
	}
	doc := new(resultDocument)
	if err := json.Unmarshal(data, doc); err != nil {
		return nil, fmt.Errorf("no result of lmx or lmxbench: %w", err)
	}
	if doc.Prompt != "" {
		sum := sha256.Sum256([]byte(doc.Prompt))
		row.PromptSHA256 = hex.EncodeToString(sum[:])
	}
	return &result{row: row, run: doc}, nil
}

// invalid reports whether the result is none to be ranked or compared.
func (r *result) invalid() bool {
	return r.run != nil && (r.run.Bench.Partial || r.run.Bench.Verdict.Status == report.StatusInvalid)
}

// unfit says why a result may not go to the site, empty where it may.
func (r *result) unfit() string {
	switch {
	case r.run != nil && r.run.Bench.Partial:
		return "the run was interrupted"
	case r.invalid():
		var codes []string
		for _, f := range r.run.Bench.Verdict.Codes {
			if f.Level == report.Invalid {
				codes = append(codes, f.Code)
			}
		}
		return "it is INVALID (" + strings.Join(codes, ", ") + ")"
	case r.row.TokSOut == nil:
		return "it has no tokSOut"
	case r.simulated():
		return "it was measured on the simulated engine"
	}
	return ""
}

func (r *result) simulated() bool { return r.run != nil && r.run.Bench.Simulated }
