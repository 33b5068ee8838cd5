package sse

// usage reads the value of "usage" into u, whose old contents are dropped.
func (s *scanner) usage(u *Usage) {
	*u = Usage{}
	c := s.peek()
	start := s.pos
	if c != '{' {
		if raw := s.value(); string(raw) != "null" {
			u.Raw, u.Invalid = raw, true
		}
		return
	}
	var prompt, input, completion, output, promptCached, inputCached []byte
	for s.object(); s.member(); {
		switch string(s.key) {
		case "prompt_tokens":
			prompt = s.value()
		case "input_tokens":
			input = s.value()
		case "completion_tokens":
			completion = s.value()
		case "output_tokens":
			output = s.value()
		case "prompt_tokens_details":
			promptCached = s.pick("cached_tokens")
		case "input_tokens_details":
			inputCached = s.pick("cached_tokens")
		default:
			s.value()
		}
	}
	if s.fault != nil {
		return
	}
	u.Raw = s.data[start:s.pos]
	u.Prompt = u.count(prompt, input)
	u.Completion = u.count(completion, output)
	u.Cached = u.count(promptCached, inputCached)
}

// count reads the first of two values that is there and not null. A value that
// is no count makes the usage invalid.
func (u *Usage) count(first, second []byte) Optional[int64] {
	raw := first
	if isNull(raw) {
		raw = second
	}
	if isNull(raw) {
		return Optional[int64]{}
	}
	n, ok := parseCount(raw)
	if !ok {
		u.Invalid = true
		return Optional[int64]{}
	}
	return known(n)
}

// isNull reports whether a value is missing or null.
func isNull(raw []byte) bool { return len(raw) == 0 || raw[0] == 'n' }
