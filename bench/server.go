package bench

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"lmxbench/bench/report"
	"lmxbench/internal/engine"
)

// server is what was learned of the server before the first batch.
type server struct {
	info         engine.Info
	can          engine.Capabilities
	askedFor     engine.Request // as negotiated
	quantization engine.QuantizationResolution
}

// ask probes the server and settles with it how a request looks.
func ask(ctx context.Context, cfg *Config) (*server, error) {
	cfg.Observer.Stage(Stage{Name: "probe", Started: time.Now()})
	info, err := engine.Probe(ctx, cfg.Target, engine.Wanted{Served: cfg.Plan.ServedModel, HFID: cfg.Plan.HFID})
	if err != nil {
		return nil, err
	}
	plan := cfg.rungPlan(cfg.Rungs[0])
	s := &server{info: info, quantization: info.Quantization(cfg.Plan.Quantization)}
	if info.Simulated && cfg.Plan.Simulated == "" {
		cfg.Plan.Simulated = "unnamed"
	}
	for _, text := range s.contradictions(&cfg.Plan) {
		cfg.Observer.Note(text)
	}
	s.askedFor = engine.Request{
		Model: info.Chosen.ID, Prompt: plan.Prompt, MaxTokens: plan.MaxTokens, Temperature: plan.Temperature,
		OneAnswer: !plan.Stream, TopP: plan.TopP, Seed: plan.Seed, MinTokens: plan.MinTokens, IgnoreEOS: plan.IgnoreEOS,
		Extra: cfg.Extra,
	}
	patient := cfg.Target
	patient.Timeout, patient.Silence = cfg.Timeout, cfg.StallTimeout // a first request may load or compile the model
	s.can, err = engine.Negotiate(ctx, patient, s.askedFor)
	var fault *engine.Error
	if errors.As(err, &fault) && slices.Contains(begun, fault.Class) {
		// The run will meet the same and count it; that says more than giving up.
		cfg.Observer.Note("the first small request failed: " + fault.Problem)
		s.can.Request = s.askedFor
	} else if err != nil {
		return nil, err
	}
	s.askedFor = s.can.Request
	for _, a := range s.adaptations() {
		cfg.Observer.Note("the server made us change the request: " + a)
	}
	return s, nil
}

// begun are the faults of an answer that the server had begun to give.
var begun = []engine.Class{engine.StreamFailed, engine.ConnectionLost, engine.Stalled}

// contradictions are where the server says other things than the user.
func (s *server) contradictions(p *report.Plan) []string {
	var list []string
	if kind := string(s.info.Kind); kind != "" && p.Engine != "" && p.Engine != kind {
		list = append(list, fmt.Sprintf("the server says it is %s, the command line says %s: the result carries %s", kind, p.Engine, p.Engine))
	}
	for _, m := range s.quantization.Mismatches {
		list = append(list, fmt.Sprintf("quantization is %s by %s and %s by %s: check --quantization",
			m.Left, sourceWords[m.LeftSource], m.Right, sourceWords[m.RightSource]))
	}
	return list
}

var sourceWords = map[string]string{"filename": "the model's file name", "v1_models": "the model list", "cli": "the command line"}

// request is what each request of a plan asks for.
func (s *server) request(p *report.Plan) engine.Request {
	r := s.askedFor
	r.MaxTokens, r.MinTokens = p.MaxTokens, p.MinTokens
	return r
}

// adaptations lists what was dropped from or renamed in the request.
func (s *server) adaptations() []string {
	var list []string
	for _, a := range s.can.Alterations {
		if a.RenamedTo != "" {
			list = append(list, fmt.Sprintf("renamed %s to %s", a.Field, a.RenamedTo))
		} else {
			list = append(list, "dropped "+a.Field)
		}
	}
	return list
}

// complete fills the plan with what only the server could tell.
func (s *server) complete(p *report.Plan) {
	p.ServedModel, p.ServedModelSource = s.info.Chosen.ID, s.info.Source
	if p.ServedModel == "" {
		p.ServedModel = s.info.HFID
	}
	if p.HFID == "" {
		p.HFID = s.info.HFID
	}
	if p.Engine == "" {
		p.Engine = string(s.info.Kind)
	}
	if p.Quantization == "" {
		p.Quantization = s.quantization.Trusted
	}
	p.Adaptations = s.adaptations()
}

// session is the first line of observations.jsonl, less what the probe request
// adds.
func (s *server) session(cfg *Config, origin time.Time) report.Session {
	out := report.Session{
		OriginUnixNs: origin.UnixNano(), CreatedAt: origin.UTC().Format(time.RFC3339),
		Peer: s.info.Peer, EngineKind: string(s.info.Kind), EngineVersion: s.info.Version,
		ContextLength: s.info.ContextLength, Slots: s.info.Slots, ModelPath: s.info.ModelPath,
		MetricsKind: string(s.info.Metrics),
	}
	if s.quantization.Status != "" {
		if text, err := json.Marshal(s.quantization); err == nil {
			out.Quantization = text
		}
	}
	for _, m := range s.info.Models {
		out.Models = append(out.Models, m.ID)
	}
	return out
}

// tls is the configuration of the measuring connections; nil for plain HTTP.
func (s *server) tls(cfg *Config) *tls.Config {
	if !cfg.Target.Base.TLS() {
		return nil
	}
	c := &tls.Config{}
	if cfg.Target.TLS != nil {
		c = cfg.Target.TLS.Clone()
	}
	c.NextProtos = []string{"http/1.1"}
	if c.ServerName == "" {
		c.ServerName = cfg.Target.Base.Host()
	}
	return c
}
