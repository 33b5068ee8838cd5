package hardware

import (
	"os"
	"path/filepath"
	"strings"
)

// maxProcFile bounds what is read of one file of /proc or /sys.
const maxProcFile = 4 << 20

// root reads files below a directory that stands for /.
type root string

// text returns a file's content, trimmed; "" when it cannot be read.
func (r root) text(path string) string {
	b, err := os.ReadFile(filepath.Join(string(r), path))
	if err != nil || len(b) > maxProcFile {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func (r root) exists(path string) bool {
	_, err := os.Stat(filepath.Join(string(r), path))
	return err == nil
}

// glob returns the names below root that match.
func (r root) glob(pattern string) []string {
	list, _ := filepath.Glob(filepath.Join(string(r), pattern))
	for i := range list {
		list[i] = strings.TrimPrefix(list[i], string(r))
	}
	return list
}
