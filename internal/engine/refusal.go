package engine

import (
	"regexp"
	"strings"
)

// maxMessage bounds what is searched of a server's error text, in bytes.
const maxMessage = 16 << 10

// refusal is what a server says of a body that it does not take.
type refusal struct {
	message string
	// places are the fields it names in a form made for programs, as
	// "stream_options.include_usage".
	places []string
}

// parseRefusal reads the error of a body, in the forms that servers use:
// OpenAI's {"error":{"message","param"}}, FastAPI's {"detail":[{"loc","msg"}]},
// a bare {"message"} or {"error":"…"}.
func parseRefusal(body []byte) refusal {
	fields := object(body[:min(len(body), maxBody)])
	var r refusal
	if fields == nil {
		return r
	}
	switch e := fields["error"].(type) {
	case string:
		r.message = e
	case map[string]any:
		r.message = text(e, "message")
		r.add(text(e, "param"))
	}
	switch d := fields["detail"].(type) {
	case string:
		r.message = either(r.message, d)
	case []any:
		for _, item := range d {
			r.addDetail(item)
		}
	}
	r.message = either(r.message, text(fields, "message"))
	r.add(text(fields, "param"))
	return r
}

// addDetail takes one of FastAPI's details.
func (r *refusal) addDetail(item any) {
	detail, _ := item.(map[string]any)
	r.message = either(r.message, text(detail, "msg"))
	location, _ := detail["loc"].([]any)
	var keys []string
	for _, key := range location {
		if name, ok := key.(string); ok {
			keys = append(keys, name)
		}
	}
	r.add(strings.Join(keys, "."))
}

// add keeps a place, without the "body." some servers put before it.
func (r *refusal) add(place string) {
	place = strings.TrimPrefix(place, "body.")
	if place != "" && place != "body" {
		r.places = append(r.places, place)
	}
}

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// errorMessage is what a body says of an error, or "".
func errorMessage(body []byte) string { return parseRefusal(body).message }

// A field's name inside a sentence, or a path of names: between quotes, where it
// can be any word, and bare, where it must be one that no sentence uses.
var (
	quotedWord = regexp.MustCompile("['\"`‘“]([A-Za-z_][A-Za-z0-9_.]*)['\"`’”]")
	bareWord   = regexp.MustCompile(`()\b(?:[A-Za-z0-9]+[_.][A-Za-z0-9_.]*[A-Za-z0-9]|temperature|seed)\b`)
)

// names returns the first of the candidates that the refusal names, or "". A
// place made for programs is believed before a sentence. Candidates inside an
// object come as "outer.inner" and are found by either form.
func (r refusal) names(candidates []string) string {
	for _, place := range r.places {
		if found := match(place, candidates); found != "" {
			return found
		}
	}
	message := r.message[:min(len(r.message), maxMessage)]
	// Validators repeat the whole body behind this word.
	message, _, _ = strings.Cut(message, "'input':")
	for _, words := range []*regexp.Regexp{quotedWord, bareWord} {
		for _, m := range words.FindAllStringSubmatch(message, -1) {
			if found := match(strings.TrimPrefix(either(m[1], m[0]), "body."), candidates); found != "" {
				return found
			}
		}
	}
	return ""
}

// match finds a candidate by its whole place, by the name of an inner field, or
// by an outer field that the place lies in, in this order.
func match(place string, candidates []string) string {
	plain := plainKey(place)
	for _, c := range candidates {
		if plainKey(c) == plain {
			return c
		}
	}
	for _, c := range candidates {
		if _, inner, nested := cutPlace(c); nested && plainKey(inner) == plain {
			return c
		}
	}
	if outer, _, nested := cutPlace(place); nested {
		return match(outer, candidates)
	}
	return ""
}
