package calibrate

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestLadder(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	both := func(streams int, interval time.Duration, tokens int) []Load {
		return []Load{{streams, Steps, interval, tokens}, {streams, Phases, interval, tokens}}
	}
	for _, tt := range []struct {
		name    string
		streams []int
		limits  Limits
		want    []Load
		skipped []string
	}{
		{"a busy engine's step up to some hundred streams", []int{256}, Limits{Cores: 2}, both(256, 17*ms, 117), nil},
		{"thousands of streams are slower in life too", []int{4000}, Limits{Cores: 64}, both(4000, 50*ms, 40), nil},
		{"two cores cannot hold 10,000 streams at that rate", []int{10000}, Limits{Cores: 2}, both(10000, 167*ms, 11), nil},
		{"too few descriptors", []int{64, 4000}, Limits{Cores: 2, Files: 1024}, both(64, 17*ms, 117), []string{"4128 open files"}},
		{"too little memory", []int{4000}, Limits{Cores: 2, Memory: 1 << 30}, nil, []string{"750 MiB of memory"}},
		{"unknown limits bound nothing", []int{4000}, Limits{Cores: 4}, both(4000, 50*ms, 40), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, skipped := Ladder(tt.streams, 2*time.Second, tt.limits)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(skipped) != len(tt.skipped) {
				t.Fatalf("skipped %v, want %d", skipped, len(tt.skipped))
			}
			for i, want := range tt.skipped {
				checkReason(t, skipped[i].Reason, want)
			}
		})
	}
}

// Every asked count is planned or skipped with a reason; what is planned can be
// carried, streams have gaps, and a profile exists for it.
func TestLadderKeepsToTheMachine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		streams := rapid.SliceOfN(rapid.IntRange(1, 60000), 1, 5).Draw(t, "streams")
		limits := Limits{
			Cores: rapid.IntRange(1, 128).Draw(t, "cores"), Files: uint64(rapid.IntRange(0, 100000).Draw(t, "files")),
			Memory: uint64(rapid.Int64Range(0, 1<<40).Draw(t, "memory")),
		}
		loads, skipped := Ladder(streams, time.Duration(rapid.Int64Range(1, int64(time.Minute)).Draw(t, "round")), limits)
		if len(loads)+2*len(skipped) != 2*len(streams) {
			t.Fatalf("%d loads and %d skipped of %d", len(loads), len(skipped), len(streams))
		}
		for _, l := range loads {
			if rate := l.EventsPerSecond(); rate > float64(eventsPerCore*limits.Cores)*1.001 {
				t.Fatalf("%v asks for %.0f events/s of %d cores", l, rate, limits.Cores)
			}
			if l.Tokens < minTokens || l.Interval%time.Millisecond != 0 {
				t.Fatalf("%v: %d tokens every %v", l, l.Tokens, l.Interval)
			}
			if p, err := l.Profile(); err != nil || p.Validate() != nil {
				t.Fatalf("%v has no valid profile: %v, %v", l, err, p.Validate())
			}
		}
		for _, s := range skipped {
			if s.Reason == "" {
				t.Fatalf("%d streams are skipped without a reason", s.Streams)
			}
		}
	})
}

func TestLoadThroughJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := Load{
			rapid.IntRange(1, 60000).Draw(t, "streams"), rapid.SampledFrom([]Shape{Steps, Phases}).Draw(t, "shape"),
			time.Duration(rapid.Int64Range(1, int64(time.Minute)).Draw(t, "interval")), rapid.IntRange(1, 1e6).Draw(t, "tokens"),
		}
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Load
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	})
	for name, text := range map[string]string{
		"no stream":       `{"streams":0,"shape":"steps","intervalMs":17,"tokens":8}`,
		"unknown shape":   `{"streams":1,"shape":"waves","intervalMs":17,"tokens":8}`,
		"no interval":     `{"streams":1,"shape":"steps","intervalMs":0,"tokens":8}`,
		"endless":         `{"streams":1,"shape":"steps","intervalMs":1e300,"tokens":8}`,
		"no token":        `{"streams":1,"shape":"steps","intervalMs":17,"tokens":-1}`,
		"not even a load": `[]`,
	} {
		var l Load
		if err := json.Unmarshal([]byte(text), &l); err == nil {
			t.Errorf("%s: got %+v, want an error", name, l)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		short(0):                       "0",
		short(58.8235):                 "58.8",
		short(0.0371):                  "0.037",
		short(math.Copysign(0, -1)):    "0",
		short(-0.0001):                 "0",
		short(-3.456):                  "-3.46",
		short(12345.6):                 "12346",
		brief(96_400):                  "96.4 µs",
		brief(17 * time.Millisecond):   "17 ms",
		brief(2500 * time.Millisecond): "2.5 s",
		counted(1, "stream"):           "1 stream",
		counted(1_234_567, "stream"):   "1,234,567 streams",
		grouped(-1000):                 "-1,000",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestBooksOfTheEngine(t *testing.T) {
	t.Parallel()
	list, err := readRecords(strings.NewReader(`{"request":1,"nonce":"a","events":{"sent_unix_ns":[1,2],"tokens":[1,1]}}
{"request":2,"nonce":"b","events":{"sent_unix_ns":null,"tokens":null}}
`))
	if err != nil || len(list) != 2 || list[0].Nonce != "a" || len(list[0].Events.Sent) != 2 {
		t.Errorf("got %+v, %v", list, err)
	}
	for name, text := range map[string]string{
		"cut short":               `{"request":1,"nonce":"a"`,
		"columns of two lengths":  `{"request":1,"events":{"sent_unix_ns":[1,2],"tokens":[1]}}`,
		"a page instead of books": `<html>`,
	} {
		if list, err := readRecords(strings.NewReader(text)); err == nil {
			t.Errorf("%s: got %+v, want an error", name, list)
		}
	}
}

func TestLoadAtARate(t *testing.T) {
	t.Parallel()
	got := Load{Streams: 1000, Shape: Steps, Interval: 17 * time.Millisecond, Tokens: 117}.At(100, 2*time.Second)
	if want := (Load{Streams: 1000, Shape: Steps, Interval: 10 * time.Millisecond, Tokens: 200}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := (Load{Streams: 1}).At(0.5, time.Second); got.Tokens < minTokens {
		t.Errorf("got %d tokens, want at least %d", got.Tokens, minTokens)
	}
}
