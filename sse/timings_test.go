package sse_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lmxbench/sse"
)

func TestParseTimings(t *testing.T) {
	t.Parallel()
	span := func(d time.Duration) sse.Optional[time.Duration] {
		return sse.Optional[time.Duration]{Value: d, Known: true}
	}
	for _, row := range []struct {
		sentence string
		raw      string
		want     sse.Timings
	}{
		{
			"all of llama.cpp's fields",
			`{"cache_n":3,"prompt_n":20,"prompt_ms":12.5,"prompt_per_token_ms":0.625,"prompt_per_second":1600.0,` +
				`"predicted_n":64,"predicted_ms":1000.25,"predicted_per_token_ms":15.6,"predicted_per_second":63.98,"draft_n":40,"draft_n_accepted":31}`,
			sse.Timings{
				PromptTokens: some(20), CachedTokens: some(3), PredictedTokens: some(64), DraftTokens: some(40), DraftAccepted: some(31),
				PromptTime: span(12500 * time.Microsecond), PredictedTime: span(1000250 * time.Microsecond),
			},
		},
		{"missing is not 0", `{}`, sse.Timings{}},
		{"0 is 0", `{"predicted_n":0,"predicted_ms":0,"prompt_ms":0.0}`, sse.Timings{PredictedTokens: some(0), PredictedTime: span(0), PromptTime: span(0)}},
		{"null is missing", `{"predicted_n":null,"predicted_ms":null}`, sse.Timings{}},
		{"times are rounded to the nanosecond", `{"predicted_ms":0.0000015,"prompt_ms":1e-6}`, sse.Timings{PredictedTime: span(2), PromptTime: span(1)}},
		{"invalid values are missing", `{"predicted_n":-1,"draft_n":1.5,"cache_n":"3","predicted_ms":-1,"prompt_ms":"12"}`, sse.Timings{}},
		{"times beyond a duration are missing", `{"predicted_ms":1e300,"prompt_ms":1e999}`, sse.Timings{}},
		{"nothing is known without an object", `[1]`, sse.Timings{}},
		{"nothing is known of broken JSON", `{"predicted_n":1,}`, sse.Timings{}},
		{"nothing is known of nothing", ``, sse.Timings{}},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(row.want, sse.ParseTimings([]byte(row.raw))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestDecodeKeepsTimingsAsTheyStand(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ sentence, data, want string }{
		{"beside text", `{"choices":[{"delta":{"content":"x"}}],"timings":{ "predicted_n" : 1 }}`, `{ "predicted_n" : 1 }`},
		{"null is none", `{"timings":null}`, ""},
		{"another type is none", `{"timings":[1]}`, ""},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			t.Parallel()
			var d sse.Decoder
			var c sse.Chunk
			if err := d.Decode([]byte(row.data), &c); err != nil {
				t.Fatal(err)
			}
			if got := string(c.Timings); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}
