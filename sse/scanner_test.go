package sse_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"lmxbench/sse"
)

func nested(depth int, open, inner, closing string) string {
	return strings.Repeat(open, depth) + inner + strings.Repeat(closing, depth)
}

func TestDecodeIsStrictAboutJSON(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		sentence string
		data     string
		reason   string // "" for valid
		offset   int
	}{
		{"an empty object is JSON", `{}`, "", 0},
		{"so is any other value", ` [null, true, false, 0, "x", {"a": {}}] `, "", 0},
		{"white space may stand anywhere between", "\t{ \"a\"\r\n:\n[ 1 , 2 ]\t, \"b\" : { } }\n", "", 0},
		{"nothing is no JSON", ``, "value expected", 0},
		{"white space is no JSON", `  `, "value expected", 2},
		{"data behind the value is an error", `{} x`, "data after the value", 3},
		{"two values are an error", "{}\n{}", "data after the value", 3},
		{"a NUL behind the value is an error", "{}\x00", "data after the value", 2},
		{"a BOM is an error", "\ufeff{}", "value expected", 0},
		{"no-break space is no white space", "\u00a0{}", "value expected", 0},
		{"an object must end", `{"a":1`, "unexpected end", 6},
		{"an array must end", `[1`, "unexpected end", 2},
		{"brackets must match", `{"a":[1}`, "comma or closing bracket expected", 7},
		{"a comma at the end of an object is an error", `{"a":1,}`, "key expected", 7},
		{"a comma at the end of an array is an error", `[1,]`, "value expected", 3},
		{"a comma at the start is an error", `[,1]`, "value expected", 1},
		{"a missing comma is an error", `[1 2]`, "comma or closing bracket expected", 3},
		{"a missing colon is an error", `{"a" 1}`, "colon expected", 5},
		{"a missing value is an error", `{"a":}`, "value expected", 5},
		{"keys must be strings", `{a:1}`, "key expected", 1},
		{"single quotes are an error", `{'a':1}`, "key expected", 1},
		{"comments are an error", `{/**/}`, "key expected", 1},

		{"NaN is an error", `{"usage":{"completion_tokens":NaN}}`, "value expected", 30},
		{"Infinity is an error", `[Infinity]`, "value expected", 1},
		{"minus Infinity is an error", `[-Infinity]`, "malformed number", 2},
		{"literals are lower case", `[True]`, "value expected", 1},
		{"literals are whole", `[nul]`, "value expected", 1},
		{"literals end", `[nulls]`, "comma or closing bracket expected", 5},
		{"all forms of numbers are JSON", `[0,-0,1,-12,0.5,1e9,1E+9,1.25e-7,-0.0e0,123456789012345678901234567890,1e999]`, "", 0},
		{"a leading zero is an error", `[01]`, "malformed number", 1},
		{"a leading plus is an error", `[+1]`, "value expected", 1},
		{"a leading point is an error", `[.5]`, "value expected", 1},
		{"a point needs digits behind it", `[1.]`, "malformed number", 3},
		{"an exponent needs digits", `[1e+]`, "malformed number", 4},
		{"a minus needs digits", `-`, "malformed number", 1},
		{"hexadecimal is an error", `[0x1]`, "comma or closing bracket expected", 2},

		{"all escapes are JSON", `"\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00"`, "", 0},
		{"half a surrogate pair is JSON", `"\ud83d" `, "", 0},
		{"other escapes are an error", `"\x41"`, "malformed escape", 1},
		{"a quote may not be escaped singly", `"\'"`, "malformed escape", 1},
		{"an escape needs four hex digits", `"\u12g4"`, "malformed escape", 1},
		{"each of them must be one", `"\u123g"`, "malformed escape", 1},
		{"the first too", `"\ug123"`, "malformed escape", 1},
		{"and the second", `"\u1g23"`, "malformed escape", 1},
		{"three are not enough", `"\u123`, "malformed escape", 1},
		{"a backslash may not be last", `"\`, "malformed escape", 1},
		{"an escape may not be cut", `"\u12`, "malformed escape", 1},
		{"a string must end", `"abcdefghijkl`, "unexpected end of string", 13},
		{"a backslash is no end", `"abc\"`, "unexpected end of string", 6},
		{"a line feed in a string is an error", "\"a\nb\"", "control character in string", 2},
		{"so is a control character far inside", "\"0123456789\x1f\"", "control character in string", 11},
		{"delete is no control character", "\"\x7f\"", "", 0},
		{"UTF-8 is JSON", `"é世界😀` + "\u2028\ufffd" + `"`, "", 0},
		{"a lone continuation byte is an error", "\"0123456789\x80\"", "invalid UTF-8", 11},
		{"a cut character is an error", "\"\xe4\xb8\"", "invalid UTF-8", 1},
		{"an overlong form is an error", "\"\xc0\xaf\"", "invalid UTF-8", 1},
		{"a surrogate in UTF-8 is an error", "\"\xed\xa0\x80\"", "invalid UTF-8", 1},
		{"a byte beyond Unicode is an error", "\"\xf4\x90\x80\x80\"", "invalid UTF-8", 1},
		{"invalid UTF-8 in a key is an error", "{\"a\xff\":1}", "invalid UTF-8", 3},
		{"invalid UTF-8 outside a string is an error", "{\xff}", "key expected", 1},

		{"deep nesting is JSON", nested(sse.MaxDepth, "[", "", "]"), "", 0},
		{"deeper nesting is an error", nested(sse.MaxDepth+1, "[", "", "]"), "nested too deep", sse.MaxDepth},
		{"objects count for depth", nested(sse.MaxDepth+1, `{"":`, "1", "}"), "nested too deep", 4 * sse.MaxDepth},
		{"depth is not length", "[" + strings.Repeat("[],", 2*sse.MaxDepth) + "0]", "", 0},
		{"endless nesting is an error, not a crash", strings.Repeat(`{"choices":[`, 1e6), "nested too deep", 6 * sse.MaxDepth},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			t.Parallel()
			var d sse.Decoder
			var c sse.Chunk
			err := d.Decode([]byte(row.data), &c)
			var fault *sse.SyntaxError
			switch {
			case row.reason == "" && err != nil:
				t.Fatalf("got %v, want valid", err)
			case row.reason == "":
			case !errors.As(err, &fault):
				t.Fatalf("got %v, want a SyntaxError", err)
			case fault.Reason != row.reason || fault.Offset != row.offset:
				t.Errorf("got %q at %d, want %q at %d", fault.Reason, fault.Offset, row.reason, row.offset)
			}
			if ours, theirs := err == nil, validForUs([]byte(row.data)); ours != theirs {
				t.Errorf("got valid %v, the standard library says %v", ours, theirs)
			}
		})
	}
}

// validForUs is the standard library's opinion, with the two differences that are
// intended: strings must be valid UTF-8, and the limit for nesting is lower.
func validForUs(data []byte) bool {
	return json.Valid(data) && utf8.Valid(data) && depth(data) <= sse.MaxDepth
}

// depth returns how deep valid JSON nests.
func depth(data []byte) int {
	deepest, now, inString := 0, 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			inString = !inString
		case inString:
			if c == '\\' {
				i++
			}
		case c == '{' || c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return deepest
}

// TestDecodeReadsNothingBehindTheData decodes all beginnings of JSON texts while
// the rest of the text still lies behind them in memory.
func TestDecodeReadsNothingBehindTheData(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`null`, `true`, `false`, `-1.25e+10`, `"\ud83d\ude00 é"`,
		`{"a":null,"b":[true,false],"c":-0.5E-7,"d":"\u00e9\ud83d\ude00é世😀"}`,
		`{"choices":[{"delta":{"content":"a\ud83d\ude00"},"finish_reason":null}],"usage":{"completion_tokens":12}}`,
	} {
		for n := range len(text) + 1 {
			checkAgainstReference(t, []byte(text)[:n])
		}
	}
}

// TestDecodeFindsFaultsAtAnyAlignment puts each byte at each place of a string
// that is long enough for the eight-byte steps.
func TestDecodeFindsFaultsAtAnyAlignment(t *testing.T) {
	t.Parallel()
	var d sse.Decoder
	var c sse.Chunk
	for length := range 19 {
		for at := range length {
			for b := range 256 {
				text := []byte(`{"choices":[{"text":"` + strings.Repeat("a", length) + `"}]}`)
				text[len(`{"choices":[{"text":"`)+at] = byte(b)
				if got, want := d.Decode(text, &c) == nil, validForUs(text); got != want {
					t.Fatalf("byte %#x at %d of %d: got valid %v, want %v", b, at, length, got, want)
				}
			}
		}
	}
}
