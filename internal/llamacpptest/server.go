package llamacpptest

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

//go:embed serve.py
var script string

// SkipVariable is the environment variable that, set to 1, skips the tests that
// start a server.
const SkipVariable = "LMXBENCH_SKIP_LLAMACPP"

const (
	startTimeout = time.Minute      // loading the model takes about 1 s
	stopTimeout  = 10 * time.Second // ending takes some ms
)

// Options describe a server. The zero value is a server with 4 slots.
type Options struct {
	// Slots is how many requests are worked on at a time; more wait. 0 means 4.
	Slots int
	// Context is how many tokens, prompt and answer, one slot holds. 0 means
	// 1024. llama.cpp rounds it up to a multiple of 256.
	Context int
	// Alias is the model's name in the API. Empty means the path of its file.
	Alias string
	// Speculative switches n-gram speculation on: no draft model is needed.
	Speculative bool
}

// Server is a running server. It is made by [Start] or [Launch].
type Server struct {
	// URL is the server's address, as in "http://127.0.0.1:40001".
	URL string

	cmd    *exec.Cmd
	stdin  io.Closer
	log    *lastBytes
	ended  chan struct{} // closed when the process has ended
	status error         // of the process; valid after ended
	stop   sync.Once
}

// Start starts a server that ends with the test. Where none can be started the
// test fails, unless LMXBENCH_SKIP_LLAMACPP=1 asks to skip it.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	if os.Getenv(SkipVariable) == "1" {
		fmt.Fprintf(os.Stderr, "\n*** SKIPPED, NOT TESTED: %s needs a real llama.cpp server, and %s=1 is set ***\n\n",
			t.Name(), SkipVariable)
		t.Skipf("%s=1 is set", SkipVariable)
	}
	s, err := Launch(t.Context(), o)
	if err != nil {
		t.Fatalf("start llama.cpp (%s=1 skips this test): %v", SkipVariable, err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("stop llama.cpp: %v", err)
		}
	})
	return s
}

// Launch starts a server and returns when it answers. It runs until Stop, until
// the process that launched it ends, or until ctx does if that is before it has
// started.
func Launch(ctx context.Context, o Options) (*Server, error) {
	python, err := environment(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	s := &Server{log: &lastBytes{}, ended: make(chan struct{})}
	// -I keeps the user's Python settings and packages out.
	s.cmd = exec.Command(python, "-I", "-c", script, o.encode())
	s.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "OMP_NUM_THREADS=1"}
	s.cmd.Stderr = s.log
	s.cmd.WaitDelay = time.Second
	s.stdin, err = s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", python, err)
	}
	told := make(chan error, 1)
	go s.watch(stdout, told)
	select {
	case err = <-told:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("wait for the server: %w\n%s", err, s.log.bytes()), s.Stop())
	}
	return s, nil
}

// encode is what the script takes.
func (o Options) encode() string {
	if o.Slots == 0 {
		o.Slots = 4
	}
	if o.Context == 0 {
		o.Context = 1024
	}
	text, _ := json.Marshal(map[string]any{ // such a map always encodes
		"slots": o.Slots, "context": o.Context, "alias": o.Alias, "speculative": o.Speculative,
	})
	return string(text)
}

// watch reads the server's address, tells that it is there, and waits for the
// process.
func (s *Server) watch(stdout io.Reader, told chan<- error) {
	defer close(s.ended)
	var address struct {
		URL string `json:"url"`
	}
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &address)
	}
	s.URL = address.URL
	told <- err
	s.status = s.cmd.Wait()
}

// Stop ends the server and waits for it. It is safe to call it twice; the error
// is that of the process, with the end of its log.
func (s *Server) Stop() error {
	s.stop.Do(func() {
		s.stdin.Close()
		select {
		case <-s.ended:
		case <-time.After(stopTimeout):
			s.cmd.Process.Kill()
		}
	})
	<-s.ended
	if s.status != nil {
		return fmt.Errorf("%w\n%s", s.status, s.log.bytes())
	}
	return nil
}

// Log returns the end of llama.cpp's own log.
func (s *Server) Log() string { return string(s.log.bytes()) }

// lastBytes is a writer that keeps the last 16 to 32 KiB. Concurrent use is
// safe.
type lastBytes struct {
	mu   sync.Mutex
	kept []byte
}

const keptBytes = 16 << 10

// Write keeps p.
func (l *lastBytes) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, p...)
	if over := len(l.kept) - keptBytes; over > keptBytes {
		l.kept = append(l.kept[:0], l.kept[over:]...)
	}
	return len(p), nil
}

func (l *lastBytes) bytes() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]byte(nil), l.kept...)
}
