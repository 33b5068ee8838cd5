package simserver

import (
	"bytes"
	"cmp"
	"crypto/subtle"
	"strings"
)

// side answers everything that is not a completion; ok is false for paths it
// does not know.
func (s *Server) side(method, path string) (a answer, ok bool) {
	switch path {
	case "/health", "/ping":
		if s.cfg.Profile.Flavor == LlamaCPP {
			return jsonAnswer(200, map[string]string{"status": "ok"}), true
		}
		return answer{status: 200}, true
	case "/v1/health":
		return jsonAnswer(200, map[string]string{"status": "ok"}), s.cfg.Profile.Flavor == LlamaCPP
	case "/v1/models", "/models":
		return s.models(), path == "/v1/models" || s.cfg.Profile.Flavor == LlamaCPP
	case "/version":
		return jsonAnswer(200, map[string]any{"version": s.cfg.Profile.Version, "simulated": true}), s.cfg.Profile.Flavor == VLLM
	case "/metrics":
		const kind = "text/plain; version=0.0.4; charset=utf-8"
		if s.cfg.Profile.Flavor == LlamaCPP {
			return textAnswer(kind, s.llamaMetrics()), true
		}
		return textAnswer(kind, s.vllmMetrics()), true
	case "/props":
		return s.props(), s.cfg.Profile.Flavor == LlamaCPP
	case "/slots":
		return s.slots(), s.cfg.Profile.Flavor == LlamaCPP
	case "/sim/stats":
		return jsonAnswer(200, s.Stats()), true
	case "/sim/faults":
		return jsonAnswer(200, Faults()), true
	case "/sim/records":
		var b bytes.Buffer
		if err := s.records.writeTo(&b); err != nil {
			return answer{status: 500, kind: "text/plain", body: []byte(err.Error())}, true
		}
		return answer{status: 200, kind: "application/x-ndjson", body: b.Bytes()}, true
	case "/sim/reset":
		if method != "POST" {
			return s.wrongMethod(), true
		}
		s.Reset()
		return jsonAnswer(200, map[string]bool{"reset": true}), true
	}
	return answer{}, false
}

// authorized checks the bearer key on the paths that engines guard.
func (s *Server) authorized(path string, header []byte) bool {
	if s.cfg.APIKey == "" {
		return true
	}
	guarded := strings.HasPrefix(path, "/v1/")
	if s.cfg.Profile.Flavor == LlamaCPP {
		guarded = path != "/health" && path != "/v1/health" && path != "/v1/models" && path != "/models" && !strings.HasPrefix(path, "/sim/")
	}
	if !guarded {
		return true
	}
	key, found := bytes.CutPrefix(header, []byte("Bearer "))
	return found && subtle.ConstantTimeCompare(key, []byte(s.cfg.APIKey)) == 1
}

func (s *Server) models() answer {
	p := &s.cfg.Profile
	if p.Flavor == LlamaCPP {
		return jsonAnswer(200, map[string]any{"object": "list", "data": []any{map[string]any{
			"id": p.Model, "object": "model", "created": s.created, "owned_by": "llamacpp", "simulated": true,
			"meta": map[string]any{"n_ctx_train": p.MaxModelLen, "n_ctx": p.MaxModelLen},
		}}})
	}
	return jsonAnswer(200, map[string]any{"object": "list", "data": []any{map[string]any{
		"id": p.Model, "object": "model", "created": s.created, "owned_by": "vllm",
		"root": p.Root, "parent": nil, "max_model_len": p.MaxModelLen, "simulated": true,
	}}})
}

// props is llama.cpp's description of itself. Each slot has the whole context
// length to itself.
func (s *Server) props() answer {
	p := &s.cfg.Profile
	return jsonAnswer(200, map[string]any{
		"default_generation_settings": map[string]any{"n_ctx": p.MaxModelLen},
		"total_slots":                 max(p.Slots, 1),
		"model_path":                  cmp.Or(p.File, p.Root),
		"model_alias":                 p.Model,
		"build_info":                  p.Version,
		"simulated":                   true,
	})
}

func (s *Server) slots() answer {
	n := max(s.cfg.Profile.Slots, 1)
	busy := int(s.metrics.running.Load())
	list := make([]any, n)
	for i := range list {
		list[i] = map[string]any{"id": i, "n_ctx": s.cfg.Profile.MaxModelLen, "is_processing": i < busy}
	}
	return jsonAnswer(200, list)
}
