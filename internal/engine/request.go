package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"unicode/utf8"
)

// Request describes a chat completion request the way lmx sends it: one user
// message, whose first line is a nonce that no prefix cache has seen.
//
// The zero value of an optional field means that it is not sent.
type Request struct {
	Model  string // Required.
	Prompt string // Required; the text behind the nonce line.
	// MaxTokens caps the output. Required, at least 1.
	MaxTokens int
	// Temperature is always sent unless it is in Dropped.
	Temperature float64
	// OneAnswer asks for one JSON answer instead of a stream.
	OneAnswer bool

	TopP      *float64
	Seed      *int64
	MinTokens *int
	IgnoreEOS *bool
	// Extra holds further fields of the body, as --extra-body gives them. See
	// [ParseExtraBody].
	Extra map[string]json.RawMessage

	// ContinuousUsage asks for a token count on every event of the stream.
	ContinuousUsage bool
	// Renamed replaces field names and Dropped leaves fields out, after the
	// server refused them. Both come from [Negotiate]. Fields are named by
	// their place, "stream_options.include_usage" for one inside another.
	Renamed map[string]string
	Dropped []string
}

// fixed are the fields that --extra-body may not set, and what sets them.
var fixed = map[string]string{
	"model":                 "--served-model",
	"messages":              "--prompt or --prompt-file",
	"prompt":                "--prompt or --prompt-file",
	"max_tokens":            "--max-tokens",
	"max_completion_tokens": "--max-tokens",
	"temperature":           "--temperature",
	"stream":                "--no-stream",
	"top_p":                 "--top-p",
	"seed":                  "--seed",
	"min_tokens":            "--min-tokens",
	"ignore_eos":            "--ignore-eos",
}

// ParseExtraBody reads the JSON object of --extra-body. Fields that have an
// option of their own are refused, and so is "n": every answer beyond the first
// would be tokens that no formula here counts.
func ParseExtraBody(text string) (map[string]json.RawMessage, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("--extra-body is not UTF-8")
	}
	var fields map[string]any
	if err := json.Unmarshal([]byte(text), &fields); err != nil || fields == nil {
		return nil, fmt.Errorf("--extra-body %s is not a JSON object", quote(text))
	}
	fields = nil
	if err := decodeNumbers([]byte(text), &fields); err != nil {
		return nil, fmt.Errorf("--extra-body: %w", err)
	}
	extra := make(map[string]json.RawMessage, len(fields))
	for _, name := range sortedKeys(fields) {
		if option, has := fixed[name]; has {
			return nil, fmt.Errorf("--extra-body sets %s: use %s", quote(name), option)
		}
		if name == "n" && wholeNumber(fields[name]) != 1 {
			return nil, errors.New(`--extra-body sets "n": only one answer a request is measured`)
		}
		raw, err := json.Marshal(fields[name])
		if err != nil {
			return nil, fmt.Errorf("--extra-body: %w", err)
		}
		extra[name] = raw
	}
	return extra, nil
}

// Check reports what makes the request unusable before any server has seen it.
func (r Request) Check() error {
	switch {
	case r.Model == "":
		return errors.New("request names no model")
	case r.Prompt == "":
		return errors.New("request has no prompt")
	case !utf8.ValidString(r.Prompt):
		return errors.New("prompt is not UTF-8")
	case !utf8.ValidString(r.Model):
		return errors.New("model name is not UTF-8")
	case r.MaxTokens < 1:
		return fmt.Errorf("max_tokens is %d: it must be at least 1", r.MaxTokens)
	case !finite(r.Temperature) || r.TopP != nil && !finite(*r.TopP):
		return errors.New("temperature and top_p must be numbers")
	}
	return nil
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// fields are the members of the body, without messages.
func (r Request) fields() map[string]any {
	f := map[string]any{
		"model":       r.Model,
		"max_tokens":  r.MaxTokens,
		"temperature": r.Temperature,
		"stream":      !r.OneAnswer,
	}
	if !r.OneAnswer {
		options := map[string]any{"include_usage": true}
		if r.ContinuousUsage {
			options["continuous_usage_stats"] = true
		}
		f["stream_options"] = options
	}
	if r.TopP != nil {
		f["top_p"] = *r.TopP
	}
	if r.Seed != nil {
		f["seed"] = *r.Seed
	}
	if r.MinTokens != nil {
		f["min_tokens"] = *r.MinTokens
	}
	if r.IgnoreEOS != nil {
		f["ignore_eos"] = *r.IgnoreEOS
	}
	for name, raw := range r.Extra {
		merge(f, name, raw)
	}
	return r.negotiated(f)
}

// merge sets a field; an object is merged into one that is there already, so
// that stream_options can be added to.
func merge(f map[string]any, name string, raw json.RawMessage) {
	there, _ := f[name].(map[string]any)
	var added map[string]any
	if there == nil || decodeNumbers(raw, &added) != nil || added == nil {
		f[name] = raw
		return
	}
	maps.Copy(there, added)
}

// negotiated applies what the server wanted changed.
func (r Request) negotiated(f map[string]any) map[string]any {
	for _, place := range r.Dropped {
		outer, inner, nested := cutPlace(place)
		if !nested {
			delete(f, outer)
			continue
		}
		if object, ok := f[outer].(map[string]any); ok {
			delete(object, inner)
			if len(object) == 0 {
				delete(f, outer)
			}
		}
	}
	for from, to := range r.Renamed {
		if value, ok := f[from]; ok {
			delete(f, from)
			f[to] = value
		}
	}
	return f
}

// drop and rename return a request with one more change.
func (r Request) drop(place string) Request {
	r.Dropped = append(slices.Clone(r.Dropped), place)
	return r
}

func (r Request) rename(from, to string) Request {
	r.Renamed = maps.Clone(r.Renamed)
	if r.Renamed == nil {
		r.Renamed = map[string]string{}
	}
	r.Renamed[from] = to
	return r
}
