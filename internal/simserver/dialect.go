package simserver

// dialect holds the fixed pieces of a flavour's stream events. An event is
//
//	pre  choice  post  [usage]  [extra]  ,"sim":{"sent_unix_ns":<19 digits>}}
//
// where pre and post carry the stream's id, time and model.
type dialect struct {
	// role opens a chat; absent in text completions.
	role string
	// open and end enclose the text of an event without finish reason.
	open, end string
	// closeA reason closeB close the event that carries the finish reason.
	closeA, closeB string
	// bareFinish is the event with the finish reason alone: bareA reason bareB.
	bareA, bareB string
	// finishWithText puts the finish reason on the last content event.
	finishWithText bool
}

var vllmChat = dialect{
	role:           `{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}`,
	open:           `{"index":0,"delta":{"content":"`,
	end:            `"},"logprobs":null,"finish_reason":null,"token_ids":null}`,
	closeA:         `"},"logprobs":null,"finish_reason":"`,
	closeB:         `","stop_reason":null,"token_ids":null}`,
	bareA:          `{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"`,
	bareB:          `","stop_reason":null,"token_ids":null}`,
	finishWithText: true,
}

var vllmText = dialect{
	open:           `{"index":0,"text":"`,
	end:            `","logprobs":null,"finish_reason":null,"stop_reason":null,"prompt_token_ids":null,"token_ids":null}`,
	closeA:         `","logprobs":null,"finish_reason":"`,
	closeB:         `","stop_reason":null,"prompt_token_ids":null,"token_ids":null}`,
	bareA:          `{"index":0,"text":"","logprobs":null,"finish_reason":"`,
	bareB:          `","stop_reason":null,"prompt_token_ids":null,"token_ids":null}`,
	finishWithText: true,
}

var llamaChat = dialect{
	role:  `{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}`,
	open:  `{"finish_reason":null,"index":0,"delta":{"content":"`,
	end:   `"}}`,
	bareA: `{"finish_reason":"`,
	bareB: `","index":0,"delta":{}}`,
}

var llamaText = dialect{
	open:  `{"text":"`,
	end:   `","index":0,"logprobs":null,"finish_reason":null}`,
	bareA: `{"text":"","index":0,"logprobs":null,"finish_reason":"`,
	bareB: `"}`,
}

// dialectFor chooses by flavour and endpoint.
func dialectFor(f Flavor, chat bool) dialect {
	switch {
	case f == LlamaCPP && chat:
		return llamaChat
	case f == LlamaCPP:
		return llamaText
	case chat:
		return vllmChat
	default:
		return vllmText
	}
}

// channel wraps text in another delta field than content.
type channel struct {
	open, shut string
}

// The channels a delta may use besides content. The text stands between.
var (
	reasoningChannel        = channel{`"reasoning":"`, `"`}
	reasoningContentChannel = channel{`"reasoning_content":"`, `"`}
	refusalChannel          = channel{`"refusal":"`, `"`}
	toolCallsChannel        = channel{`"tool_calls":[{"index":0,"id":"call_0","type":"function","function":{"name":"note","arguments":"`, `"}}]`}
)
