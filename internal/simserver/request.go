package simserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// request is the body of a completion request, as far as the simulation cares.
// Unknown fields are ignored, as engines do.
type request struct {
	Model               string          `json:"model"`
	Messages            []message       `json:"messages"`
	Prompt              json.RawMessage `json:"prompt"`
	MaxTokens           *float64        `json:"max_tokens"`
	MaxCompletionTokens *float64        `json:"max_completion_tokens"`
	NPredict            *float64        `json:"n_predict"`
	MinTokens           *float64        `json:"min_tokens"`
	IgnoreEOS           bool            `json:"ignore_eos"`
	Temperature         *float64        `json:"temperature"`
	TopP                *float64        `json:"top_p"`
	N                   *float64        `json:"n"`
	Seed                *float64        `json:"seed"`
	Stream              bool            `json:"stream"`
	StreamOptions       *streamOptions  `json:"stream_options"`
	TimingsPerToken     bool            `json:"timings_per_token"`
	SimFault            string          `json:"sim_fault"`
}

type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

type streamOptions struct {
	IncludeUsage         bool `json:"include_usage"`
	ContinuousUsageStats bool `json:"continuous_usage_stats"`
}

// refusal is an answer other than 2xx to a request that can't be served.
type refusal struct {
	status         int
	message, class string
	param          string
}

func (r *refusal) Error() string { return r.message }

func badRequest(param, format string, args ...any) *refusal {
	return &refusal{status: 400, class: "BadRequestError", param: param, message: fmt.Sprintf(format, args...)}
}

// parseRequest decodes a body; the error is a *refusal.
func parseRequest(body []byte) (*request, *refusal) {
	var r request
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, badRequest("body", "1 validation error: JSON decode error: %v", err)
	}
	return &r, nil
}

// demand is a validated request: what the scheduler and the encoder need.
type demand struct {
	prompt, limit int
	text          []byte // all prompt text, for the nonce and the seed
	usage         usageMode
	stop          bool // ends by itself, with "stop"
}

// validate turns a request into a demand under the profile's rules.
func (r *request) validate(p *Profile, chat bool) (demand, *refusal) {
	var d demand
	if r.Model != "" && r.Model != p.Model || r.Model == "" && p.Flavor == VLLM {
		if p.Flavor == VLLM {
			return d, &refusal{404, fmt.Sprintf("The model `%s` does not exist.", r.Model), "NotFoundError", "model"}
		}
	}
	if err := r.countPrompt(&d, chat); err != nil {
		return d, err
	}
	if err := r.checkSampling(); err != nil {
		return d, err
	}
	if r.StreamOptions != nil && !r.Stream && p.Flavor == VLLM {
		return d, badRequest("stream_options", "Stream options can only be defined when `stream=True`.")
	}
	if o := r.StreamOptions; o != nil && o.IncludeUsage {
		d.usage = finalUsage
		if o.ContinuousUsageStats {
			d.usage = continuousUsage
		}
	}
	return d, r.bound(&d, p)
}

// bound finds the number of tokens to produce.
func (r *request) bound(d *demand, p *Profile) *refusal {
	limit, name := r.cap()
	floor, err := whole("min_tokens", r.MinTokens, 0)
	if err != nil {
		return err
	}
	room := p.MaxModelLen - d.prompt
	switch {
	case room < 1:
		return badRequest("messages", "This model's maximum context length is %d tokens. However, your request has %d input tokens. Please reduce the length of the input messages.", p.MaxModelLen, d.prompt)
	case limit == nil || p.Flavor == LlamaCPP && *limit < 0:
		d.limit, d.stop = min(uncappedTokens, room), true
		if floor > d.limit {
			d.limit = min(floor, room)
		}
		return nil
	}
	d.limit, err = whole(name, limit, 1)
	if err != nil {
		return err
	}
	if d.limit > room && p.Flavor == VLLM {
		return badRequest(name, "'%s' or 'max_completion_tokens' is too large: %d. This model's maximum context length is %d tokens and your request has %d input tokens (%d > %d - %d). (parameter=%s, value=%d)",
			name, d.limit, p.MaxModelLen, d.prompt, d.limit, p.MaxModelLen, d.prompt, name, d.limit)
	}
	if floor > d.limit {
		return badRequest("min_tokens", "min_tokens must be less than or equal to max_tokens=%d, got %d.", d.limit, floor)
	}
	// llama.cpp cuts at the context instead of refusing.
	d.limit = min(d.limit, room)
	return nil
}

// cap returns the token cap and the name it came by; max_completion_tokens wins.
func (r *request) cap() (*float64, string) {
	switch {
	case r.MaxCompletionTokens != nil:
		return r.MaxCompletionTokens, "max_completion_tokens"
	case r.MaxTokens != nil:
		return r.MaxTokens, "max_tokens"
	default:
		return r.NPredict, "n_predict"
	}
}

// whole checks that a number is an integer of at least low. Missing is 0.
func whole(name string, v *float64, low int) (int, *refusal) {
	if v == nil {
		return 0, nil
	}
	if *v != math.Trunc(*v) || math.Abs(*v) > 1e12 {
		return 0, badRequest(name, "%s must be an integer, got %v.", name, *v)
	}
	if int(*v) < low {
		return 0, badRequest(name, "%s must be at least %d, got %d.", name, low, int(*v))
	}
	return int(*v), nil
}

func (r *request) checkSampling() *refusal {
	switch {
	case r.Temperature != nil && *r.Temperature < 0:
		return badRequest("temperature", "temperature must be non-negative, got %v.", *r.Temperature)
	case r.TopP != nil && (*r.TopP <= 0 || *r.TopP > 1):
		return badRequest("top_p", "top_p must be in (0, 1], got %v.", *r.TopP)
	case r.N != nil && *r.N != 1:
		return badRequest("n", "the simulation serves n=1 only, got %v.", *r.N)
	}
	return nil
}

// countPrompt adds up the prompt's tokens and gathers its text.
func (r *request) countPrompt(d *demand, chat bool) *refusal {
	if !chat {
		text, tokens, err := promptText(r.Prompt)
		if err != nil {
			return err
		}
		d.text, d.prompt = text, max(1, tokens+PromptTokens(len(text)))
		return nil
	}
	if len(r.Messages) == 0 {
		return badRequest("messages", "1 validation error: 'messages' must hold at least one message")
	}
	d.prompt = templateTokens
	for i, m := range r.Messages {
		if m.Role == "" {
			return badRequest("messages", "1 validation error: messages[%d] has no role", i)
		}
		text, err := contentText(m.Content)
		if err != nil {
			return badRequest("messages", "1 validation error: messages[%d]: %v", i, err)
		}
		d.text = append(d.text, text...)
		d.prompt += messageTokens + PromptTokens(len(text))
	}
	return nil
}

// contentText reads a message's content: a string, null, or a list of parts.
func contentText(raw json.RawMessage) (string, error) {
	trimmed := bytes.TrimSpace(raw)
	if len(trimmed) == 0 || string(trimmed) == "null" {
		return "", nil
	}
	if trimmed[0] == '"' {
		var s string
		err := json.Unmarshal(trimmed, &s)
		return s, err
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(trimmed, &parts); err != nil {
		return "", fmt.Errorf("content is neither a string nor a list of parts")
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String(), nil
}

// promptText reads a completion's prompt: a string, a list of one string, or a
// list of token ids, which count as they are.
func promptText(raw json.RawMessage) (text []byte, tokens int, r *refusal) {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []byte(one), 0, nil
	}
	var ids []int
	if json.Unmarshal(raw, &ids) == nil && len(ids) > 0 {
		return nil, len(ids), nil
	}
	var many []string
	if json.Unmarshal(raw, &many) == nil && len(many) == 1 {
		return []byte(many[0]), 0, nil
	}
	return nil, 0, badRequest("prompt", "prompt must be a string, a list of one string or a list of token ids")
}

var nonceMark = []byte("[LocalMaxxing cache-bust nonce: ")

const nonceDigits = 32

// splitNonce returns the nonce of a prompt and the text without its line.
func splitNonce(text []byte) (nonce string, rest []byte) {
	i := bytes.Index(text, nonceMark)
	if i < 0 {
		return "", text
	}
	at := i + len(nonceMark)
	if len(text) < at+nonceDigits+1 || text[at+nonceDigits] != ']' {
		return "", text
	}
	return string(text[at : at+nonceDigits]), text[at+nonceDigits+1:]
}
