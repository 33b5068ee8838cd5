package engine

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Model is one entry of a server's model list.
type Model struct {
	// ID is the entry's "id", else "name", else "model".
	ID string
	// OwnedBy and Root are the fields of those names, or empty. Servers write
	// their own kind into the first and the model's source into the second.
	OwnedBy, Root string

	fields map[string]any
}

// parseModels reads a model list: the entries of data[], then those of models[]
// that are not there already. ok is false where the body is no model list.
func parseModels(body []byte) (models []Model, ok bool) {
	var list map[string]json.RawMessage
	if json.Unmarshal(body, &list) != nil {
		return nil, false
	}
	for _, key := range []string{"data", "models"} {
		raw, present := list[key]
		if !present {
			continue
		}
		var entries []json.RawMessage
		if json.Unmarshal(raw, &entries) != nil {
			continue
		}
		ok = true
		for _, entry := range entries {
			if m := parseModel(entry); m.ID != "" && index(models, m.ID) < 0 {
				models = append(models, m)
			}
		}
	}
	return models, ok
}

// parseModel reads one entry. Some servers list plain strings.
func parseModel(entry json.RawMessage) Model {
	var name string
	if json.Unmarshal(entry, &name) == nil {
		return Model{ID: name}
	}
	m := Model{}
	if decodeNumbers(entry, &m.fields) != nil {
		return m
	}
	for _, key := range []string{"id", "name", "model"} {
		if text, _ := m.fields[key].(string); text != "" {
			m.ID = text
			break
		}
	}
	m.OwnedBy, _ = m.fields["owned_by"].(string)
	m.Root, _ = m.fields["root"].(string)
	return m
}

// Where a served model's name comes from, in lmx's words.
const (
	SourceExplicit = "explicit"       // the user named it
	SourceListed   = "v1_models"      // the server lists it
	SourceHFID     = "hf_id_fallback" // the server lists nothing: the hf-id itself
)

// Wanted is what the user said of the model. Both fields may be empty.
type Wanted struct {
	// Served is the name to send in "model" (--served-model).
	Served string
	// HFID is the Hugging Face repository being measured (--hf-id).
	HFID string
}

// choose picks the model to measure: the one named, else the one whose id is
// the hf-id, else the only one. A server that lists nothing is believed to
// serve what was named.
func choose(models []Model, want Wanted) (chosen Model, source string, err error) {
	if want.Served != "" {
		if len(models) == 0 {
			return Model{ID: want.Served}, SourceExplicit, nil
		}
		if i := find(models, want.Served); i >= 0 {
			return models[i], SourceExplicit, nil
		}
		return Model{}, "", &ModelError{Asked: want.Served, Listed: ids(models)}
	}
	if want.HFID != "" {
		if len(models) == 0 {
			return Model{ID: want.HFID}, SourceHFID, nil
		}
		if i := find(models, want.HFID); i >= 0 {
			return models[i], SourceListed, nil
		}
	}
	if len(models) == 1 {
		return models[0], SourceListed, nil
	}
	return Model{}, "", &ModelError{Listed: ids(models)}
}

// find returns the index of the entry with that id: the same spelling before
// one that differs in letter case.
func find(models []Model, id string) int {
	if i := index(models, id); i >= 0 {
		return i
	}
	return slices.IndexFunc(models, func(m Model) bool { return strings.EqualFold(m.ID, id) })
}

func index(models []Model, id string) int {
	return slices.IndexFunc(models, func(m Model) bool { return m.ID == id })
}

func ids(models []Model) []string {
	out := make([]string, len(models))
	for i, m := range models {
		out[i] = m.ID
	}
	return out
}

// contextKeys are lmx's names of the context length, in its order, in the form
// that plainKey gives.
var contextKeys = []string{"maxmodellen", "contextlength", "contextwindow", "numctx"}

// contextLength finds the context length in an entry of the model list, in
// tokens, by lmx's rule: level by level, on each level the names in order. 0
// means that none is there.
func (m Model) contextLength() int {
	value, _ := breadthFirst(m.fields, contextKeys, func(v any) (int, bool) {
		n := wholeNumber(v)
		return n, n > 0
	})
	return value
}

// quantization finds what an entry of the model list says of the weights'
// format: "ftype" is llama.cpp's, "quantization_level" Ollama's.
func (m Model) quantization() string {
	keys := []string{"quantization", "quantizationlevel", "quant", "ftype"}
	value, _ := breadthFirst(m.fields, keys, func(v any) (string, bool) {
		text, _ := v.(string)
		return text, text != ""
	})
	return value
}

// breadthFirst looks for the first of keys whose value take accepts, nearest to
// the root first. Objects of one level are visited in the order of their keys,
// so that the result does not depend on chance.
func breadthFirst[T any](root map[string]any, keys []string, take func(any) (T, bool)) (T, bool) {
	for level := []any{root}; len(level) > 0; {
		var below []any
		for _, node := range level {
			object, _ := node.(map[string]any)
			if value, found := pick(object, keys, take); found {
				return value, true
			}
			below = append(below, children(node)...)
		}
		level = below
	}
	var none T
	return none, false
}

func pick[T any](object map[string]any, keys []string, take func(any) (T, bool)) (T, bool) {
	names := sortedKeys(object)
	for _, key := range keys {
		for _, name := range names {
			if plainKey(name) != key {
				continue
			}
			if value, ok := take(object[name]); ok {
				return value, true
			}
		}
	}
	var none T
	return none, false
}

func children(node any) []any {
	switch node := node.(type) {
	case map[string]any:
		var out []any
		for _, name := range sortedKeys(node) {
			out = append(out, node[name])
		}
		return out
	case []any:
		return node
	}
	return nil
}

var keyPunctuation = strings.NewReplacer("_", "", "-", "", " ", "")

// plainKey is a key in the form that lmx compares: "max_model_len",
// "maxModelLen" and "Max Model-Len" are one.
func plainKey(key string) string { return keyPunctuation.Replace(strings.ToLower(key)) }

// wholeNumber reads a JSON number, or a string of digits, that is whole and
// fits; anything else is 0.
func wholeNumber(v any) int {
	text := ""
	switch v := v.(type) {
	case json.Number:
		text = v.String()
	case string:
		text = v
	}
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0
	}
	return int(f)
}

// hfRepository is how Hugging Face writes a repository: owner/name.
var hfRepository = regexp.MustCompile(`^[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}$`)

// hfCache is the folder name of a repository in Hugging Face's cache.
var hfCache = regexp.MustCompile(`(?:^|[/\\])models--([A-Za-z0-9][\w.-]*?)--([A-Za-z0-9][\w.-]*)[/\\]snapshots[/\\]`)

// guessHFID derives the Hugging Face repository from the names a server gives:
// its id, what the model was loaded from, the path of its file. Empty means
// that none of them looks like one.
func guessHFID(names ...string) string {
	for _, name := range names {
		if hfRepository.MatchString(name) && !isModelFile(name) {
			return name
		}
		if m := hfCache.FindStringSubmatch(name); m != nil {
			return m[1] + "/" + m[2]
		}
	}
	return ""
}
