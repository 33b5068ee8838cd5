package sse_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// response is the body of one recorded HTTP response, as the client's HTTP layer
// would hand it on, one piece per HTTP chunk.
type response struct {
	pieces  [][]byte
	omitted int  // events left out of the recording
	ended   bool // the last, empty chunk came
}

func (r response) body() []byte { return bytes.Join(r.pieces, nil) }

var leftOut = regexp.MustCompile(`^> \[(-?\d+) events left out here\]`)

// readCapture reads the chunked responses of a recording.
func readCapture(t testing.TB, name string) []response {
	t.Helper()
	if !strings.HasPrefix(name, "llamacpp-") {
		name = "vllm-0.25.1-" + name
	}
	rest, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	var responses []response
	head := false
	for len(rest) > 0 {
		line, after, _ := bytes.Cut(rest, []byte{'\n'})
		line = bytes.TrimSuffix(line, []byte{'\r'})
		rest = after
		switch {
		case bytes.HasPrefix(line, []byte("HTTP/1.1 ")):
			responses = append(responses, response{})
			head = true
		case len(line) == 0:
			head = false
		case leftOut.Match(line):
			n, err := strconv.Atoi(string(leftOut.FindSubmatch(line)[1]))
			if err != nil {
				t.Fatal(err)
			}
			responses[len(responses)-1].omitted += max(n, 0)
		case head, bytes.HasPrefix(line, []byte("> ")), bytes.HasPrefix(line, []byte("curl: (")):
		default:
			size, err := strconv.ParseUint(string(line), 16, 32)
			if err != nil || len(responses) == 0 || uint64(len(rest)) < size+2 {
				t.Fatalf("%s: bad chunk size line %q", name, line)
			}
			last := &responses[len(responses)-1]
			if size == 0 {
				last.ended = true
				continue
			}
			last.pieces = append(last.pieces, rest[:size])
			if string(rest[size:size+2]) != "\r\n" {
				t.Fatalf("%s: chunk %q is not followed by CRLF", name, rest[:size])
			}
			rest = rest[size+2:]
		}
	}
	return responses
}

// captureBody reads the JSON body of a recording that is no stream.
func captureBody(t testing.TB, name string) []byte {
	t.Helper()
	all, err := os.ReadFile(filepath.Join("testdata", "vllm-0.25.1-"+name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	_, response, _ := bytes.Cut(all, []byte("HTTP/1.1 "))
	_, body, found := bytes.Cut(response, []byte("\r\n\r\n"))
	if !found {
		t.Fatalf("%s: no HTTP head", name)
	}
	return body
}

// streamNames are the recordings of streams.
func streamNames(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/vllm-0.25.1-*stream*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	names := make([]string, len(paths))
	for i, path := range paths {
		names[i] = strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "vllm-0.25.1-"), ".txt")
	}
	return names
}
