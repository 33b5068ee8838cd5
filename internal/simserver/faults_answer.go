package simserver

import (
	"fmt"
	"strings"
)

// answerFaults answer with something other than a stream.
func answerFaults() []Fault {
	return []Fault{
		{"http_401", "status 401, as for a wrong key", plan{answer: func(s *Server, _ armed) answer { return s.unauthorized() }}},
		statusFault("http_404", 404, "NotFoundError", "The model does not exist."),
		{"http_429", "status 429 with Retry-After: 2", plan{answer: func(s *Server, _ armed) answer {
			a := s.refuse(&refusal{status: 429, class: "RateLimitError", message: "Too many requests."})
			a.headers = []string{"retry-after: 2"}
			return a
		}}},
		statusFault("http_500", 500, "InternalServerError", "EngineCore encountered an issue."),
		statusFault("http_503", 503, "ServiceUnavailableError", "Loading model"),
		{"redirect", "status 307 to another path", plan{answer: func(s *Server, _ armed) answer {
			return answer{status: 307, headers: []string{"location: " + s.URL() + "/moved/v1/chat/completions"}}
		}}},
		{"html_200", "status 200 with a page of HTML, as a proxy's login does", plan{answer: func(*Server, armed) answer {
			return textAnswer("text/html; charset=utf-8", "<!DOCTYPE html><html><body><h1>Sign in</h1></body></html>\n")
		}}},
		{"json_error_200", "status 200 whose whole body is a JSON error object", plan{answer: func(s *Server, _ armed) answer {
			a := s.refuse(engineDeath())
			a.status = 200
			return a
		}}},
		{"json_body_200", "a whole JSON completion although a stream was asked for", plan{prepare: func(st *stream) { st.streaming = false }}},
		{"empty_200", "status 200, event-stream, and no body", plan{answer: func(*Server, armed) answer {
			return textAnswer("text/event-stream; charset=utf-8", "")
		}}},
		{"slow_headers", "the response head comes late (300 ms, or the argument)", plan{late: true}},
		{"hang_accept", "the request is read and never answered; the connection stays open", plan{mute: true}},
		rejectFault("stream_options"),
		rejectFault("max_tokens"),
		rejectFault("max_completion_tokens"),
	}
}

// engineDeath is what vLLM says once its engine process is gone.
func engineDeath() *refusal {
	return &refusal{status: 500, class: "InternalServerError", message: "EngineCore encountered an issue. See stack trace (above) for the root cause."}
}

func statusFault(name string, status int, class, message string) Fault {
	return Fault{name, fmt.Sprintf("status %d with a JSON error", status), plan{
		answer: func(s *Server, _ armed) answer {
			return s.refuse(&refusal{status: status, class: class, message: message})
		},
	}}
}

// rejectFault refuses a body that has a field, naming it as servers do.
func rejectFault(field string) Fault {
	return Fault{"reject_" + field, "status 400 for a body with " + field + "; without it all is well", plan{refuses: field}}
}

// rejection is the answer of a rejectFault, or nil if the body lacks the field.
func rejection(field string, body []byte) *refusal {
	if !strings.Contains(string(body), `"`+field+`"`) {
		return nil
	}
	advice := ""
	switch field {
	case "max_tokens":
		advice = " Use 'max_completion_tokens' instead."
	case "max_completion_tokens":
		advice = " Use 'max_tokens' instead."
	}
	return &refusal{
		status: 400, class: "invalid_request_error", param: field,
		message: fmt.Sprintf("Unsupported parameter: '%s' is not supported with this model.%s", field, advice),
	}
}
