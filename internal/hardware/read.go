package hardware

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf16"
	"unicode/utf8"
)

// maxFile bounds a hardware.json.
const maxFile = 1 << 20

// File is a hardware.json as it was given.
type File struct {
	// Raw is the object in UTF-8, without a byte order mark: what goes into a
	// result verbatim.
	Raw json.RawMessage
	// Fields is its content.
	Fields map[string]any
}

// ReadFile reads a hardware.json. UTF-8 and UTF-16, with or without a byte
// order mark, are accepted; the content must be one JSON object.
func ReadFile(path string) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return File{}, fmt.Errorf("read hardware: %w", err)
	}
	defer f.Close()
	return Read(f, path)
}

// Read is [ReadFile] for an open file; name is used in errors.
func Read(r io.Reader, name string) (File, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return File{}, fmt.Errorf("read hardware %s: %w", name, err)
	}
	if len(text) > maxFile {
		return File{}, fmt.Errorf("read hardware %s: larger than 1 MiB", name)
	}
	text, err = toUTF8(text)
	if err != nil {
		return File{}, fmt.Errorf("read hardware %s: %w", name, err)
	}
	f := File{Raw: bytes.TrimSpace(text)}
	if len(f.Raw) == 0 || f.Raw[0] != '{' {
		return File{}, fmt.Errorf("read hardware %s: want a JSON object", name)
	}
	if err := json.Unmarshal(f.Raw, &f.Fields); err != nil {
		return File{}, fmt.Errorf("read hardware %s: %w", name, place(f.Raw, err))
	}
	return f, nil
}

// place adds the line to a syntax error.
func place(text []byte, err error) error {
	var at *json.SyntaxError
	if !errors.As(err, &at) {
		return err
	}
	offset := min(max(0, int(at.Offset)), len(text))
	return fmt.Errorf("line %d: %w", 1+bytes.Count(text[:offset], []byte("\n")), err)
}

// toUTF8 removes a byte order mark and decodes UTF-16, which is told by its
// mark or by the zero byte beside the object's brace.
func toUTF8(b []byte) ([]byte, error) {
	switch {
	case bytes.HasPrefix(b, []byte{0xef, 0xbb, 0xbf}):
		b = b[3:]
	case bytes.HasPrefix(b, []byte{0xff, 0xfe}):
		return fromUTF16(b[2:], binary.LittleEndian)
	case bytes.HasPrefix(b, []byte{0xfe, 0xff}):
		return fromUTF16(b[2:], binary.BigEndian)
	case len(b) > 1 && b[0] != 0 && b[1] == 0:
		return fromUTF16(b, binary.LittleEndian)
	case len(b) > 1 && b[0] == 0 && b[1] != 0:
		return fromUTF16(b, binary.BigEndian)
	}
	if !utf8.Valid(b) {
		return nil, errors.New("neither UTF-8 nor UTF-16")
	}
	return b, nil
}

func fromUTF16(b []byte, order binary.ByteOrder) ([]byte, error) {
	if len(b)%2 != 0 {
		return nil, errors.New("UTF-16 with half a character at its end")
	}
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = order.Uint16(b[2*i:])
	}
	return []byte(string(utf16.Decode(units))), nil
}
