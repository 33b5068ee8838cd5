package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// Events are the token events as columns of equal length. T is ns from the
// origin; Lag is ns between the kernel's stamp and the read, −1 where a read
// carried no stamp; Bytes is the size of the event's data; Tokens is how many
// tokens the event brought, where the server counts as it goes.
type Events struct {
	T      []int64 `json:"t"`
	Lag    []int64 `json:"lag"`
	Bytes  []int32 `json:"bytes"`
	Tokens []int32 `json:"tokens,omitempty"`
}

// Len is the number of token events. It is 0 for a nil receiver.
func (e *Events) Len() int {
	if e == nil {
		return 0
	}
	return len(e.T)
}

// check reports columns that cannot belong to one stream.
func (e *Events) check() error {
	n := len(e.T)
	if len(e.Lag) != n || len(e.Bytes) != n || (len(e.Tokens) != 0 && len(e.Tokens) != n) {
		return fmt.Errorf("events: columns of unequal length: t %d, lag %d, bytes %d, tokens %d",
			n, len(e.Lag), len(e.Bytes), len(e.Tokens))
	}
	for i, t := range e.T {
		if t <= 0 || t > maxStamp {
			return fmt.Errorf("events: t[%d] is %d, not a moment of this run", i, t)
		}
	}
	for i, n := range e.Tokens {
		if n < 0 {
			return fmt.Errorf("events: tokens[%d] is %d", i, n)
		}
	}
	return nil
}

// appendJSON appends the columns as JSON. It allocates only to grow dst.
func (e *Events) appendJSON(dst []byte) []byte {
	dst = appendColumn(append(dst, `{"t":`...), e.T)
	dst = appendColumn(append(dst, `,"lag":`...), e.Lag)
	dst = appendColumn(append(dst, `,"bytes":`...), e.Bytes)
	if len(e.Tokens) > 0 {
		dst = appendColumn(append(dst, `,"tokens":`...), e.Tokens)
	}
	return append(dst, '}')
}

func appendColumn[T int32 | int64](dst []byte, column []T) []byte {
	dst = append(dst, '[')
	for i, v := range column {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(v), 10)
	}
	return append(dst, ']')
}

// MarshalJSON writes the columns in the order t, lag, bytes, tokens.
func (e *Events) MarshalJSON() ([]byte, error) { return e.appendJSON(nil), nil }

// UnmarshalJSON reads the columns. Unknown and repeated columns, numbers that
// are not integers, and columns of unequal length are errors. Reflection would
// take most of the time of reading a run of a few million events.
func (e *Events) UnmarshalJSON(data []byte) error {
	if bytes.Equal(data, []byte("null")) {
		return nil
	}
	rest, err := e.parse(data)
	if err == nil && len(rest) > 0 {
		err = errors.New("events: text after the object")
	}
	return err
}

// parse reads one object of columns from the start of data and returns what
// follows it.
func (e *Events) parse(data []byte) ([]byte, error) {
	var seen [4]bool
	data, ok := skip(data, '{')
	if !ok {
		return nil, errors.New("events: not an object")
	}
	if rest, ok := skip(data, '}'); ok {
		return rest, e.check()
	}
	for {
		name, rest, err := columnName(data)
		if err != nil {
			return nil, err
		}
		if seen[name] {
			return nil, fmt.Errorf("events: column %q twice", columns[name])
		}
		seen[name] = true
		if data, err = e.parseColumn(name, rest); err != nil {
			return nil, fmt.Errorf("events: column %q: %w", columns[name], err)
		}
		if rest, ok := skip(data, ','); ok {
			data = rest
			continue
		}
		if rest, ok := skip(data, '}'); ok {
			return rest, e.check()
		}
		return nil, errors.New("events: object not closed")
	}
}

// columns are the keys of an events object.
var columns = [...]string{"t", "lag", "bytes", "tokens"}

// columnName reads `"name":` and returns the name's place in columns.
func columnName(data []byte) (int, []byte, error) {
	data, ok := skip(data, '"')
	end := bytes.IndexByte(data, '"')
	if !ok || end < 0 {
		return 0, nil, errors.New("events: a column name is missing")
	}
	rest, ok := skip(data[end+1:], ':')
	if !ok {
		return 0, nil, errors.New("events: a colon is missing")
	}
	for i, c := range columns {
		if string(data[:end]) == c {
			return i, rest, nil
		}
	}
	return 0, nil, fmt.Errorf("events: unknown column %q", data[:end])
}

func (e *Events) parseColumn(name int, data []byte) (rest []byte, err error) {
	switch name {
	case 0:
		e.T, rest, err = parseColumn[int64](data)
	case 1:
		e.Lag, rest, err = parseColumn[int64](data)
	case 2:
		e.Bytes, rest, err = parseColumn[int32](data)
	default:
		e.Tokens, rest, err = parseColumn[int32](data)
	}
	return rest, err
}

func parseColumn[T int32 | int64](data []byte) ([]T, []byte, error) {
	data, ok := skip(data, '[')
	if !ok {
		return nil, nil, errors.New("not an array")
	}
	if rest, ok := skip(data, ']'); ok {
		return []T{}, rest, nil
	}
	end := bytes.IndexByte(data, ']')
	if end < 0 {
		return nil, nil, errors.New("array not closed")
	}
	column := make([]T, 0, bytes.Count(data[:end], []byte{','})+1)
	for {
		v, rest, err := parseInt(data)
		if err != nil {
			return nil, nil, fmt.Errorf("item %d: %w", len(column), err)
		}
		if int64(T(v)) != v {
			return nil, nil, fmt.Errorf("item %d: %d is out of range", len(column), v)
		}
		column = append(column, T(v))
		if data, ok = skip(rest, ','); ok {
			continue
		}
		if data, ok = skip(rest, ']'); ok {
			return column, data, nil
		}
		return nil, nil, fmt.Errorf("item %d: no comma and no end after it", len(column)-1)
	}
}

// parseInt reads a JSON integer: no plus sign, no leading zero, no fraction.
func parseInt(data []byte) (int64, []byte, error) {
	data = trimLeft(data)
	i, negative := 0, false
	if len(data) > 0 && data[0] == '-' {
		i, negative = 1, true
	}
	first, v := i, int64(0)
	for ; i < len(data) && '0' <= data[i] && data[i] <= '9'; i++ {
		d := int64(data[i] - '0')
		if v > (math.MaxInt64-d)/10 {
			return 0, nil, errors.New("integer too large")
		}
		v = v*10 + d
	}
	if i == first || (data[first] == '0' && i > first+1) {
		return 0, nil, errors.New("not an integer")
	}
	if negative {
		v = -v
	}
	return v, data[i:], nil
}

// skip consumes white space and then c, if c is what comes.
func skip(data []byte, c byte) ([]byte, bool) {
	if data = trimLeft(data); len(data) > 0 && data[0] == c {
		return data[1:], true
	}
	return data, false
}

func trimLeft(data []byte) []byte {
	for len(data) > 0 && (data[0] == ' ' || data[0] == '\t' || data[0] == '\n' || data[0] == '\r') {
		data = data[1:]
	}
	return data
}

var (
	_ json.Marshaler   = (*Events)(nil)
	_ json.Unmarshaler = (*Events)(nil)
)
