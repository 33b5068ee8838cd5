package calibrate

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"lmxbench/internal/simserver"
)

// Engine is a running simulated engine. Stop ends it and waits; it is called
// once.
type Engine struct {
	URL  string // base URL without a path, plain http
	Stop func()
}

// Starter starts an engine that carries a load. It should run in a process of
// its own, on cores of its own where there are several: what it costs must not
// be charged to the client.
type Starter func(ctx context.Context, l Load) (Engine, error)

// InProcess starts an engine inside this process. It is for tests: costs of
// client and engine cannot be told apart then.
func InProcess(ctx context.Context, l Load) (Engine, error) {
	profile, err := l.Profile()
	if err != nil {
		return Engine{}, err
	}
	server, err := simserver.Listen(simserver.Config{Profile: profile})
	if err != nil {
		return Engine{}, err
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(context.WithoutCancel(ctx)) }()
	return Engine{URL: server.URL(), Stop: func() {
		_ = server.Close()
		<-served
	}}, nil
}

// books asks an engine for what only it knows.
type books struct {
	base   string
	client *http.Client
}

// askTimeout bounds one question. The records of a round may be some MiB.
const askTimeout = 30 * time.Second

func (e Engine) books() *books {
	return &books{base: e.URL, client: &http.Client{
		Timeout:   askTimeout,
		Transport: &http.Transport{DisableKeepAlives: true}, // an idle connection would count as one in flight
	}}
}

// host is the address to dial.
func (b *books) host() (string, error) {
	u, err := url.Parse(b.base)
	if err != nil {
		return "", fmt.Errorf("engine's address: %w", err)
	}
	return u.Host, nil
}

func (b *books) ask(ctx context.Context, method, path string, read func(io.Reader) error) error {
	req, err := http.NewRequestWithContext(ctx, method, b.base+path, http.NoBody)
	if err != nil {
		return fmt.Errorf("ask the engine for %s: %w", path, err)
	}
	resp, err := b.client.Do(req)
	if err != nil {
		return fmt.Errorf("ask the engine for %s: %w", path, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("ask the engine for %s: HTTP status %d", path, resp.StatusCode)
	}
	if err := read(resp.Body); err != nil {
		return fmt.Errorf("read the engine's %s: %w", path, err)
	}
	return nil
}

// model is the name of the served model.
func (b *books) model(ctx context.Context) (string, error) {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	err := b.ask(ctx, http.MethodGet, "/v1/models", func(r io.Reader) error { return json.NewDecoder(r).Decode(&list) })
	if err == nil && len(list.Data) == 0 {
		err = errors.New("the engine serves no model")
	}
	if err != nil {
		return "", err
	}
	return list.Data[0].ID, nil
}

// reset opens new books.
func (b *books) reset(ctx context.Context) error {
	return b.ask(ctx, http.MethodPost, "/sim/reset", func(io.Reader) error { return nil })
}

func (b *books) stats(ctx context.Context) (s simserver.Stats, err error) {
	err = b.ask(ctx, http.MethodGet, "/sim/stats", func(r io.Reader) error { return json.NewDecoder(r).Decode(&s) })
	return s, err
}

func (b *books) records(ctx context.Context) (list []simserver.Record, err error) {
	err = b.ask(ctx, http.MethodGet, "/sim/records", func(r io.Reader) error {
		list, err = readRecords(r)
		return err
	})
	return list, err
}

// readRecords reads one JSON object per line.
func readRecords(r io.Reader) ([]simserver.Record, error) {
	var list []simserver.Record
	for d := json.NewDecoder(bufio.NewReaderSize(r, 1<<20)); ; {
		var rec simserver.Record
		switch err := d.Decode(&rec); {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, err
		}
		if len(rec.Events.Sent) != len(rec.Events.Tokens) {
			return nil, fmt.Errorf("request %d has %d send times and %d token counts", rec.Request, len(rec.Events.Sent), len(rec.Events.Tokens))
		}
		list = append(list, rec)
	}
}
