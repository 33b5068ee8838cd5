package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// maxSafeName bounds the length of a directory name made from an hf-id.
const maxSafeName = 120

// SafeName turns an hf-id into one directory name: the slash becomes --, and
// anything but letters, digits, dot, underscore and dash becomes a dash. An
// empty id, and one of dots only, gives "model".
func SafeName(hfID string) string {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(hfID, "/", "--") {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '_', r == '-':
			b.WriteRune(r)
		default:
			b.WriteByte('-')
		}
	}
	name := strings.TrimLeft(b.String(), ".")
	if len(name) > maxSafeName {
		name = name[:maxSafeName]
	}
	if strings.Trim(name, ".-") == "" {
		return "model"
	}
	return name
}

// NewDir makes the run directory root/<hf-id, safe>/<UTC>-c<N> and returns its
// path. A second run of the same second gets a number behind its name: making
// the directory is what reserves the name, so two processes never share one.
func NewDir(root, hfID string, at time.Time, concurrency int) (string, error) {
	parent := filepath.Join(root, SafeName(hfID))
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", fmt.Errorf("make run directory: %w", err)
	}
	base := fmt.Sprintf("%s-c%d", at.UTC().Format("20060102T150405Z"), concurrency)
	for n := 1; n <= 1000; n++ {
		name := base
		if n > 1 {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		dir := filepath.Join(parent, name)
		err := os.Mkdir(dir, 0o755)
		if err == nil {
			return dir, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("make run directory: %w", err)
		}
	}
	return "", fmt.Errorf("make run directory: %s %w a thousand times", filepath.Join(parent, base), ErrExists)
}
