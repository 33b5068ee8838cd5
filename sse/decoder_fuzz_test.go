package sse_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lmxbench/sse"
)

// FuzzDecoder holds that the decoder agrees with the standard library about what
// is JSON and with a slow reference about what it says.
func FuzzDecoder(f *testing.F) {
	for _, name := range streamNames(f) {
		for i, piece := range readCapture(f, name)[0].pieces {
			if i < 3 || bytes.Contains(piece, []byte("usage")) {
				f.Add(bytes.TrimSpace(bytes.TrimPrefix(piece, []byte("data:"))))
			}
		}
	}
	for _, name := range []string{"chat", "error-model", "error-json"} {
		f.Add(captureBody(f, name))
	}
	for _, seed := range []string{
		delta(`"tool_calls":[{"function":{"name":"a","arguments":"{\"b\":\u00e9}"}}],"content":[{"type":"text","text":"x"}]`),
		delta(`"content":"\ud83d\ude00\ud83d","content":null,"function_call":{"name":"f"},"reasoning_content":"r"`),
		`{"choices":[{"message":{"content":"x"},"text":"y","finish_reason":"stop"},{"delta":{"content":"z"}}],"choices":[]}`,
		`{"usage":{"input_tokens":2.0,"output_tokens":20e-1,"prompt_tokens_details":{"cached_tokens":-1}},"usage":null}`,
		`{"object":"error","message":"m\u00e9","error":false,"timings":{"predicted_n":1}}`,
		" [DONE]\n", `{"a":[1e5,-0,{"b":null}],"c":true}`, "{\"\xff\":1}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkAgainstReference(t, data)
	})
}

func checkAgainstReference(t *testing.T, data []byte) {
	t.Helper()
	before := bytes.Clone(data)
	var d sse.Decoder
	var c sse.Chunk
	err := d.Decode(data, &c)
	got := say(&c)
	if !bytes.Equal(before, data) {
		t.Fatal("the data was changed")
	}
	if string(bytes.Trim(data, " \t\r\n")) == "[DONE]" {
		if diff := cmp.Diff(said{Done: true}, got); diff != "" || err != nil {
			t.Fatalf("error %v, -want +got:\n%s", err, diff)
		}
		return
	}
	if ours, theirs := err == nil, validForUs(data); ours != theirs {
		t.Fatalf("got error %v, but the standard library says valid %v: %q", err, theirs, data)
	}
	want := said{}
	if err == nil {
		want = slowSay(data)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%q: -want +got:\n%s", data, diff)
	}
}

// slowSay reads valid JSON by way of maps.
func slowSay(data []byte) said {
	var want said
	top, ok := slowValue(data).(map[string]any)
	if !ok {
		return want
	}
	want.Object = true
	raw := slowRaw(data)
	choices, _ := top["choices"].([]any)
	want.HasChoices = len(choices) > 0
	channels := map[string]bool{}
	for i, choice := range choices {
		choice, _ := choice.(map[string]any)
		counted, rest := slowChoice(choice, channels)
		want.AllText += counted + rest
		if i == 0 {
			want.Text = counted
		}
		if reason, _ := choice["finish_reason"].(string); want.Finish == "" {
			want.Finish = reason
		}
	}
	for _, letter := range []string{"c", "r", "f", "t"} {
		if channels[letter] {
			want.Channels += letter
		}
	}
	if top["usage"] != nil {
		want.Usage = string(raw["usage"])
		slowUsage(&want, top["usage"])
	}
	if _, ok := top["timings"].(map[string]any); ok {
		want.Timings = string(raw["timings"])
	}
	if e := top["error"]; e != nil && e != false {
		want.HasError, want.Error = true, string(raw["error"])
		if object, ok := e.(map[string]any); ok {
			e = object["message"]
		}
		want.Message = slowMessage(e, want.Error)
	} else if top["object"] == "error" {
		want.HasError, want.Error = true, string(bytes.Trim(data, " \t\r\n"))
		message := top["message"]
		if object, ok := message.(map[string]any); ok {
			message = object["message"]
		}
		want.Message = slowMessage(message, want.Error)
	}
	return want
}

func slowValue(data []byte) any {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		panic(fmt.Sprintf("decode %q: %v", data, err))
	}
	return value
}

func slowRaw(data []byte) map[string]json.RawMessage {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		panic(fmt.Sprintf("unmarshal %q: %v", data, err))
	}
	return raw
}

// slowChoice returns the text that counts for lmx, and all other text.
func slowChoice(choice map[string]any, channels map[string]bool) (counted, rest string) {
	part, ok := choice["delta"].(map[string]any)
	if !ok {
		part, _ = choice["message"].(map[string]any)
	}
	note := func(channel string, value any) string {
		text, _ := value.(string)
		channels[channel] = channels[channel] || text != ""
		return text
	}
	function := func(value any) string {
		fn, _ := value.(map[string]any)
		return note("t", fn["name"]) + note("t", fn["arguments"])
	}
	counted = note("r", part["reasoning"])
	if counted == "" {
		counted = note("r", part["reasoning_content"])
	}
	content := note("c", part["content"])
	if parts, ok := part["content"].([]any); ok {
		for _, p := range parts {
			object, _ := p.(map[string]any)
			content += note("c", object["text"])
		}
	}
	if content == "" {
		content = note("c", choice["text"])
	}
	counted += content
	rest = note("f", part["refusal"])
	calls, _ := part["tool_calls"].([]any)
	for _, call := range calls {
		object, _ := call.(map[string]any)
		rest += function(object["function"])
	}
	return counted, rest + function(part["function_call"])
}

func slowUsage(want *said, value any) {
	usage, ok := value.(map[string]any)
	want.UsageInvalid = !ok
	count := func(values ...any) (n sse.Optional[int64]) {
		for _, value := range values {
			if value == nil {
				continue
			}
			number, _ := value.(json.Number)
			n.Value, n.Known = slowCount(string(number))
			want.UsageInvalid = want.UsageInvalid || !n.Known
			return n
		}
		return n
	}
	details := func(key string) any {
		object, _ := usage[key].(map[string]any)
		return object["cached_tokens"]
	}
	want.Prompt = count(usage["prompt_tokens"], usage["input_tokens"])
	want.Completion = count(usage["completion_tokens"], usage["output_tokens"])
	want.Cached = count(details("prompt_tokens_details"), details("input_tokens_details"))
}

// slowCount reads a count with exact fractions. Exponents that would fill the
// memory are settled by hand.
func slowCount(number string) (int64, bool) {
	if at := strings.IndexAny(number, "eE"); at >= 0 {
		exponent, _ := new(big.Int).SetString(strings.TrimPrefix(number[at+1:], "+"), 10)
		if !exponent.IsInt64() || exponent.Int64() > 5000 || exponent.Int64() < -5000 {
			zero := strings.Trim(number[:at], "-0.") == ""
			return 0, zero
		}
	}
	value, ok := new(big.Rat).SetString(number)
	if !ok || !value.IsInt() || value.Sign() < 0 || value.Cmp(new(big.Rat).SetInt64(1<<53)) > 0 {
		return 0, false
	}
	return value.Num().Int64(), true
}

// slowMessage cuts as the documentation says: at most 512 bytes, whole characters.
func slowMessage(message any, raw string) string {
	text, ok := message.(string)
	if !ok {
		text = raw
	}
	cut := ""
	for _, r := range text {
		if len(cut)+len(string(r)) > 512 {
			break
		}
		cut += string(r)
	}
	return cut
}
