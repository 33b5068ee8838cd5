package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrExists is returned before anything is measured when a run is already in
// the place it would be written to. Nothing is ever overwritten: choose another
// --out.
var ErrExists = errors.New("is already there")

// writeNew writes a file that must not exist yet: a reader sees all of it or
// nothing. The data is on disk when writeNew returns.
//
// A link is used instead of a rename because a rename replaces silently.
func writeNew(path string, data []byte) error {
	temp, err := writeTemp(path, data)
	if err != nil {
		return err
	}
	defer os.Remove(temp) //nolint:errcheck // a left-over temporary file does no harm
	err = os.Link(temp, path)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("write %s: %w", path, ErrExists)
	case err != nil:
		// File systems without hard links: look, then rename.
		if _, statErr := os.Lstat(path); statErr == nil {
			return fmt.Errorf("write %s: %w", path, ErrExists)
		}
		if err := os.Rename(temp, path); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
	}
	return syncDir(filepath.Dir(path))
}

// replace writes a file over an earlier version of our own.
func replace(path string, data []byte) error {
	temp, err := writeTemp(path, data)
	if err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		os.Remove(temp) //nolint:errcheck // the rename's error says more
		return fmt.Errorf("write %s: %w", path, err)
	}
	return syncDir(filepath.Dir(path))
}

// writeTemp writes data to a new file beside path and returns its name.
func writeTemp(path string, data []byte) (name string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return "", fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(data)
	for _, step := range []func() error{func() error { return f.Chmod(0o644) }, f.Sync} {
		if err == nil {
			err = step()
		}
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		os.Remove(f.Name()) //nolint:errcheck // the first error says more
		return "", fmt.Errorf("write %s: %w", path, err)
	}
	return f.Name(), nil
}

// syncDir makes a new name durable. Not every file system can.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	d.Sync() //nolint:errcheck // see above
	return d.Close()
}
