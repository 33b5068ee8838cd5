package engine

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The nonce line is lmx's, byte for byte: 32 lower-case hex digits between
// these two, then the prompt.
const (
	nonceBefore = "[LocalMaxxing cache-bust nonce: "
	nonceAfter  = "]\n"
)

// Nonce makes a prompt one that no prefix cache has seen.
type Nonce [16]byte

// String is the nonce as it stands in the prompt: 32 lower-case hex digits.
func (n Nonce) String() string { return hex.EncodeToString(n[:]) }

// NewNonces returns count nonces from the system's random source.
func NewNonces(count int) []Nonce {
	random := make([]byte, count*len(Nonce{}))
	rand.Read(random) // never fails (crypto/rand)
	nonces := make([]Nonce, count)
	for i := range nonces {
		copy(nonces[i][:], random[i*len(Nonce{}):])
	}
	return nonces
}

// Template is the body of a request with a gap for the nonce. Bodies come from
// it without any JSON being encoded. It is immutable: concurrent use is safe.
type Template struct {
	before, after []byte
}

// NewTemplate encodes a request. The bytes are those that Go's encoding/json
// gives for the same fields in a map: keys in alphabetical order, no spaces,
// "<", ">" and "&" escaped.
func NewTemplate(r Request) (Template, error) {
	if err := r.Check(); err != nil {
		return Template{}, err
	}
	fields := r.fields()
	fields["messages"] = nil // its place in the order
	var body, after bytes.Buffer
	out := &body
	separator := "{"
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		key, err := json.Marshal(name)
		if err != nil {
			return Template{}, fmt.Errorf("encode field name: %w", err)
		}
		out.WriteString(separator)
		out.Write(key)
		out.WriteByte(':')
		separator = ","
		if name == "messages" {
			before, rest := message(r.Prompt)
			body.WriteString(before)
			after.WriteString(rest)
			out = &after
			continue
		}
		value, err := json.Marshal(fields[name])
		if err != nil {
			return Template{}, fmt.Errorf("encode field %s: %w", quote(name), err)
		}
		out.Write(value)
	}
	out.WriteByte('}')
	return Template{before: body.Bytes(), after: after.Bytes()}, nil
}

// message is the messages field up to the nonce and behind it.
func message(prompt string) (before, after string) {
	encoded, _ := json.Marshal(nonceAfter + prompt) // a string always encodes
	before = `[{"content":"` + nonceBefore
	after = string(encoded[1:len(encoded)-1]) + `","role":"user"}]`
	return before, after
}

// Append appends the body with the given nonce to dst and returns it. It
// allocates only where dst is too small; see [Template.Size].
func (t Template) Append(dst []byte, nonce Nonce) []byte {
	dst = append(dst, t.before...)
	dst = hex.AppendEncode(dst, nonce[:])
	return append(dst, t.after...)
}

// Size is the length of every body, in bytes.
func (t Template) Size() int { return len(t.before) + hex.EncodedLen(len(Nonce{})) + len(t.after) }

// Bodies returns one body for each nonce. They share one allocation and are the
// caller's.
func (t Template) Bodies(nonces []Nonce) [][]byte {
	size := t.Size()
	block := make([]byte, 0, size*len(nonces))
	bodies := make([][]byte, len(nonces))
	for i, nonce := range nonces {
		block = t.Append(block, nonce)
		bodies[i] = block[i*size : (i+1)*size : (i+1)*size]
	}
	return bodies
}

// cutPlace splits "stream_options.include_usage" into its two names.
func cutPlace(place string) (outer, inner string, nested bool) { return strings.Cut(place, ".") }
