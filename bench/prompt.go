package bench

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

//go:embed prompts/*.txt
var promptFiles embed.FS

// canonicalPrompts are the leaderboard's prompts with the SHA-256 it compares:
// UTF-8, LF, no newline at the end.
var canonicalPrompts = []canonicalPrompt{
	{Name: "reasoning-v1", SHA256: "9000edaadb16fc77ab78b39917245a03d4d7585c3ba770cb045a47a0e0683445", tokens: 265},
	{Name: "code-v1", SHA256: "a737db738bd4e37881d1737f8dc51cae0295eff9ece6551d39826ce8ed43a690", tokens: 190},
}

type canonicalPrompt struct {
	Name   string
	SHA256 string
	tokens int // about, as common tokenizers count it with the nonce line
}

// DefaultPrompt is the name of the prompt used when none is given.
const DefaultPrompt = "reasoning-v1"

// CanonicalPrompt returns an embedded prompt by name, byte for byte. It checks
// the hash, so that a damaged binary cannot measure something else.
func CanonicalPrompt(name string) (string, error) {
	for _, p := range canonicalPrompts {
		if p.Name != name {
			continue
		}
		text, err := promptFiles.ReadFile("prompts/" + name + ".txt")
		if err != nil {
			return "", fmt.Errorf("read embedded prompt %s: %w", name, err)
		}
		if got := hashText(string(text)); got != p.SHA256 {
			return "", fmt.Errorf("embedded prompt %s has sha256 %s, want %s: this binary is damaged", name, got, p.SHA256)
		}
		return string(text), nil
	}
	return "", fmt.Errorf("no canonical prompt is called %q", name)
}

// promptName returns the canonical name of a text, or "".
func promptName(sha string) string {
	for _, p := range canonicalPrompts {
		if p.SHA256 == sha {
			return p.Name
		}
	}
	return ""
}

func hashText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// CheckPrompt refuses a prompt that cannot be sent as it is. The text is used
// verbatim: nothing is trimmed.
func CheckPrompt(text string) error {
	switch {
	case text == "":
		return errors.New("is empty")
	case !utf8.ValidString(text):
		return errors.New("is not UTF-8 text")
	}
	return nil
}

// fillerWords is the vocabulary of a padded prompt.
var fillerWords = strings.Fields(`amber basin cedar delta ember fjord grove harbor island jasper kernel lagoon
	meadow nectar orchid pebble quartz river saddle timber umber valley willow xenon
	yonder zephyr anchor beacon canyon dune estuary forest`)

// PadPrompt puts filler words in front of the default prompt so that about
// tokens tokens come out: one word counts as one token, the default prompt as
// its usual number. word repeats one word instead of the varied vocabulary. The
// same arguments give the same text.
func PadPrompt(tokens int, word string) (string, error) {
	prompt, err := CanonicalPrompt(DefaultPrompt)
	if err != nil {
		return "", err
	}
	words := max(1, tokens-canonicalPrompts[0].tokens)
	var b strings.Builder
	state := uint32(2463534242) // Marsaglia's xorshift32
	for i := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		if word != "" {
			b.WriteString(word)
			continue
		}
		state ^= state << 13
		state ^= state >> 17
		state ^= state << 5
		b.WriteString(fillerWords[state%uint32(len(fillerWords))])
	}
	b.WriteString("\n\n")
	b.WriteString(prompt)
	return b.String(), nil
}
