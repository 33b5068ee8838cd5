package simserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// answer is one whole HTTP response.
type answer struct {
	status  int
	kind    string // Content-Type, empty for none
	headers []string
	body    []byte
	// hangUp closes the connection afterwards and says so.
	hangUp bool
}

// appendHead appends status line and the headers every response has.
func (s *Server) appendHead(b []byte, status int) []byte {
	b = fmt.Appendf(b, "HTTP/1.1 %d %s\r\ndate: ", status, http.StatusText(status))
	b = time.Now().UTC().AppendFormat(b, http.TimeFormat)
	return append(b, "\r\nserver: lmxbench-sim\r\n"...)
}

// encode renders an answer.
func (s *Server) encode(a answer) []byte {
	b := s.appendHead(nil, a.status)
	b = append(b, "content-length: "...)
	b = strconv.AppendInt(b, int64(len(a.body)), 10)
	b = append(b, "\r\n"...)
	if a.kind != "" {
		b = append(append(append(b, "content-type: "...), a.kind...), "\r\n"...)
	}
	for _, h := range a.headers {
		b = append(append(b, h...), "\r\n"...)
	}
	if a.hangUp {
		b = append(b, "connection: close\r\n"...)
	}
	return append(append(b, "\r\n"...), a.body...)
}

func jsonAnswer(status int, v any) answer {
	body, err := json.Marshal(v)
	if err != nil {
		return answer{status: 500, kind: "text/plain", body: []byte(err.Error())}
	}
	return answer{status: status, kind: "application/json", body: body}
}

// errorBody is the error object of a flavour.
func errorBody(f Flavor, r *refusal) map[string]any {
	if f == LlamaCPP {
		return map[string]any{"error": map[string]any{
			"code": r.status, "message": r.message, "type": llamaErrorType(r.status),
		}}
	}
	var param any
	if r.param != "" {
		param = r.param
	}
	return map[string]any{"error": map[string]any{
		"message": r.message, "type": r.class, "param": param, "code": r.status,
	}}
}

func llamaErrorType(status int) string {
	switch status {
	case 401:
		return "authentication_error"
	case 404:
		return "not_found_error"
	case 503:
		return "unavailable_error"
	case 400:
		return "invalid_request_error"
	default:
		return "server_error"
	}
}

func (s *Server) refuse(r *refusal) answer {
	return jsonAnswer(r.status, errorBody(s.cfg.Profile.Flavor, r))
}

func (s *Server) notFound() answer {
	if s.cfg.Profile.Flavor == LlamaCPP {
		return s.refuse(&refusal{status: 404, message: "File Not Found"})
	}
	return jsonAnswer(404, map[string]string{"detail": "Not Found"})
}

func (s *Server) wrongMethod() answer {
	a := jsonAnswer(405, map[string]string{"detail": "Method Not Allowed"})
	return a
}

func (s *Server) unauthorized() answer {
	if s.cfg.Profile.Flavor == LlamaCPP {
		return s.refuse(&refusal{status: 401, message: "Invalid API Key"})
	}
	return jsonAnswer(401, map[string]string{"error": "Unauthorized"})
}

func textAnswer(kind, body string) answer {
	return answer{status: 200, kind: kind, body: []byte(body)}
}
