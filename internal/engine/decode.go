package engine

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// decodeNumbers decodes JSON with numbers kept as they are written.
func decodeNumbers(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode(into)
}

// object decodes a JSON object with numbers kept; nil where data is none.
func object(data []byte) map[string]any {
	var fields map[string]any
	if decodeNumbers(data, &fields) != nil {
		return nil
	}
	return fields
}

// text returns the string at a path of keys, or "".
func text(fields map[string]any, path ...string) string {
	s, _ := at(fields, path...).(string)
	return s
}

// at returns the value at a path of keys, or nil.
func at(fields map[string]any, path ...string) any {
	var node any = fields
	for _, key := range path {
		object, ok := node.(map[string]any)
		if !ok {
			return nil
		}
		node = object[key]
	}
	return node
}

func sortedKeys(object map[string]any) []string { return slices.Sorted(maps.Keys(object)) }
