package loadgen_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"lmxbench/internal/simserver"
	"lmxbench/loadgen"
)

// engine is a simulated engine in a process of its own, so that the CPU time of
// this one is the client's alone.
type engine struct{ url string }

// startEngine starts an engine whose streams get a token every itl: all in one
// burst (phase "step") or each in its own time ("stream").
func startEngine(b testing.TB, phase string, itl time.Duration) engine {
	cmd := exec.Command(os.Args[0], phase, itl.String())
	cmd.Env = append(os.Environ(), roleVariable+"=engine")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close() // the engine ends with its standard input
		cmd.Wait()
	})
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return engine{strings.TrimSpace(url)}
}

// playEngine is the engine's process.
func playEngine(args []string) int {
	profile, err := simserver.LookupProfile("default")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	itl, err := time.ParseDuration(args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	profile.Phase, profile.Tick, profile.ITL, profile.TTFT = simserver.Phase(args[0]), itl, itl, 50*time.Millisecond
	profile.Slots, profile.Draft = 0, 0
	srv, err := simserver.Listen(simserver.Config{Profile: profile})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	fmt.Println(srv.URL())
	srv.Serve(ctx)
	return 0
}

func (e engine) address() string { return strings.TrimPrefix(e.url, "http://") }

// nonce marks request i, so that the engine's record of it can be found.
func nonce(i int) string { return fmt.Sprintf("%032x", i+1) }

// messages are n requests for so many tokens each.
func (e engine) messages(n, tokens int) [][]byte {
	out := make([][]byte, n)
	for i := range out {
		body := fmt.Sprintf(`{"model":%q,"stream":true,"stream_options":{"include_usage":true},"max_tokens":%d,"messages":[{"role":"user","content":"[LocalMaxxing cache-bust nonce: %s]\nhello"}]}`,
			e.model(), tokens, nonce(i))
		m, err := loadgen.Message(e.url+"/v1/chat/completions", nil, []byte(body))
		if err != nil {
			panic(err)
		}
		out[i] = m
	}
	return out
}

func (e engine) model() string {
	profile, _ := simserver.LookupProfile("default")
	return profile.Model
}

// requests are the messages as a pool sends them.
func (e engine) requests(n, tokens int) []*loadgen.Request {
	out := make([]*loadgen.Request, n)
	for i, m := range e.messages(n, tokens) {
		out[i] = &loadgen.Request{Message: m, Stream: true, ExpectEvents: tokens, Demand: tokens}
	}
	return out
}

// reset makes the engine forget its records.
func (e engine) reset(b testing.TB) {
	resp, err := http.Post(e.url+"/sim/reset", "", nil)
	if err != nil {
		b.Fatal(err)
	}
	resp.Body.Close()
	http.DefaultClient.CloseIdleConnections()
}

// sent are the times at which the engine sent the events of each request, by
// nonce.
func (e engine) sent(b testing.TB) map[string][]int64 {
	resp, err := http.Get(e.url + "/sim/records")
	if err != nil {
		b.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.Fatal(err)
	}
	out := map[string][]int64{}
	for line := range bytes.Lines(text) {
		var rec simserver.Record
		if err := json.Unmarshal(line, &rec); err != nil {
			b.Fatal(err)
		}
		out[rec.Nonce] = rec.Events.Sent
	}
	return out
}
