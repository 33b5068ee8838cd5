package main

import (
	"bytes"
	"testing"
	"time"

	"lmxbench/bench"
)

func TestStageWords(t *testing.T) {
	t.Parallel()
	counts := func(events, ended int64) func() (int64, int64) { return func() (int64, int64) { return events, ended } }
	tests := map[string]struct {
		stage         bench.Stage
		elapsed       time.Duration
		name, figures string
	}{
		"before the first batch": {bench.Stage{Name: "probe"}, time.Second, "asking the server", ""},
		"one stream": {
			bench.Stage{Name: "timed", Index: 1, Of: 5, Streams: 1, Tokens: 1000, Counts: counts(200, 0), BatchesLeft: 2},
			2 * time.Second, "iteration 1/5 · 1 stream", " 200 tokens · 100 tok/s · about 18s left",
		},
		"many streams, some done, the last batch": {
			bench.Stage{Name: "timed", Index: 3, Of: 3, Streams: 64, Tokens: 6400, Counts: counts(6000, 7), BatchesLeft: 1},
			2 * time.Second, "iteration 3/3 · 64 streams", " 6000 tokens · 3000 tok/s · 7 done · about 0s left",
		},
		"too early to tell when it ends": {
			bench.Stage{Name: "warmup", Index: 1, Of: 2, Streams: 4, Tokens: 400, Counts: counts(1, 0), BatchesLeft: 5},
			100 * time.Millisecond, "warm-up 1/2 · 4 streams", " 1 tokens · 10 tok/s",
		},
		"more tokens than were asked for": {
			bench.Stage{Name: "timed", Index: 1, Of: 1, Streams: 1, Tokens: 10, Counts: counts(15, 0), BatchesLeft: 1},
			3 * time.Second, "iteration 1/1 · 1 stream", " 15 tokens · 5 tok/s · about 0s left",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := stageName(tt.stage); got != tt.name {
				t.Errorf("got name %q, want %q", got, tt.name)
			}
			if got := stageFigures(tt.stage, tt.elapsed); got != tt.figures {
				t.Errorf("got figures %q, want %q", got, tt.figures)
			}
		})
	}
}

// TestDisplayEnds: stages replace one another, and clearing twice is harmless.
func TestDisplayEnds(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := &watcher{notes: &out, display: newDisplay(&out)}
	w.Stage(bench.Stage{Name: "probe", Started: time.Now()})
	w.Stage(bench.Stage{
		Name: "timed", Index: 1, Of: 1, Streams: 1, Tokens: 10, Started: time.Now(),
		Counts: func() (int64, int64) { return 99, 0 }, BatchesLeft: 1,
	})
	w.Note("a line between two pictures")
	w.clear()
	w.clear()
	w.close()
	if got := out.String(); !bytes.Contains(out.Bytes(), []byte("lmxbench: a line between two pictures\n")) {
		t.Errorf("the note is not there: %q", got)
	}
}
