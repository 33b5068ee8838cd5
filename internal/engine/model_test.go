package engine_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lmxbench/internal/engine"
)

func TestProbeChoosesTheModel(t *testing.T) {
	t.Parallel()
	const two = `{"data":[{"id":"Org/Big"},{"id":"org/small"},{"id":"org/big"}]}`
	tests := []struct {
		why, list string
		wanted    engine.Wanted
		id        string
		source    string
		listed    []string // of the error
	}{
		{"the one that is named", two, engine.Wanted{Served: "org/small"}, "org/small", engine.SourceExplicit, nil},
		{"letter case does not matter", two, engine.Wanted{Served: "ORG/SMALL"}, "org/small", engine.SourceExplicit, nil},
		{"the same spelling comes first", two, engine.Wanted{HFID: "org/big"}, "org/big", engine.SourceListed, nil},
		{"the name counts before the hf-id", two, engine.Wanted{Served: "org/small", HFID: "org/big"}, "org/small", engine.SourceExplicit, nil},
		{"one that is named and not there", two, engine.Wanted{Served: "other"}, "", "", []string{"Org/Big", "org/small", "org/big"}},
		{"several and none named", two, engine.Wanted{}, "", "", []string{"Org/Big", "org/small", "org/big"}},
		{"several and an hf-id that is none of them", two, engine.Wanted{HFID: "a/b"}, "", "", []string{"Org/Big", "org/small", "org/big"}},
		{"one, whatever the hf-id", `{"data":[{"id":"alias"}]}`, engine.Wanted{HFID: "a/b"}, "alias", engine.SourceListed, nil},
		{"one that is listed twice is one", `{"data":[{"id":"m"}],"models":[{"name":"m"}]}`, engine.Wanted{}, "m", engine.SourceListed, nil},
		{"names as plain strings", `{"models":["m"]}`, engine.Wanted{}, "m", engine.SourceListed, nil},
		{"an entry with a name only", `{"models":[{"model":"m"}]}`, engine.Wanted{}, "m", engine.SourceListed, nil},
		{"an empty list and a name", `{"data":[]}`, engine.Wanted{Served: "m"}, "m", engine.SourceExplicit, nil},
		{"an empty list and an hf-id", `{"data":[]}`, engine.Wanted{HFID: "a/b"}, "a/b", engine.SourceHFID, nil},
		{"an empty list and nothing named", `{"data":[]}`, engine.Wanted{}, "", "", []string{}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			server := fake(t, map[string]route{"/v1/models": {body: tt.list}})
			got, err := engine.Probe(within(t), targetOf(t, server.URL), tt.wanted)
			var unclear *engine.ModelError
			if errors.As(err, &unclear) != (tt.listed != nil) {
				t.Fatalf("error %v, want a ModelError: %v", err, tt.listed != nil)
			}
			if tt.listed != nil {
				if diff := cmp.Diff(tt.listed, unclear.Listed); diff != "" || strings.Contains(err.Error(), "\n") {
					t.Errorf("error %q lists (-want +got):\n%s", err, diff)
				}
				return
			}
			if got.Chosen.ID != tt.id || got.Source != tt.source {
				t.Errorf("chose %q (%s), want %q (%s)", got.Chosen.ID, got.Source, tt.id, tt.source)
			}
		})
	}
}

func TestContextLength(t *testing.T) {
	t.Parallel()
	tests := []struct {
		why, entry string
		want       int
	}{
		{"vLLM's name", `{"id":"m","max_model_len":8192}`, 8192},
		{"other spellings of a name", `{"id":"m","Max Model-Len":4096}`, 4096},
		{"camel case", `{"id":"m","contextWindow":2048}`, 2048},
		{"the order of the names on one level", `{"id":"m","num_ctx":1,"context_window":2,"context_length":3}`, 3},
		{"the upper level before the lower", `{"id":"m","a":{"max_model_len":1},"num_ctx":2}`, 2},
		{"inside lists", `{"id":"m","tiers":[{"x":1},{"context_length":512}]}`, 512},
		{"two levels down, after a dead end", `{"id":"m","a":{"b":1},"c":{"d":{"num_ctx":7}}}`, 7},
		{"digits in a string", `{"id":"m","context_length":"4096"}`, 4096},
		{"a whole number written with a fraction", `{"id":"m","context_length":4096.0}`, 4096},
		{"null is passed over", `{"id":"m","max_model_len":null,"context_length":9}`, 9},
		{"0 and negative ones say nothing", `{"id":"m","max_model_len":0,"context_length":-1}`, 0},
		{"a fraction says nothing", `{"id":"m","max_model_len":1.5}`, 0},
		{"beyond any number", `{"id":"m","max_model_len":1e300}`, 0},
		{"a training length is not the context", `{"id":"m","meta":{"n_ctx_train":8192}}`, 0},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			if got := engine.ContextLengthOf(`{"data":[` + tt.entry + `]}`); got != tt.want {
				t.Errorf("context length of %s is %d, want %d", tt.entry, got, tt.want)
			}
		})
	}
}

func TestGuessHFID(t *testing.T) {
	t.Parallel()
	tests := []struct {
		why   string
		names []string
		want  string
	}{
		{"an id that is one", []string{"Qwen/Qwen3.6-35B-A3B-FP8"}, "Qwen/Qwen3.6-35B-A3B-FP8"},
		{"the root behind an alias", []string{"alias", "example-org/Tiny-1B"}, "example-org/Tiny-1B"},
		{
			"a path into the Hugging Face cache",
			[]string{"alias", "", "/root/.cache/huggingface/hub/models--ggml-org--Tiny-GGUF/snapshots/ab12/t.gguf"},
			"ggml-org/Tiny-GGUF",
		},
		{"a local folder is none", []string{"/models/tiny", "models/a/tiny"}, ""},
		{"a file in a folder is none", []string{"models/tiny.Q4_0.gguf"}, ""},
		{"an alias is none", []string{"tiny", "tiny:1b"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			if got := engine.GuessHFID(tt.names...); got != tt.want {
				t.Errorf("guessed %q from %q, want %q", got, tt.names, tt.want)
			}
		})
	}
}

// The list is kept as the server sent it, for evidence.
func TestModelEncodesAsSent(t *testing.T) {
	t.Parallel()
	const entry = `{"created":1796068914,"id":"m","meta":{"size":96576768.50}}`
	server := fake(t, map[string]route{"/v1/models": {body: `{"data":[` + entry + `]}`}})
	info, err := engine.Probe(within(t), targetOf(t, server.URL), engine.Wanted{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(info.Models)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("["+entry+"]", string(got)); diff != "" {
		t.Errorf("model list (-want +got):\n%s", diff)
	}
}
