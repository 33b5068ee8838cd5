package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Phases of a run.
const (
	PhaseProbe  = "probe"
	PhaseWarmup = "warmup"
	PhaseTimed  = "timed"
)

// Bounds of what a run can hold, far beyond any real one; sums of such values
// do not overflow.
const (
	maxTokens = 1 << 40
	maxStamp  = 1 << 58 // ns, nine years
)

// AppendRequest appends one line of requests.jsonl, newline included.
//
// The events come last: they are most of the line, and reading them is cheap
// when they can be told from the rest without decoding it.
func AppendRequest(dst []byte, r *Request) ([]byte, error) {
	head := *r
	head.Events, head.Usage, head.Timings = nil, storable(r.Usage), storable(r.Timings)
	buf := bytes.NewBuffer(dst)
	encoder := json.NewEncoder(buf)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(&head); err != nil {
		return dst, fmt.Errorf("encode request %d of iteration %d: %w", r.Request, r.Iteration, err)
	}
	dst = buf.Bytes()
	if r.Events == nil {
		return dst, nil
	}
	dst = append(dst[:len(dst)-len("}\n")], eventsKey...)
	return append(r.Events.appendJSON(dst), "}\n"...), nil
}

// storable keeps what a server sent as it is when it is JSON, else as a string:
// a line that cannot be written would cost the run.
func storable(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || json.Valid(raw) {
		return raw
	}
	text, err := json.Marshal(string(raw))
	if err != nil {
		return nil
	}
	return text
}

const eventsKey = `,"events":`

// parseRequest reads one line of requests.jsonl without its newline.
func parseRequest(line []byte) (*Request, error) {
	r, ok := parseSplit(line)
	if !ok {
		r = new(Request)
		if err := decodeStrict(line, r); err != nil {
			return nil, err
		}
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	return r, nil
}

// parseSplit reads a line whose last key is events, as AppendRequest writes it.
// It reports false for any other line, valid or not.
func parseSplit(line []byte) (*Request, bool) {
	at := bytes.LastIndex(line, []byte(eventsKey))
	if at < 0 {
		return nil, false
	}
	events := new(Events)
	rest, err := events.parse(line[at+len(eventsKey):])
	if err != nil || string(rest) != "}" {
		return nil, false
	}
	head := append(append(make([]byte, 0, at+1), line[:at]...), '}')
	r := new(Request)
	if decodeStrict(head, r) != nil || r.Events != nil {
		return nil, false
	}
	r.Events = events
	return r, true
}

// check reports values that no run writes.
func (r *Request) check() error {
	switch {
	case r.Phase != PhaseProbe && r.Phase != PhaseWarmup && r.Phase != PhaseTimed:
		return fmt.Errorf("unknown phase %q", r.Phase)
	case r.Iteration < 1 || r.Request < 1:
		return fmt.Errorf("iteration %d, request %d: both count from 1", r.Iteration, r.Request)
	case !knownOutcome(r.Outcome):
		return fmt.Errorf("unknown outcome %q", r.Outcome)
	}
	for _, n := range []*int64{r.PromptTokens, r.OutputTokens, r.CachedTokens} {
		if n != nil && (*n < 0 || *n > maxTokens) {
			return fmt.Errorf("%d is no token count", *n)
		}
	}
	return r.T.check()
}

func (s *Stamps) check() error {
	for _, t := range [...]int64{
		s.Connect, s.Send, s.FirstByte, s.FirstEvent, s.FirstToken, s.FirstContent,
		s.LastToken, s.Finish, s.End, s.LmxFirst, s.LmxLast,
	} {
		if t < 0 || t > maxStamp {
			return fmt.Errorf("time stamp %d is not of this run", t)
		}
	}
	return nil
}

// ReadRequests reads requests.jsonl. An error names the line; the requests
// before it are returned with it.
func ReadRequests(r io.Reader) ([]Request, error) {
	var requests []Request
	err := eachLine(r, func(line []byte) error {
		request, err := parseRequest(line)
		if err == nil {
			requests = append(requests, *request)
		}
		return err
	})
	return requests, err
}

// decodeStrict decodes exactly one JSON value without unknown keys.
func decodeStrict(data []byte, v any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(v); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return errors.New("JSON is cut off")
		}
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("text after the JSON value")
	}
	return nil
}
