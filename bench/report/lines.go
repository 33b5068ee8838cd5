package report

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds one line of a file. A stream of a million tokens takes about
// 25 MB.
const maxLine = 256 << 20

// LineError is a fault in one line of a file of lines.
type LineError struct {
	Line int // from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns the fault itself.
func (e *LineError) Unwrap() error { return e.Err }

// errTorn is the last line of a file whose writer was stopped.
var errTorn = errors.New("cut off: no newline at the end")

// eachLine calls use for each line of r, without its newline; use must not
// keep the bytes. The first fault ends it, as a *LineError.
func eachLine(r io.Reader, use func([]byte) error) error {
	reader := bufio.NewReaderSize(r, 1<<16)
	var line []byte
	for number := 1; ; number++ {
		var err error
		if line, err = readLine(reader, line[:0]); err != nil {
			if errors.Is(err, io.EOF) && len(line) == 0 {
				return nil
			}
			if errors.Is(err, io.EOF) {
				err = errTorn
			}
			return &LineError{number, err}
		}
		if err := use(bytes.TrimSuffix(line, []byte("\n"))); err != nil {
			return &LineError{number, err}
		}
	}
}

// readLine appends one line to dst, newline included.
func readLine(reader *bufio.Reader, dst []byte) ([]byte, error) {
	for {
		part, err := reader.ReadSlice('\n')
		dst = append(dst, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return dst, err
		}
		if len(dst) > maxLine {
			return dst, fmt.Errorf("longer than %d bytes", maxLine)
		}
	}
}
