package sse_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lmxbench/sse"
)

func TestDecodeEventJudges(t *testing.T) {
	t.Parallel()
	chunk := delta(`"content":"x"`)
	for _, row := range []struct {
		sentence string
		ev       event
		want     sse.Kind
		message  string
	}{
		{"a chunk is a completion", event{"", chunk}, sse.Completion, ""},
		{"whatever its name", event{"completion.chunk", chunk}, sse.Completion, ""},
		{"a chunk without choices is one too", event{"", `{"usage":{}}`}, sse.Completion, ""},
		{"the end mark is done", event{"", "[DONE]"}, sse.Done, ""},
		{"whatever its name", event{"done", "[DONE]"}, sse.Done, ""},
		{"data of white space is skipped", event{"", " \n "}, sse.Skipped, ""},
		{"a ping is skipped", event{"ping", "ping"}, sse.Skipped, ""},
		{"a ping with a date is skipped", event{"ping", "2026-11-30T20:01:54Z"}, sse.Skipped, ""},
		{"a ping with a number is skipped", event{"ping", "1796068914"}, sse.Skipped, ""},
		{"a ping with an empty object is a chunk that says nothing", event{"ping", "{}"}, sse.Completion, ""},
		{"JSON that is no object is skipped", event{"", `[null]`}, sse.Skipped, ""},
		{"text without a name is malformed", event{"", "ping"}, sse.Malformed, ""},
		{"the standard's own name is no name", event{"message", "ping"}, sse.Malformed, ""},
		{"a broken chunk is malformed", event{"", chunk[:40]}, sse.Malformed, ""},
		{"a name does not hide a broken chunk", event{"completion.chunk", " " + chunk[:40]}, sse.Malformed, ""},
		{"NaN is malformed", event{"", `{"usage":{"completion_tokens":NaN}}`}, sse.Malformed, ""},
		{"invalid UTF-8 is malformed", event{"", delta("\"content\":\"\xff\"")}, sse.Malformed, ""},
		{"two chunks in one event are malformed", event{"", chunk + "\n" + chunk}, sse.Malformed, ""},

		{"an error object is a failure", event{"", `{"error":{"message":"boom","code":500}}`}, sse.Failure, "boom"},
		{"an error string is a failure", event{"", `{"error":"boom","error_type":"x"}`}, sse.Failure, "boom"},
		{"an error beside text is a failure", event{"", `{"choices":[{"delta":{"content":"x"}}],"error":{"message":"boom"}}`}, sse.Failure, "boom"},
		{"an error without a message shows itself", event{"", `{"error": {"code": 500} }`}, sse.Failure, `{"code": 500}`},
		{"an error with a null message shows itself", event{"", `{"error":{"message":null}}`}, sse.Failure, `{"message":null}`},
		{"an error number shows itself", event{"", `{"error":500}`}, sse.Failure, `500`},
		{"an error list shows itself", event{"", `{"error":["a"]}`}, sse.Failure, `["a"]`},
		{"an error true shows itself", event{"", `{"error":true}`}, sse.Failure, `true`},
		{"an empty error string is a failure", event{"", `{"error":""}`}, sse.Failure, ``},
		{"the form of old servers is a failure", event{"", `{"object":"error","message":"boom","type":"X","code":400}`}, sse.Failure, "boom"},
		{"an error proper comes before it", event{"", `{"error":"boom","object":"error","message":"x"}`}, sse.Failure, "boom"},
		{"a null error is none", event{"", `{"error":null,"choices":[]}`}, sse.Completion, ""},
		{"an error false is none", event{"", `{"error":false}`}, sse.Completion, ""},
		{"a message that is no error is none", event{"", `{"object":"chat.completion.chunk","message":"x"}`}, sse.Completion, ""},

		{"an event named error is a failure", event{"error", `{"message":"boom"}`}, sse.Failure, "boom"},
		{"with an error object inside too", event{"error", `{"error":{"message":"boom"}}`}, sse.Failure, "boom"},
		{"with a chunk", event{"error", chunk}, sse.Failure, chunk},
		{"with plain text", event{"error", "out of memory"}, sse.Failure, "out of memory"},
		{"with broken JSON", event{"error", `{"error":`}, sse.Failure, `{"error":`},
		{"with invalid UTF-8", event{"error", "a\xffb"}, sse.Failure, "a\ufffdb"},
		{"with a JSON string", event{"error", `"boom"`}, sse.Failure, `"boom"`},
		{"with the end mark", event{"error", "[DONE]"}, sse.Failure, "[DONE]"},
		{"without data", event{"error", ""}, sse.Failure, ""},
		{"but its name is lower case", event{"Error", "x"}, sse.Skipped, ""},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			t.Parallel()
			var d sse.Decoder
			var c sse.Chunk
			ev := sse.Event{Name: []byte(row.ev.Name)}
			if row.ev.Data != "" {
				ev.Data = []byte(row.ev.Data)
			}
			kind, err := d.DecodeEvent(ev, &c)
			if kind != row.want {
				t.Errorf("got %v (%v), want %v", kind, err, row.want)
			}
			var fault *sse.SyntaxError
			if malformed := errors.As(err, &fault); malformed != (row.want == sse.Malformed) {
				t.Errorf("got error %v with kind %v", err, kind)
			}
			if got := string(c.Error.Message); got != row.message {
				t.Errorf("got message %q, want %q", got, row.message)
			}
			if got := c.Error.Raw != nil; got != (row.want == sse.Failure) {
				t.Errorf("got an error report %v: %q", got, c.Error.Raw)
			}
			if c.Done != (row.want == sse.Done) {
				t.Errorf("got Done %v", c.Done)
			}
		})
	}
}

// TestFailureKeepsWhatCameWithIt holds that an error does not hide a token.
func TestFailureKeepsWhatCameWithIt(t *testing.T) {
	t.Parallel()
	data := `{"choices":[{"delta":{"content":"x"}}],"usage":{"completion_tokens":1},"error":"boom"}`
	var d sse.Decoder
	var c sse.Chunk
	if kind, err := d.DecodeEvent(sse.Event{Data: []byte(data)}, &c); kind != sse.Failure || err != nil {
		t.Fatalf("got %v, %v", kind, err)
	}
	want := token("c", "x")
	want.Usage, want.Completion = `{"completion_tokens":1}`, some(1)
	want.HasError, want.Error, want.Message = true, `"boom"`, "boom"
	if diff := cmp.Diff(want, say(&c)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestErrorMessagesAreShort(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		sentence, text, want string
	}{
		{"512 bytes are kept", strings.Repeat("a", 512), strings.Repeat("a", 512)},
		{"the rest is cut", strings.Repeat("a", 3000), strings.Repeat("a", 512)},
		{"no character is cut", "a" + strings.Repeat("世", 1000), "a" + strings.Repeat("世", 170)},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			t.Parallel()
			var d sse.Decoder
			for _, ev := range []sse.Event{
				{Data: []byte(`{"error":{"message":"` + row.text + `"}}`)},
				{Name: []byte("error"), Data: []byte(row.text)},
			} {
				var c sse.Chunk
				if kind, err := d.DecodeEvent(ev, &c); kind != sse.Failure || string(c.Error.Message) != row.want {
					t.Errorf("got %v, %v, %d bytes: %q", kind, err, len(c.Error.Message), c.Error.Message)
				}
			}
		})
	}
}

func TestBodyError(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		sentence, body, message string
		isError                 bool
	}{
		{"an error object", `{"error":{"message":"boom"}}`, "boom", true},
		{"with a BOM and white space", "\ufeff\r\n{\"error\":\"boom\"}\n", "boom", true},
		{"the form of old servers", `{"object":"error","message":"boom"}`, "boom", true},
		{"as recorded: unknown model", string(captureBody(t, "error-model")), "The model `no-such-model` does not exist.", true},
		{"as recorded: unknown path", string(captureBody(t, "error-path")), "", false},
		{"as recorded: a complete answer", string(captureBody(t, "chat")), "", false},
		{"a null error", `{"error":null}`, "", false},
		{"broken JSON", `{"error":{"message":"boom"}`, "", false},
		{"another document", `<html>error</html>`, "", false},
		{"a list of errors", `[{"error":"boom"}]`, "", false},
		{"the end mark", `[DONE]`, "", false},
		{"nothing", ``, "", false},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			t.Parallel()
			message, isError := sse.BodyError([]byte(row.body))
			if message != row.message || isError != row.isError {
				t.Errorf("got %q, %v, want %q, %v", message, isError, row.message, row.isError)
			}
		})
	}
}

func TestKindsHaveNames(t *testing.T) {
	t.Parallel()
	var names []string
	for k := range sse.Skipped + 2 {
		names = append(names, k.String())
	}
	want := []string{"malformed", "completion", "done", "failure", "skipped", "unknown"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestErrorsSayWhere(t *testing.T) {
	t.Parallel()
	var d sse.Decoder
	var c sse.Chunk
	_, err := d.DecodeEvent(sse.Event{Data: []byte(`{"a":nil}`)}, &c)
	if want := "sse: invalid JSON: value expected at byte 5"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}
