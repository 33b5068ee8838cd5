package hardware_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"lmxbench/internal/hardware"
)

// as16 encodes text as UTF-16.
func as16(text string, big, mark bool) string {
	units := utf16.Encode([]rune(text))
	if mark {
		units = append([]uint16{0xfeff}, units...)
	}
	var b []byte
	for _, u := range units {
		if big {
			b = append(b, byte(u>>8), byte(u))
		} else {
			b = append(b, byte(u), byte(u>>8))
		}
	}
	return string(b)
}

func TestRead(t *testing.T) {
	t.Parallel()
	const object = `{"gpuName": "NVIDIA B200", "vramGb": 179.1, "cpu": "Größe"}`
	tests := []struct{ about, text, err string }{
		{"UTF-8", object, ""},
		{"with a byte order mark", "\ufeff" + object, ""},
		{"UTF-16 little endian", as16(object, false, true), ""},
		{"UTF-16 big endian", as16(object, true, true), ""},
		{"UTF-16 without a mark", as16(object, false, false), ""},
		{"UTF-16 big endian without a mark", as16(object, true, false), ""},
		{"white space around it", "\n  " + object + "\n\n", ""},
		{"empty", "", "read hardware f: want a JSON object"},
		{"a list", "[" + object + "]", "read hardware f: want a JSON object"},
		{"a text", `"NVIDIA B200"`, "read hardware f: want a JSON object"},
		{"something after it", object + "\nx", "read hardware f: line 2: invalid character 'x' after top-level value"},
		{"a comma too many", "{\n\"a\": 1,\n}", "read hardware f: line 3: invalid character '}' looking for beginning of object key string"},
		{"half a UTF-16 character", as16(object, false, true) + "x", "read hardware f: UTF-16 with half a character at its end"},
		{"Latin-1", "{\"cpu\": \"Gr\xf6\xdfe\"}", "read hardware f: neither UTF-8 nor UTF-16"},
		{"too large", "{" + strings.Repeat(" ", 1<<20), "read hardware f: larger than 1 MiB"},
	}
	for _, tt := range tests {
		t.Run(tt.about, func(t *testing.T) {
			t.Parallel()
			f, err := hardware.Read(strings.NewReader(tt.text), "f")
			if (err == nil) != (tt.err == "") || (err != nil && err.Error() != tt.err) {
				t.Fatalf("got %v, want %s", err, tt.err)
			}
			if err != nil {
				return
			}
			if string(f.Raw) != object || f.Fields["cpu"] != "Größe" {
				t.Errorf("raw %q, fields %v", f.Raw, f.Fields)
			}
		})
	}
	if _, err := hardware.ReadFile(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// TestWrittenIsRead: a document comes back from its file as it was.
func TestWrittenIsRead(t *testing.T) {
	t.Parallel()
	want := hardware.Document{Class: hardware.ClassDiscreteGPU, GPUName: "NVIDIA H200 SXM", GPUCount: 8, VRAMGb: 140.4, CPU: "C", RAMGb: 125.7, OS: "o"}
	text, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "hardware.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := hardware.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, issues := hardware.Validate(f.Fields, hardware.Lists{})
	if diff := cmp.Diff(want, got); diff != "" || len(issues) != 0 {
		t.Errorf("(-want +got):\n%s %v", diff, issues)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"gpuName":"A","vramGb":1,"gpus":[{"name":"B","count":2}]}`))
	f.Add([]byte("\xff\xfe{\x00}\x00"))
	f.Add([]byte("\ufeff{\"ramGb\":1e999}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := hardware.Read(bytes.NewReader(text), "f")
		if err != nil {
			return
		}
		d, _ := hardware.Validate(file.Fields, hardware.Lists{})
		out, err := d.Encode()
		if err != nil {
			t.Fatalf("a document that cannot be written: %v", err)
		}
		var fields map[string]any
		if err := json.Unmarshal(out, &fields); err != nil {
			t.Fatal(err)
		}
		again, issues := hardware.Normalize(fields)
		if diff := cmp.Diff(d, again); diff != "" && len(file.Fields) > 0 {
			t.Fatalf("normalised again (-first +second):\n%s %v", diff, issues)
		}
	})
}
