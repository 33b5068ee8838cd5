package sse_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lmxbench/sse"
)

// said is what a Chunk says, in a form that can be written down and compared. In
// usage, a missing count is "-".
type said struct {
	Done, Object, HasChoices bool
	Channels                 string // c content, r reasoning, f refusal, t tool call
	Text, AllText            string
	Finish                   string
	Usage                    string
	Prompt, Completion       sse.Optional[int64]
	Cached                   sse.Optional[int64]
	UsageInvalid             bool
	Timings                  string
	Error, Message           string
	HasError                 bool
}

func say(c *sse.Chunk) said {
	var channels strings.Builder
	for i, letter := range []string{"c", "r", "f", "t"} {
		if c.Channels&[]sse.Channels{sse.Content, sse.Reasoning, sse.Refusal, sse.ToolCall}[i] != 0 {
			channels.WriteString(letter)
		}
	}
	return said{
		Done: c.Done, Object: c.Object, HasChoices: c.HasChoices,
		Channels: channels.String(),
		Text:     string(c.Text), AllText: string(c.AllText),
		Finish: string(c.FinishReason),
		Usage:  string(c.Usage.Raw), UsageInvalid: c.Usage.Invalid,
		Prompt: c.Usage.Prompt, Completion: c.Usage.Completion, Cached: c.Usage.Cached,
		Timings: string(c.Timings),
		Error:   string(c.Error.Raw), Message: string(c.Error.Message), HasError: c.Error.Raw != nil,
	}
}

func some(n int64) sse.Optional[int64] { return sse.Optional[int64]{Value: n, Known: true} }

// token is a chunk whose first choice has this text and nothing else.
func token(channels, text string) said {
	return said{Object: true, HasChoices: true, Channels: channels, Text: text, AllText: text}
}

// delta is a chunk with one choice and this delta.
func delta(fields string) string {
	return `{"id":"x","choices":[{"index":0,"delta":{` + fields + `},"finish_reason":null}]}`
}

func TestDecode(t *testing.T) {
	t.Parallel()
	none := said{Object: true, HasChoices: true}
	bare := said{Object: true}
	for _, row := range []struct {
		sentence string
		data     string
		want     said
	}{
		{"the end mark", `[DONE]`, said{Done: true}},
		{"the end mark with white space around", " [DONE] \t\n", said{Done: true}},
		{"an array is no chunk", `["DONE"]`, said{}},
		{"a string is no chunk", `"[DONE]"`, said{}},
		{"an object without anything", `{}`, bare},

		{"content is a token", delta(`"content":"Hi"`), token("c", "Hi")},
		{"white space is a token", delta(`"content":" "`), token("c", " ")},
		{"reasoning is a token", delta(`"reasoning":"Hm"`), token("r", "Hm")},
		{"reasoning_content is a token", delta(`"reasoning_content":"Hm"`), token("r", "Hm")},
		{"reasoning comes before content, wherever it stands", delta(`"content":"B","reasoning":"A"`), token("cr", "AB")},
		{"of two reasonings the first form counts", delta(`"reasoning_content":"x","reasoning":"y"`), token("r", "y")},
		{"an empty reasoning gives way to reasoning_content", delta(`"reasoning":"","reasoning_content":"x"`), token("r", "x")},
		{"a null reasoning gives way to reasoning_content", delta(`"reasoning":null,"reasoning_content":"x"`), token("r", "x")},
		{"reasoning that is an object gives way too", delta(`"reasoning":{"a":"b"},"reasoning_content":"x"`), token("r", "x")},
		{"a role is no token", delta(`"role":"assistant"`), none},
		{"a role with empty content is no token", delta(`"role":"assistant","content":""`), none},
		{"null in every channel is no token", delta(`"content":null,"reasoning":null,"reasoning_content":null,"refusal":null,"tool_calls":null,"function_call":null`), none},
		{"an empty delta is no token", delta(``), none},
		{"a null delta is no token", `{"choices":[{"delta":null}]}`, none},
		{"a missing delta is no token", `{"choices":[{"index":0}]}`, none},
		{"a delta that is a string is no token", `{"choices":[{"delta":"x"}]}`, none},
		{"numbers, booleans and objects are no token", delta(`"content":5,"reasoning":true,"refusal":{"text":"x"},"tool_calls":"x","function_call":[]`), none},
		{"a field of the same name elsewhere is no token", `{"content":"x","delta":{"content":"x"},"choices":[{"content":"x","delta":{"x":{"content":"x"}},"logprobs":{"content":[{"token":"x"}]}}]}`, none},
		{"a field in other case is no token", delta(`"Content":"x"`), none},

		{"a refusal is a token, but not for lmx", delta(`"refusal":"No"`), said{Object: true, HasChoices: true, Channels: "f", AllText: "No"}},
		{"a tool call's name is a token", delta(`"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":""}}]`), said{Object: true, HasChoices: true, Channels: "t", AllText: "f"}},
		{"its arguments are a token", delta(`"tool_calls":[{"index":0,"function":{"strict":true,"arguments":"{\"a\":"}}]`), said{Object: true, HasChoices: true, Channels: "t", AllText: `{"a":`}},
		{"several calls are joined, name first", delta(`"tool_calls":[{"function":{"arguments":"1","name":"a"}},{"function":{"name":"b"}}]`), said{Object: true, HasChoices: true, Channels: "t", AllText: "a1b"}},
		{"an empty call is no token", delta(`"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"","arguments":""}}]`), none},
		{"calls of unexpected types are no token", delta(`"tool_calls":[null,5,"x",{"function":null},{"function":"x"},{"function":{"name":5,"arguments":{"a":1}}},{"name":"x"}]`), none},
		{"an empty list of calls is no token", delta(`"tool_calls":[]`), none},
		{"the older function_call is a token", delta(`"function_call":{"name":"f","arguments":"{}"}`), said{Object: true, HasChoices: true, Channels: "t", AllText: "f{}"}},
		{
			"all channels, in order",
			delta(`"function_call":{"name":"6"},"tool_calls":[{"function":{"name":"4","arguments":"5"}}],"refusal":"3","content":"2","reasoning":"1"`),
			said{Object: true, HasChoices: true, Channels: "crft", Text: "12", AllText: "123456"},
		},

		{"content may be parts", delta(`"content":[{"type":"text","text":"a"},{"text":"b"},{"type":"image","url":"x"},"c",null]`), token("c", "ab")},
		{"parts without text are no token", delta(`"content":[{"type":"text","text":""},[]]`), none},
		{"a message counts like a delta", `{"choices":[{"message":{"role":"assistant","content":"Hi","reasoning":"Hm"}}]}`, token("cr", "HmHi")},
		{"a message beside a delta is ignored", `{"choices":[{"message":{"content":"all of it"},"delta":{"content":"it"}}]}`, token("c", "it")},
		{"a message beside an empty delta is ignored", `{"choices":[{"delta":{},"message":{"content":"all of it"}}]}`, none},
		{"a message beside a null delta counts", `{"choices":[{"delta":null,"message":{"content":"it"}}]}`, token("c", "it")},
		{"the text of a completion is content", `{"choices":[{"index":0,"text":" a"}]}`, token("c", " a")},
		{"an empty text is no token", `{"choices":[{"index":0,"text":""}]}`, none},
		{"text beside content is ignored", `{"choices":[{"text":"x","delta":{"content":"y"}}]}`, token("c", "y")},

		{"lmx reads the first choice only", `{"choices":[{"index":1,"delta":{"content":"a"}},{"index":0,"delta":{"content":"b","reasoning":"c"}}]}`, said{Object: true, HasChoices: true, Channels: "cr", Text: "a", AllText: "acb"}},
		{"a first choice without text is none for lmx", `{"choices":[{"delta":{"refusal":"n"}},{"delta":{"content":"b"}}]}`, said{Object: true, HasChoices: true, Channels: "cf", AllText: "nb"}},
		{"a first choice that is null is none for lmx", `{"choices":[null,{"delta":{"content":"b"}}]}`, said{Object: true, HasChoices: true, Channels: "c", AllText: "b"}},
		{"choices may be empty", `{"choices":[]}`, bare},
		{"choices may be null", `{"choices":null}`, bare},
		{"choices may be an object", `{"choices":{"delta":{"content":"x"}}}`, bare},

		{"escapes are decoded", delta(`"content":"\"\\\/\b\f\n\r\t\u0041\u00e9\u4e16\ud83d\ude00."`), token("c", "\"\\/\b\f\n\r\tAé世😀.")},
		{"hex digits have two cases", delta(`"content":"\u00E9\u00e9\uABCD\uabcd"`), token("c", "éé\uabcd\uabcd")},
		{"an escaped NUL is a token", delta(`"content":"\u0000"`), token("c", "\x00")},
		{"half a pair at the end is U+FFFD", delta(`"content":"a\ud83d"`), token("c", "a\ufffd")},
		{"half a pair before text is U+FFFD", delta(`"content":"\ud83dab"`), token("c", "\ufffdab")},
		{"half a pair before an escape leaves it alone", delta(`"content":"\ud83d\n\ud83d\u0041"`), token("c", "\ufffd\n\ufffdA")},
		{"two first halves are two U+FFFD", delta(`"content":"\ud83d\ud83d\ude00"`), token("c", "\ufffd😀")},
		{"a second half alone is U+FFFD", delta(`"content":"\ude00"`), token("c", "\ufffd")},
		{"keys may have escapes", `{"ch\u006fices":[{"d\u0065lta":{"\u0063ontent":"x"}}]}`, token("c", "x")},
		{"a key with an escape is not a prefix", `{"choices\u0000":[{"delta":{"content":"x"}}]}`, bare},

		{"a finish reason", `{"choices":[{"delta":{},"finish_reason":"length"}]}`, said{Object: true, HasChoices: true, Finish: "length"}},
		{"a finish reason beside text", `{"choices":[{"finish_reason":"stop","delta":{"content":"x"}}]}`, said{Object: true, HasChoices: true, Channels: "c", Text: "x", AllText: "x", Finish: "stop"}},
		{"a finish reason with escapes", `{"choices":[{"finish_reason":"st\u006fp"}]}`, said{Object: true, HasChoices: true, Finish: "stop"}},
		{"an empty finish reason is none", `{"choices":[{"finish_reason":""}]}`, none},
		{"a finish reason of another type is none", `{"choices":[{"finish_reason":5},{"finish_reason":{"type":"stop"}}]}`, none},
		{"the first finish reason counts", `{"choices":[{"finish_reason":null},{"finish_reason":"a"},{"finish_reason":"b"}]}`, said{Object: true, HasChoices: true, Finish: "a"}},

		{"of equal choices the last count", `{"choices":[{"delta":{"content":"a"},"finish_reason":"x"}],"choices":[{"delta":{"refusal":"b"}}]}`, said{Object: true, HasChoices: true, Channels: "f", AllText: "b"}},
		{"even when they are null", `{"choices":[{"delta":{"content":"a"}}],"choices":null}`, bare},
		{"of equal deltas the last counts", `{"choices":[{"delta":{"content":"a"},"delta":{"reasoning":"b"}}]}`, token("r", "b")},
		{"of equal contents the last counts", delta(`"content":"a","content":"b"`), token("c", "b")},
		{"even when it is empty", delta(`"content":"a","content":""`), none},
		{"of equal usages the last counts", `{"usage":{"completion_tokens":1,"prompt_tokens":2},"usage":{"completion_tokens":3}}`, said{Object: true, Usage: `{"completion_tokens":3}`, Completion: some(3)}},
		{"even when it is null", `{"usage":{"completion_tokens":1},"usage":null}`, bare},
		{"of equal errors the last counts", `{"error":"x","error":null}`, bare},
		{"of equal timings the last counts", `{"timings":{"predicted_n":1},"timings":null}`, bare},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			t.Parallel()
			var d sse.Decoder
			c := sse.Chunk{Done: true, FinishReason: []byte("old")}
			if err := d.Decode([]byte(row.data), &c); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, say(&c)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			checkAgainstReference(t, []byte(row.data))
		})
	}
}

func TestDecodeUsage(t *testing.T) {
	t.Parallel()
	usage := func(raw string, want said) said {
		want.Object, want.Usage = true, raw
		return want
	}
	for _, row := range []struct {
		sentence string
		usage    string
		want     said
	}{
		{"all counts", `{"prompt_tokens":23,"total_tokens":31,"completion_tokens":8,"prompt_tokens_details":{"cached_tokens":16,"multimodal_tokens":null}}`, said{Prompt: some(23), Completion: some(8), Cached: some(16)}},
		{"the other names", `{"input_tokens":23,"output_tokens":8,"input_tokens_details":{"cached_tokens":16}}`, said{Prompt: some(23), Completion: some(8), Cached: some(16)}},
		{"the first names win, in any order", `{"output_tokens":1,"input_tokens":2,"input_tokens_details":{"cached_tokens":5},"prompt_tokens":3,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":6}}`, said{Prompt: some(3), Completion: some(4), Cached: some(6)}},
		{"null gives way to the other name", `{"completion_tokens":null,"output_tokens":8,"prompt_tokens":null}`, said{Completion: some(8)}},
		{"an invalid count does not give way", `{"completion_tokens":-1,"output_tokens":8}`, said{UsageInvalid: true}},
		{"0 is 0", `{"prompt_tokens":0,"completion_tokens":0,"prompt_tokens_details":{"cached_tokens":0}}`, said{Prompt: some(0), Completion: some(0), Cached: some(0)}},
		{"missing is not 0", `{"total_tokens":5}`, said{}},
		{"an empty usage knows nothing", `{}`, said{}},
		{"null details are none", `{"completion_tokens":8,"prompt_tokens_details":null}`, said{Completion: some(8)}},
		{"details of another type are none", `{"completion_tokens":8,"prompt_tokens_details":[16]}`, said{Completion: some(8)}},
		{"null cached tokens are none", `{"prompt_tokens_details":{"cached_tokens":null}}`, said{}},
		{"invalid cached tokens are invalid", `{"completion_tokens":8,"prompt_tokens_details":{"cached_tokens":-1}}`, said{Completion: some(8), UsageInvalid: true}},
		{"cached tokens elsewhere are not read", `{"cached_tokens":1,"completion_tokens_details":{"cached_tokens":2}}`, said{}},
		{"one invalid count leaves the others", `{"prompt_tokens":"23","completion_tokens":8}`, said{Completion: some(8), UsageInvalid: true}},
		{"of equal counts the last counts", `{"completion_tokens":-1,"completion_tokens":8}`, said{Completion: some(8)}},
		{"white space inside stays", "{ \"completion_tokens\" : 8 }", said{Completion: some(8)}},
		{"a usage that is a string is invalid", `"8"`, said{UsageInvalid: true}},
		{"a usage that is a number is invalid", `8`, said{UsageInvalid: true}},
		{"a usage that is an array is invalid", `[{"completion_tokens":8}]`, said{UsageInvalid: true}},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			t.Parallel()
			for _, shape := range []struct {
				data string
				want said
			}{
				{`{"usage": ` + row.usage + ` }`, said{}},
				{`{"choices":[],"usage":` + row.usage + `}`, said{}},
				{`{"usage":` + row.usage + `,"choices":[{"delta":{"content":"x"}}]}`, token("c", "x")},
			} {
				var d sse.Decoder
				var c sse.Chunk
				if err := d.Decode([]byte(shape.data), &c); err != nil {
					t.Fatal(err)
				}
				want := usage(row.usage, row.want)
				want.HasChoices, want.Channels, want.Text, want.AllText = shape.want.HasChoices, shape.want.Channels, shape.want.Text, shape.want.AllText
				if diff := cmp.Diff(want, say(&c)); diff != "" {
					t.Errorf("%s: -want +got:\n%s", shape.data, diff)
				}
				checkAgainstReference(t, []byte(shape.data))
			}
		})
	}
}

func TestDecodeCounts(t *testing.T) {
	t.Parallel()
	var invalid sse.Optional[int64]
	long := strings.Repeat("0", 400)
	for _, row := range []struct {
		sentence string
		number   string
		want     sse.Optional[int64]
	}{
		{"zero", "0", some(0)},
		{"minus zero is zero", "-0", some(0)},
		{"an integer", "1024", some(1024)},
		{"zeros at the end", "1002000", some(1002000)},
		{"2.0 is integral", "2.0", some(2)},
		{"20e-1 is integral", "20e-1", some(2)},
		{"1.5e1 is integral", "1.5e1", some(15)},
		{"1E+3 is integral", "1E+3", some(1000)},
		{"0e999999999999 is zero", "0e999999999999", some(0)},
		{"0.000e-5 is zero", "0.000e-5", some(0)},
		{"many zeros and their exponent", "1" + long + "e-400", some(1)},
		{"many zeros behind the point", "0." + long + "7e401", some(7)},
		{"2^53 is the limit", "9007199254740992", some(1 << 53)},
		{"2^53+1 is beyond", "9007199254740993", invalid},
		{"2^53+0.5 is beyond", "9007199254740992.5", invalid},
		{"far beyond", "1e300", invalid},
		{"further", "1e999999999999", invalid},
		{"beyond 64 bits", "18446744073709551617", invalid},
		{"beyond, between 53 and 64 bits", "1e17", invalid},
		{"an exponent beyond 64 bits", "1e18446744073709551616", invalid},
		{"many zeros between", "1" + long + "1", invalid},
		{"negative", "-1", invalid},
		{"negative fraction", "-0.5", invalid},
		{"a fraction", "1.5", invalid},
		{"a fraction that floating point cannot see", "1.00000000000000000001", invalid},
		{"a small fraction", "1e-1", invalid},
		{"a tiny fraction", "1e-999999999999", invalid},
		{"a string", `"5"`, invalid},
		{"true", "true", invalid},
		{"an object", "{}", invalid},
		{"an array", "[5]", invalid},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			t.Parallel()
			data := []byte(`{"usage":{"completion_tokens":` + row.number + `}}`)
			var d sse.Decoder
			var c sse.Chunk
			if err := d.Decode(data, &c); err != nil {
				t.Fatal(err)
			}
			if c.Usage.Completion != row.want || c.Usage.Invalid == row.want.Known {
				t.Errorf("%s: got %v, invalid %v, want %v", row.number, c.Usage.Completion, c.Usage.Invalid, row.want)
			}
			checkAgainstReference(t, data)
		})
	}
}

// TestDecodeForgets holds that a decoder, and a chunk, carry nothing over.
func TestDecodeForgets(t *testing.T) {
	t.Parallel()
	full := `{"choices":[{"delta":{"content":"a","refusal":"b"},"finish_reason":"st\u006fp"}],"usage":{"completion_tokens":"x"},"timings":{},"error":{"message":"e"}}`
	for _, row := range []struct {
		sentence string
		data     string
		want     said
	}{
		{"before an empty chunk", `{}`, said{Object: true}},
		{"before the end mark", `[DONE]`, said{Done: true}},
		{"before broken JSON", full[:len(full)-1], said{}},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			t.Parallel()
			var d sse.Decoder
			var c sse.Chunk
			if err := d.Decode([]byte(full), &c); err != nil {
				t.Fatal(err)
			}
			_ = d.Decode([]byte(row.data), &c)
			if diff := cmp.Diff(row.want, say(&c)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
