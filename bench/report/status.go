package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"time"
)

// StatusLine is one event as lmx prints it with --json-status: a JSON object
// with sorted keys and a newline. event and time (UTC, whole seconds) are
// always there; other fields that are nil or an empty string are dropped. The
// names event and time cannot be used for fields.
func StatusLine(event string, at time.Time, fields map[string]any) ([]byte, error) {
	line := maps.Clone(fields)
	maps.DeleteFunc(line, func(_ string, v any) bool { return empty(v) })
	if line == nil {
		line = make(map[string]any)
	}
	line["event"] = event
	line["time"] = at.UTC().Format(time.RFC3339)
	data, err := json.Marshal(line)
	if err != nil {
		return nil, fmt.Errorf("encode status %s: %w", event, err)
	}
	return append(data, '\n'), nil
}

// empty reports null and the empty string, also behind a pointer.
func empty(v any) bool {
	if v == nil {
		return true
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface:
		return r.IsNil()
	case reflect.String:
		return r.Len() == 0
	default:
		return false
	}
}
