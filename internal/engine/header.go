package engine

// Header is one line of a request's header section.
type Header struct{ Name, Value string }

// Headers returns the lines every request to the target carries besides Host
// and Content-Length. They are lmx's, plus the refusal of content codings: a
// coded stream arrives in the coder's blocks and not token by token.
func (t Target) Headers() []Header {
	lines := []Header{
		{"Content-Type", "application/json"},
		{"Accept-Encoding", "identity"},
	}
	if t.Key != "" {
		lines = append(lines, Header{"Authorization", "Bearer " + string(t.Key)})
	}
	return lines
}
