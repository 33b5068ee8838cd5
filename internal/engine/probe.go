package engine

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"
)

// sideTimeout bounds each question beside the model list. They are asked at the
// same time, so a server that never answers one of them costs this once.
const sideTimeout = 5 * time.Second

// Info is what a server says of itself. Empty and zero fields mean that it does
// not say.
type Info struct {
	// Peer is the address, host:port, that the connection went to: it tells
	// 127.0.0.1 from ::1 where the base URL says localhost.
	Peer string
	// Kind and Version are the server's. Version is as the server writes it.
	Kind    Kind
	Version string
	// Server is the Server header of the model list's answer.
	Server string
	// Simulated is set where the server says that it only plays an engine, as
	// "lmxbench sim" does: by its Server header, or by "simulated": true in the
	// model's entry.
	Simulated bool

	// Models is the model list, in its order; Chosen the one to measure and
	// Source how it was chosen: SourceExplicit, SourceListed or SourceHFID.
	Models []Model
	Chosen Model
	Source string
	// ListFault says why the model list could not be had, where the user's
	// words were enough to go on without it.
	ListFault error

	// HFID is the Hugging Face repository: the user's word, else a guess from
	// the names the server gives, which HFIDGuessed marks.
	HFID        string
	HFIDGuessed bool

	// ContextLength is in tokens, for one request. ContextSource says where it
	// comes from: "v1_models", "props" or "server_info".
	ContextLength int
	ContextSource string
	// Slots is how many requests the server works on at a time: llama.cpp's
	// slots, SGLang's max_running_requests. vLLM does not say.
	Slots int
	// ModelPath is the model's file or folder on the server.
	ModelPath string

	// Metrics is what the counters at /metrics are named after. It is empty
	// where there are none, and MetricsFault then says why.
	Metrics      Flavour
	MetricsFault error
	// CacheConfig is what vLLM tells of its cache at /metrics: block_size,
	// cache_dtype, enable_prefix_caching, gpu_memory_utilization and others.
	CacheConfig map[string]string
}

// Probe asks a server what it is and which model it serves.
//
// The model list decides: without an answer to it Probe fails with an [*Error],
// and with a [*ModelError] where the model to measure cannot be told. A server
// that has no such list is accepted if the user named the model. All other
// questions may stay unanswered.
func Probe(ctx context.Context, t Target, want Wanted) (Info, error) {
	list, models, err := t.models(ctx)
	info := Info{Peer: list.peer, Server: list.server, Models: models}
	var fault *Error
	switch {
	case err == nil:
	case errors.As(err, &fault) && fault.Class == NotFound && want != (Wanted{}):
		info.ListFault = err
	default:
		return info, err
	}
	info.Chosen, info.Source, err = choose(models, want)
	if err != nil {
		return info, err
	}
	saysSo, _ := info.Chosen.fields["simulated"].(bool)
	info.Simulated = saysSo || strings.HasPrefix(list.server, "lmxbench-sim")
	info.ContextLength = info.Chosen.contextLength()
	if info.ContextLength > 0 {
		info.ContextSource = "v1_models"
	}
	t.askAround(ctx, kindFromList(list, models), &info)
	info.HFID = want.HFID
	if info.HFID == "" {
		info.HFID = guessHFID(info.Chosen.ID, info.Chosen.Root, info.ModelPath)
		info.HFIDGuessed = info.HFID != ""
	}
	if err := ctx.Err(); err != nil {
		return info, (&exchange{target: t, q: listQuestion(), parent: ctx}).fault(err)
	}
	return info, nil
}

// listQuestion asks for the model list.
func listQuestion() question { return question{method: "GET", path: "/v1/models"} }

// models asks for the model list.
func (t Target) models(ctx context.Context) (answer, []Model, error) {
	q := listQuestion()
	a, err := t.ask(ctx, q)
	if err != nil {
		return a, nil, err
	}
	if fault := t.statusFault(q, a); fault != nil {
		return a, nil, fault
	}
	models, ok := parseModels(a.body)
	if !ok {
		return a, nil, t.notOpenAI(q, a, "a model list")
	}
	return a, models, nil
}

// notOpenAI explains an answer with status 2xx that is not what was asked for.
func (t Target) notOpenAI(q question, a answer, wanted string) *Error {
	e := &Error{
		Class: NotOpenAI, Asked: t.asked(q), Status: a.status, Excerpt: excerpt(a.body),
		Advice: "check that --base-url names an OpenAI-compatible server, without anything from /v1 on",
	}
	switch {
	case isHTML(a):
		e.Problem = "the answer is an HTML page and not " + wanted
	case len(a.body) == 0:
		e.Problem = "the answer is empty and not " + wanted
	default:
		e.Problem = "the answer is not " + wanted + saidBy(a)
	}
	return e
}

// finding is what one side question adds to Info. Findings are applied one
// after the other, in the order of the questions.
type finding func(*Info)

// askAround asks the questions that fit the kind, all at once, and waits for
// the answers. A server of unknown kind is asked all of them.
func (t Target) askAround(ctx context.Context, kind Kind, info *Info) {
	asks := map[Kind][]func(context.Context) finding{
		VLLM:     {t.askVersion},
		SGLang:   {t.askServerInfo, t.askModelInfo},
		LlamaCPP: {t.askProps},
		Ollama:   {t.askOllama},
		Unknown:  {t.askVersion, t.askServerInfo, t.askModelInfo, t.askProps, t.askOllama},
	}[kind]
	asks = append(asks, t.askMetrics)
	if t.timeout() > sideTimeout {
		t.Timeout = sideTimeout
	}
	info.Kind = kind
	findings := make([]finding, len(asks))
	var wg sync.WaitGroup
	for i, ask := range asks {
		wg.Go(func() { findings[i] = ask(ctx) })
	}
	wg.Wait()
	for _, found := range findings {
		if found != nil {
			found(info)
		}
	}
}

// side asks a side question whose answer is a JSON object; nil for any other.
func (t Target) side(ctx context.Context, path string) map[string]any {
	a, err := t.ask(ctx, question{method: "GET", path: path})
	if err != nil || a.status != 200 {
		return nil
	}
	return object(a.body)
}

// askVersion reads vLLM's version. Other programs answer this path too, so it
// tells no kind.
func (t Target) askVersion(ctx context.Context) finding {
	version := text(t.side(ctx, "/version"), "version")
	return func(i *Info) {
		if i.Version == "" {
			i.Version = version
		}
	}
}

// askServerInfo reads SGLang's arguments and state.
func (t Target) askServerInfo(ctx context.Context) finding {
	fields := t.side(ctx, "/server_info")
	if !isSGLang(fields) {
		fields = t.side(ctx, "/get_server_info") // its older name
	}
	if !isSGLang(fields) {
		return nil
	}
	return func(i *Info) {
		i.Kind = SGLang
		i.Version = text(fields, "version")
		i.Slots = wholeNumber(fields["max_running_requests"])
		if n := wholeNumber(at(fields, "effective_max_running_requests_per_dp")); i.Slots == 0 {
			i.Slots = n
		}
		i.setContext(wholeNumber(fields["context_length"]), "server_info")
		i.setPath(text(fields, "model_path"))
	}
}

// isSGLang recognises SGLang's server arguments: other programs answer at
// these paths with other things.
func isSGLang(fields map[string]any) bool {
	_, fraction := fields["mem_fraction_static"]
	_, path := fields["model_path"]
	return fraction && path
}

// askModelInfo reads where SGLang loaded the model from.
func (t Target) askModelInfo(ctx context.Context) finding {
	fields := t.side(ctx, "/get_model_info")
	path, tokenizer := text(fields, "model_path"), text(fields, "tokenizer_path")
	return func(i *Info) {
		if path != "" && tokenizer != "" {
			i.setPath(path)
		}
	}
}

// askProps reads llama.cpp's properties.
func (t Target) askProps(ctx context.Context) finding {
	fields := t.side(ctx, "/props")
	build, slots := text(fields, "build_info"), wholeNumber(fields["total_slots"])
	if build == "" && slots == 0 {
		return nil
	}
	return func(i *Info) {
		i.Kind = LlamaCPP
		i.Version = build
		i.Slots = slots
		i.setContext(wholeNumber(at(fields, "default_generation_settings", "n_ctx")), "props")
		i.setPath(text(fields, "model_path"))
	}
}

// askOllama reads Ollama's version.
func (t Target) askOllama(ctx context.Context) finding {
	version := text(t.side(ctx, "/api/version"), "version")
	if version == "" {
		return nil
	}
	return func(i *Info) {
		if i.Kind == Unknown || i.Kind == Ollama {
			i.Kind, i.Version = Ollama, version
		}
	}
}

// askMetrics looks for counters; their names tell the kind where nothing else
// does.
func (t Target) askMetrics(ctx context.Context) finding {
	counters, err := Scrape(ctx, t)
	return func(i *Info) {
		i.Metrics, i.MetricsFault = counters.Flavour, err
		i.CacheConfig = counters.CacheConfig
		if i.Kind == Unknown {
			i.Kind = counters.Flavour.kind()
		}
	}
}

// setContext keeps the first context length that is found.
func (i *Info) setContext(tokens int, source string) {
	if i.ContextLength == 0 && tokens > 0 {
		i.ContextLength, i.ContextSource = tokens, source
	}
}

// setPath keeps the first path that is found.
func (i *Info) setPath(path string) {
	if i.ModelPath == "" {
		i.ModelPath = path
	}
}

// MarshalJSON writes an entry of the model list as the server sent it.
func (m Model) MarshalJSON() ([]byte, error) {
	if m.fields == nil {
		return json.Marshal(m.ID)
	}
	return json.Marshal(m.fields)
}
