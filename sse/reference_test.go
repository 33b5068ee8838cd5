package sse_test

import (
	"errors"
	"strings"

	"github.com/google/go-cmp/cmp"

	"lmxbench/sse"
)

// tester is what testing.T and rapid.T have in common and is needed here.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// event is a copy of an event.
type event struct{ Name, Data string }

// framed is everything that a framer says about a stream.
type framed struct {
	Events   []event
	Comments int
	TooLong  string // "", "line" or "event"
	Pending  bool
}

// frame runs a Framer over the pieces. Each piece is spoilt as soon as the framer
// has let it go, so that a view kept for too long shows.
func frame(t tester, limit int, pieces ...string) framed {
	t.Helper()
	var f sse.Framer
	f.SetLimit(limit)
	var got framed
	for _, piece := range pieces {
		p := []byte(piece)
		f.Push(p)
		for f.Next() {
			ev := f.Event()
			got.Events = append(got.Events, event{string(ev.Name), string(ev.Data)})
		}
		for i := range p {
			p[i] = '#'
		}
	}
	var tooLong *sse.TooLongError
	if errors.As(f.Err(), &tooLong) {
		got.TooLong = tooLong.What
	}
	got.Pending = f.Pending()
	f.Close()
	if f.Next() || f.Pending() != got.Pending {
		t.Errorf("Close changed what Pending says, or Next found an event after it")
	}
	got.Comments = f.Comments()
	return got
}

// slowFrame is the standard's algorithm on a whole stream, written for the eye:
// first all lines, then line by line. It adds the project's rules: the limit, and
// no event without data unless it is named "error".
func slowFrame(limit int, stream string) framed {
	var got framed
	lines, tail := slowLines(stream)
	var name string
	var data []string
	for i, line := range lines {
		if len(line) > limit {
			got.TooLong = "line"
			return got
		}
		if i == 0 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if line == "" {
			joined := strings.Join(data, "\n")
			if joined != "" || name == "error" {
				got.Events = append(got.Events, event{name, joined})
			}
			name, data = "", nil
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case strings.HasPrefix(line, ":"):
			got.Comments++
		case field == "event":
			name = value
		case field == "data":
			data = append(data, value)
			if len(strings.Join(data, "\n")) > limit {
				got.TooLong = "event"
				return got
			}
		}
	}
	if len(tail) > limit {
		got.TooLong = "line"
		return got
	}
	loneBOM := len(lines) == 0 && tail == "\ufeff"
	got.Pending = tail != "" && !loneBOM || data != nil || name != ""
	return got
}

// slowLines returns the ended lines of a stream, and what follows the last one.
func slowLines(stream string) (lines []string, tail string) {
	for stream != "" {
		i := strings.IndexAny(stream, "\r\n")
		if i < 0 {
			break
		}
		lines = append(lines, stream[:i])
		if strings.HasPrefix(stream[i:], "\r\n") {
			i++
		}
		stream = stream[i+1:]
	}
	return lines, stream
}

// cutInto cuts a stream into pieces of the given sizes, taken in turn, or of one
// byte when there are none. A size of 0 gives an empty read, and then one byte.
func cutInto(stream string, sizes []byte) []string {
	var pieces []string
	for i := 0; stream != ""; i++ {
		size := 1
		if len(sizes) > 0 {
			size = min(int(sizes[i%len(sizes)]), len(stream))
		}
		if size == 0 {
			pieces = append(pieces, "")
			size = 1
		}
		pieces = append(pieces, stream[:size])
		stream = stream[size:]
	}
	return pieces
}

func diffFramed(t tester, want, got framed, how string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", how, diff)
	}
}
