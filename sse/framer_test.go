package sse_test

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"lmxbench/sse"
)

func TestFramerFollowsTheGrammar(t *testing.T) {
	t.Parallel()
	one := func(data string) []event { return []event{{Data: data}} }
	for _, row := range []struct {
		sentence string
		stream   string
		want     framed
	}{
		{"LF ends lines", "data: a\n\n", framed{Events: one("a")}},
		{"CRLF ends lines", "data: a\r\n\r\n", framed{Events: one("a")}},
		{"CR ends lines", "data: a\r\r", framed{Events: one("a")}},
		{"line ends may be mixed", "data: a\rdata: b\r\ndata: c\n\r\n", framed{Events: one("a\nb\nc")}},
		{"CR LF is one end, LF CR is two", "data: a\n\rdata: b\r\n\n", framed{Events: []event{{Data: "a"}, {Data: "b"}}}},
		{"CR CR LF is two ends", "data: a\r\r\ndata: b\n\n", framed{Events: []event{{Data: "a"}, {Data: "b"}}}},
		{"NEL ends no line", "data: a\u0085data: b\n\n", framed{Events: one("a\u0085data: b")}},
		{"the Unicode separators end no line", "data: a\u2028b\u2029c\n\n", framed{Events: one("a\u2028b\u2029c")}},
		{"vertical tab and form feed end no line", "data: a\vb\fc\n\n", framed{Events: one("a\vb\fc")}},
		{"NUL is a byte like others", "data: a\x00b\n\n", framed{Events: one("a\x00b")}},
		{"bytes need not be UTF-8", "data: \xff\xfe\n\n", framed{Events: one("\xff\xfe")}},

		{"the space after the colon is optional", "data:a\n\n", framed{Events: one("a")}},
		{"one space is removed, not two", "data:  a\n\n", framed{Events: one(" a")}},
		{"a tab is not removed", "data:\ta\n\n", framed{Events: one("\ta")}},
		{"spaces at the end stay", "data: a \n\n", framed{Events: one("a ")}},
		{"later colons belong to the value", "data: a: b:c\n\n", framed{Events: one("a: b:c")}},
		{"a space before the colon makes another field", "data : a\n\n", framed{}},
		{"a space before the name makes another field", " data: a\n\n", framed{}},
		{"names of fields are case-sensitive", "Data: a\nDATA: b\n\n", framed{}},
		{"names of fields are whole words", "datas: a\ndat: b\nevents: c\n\n", framed{}},

		{"data lines are joined by LF", "data: a\ndata: b\n\n", framed{Events: one("a\nb")}},
		{"empty data lines are joined too", "data: a\ndata:\ndata\n\n", framed{Events: one("a\n\n")}},
		{"two empty data lines are a line feed", "data\ndata\n\n", framed{Events: one("\n")}},
		{"an empty data line is no event", "data:\n\ndata: \n\ndata\n\n", framed{}},
		{"a name without data is no event", "event: ping\n\n", framed{}},
		{"an event named error needs no data", "event: error\n\nevent: error\ndata:\n\n", framed{Events: []event{{Name: "error"}, {Name: "error"}}}},
		{"data of one space is an event", "data:  \n\n", framed{Events: one(" ")}},
		{"blank lines alone are nothing", "\n\n\r\r\n\r\n", framed{}},

		{"an event has a name", "event: delta\ndata: a\n\n", framed{Events: []event{{"delta", "a"}}}},
		{"the name may follow the data", "data: a\nevent: delta\n\n", framed{Events: []event{{"delta", "a"}}}},
		{"the last name wins", "event: a\nevent: b\ndata: x\n\n", framed{Events: []event{{"b", "x"}}}},
		{"the last name wins, however long the data", "event: a\nevent: b\ndata: longer than the name\n\n", framed{Events: []event{{"b", "longer than the name"}}}},
		{"an empty name takes the name away", "event: a\nevent\ndata: x\n\n", framed{Events: one("x")}},
		{"a name is for one event", "event: a\ndata: x\n\ndata: y\n\n", framed{Events: []event{{"a", "x"}, {"", "y"}}}},
		{"a name without data is forgotten", "event: a\n\ndata: y\n\n", framed{Events: one("y")}},

		{"id, retry and unknown fields are skipped", "id: 7\nretry: 10\nfoo: bar\nbaz\ndata: a\n\n", framed{Events: one("a")}},
		{"an id alone is no event", "id: 7\n\n", framed{}},
		{"comments are skipped and counted", ": ping\n\n:\n\n:data: a\ndata: b\n: c\n\n", framed{Events: one("b"), Comments: 4}},

		{"a BOM at the start is skipped", "\ufeffdata: a\n\n", framed{Events: one("a")}},
		{"a second BOM is not", "\ufeff\ufeffdata: a\n\n", framed{}},
		{"a BOM at a later line is not", "\n\ufeffdata: a\n\n", framed{}},
		{"a BOM before a blank line is skipped", "\ufeff\ndata: a\n\n", framed{Events: one("a")}},
		{"half a BOM is part of a field", "\xef\xbbdata: a\n\n", framed{}},

		{"an event without blank line is discarded", "data: a\n\ndata: b\n", framed{Events: one("a"), Pending: true}},
		{"a line without end is discarded", "data: a\n\ndata: b", framed{Events: one("a"), Pending: true}},
		{"a name without blank line is pending", "event: a\n", framed{Pending: true}},
		{"half a comment is pending", ": pi", framed{Pending: true}},
		{"a whole comment is not pending", ": ping\n", framed{Comments: 1}},
		{"an id line is not pending", "data: a\n\nid: 7\n", framed{Events: one("a")}},
		{"nothing is not pending", "", framed{}},
		{"a BOM alone is not pending", "\ufeff", framed{}},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			t.Parallel()
			diffFramed(t, row.want, slowFrame(sse.MaxEvent, row.stream), "reference")
			diffFramed(t, row.want, frame(t, 0, row.stream), "one read")
			diffFramed(t, row.want, frame(t, 0, strings.Split(row.stream, "")...), "a read per character")
			diffFramed(t, row.want, frame(t, 0, cutInto(row.stream, nil)...), "a read per byte")
			for i := range row.stream {
				diffFramed(t, row.want, frame(t, 0, row.stream[:i], "", row.stream[i:]), "cut before "+row.stream[i:])
			}
		})
	}
}

// TestFramerDispatchesAtTheFirstPossibleByte holds that no event waits for a byte
// that the grammar does not need: a time stamp depends on it.
func TestFramerDispatchesAtTheFirstPossibleByte(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		sentence string
		reads    []string
		want     []int // events after each read
	}{
		{"the second LF completes", []string{"data: a\n", "\n", "data: b\n\n"}, []int{0, 1, 1}},
		{"a bare CR completes, the LF behind it is swallowed", []string{"data: a\r\n\r", "\ndata: b\r\n\r", "\n"}, []int{1, 1, 0}},
		{"a swallowed LF is no blank line", []string{"data: a\r", "\n", "data: b\r\r"}, []int{0, 0, 1}},
		{"only one LF is swallowed", []string{"data: a\r", "\n\n"}, []int{0, 1}},
		{"an empty read swallows nothing", []string{"data: a\r", "", "\n\n"}, []int{0, 0, 1}},
		{"many events come from one read", []string{"data: a\n\ndata: b\n\ndata: c\n\nda", "ta: d\n\n"}, []int{3, 1}},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			t.Parallel()
			var f sse.Framer
			for i, read := range row.reads {
				f.Push([]byte(read))
				n := 0
				for f.Next() {
					n++
				}
				if ev := f.Event(); ev.Name != nil || ev.Data != nil {
					t.Errorf("read %d left the event %q", i, ev)
				}
				if n != row.want[i] {
					t.Errorf("read %d gave %d events, want %d", i, n, row.want[i])
				}
			}
		})
	}
}

func TestFramerLimitsLinesAndEvents(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		sentence string
		stream   string
		want     framed
	}{
		{"a line of 10 bytes is taken", "data: 4567\n\n", framed{Events: []event{{Data: "4567"}}}},
		{"a line of 11 bytes is not", "data: 45678\n\n", framed{TooLong: "line"}},
		{"neither is it without its end", "data: 45678", framed{TooLong: "line"}},
		{"nor as a comment", ": 345678901\n\n", framed{TooLong: "line"}},
		{"10 bytes of data are taken", "data:4567\ndata:4567\ndata\n\n", framed{Events: []event{{Data: "4567\n4567\n"}}}},
		{"11 bytes of data are not", "data:4567\ndata:4567\ndata:1\n\n", framed{TooLong: "event"}},
		{"data is counted from the start for each event", "data:4567\ndata:4567\n\ndata:4567\n\n", framed{Events: []event{{Data: "4567\n4567"}, {Data: "4567"}}}},
		{"events before the fault are handed out, those behind it are not", "data: a\n\ndata: 45678\n\ndata: b\n\n", framed{Events: []event{{Data: "a"}}, TooLong: "line"}},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			t.Parallel()
			diffFramed(t, row.want, slowFrame(10, row.stream), "reference")
			diffFramed(t, row.want, frame(t, 10, row.stream), "one read")
			diffFramed(t, row.want, frame(t, 10, cutInto(row.stream, nil)...), "a read per byte")
		})
	}
}

func TestFramerTakesEightMebibytesAndNoMore(t *testing.T) {
	t.Parallel()
	read := []byte(strings.Repeat("x", 1<<20))
	for _, row := range []struct {
		sentence string
		extra    int
		want     bool
	}{
		{"a line of the limit is an event", 0, true},
		{"one byte more is an error", 1, false},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			t.Parallel()
			var f sse.Framer
			push := func(p []byte) (found bool) {
				f.Push(p)
				for f.Next() {
					found = len(f.Event().Data) == sse.MaxEvent-len("data:")
				}
				return found
			}
			push([]byte("data:" + strings.Repeat("x", row.extra)))
			for range 7 {
				push(read)
			}
			push(read[len("data:"):])
			if got := push([]byte("\n\ndata: y\n\n")[:2]); got != row.want {
				t.Errorf("got event %v, want %v (error %v)", got, row.want, f.Err())
			}
			var tooLong *sse.TooLongError
			if got := errors.As(f.Err(), &tooLong); got == row.want {
				t.Errorf("got error %v", f.Err())
			}
			if tooLong != nil && (tooLong.Limit != 8<<20 || tooLong.Error() != "sse: line longer than 8388608 bytes") {
				t.Errorf("got %v", tooLong)
			}
			if held := f.Held(); held > 16<<10 {
				t.Errorf("an idle framer holds %d bytes", held)
			}
		})
	}
}

func TestFramerStaysDeadAfterAnError(t *testing.T) {
	t.Parallel()
	var f sse.Framer
	f.SetLimit(8)
	f.Push([]byte(":\ndata: too long\n\n"))
	for range 2 {
		if f.Next() || f.Err() == nil {
			t.Fatalf("Next found %v, error %v", f.Event(), f.Err())
		}
		f.Push([]byte("data: a\n\n"))
	}
	if f.Pending() || f.Comments() != 1 {
		t.Errorf("got pending %v, %d comments", f.Pending(), f.Comments())
	}
	f.Close()
	if f.Err() == nil || f.Next() {
		t.Error("Close forgot the error")
	}
	f.Reset()
	f.Push([]byte("data: a\n\n"))
	if f.Err() != nil || !f.Next() || string(f.Event().Data) != "a" {
		t.Error("Reset did not revive the framer")
	}
}

func TestFramerResetForgetsTheStreamBefore(t *testing.T) {
	t.Parallel()
	for _, rest := range []string{": c\nevent: x\ndata: old", "data: old\r", "event: x\ndata: a\ndata: b\n", "data: a\n\n"} {
		var f sse.Framer
		f.Push([]byte(rest))
		for f.Next() {
		}
		f.Reset()
		if f.Pending() || f.Comments() != 0 {
			t.Errorf("after %q: pending %v, %d comments", rest, f.Pending(), f.Comments())
		}
		f.Push([]byte("\xef\xbb\xbfdata: new\n\n"))
		if !f.Next() || string(f.Event().Data) != "new" || len(f.Event().Name) != 0 {
			t.Errorf("after %q: got %q", rest, f.Event())
		}
	}
}

func TestFramerClosedFramerTakesNothing(t *testing.T) {
	t.Parallel()
	var f sse.Framer
	f.Push([]byte("data: a"))
	f.Next()
	f.Close()
	f.Push([]byte("\n\n"))
	if f.Next() || !f.Pending() || f.Err() != nil {
		t.Errorf("got %q, pending %v, error %v", f.Event(), f.Pending(), f.Err())
	}
}

func TestFramerPushBeforeTheEndOfAReadPanics(t *testing.T) {
	t.Parallel()
	var f sse.Framer
	f.Push([]byte("data: a\n\ndata: b\n\n"))
	f.Next()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	f.Push([]byte("data: c\n\n"))
}

func TestFramerHandsOutWholeEventsWithoutACopy(t *testing.T) {
	t.Parallel()
	read := []byte("event: delta\ndata: a\n\nevent: delta\ndata: b\n\n")
	inside := func(view []byte) bool {
		at := uintptr(unsafe.Pointer(unsafe.SliceData(view)))
		from := uintptr(unsafe.Pointer(unsafe.SliceData(read)))
		return at >= from && at < from+uintptr(len(read))
	}
	var f sse.Framer
	f.Push(read)
	for f.Next() {
		if ev := f.Event(); !inside(ev.Name) || !inside(ev.Data) {
			t.Errorf("%q was copied", ev)
		}
	}
	if f.Held() != 0 {
		t.Errorf("the framer holds %d bytes", f.Held())
	}
}

func TestFramerIsSmall(t *testing.T) {
	t.Parallel()
	if size := unsafe.Sizeof(sse.Framer{}); size > 512 {
		t.Errorf("a framer takes %d bytes", size)
	}
}
