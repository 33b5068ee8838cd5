package bench

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lmxbench/bench/report"
)

// checkPlaces refuses, before anything is measured, to write over a result and
// to write where nothing can be written.
func (c *Config) checkPlaces() error {
	if c.Out == "" {
		if err := writable(c.RunsDir); err != nil {
			return &UsageError{"--runs-dir", fmt.Sprintf("%s cannot be written: %v: give another folder", c.RunsDir, err)}
		}
		return nil
	}
	if err := c.checkOutName(); err != nil {
		return err
	}
	for _, path := range c.files() {
		if _, err := os.Lstat(path); err == nil {
			return &UsageError{"--out", path + " is already there and is not overwritten: give another path"}
		}
	}
	folder := c.Out
	if len(c.Rungs) == 1 {
		folder = filepath.Dir(c.Out)
	}
	if err := writable(folder); err != nil {
		return &UsageError{"--out", fmt.Sprintf("%s cannot be written: %v: give another path", folder, err)}
	}
	return nil
}

// checkOutName tells a file from a folder by its name.
func (c *Config) checkOutName() error {
	ladder := len(c.Rungs) > 1
	info, err := os.Stat(c.Out)
	folder := strings.HasSuffix(c.Out, "/") || (err == nil && info.IsDir())
	switch {
	case ladder && strings.HasSuffix(c.Out, ".json"):
		return &UsageError{"--out", c.Out + " names a file, but a ladder writes a folder: give a folder"}
	case !ladder && folder:
		return &UsageError{"--out", c.Out + " is a folder: give the path of run.json, such as " + filepath.Join(c.Out, "run.json")}
	}
	switch filepath.Base(c.Out) {
	case report.RequestsFile, report.ObservationsFile, report.StatusFile, report.ManifestFile:
		return &UsageError{"--out", c.Out + " is the name of another file of the run: give another name, such as run.json"}
	}
	return nil
}

// files lists what a run with --out writes.
func (c *Config) files() []string {
	var paths []string
	for _, n := range c.Rungs {
		dir := c.outDirectory(n)
		for _, name := range []string{c.resultName(), report.ManifestFile, report.RequestsFile, report.ObservationsFile, report.StatusFile} {
			paths = append(paths, filepath.Join(dir, name))
		}
	}
	if len(c.Rungs) > 1 {
		paths = append(paths, filepath.Join(c.Out, sweepName))
	}
	return paths
}

// writable reports why a folder, or what of its path is there, takes no new
// file. It leaves nothing behind.
func writable(folder string) error {
	for {
		info, err := os.Stat(folder)
		switch {
		case err == nil && !info.IsDir():
			return errors.New(folder + " is a file")
		case err == nil:
			return tryWrite(folder)
		case !errors.Is(err, fs.ErrNotExist):
			return reason(err)
		}
		folder = filepath.Dir(folder) // ends at "." or "/", which are there
	}
}

func tryWrite(folder string) error {
	f, err := os.CreateTemp(folder, ".lmxbench-*")
	if err != nil {
		return reason(err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// reason is an error without the path, which the caller names.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
