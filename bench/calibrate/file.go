package calibrate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lmxbench/bench/report"
)

// Directory is where calibrations are kept: lmxbench/calibration in the user's
// cache directory. The error says that the system names none.
func Directory() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache directory: %w", err)
	}
	return filepath.Join(cache, "lmxbench", "calibration"), nil
}

// FileName is the name a calibration gets in [Directory].
func (c *Calibration) FileName() string {
	return c.Created.Format("20060102T150405Z") + ".json"
}

// Save writes the calibration to a file that must not exist yet, whole or not
// at all, and makes its folder where needed.
func (c *Calibration) Save(path string) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return fmt.Errorf("encode calibration: %w", err)
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("save calibration: %w", err)
	}
	temp, err := os.CreateTemp(dir, ".calibration-*")
	if err != nil {
		return fmt.Errorf("save calibration: %w", err)
	}
	defer func() { _ = os.Remove(temp.Name()) }()
	_, err = temp.Write(append(text, '\n'))
	if err = errors.Join(err, temp.Chmod(0o644), temp.Sync(), temp.Close()); err != nil {
		return fmt.Errorf("save calibration: %w", err)
	}
	// A link does not replace what is there, as a rename would.
	switch err := os.Link(temp.Name(), path); {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("save calibration: %s is already there and is not overwritten: %w", path, fs.ErrExist)
	case err != nil:
		if _, stat := os.Lstat(path); stat == nil {
			return fmt.Errorf("save calibration: %s is already there and is not overwritten: %w", path, fs.ErrExist)
		}
		if err := os.Rename(temp.Name(), path); err != nil { // a file system without hard links
			return fmt.Errorf("save calibration: %w", err)
		}
	}
	c.File = filepath.Base(path)
	return nil
}

// ReadFile reads a calibration.
func ReadFile(path string) (*Calibration, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read calibration: %w", err)
	}
	var c Calibration
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("read calibration %s: %w", filepath.Base(path), err)
	}
	if c.Schema != Schema {
		return nil, fmt.Errorf("read calibration %s: schema %q is not %q", filepath.Base(path), c.Schema, Schema)
	}
	c.File = filepath.Base(path)
	return &c, nil
}

// Newest is the latest calibration of this machine by this version of the tool
// in [Directory], nil where there is none. The error is that of a folder that
// is there but cannot be listed.
func Newest(machine Machine, version string) (*Calibration, error) {
	dir, err := Directory()
	if err != nil {
		return nil, nil // no cache, hence no calibration
	}
	return NewestIn(dir, machine, version)
}

// NewestIn is [Newest] for another folder. Files that are no calibration are
// passed over: one that was damaged must not stop a run.
func NewestIn(dir string, machine Machine, version string) (*Calibration, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for a calibration: %w", err)
	}
	var newest *Calibration
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") || filepath.Ext(e.Name()) != ".json" {
			continue
		}
		c, err := ReadFile(filepath.Join(dir, e.Name()))
		if err != nil || c.Machine != machine || c.Tool.Version != version {
			continue
		}
		if newest == nil || c.Created.After(newest.Created) {
			newest = c
		}
	}
	return newest, nil
}

// Bars gives the error bar of a run of so many streams on this machine by this
// version of the tool, nil where none was calibrated so heavy or none can be
// read. The newest calibration is looked for once, now.
func Bars(version string) func(streams int) *report.Calibrated {
	c, err := Newest(Detect(), version)
	if err != nil || c == nil {
		return func(int) *report.Calibrated { return nil }
	}
	return func(streams int) *report.Calibrated {
		if bar, ok := c.For(streams, 0); ok {
			return &bar
		}
		return nil
	}
}
