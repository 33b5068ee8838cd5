package bench_test

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"lmxbench/bench"
)

func TestCanonicalPrompt(t *testing.T) {
	t.Parallel()
	// The hashes that the leaderboard compares.
	for name, want := range map[string]string{
		"reasoning-v1": "9000edaadb16fc77ab78b39917245a03d4d7585c3ba770cb045a47a0e0683445",
		"code-v1":      "a737db738bd4e37881d1737f8dc51cae0295eff9ece6551d39826ce8ed43a690",
	} {
		text, err := bench.CanonicalPrompt(name)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256([]byte(text))
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%s has the hash %s, want %s", name, got, want)
		}
	}
	if _, err := bench.CanonicalPrompt("reasoning-v2"); err == nil || !strings.Contains(err.Error(), `"reasoning-v2"`) {
		t.Errorf("got %v for a name that is none", err)
	}
}

func TestPadPrompt(t *testing.T) {
	t.Parallel()
	canonical, err := bench.CanonicalPrompt(bench.DefaultPrompt)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		tokens, words int
		word          string
	}{
		"one word counts as one token, the prompt as about 265": {400, 135, ""},
		"a single word repeated":                                {300, 35, "tide"},
		"less than the prompt itself still pads by one":         {10, 1, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := bench.PadPrompt(tt.tokens, tt.word)
			if err != nil {
				t.Fatal(err)
			}
			again, err := bench.PadPrompt(tt.tokens, tt.word)
			if err != nil || again != text {
				t.Errorf("the same arguments gave another text (%v)", err)
			}
			padding, ok := strings.CutSuffix(text, "\n\n"+canonical)
			if !ok {
				t.Fatalf("the text does not end with the canonical prompt: %.60q…", text)
			}
			words := strings.Split(padding, " ")
			if len(words) != tt.words {
				t.Errorf("got %d words, want %d", len(words), tt.words)
			}
			if tt.word != "" && slices.ContainsFunc(words, func(w string) bool { return w != tt.word }) {
				t.Errorf("got other words than %q: %.80s", tt.word, padding)
			}
			if tt.word == "" && tt.words > 60 && len(slices.Compact(slices.Sorted(slices.Values(words)))) < 20 {
				t.Errorf("the padding is monotonous: %.80s", padding)
			}
		})
	}
}
