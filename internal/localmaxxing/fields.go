package localmaxxing

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// fields reads the members of one JSON object by the names that listings are
// known to use. Nothing it meets is an error: a value of the wrong type or out
// of range is not given, and is noted.
type fields struct {
	members map[string]json.RawMessage
	note    func(text string)
}

// newFields takes a JSON object.
func newFields(object json.RawMessage, note func(string)) (fields, error) {
	f := fields{note: note}
	if err := json.Unmarshal(object, &f.members); err != nil {
		return f, err
	}
	return f, nil
}

// kind is the type of a JSON value by its first byte.
func kind(value json.RawMessage) string {
	value = bytes.TrimLeft(value, " \t\r\n")
	if len(value) == 0 {
		return "nothing"
	}
	switch value[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a text"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "nothing"
	}
	return "a number"
}

// at follows a path such as "engine.engineName"; nil where there is no value.
func (f fields) at(path string) json.RawMessage {
	members := f.members
	for {
		name, rest, deeper := strings.Cut(path, ".")
		value := members[name]
		if !deeper {
			return value
		}
		members = nil
		if kind(value) != "an object" || json.Unmarshal(value, &members) != nil {
			return nil
		}
		path = rest
	}
}

// find returns the first value of the wanted type among the paths. Where there
// is none, a value of another type is noted, unless it is an object that another
// path leads into.
func (f fields) find(want string, paths ...string) (path string, value json.RawMessage) {
	odd := ""
	for _, p := range paths {
		switch v := f.at(p); kind(v) {
		case want:
			return p, v
		case "nothing":
		default:
			into := slices.ContainsFunc(paths, func(q string) bool { return strings.HasPrefix(q, p+".") })
			if odd == "" && !(into && kind(v) == "an object") {
				odd = fmt.Sprintf("%s is %s, want %s", p, kind(v), want)
			}
		}
	}
	if odd != "" {
		f.note(odd)
	}
	return "", nil
}

func (f fields) text(paths ...string) string {
	_, v := f.find("a text", paths...)
	var s string
	if v != nil && json.Unmarshal(v, &s) != nil {
		return ""
	}
	return oneLine(s, maxText)
}

func (f fields) flag(paths ...string) *bool {
	_, v := f.find("a boolean", paths...)
	if v == nil {
		return nil
	}
	is := v[0] == 't'
	return &is
}

// number is a finite number above zero.
func (f fields) number(paths ...string) *float64 {
	path, v := f.find("a number", paths...)
	if v == nil {
		return nil
	}
	n, err := positive(string(v))
	if err != nil {
		f.note(path + " is " + err.Error())
		return nil
	}
	return n
}

// whole is a whole number above zero; 512.0 is one.
func (f fields) whole(paths ...string) *int {
	path, v := f.find("a number", paths...)
	if v == nil {
		return nil
	}
	n, err := wholePositive(string(v))
	if err != nil {
		f.note(path + " is " + err.Error())
		return nil
	}
	return n
}

// sum adds an array of numbers above zero.
func (f fields) sum(path string) *float64 {
	_, v := f.find("an array", path)
	if v == nil {
		return nil
	}
	var values []float64
	total := 0.0
	err := json.Unmarshal(v, &values)
	for _, x := range values {
		if !(x > 0) {
			err = fmt.Errorf("%g in it", x)
		}
		total += x
	}
	switch {
	case err != nil:
		f.note(path + " is no list of numbers above 0")
		return nil
	case len(values) == 0 || math.IsInf(total, 0):
		return nil
	}
	return &total
}

// list returns the objects of an array of objects.
func (f fields) list(path string) (items []fields) {
	_, v := f.find("an array", path)
	var objects []json.RawMessage
	if v == nil || json.Unmarshal(v, &objects) != nil {
		return nil
	}
	for _, o := range objects {
		if item, err := newFields(o, f.note); err == nil {
			items = append(items, item)
		}
	}
	return items
}

func positive(text string) (*float64, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n > 0) || math.IsInf(n, 0) {
		return nil, fmt.Errorf("%s, want a number above 0", cut(text, 40))
	}
	return &n, nil
}

// maxWhole bounds counts, so that sums of them stay within an int.
const maxWhole = 1_000_000_000

func wholePositive(text string) (*int, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n < 1 || n > maxWhole || n != math.Trunc(n) {
		return nil, fmt.Errorf("%s, want a whole number from 1 to %d", cut(text, 40), maxWhole)
	}
	whole := int(n)
	return &whole, nil
}
