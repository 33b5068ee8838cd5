package sse

// delta holds the fields of a delta or message as they stand in the text; nil
// where missing.
type delta struct {
	object bool // there was one, and it was an object

	content, refusal            []byte
	reasoning, reasoningContent []byte
	toolCalls, functionCall     []byte
}

// delta reads the value of "delta" or "message" into m.
func (s *scanner) delta(m *delta) {
	*m = delta{}
	if s.peek() != '{' {
		s.value()
		return
	}
	m.object = true
	for s.object(); s.member(); {
		switch string(s.key) {
		case "content":
			m.content = s.value()
		case "reasoning":
			m.reasoning = s.value()
		case "reasoning_content":
			m.reasoningContent = s.value()
		case "refusal":
			m.refusal = s.value()
		case "tool_calls":
			m.toolCalls = s.value()
		case "function_call":
			m.functionCall = s.value()
		default:
			s.value()
		}
	}
}

// addDelta adds the text of one choice to d.text and its channels to c. It
// returns how far reasoning and content reach in d.text. text is the text of a
// text completion.
func (d *Decoder) addDelta(c *Chunk, m *delta, text []byte) int {
	if isText(m.reasoning) {
		d.add(c, Reasoning, m.reasoning)
	} else {
		d.add(c, Reasoning, m.reasoningContent)
	}
	before := len(d.text)
	d.addContent(c, m.content)
	if len(d.text) == before {
		d.add(c, Content, text)
	}
	end := len(d.text)
	d.add(c, Refusal, m.refusal)
	d.addCalls(c, m.toolCalls)
	d.addFunction(c, m.functionCall)
	return end
}

// add adds the string raw to a channel; anything else is no token.
func (d *Decoder) add(c *Chunk, channel Channels, raw []byte) {
	if isText(raw) {
		d.text = appendString(d.text, raw)
		c.Channels |= channel
	}
}

// addContent adds a string, or the text of an array of parts.
func (d *Decoder) addContent(c *Chunk, raw []byte) {
	if len(raw) == 0 || raw[0] != '[' {
		d.add(c, Content, raw)
		return
	}
	s := scanner{data: raw}
	for s.array(); s.element(); {
		d.add(c, Content, s.pick("text"))
	}
}

// addCalls adds the elements of a tool_calls array.
func (d *Decoder) addCalls(c *Chunk, raw []byte) {
	if len(raw) == 0 || raw[0] != '[' {
		return
	}
	s := scanner{data: raw}
	for s.array(); s.element(); {
		d.addFunction(c, s.pick("function"))
	}
}

// addFunction adds the name and the arguments of a function object.
func (d *Decoder) addFunction(c *Chunk, raw []byte) {
	if len(raw) == 0 || raw[0] != '{' {
		return
	}
	s := scanner{data: raw}
	var name, arguments []byte
	for s.object(); s.member(); {
		switch string(s.key) {
		case "name":
			name = s.value()
		case "arguments":
			arguments = s.value()
		default:
			s.value()
		}
	}
	d.add(c, ToolCall, name)
	d.add(c, ToolCall, arguments)
}

// pick passes one value and returns, if it is an object, its member of that key
// as it stands; nil otherwise.
func (s *scanner) pick(key string) []byte {
	if s.peek() != '{' {
		s.value()
		return nil
	}
	var found []byte
	for s.object(); s.member(); {
		wanted := string(s.key) == key
		if raw := s.value(); wanted {
			found = raw
		}
	}
	return found
}
