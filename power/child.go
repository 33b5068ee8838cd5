package power

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// maxChildOutput bounds what is kept of a child's answer.
const maxChildOutput = 4 << 20

// childWait bounds the wait for a child that was told to end.
const childWait = 5 * time.Second

// childEnv is the environment of every child: where programs and their
// libraries are, English messages, and UTC, so that printed times need no
// zone. Nothing else is passed on, keys least of all.
func childEnv() []string {
	env := []string{"LC_ALL=C", "TZ=UTC"}
	for _, name := range []string{"PATH", "LD_LIBRARY_PATH", "HOME", "TMPDIR", "ROCM_PATH", "NVIDIA_VISIBLE_DEVICES"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// runChild runs a program to its end and returns its standard output. When it
// fails the output comes with the error, which carries the last words of its
// standard error.
func runChild(ctx context.Context, path string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = childEnv()
	var out, errOut limitedBuffer
	out.limit, errOut.limit = maxChildOutput, 1<<12
	cmd.Stdout, cmd.Stderr = &out, &errOut
	ownGroup(cmd)
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
	cmd.WaitDelay = childWait
	err := cmd.Run()
	if err == nil {
		return out.Bytes(), nil
	}
	if ctx.Err() != nil {
		return out.Bytes(), fmt.Errorf("run %s: %w", path, ctx.Err())
	}
	words := strings.TrimSpace(errOut.String())
	if words == "" {
		words = strings.TrimSpace(out.String())
	}
	if line, _, ok := strings.Cut(words, "\n"); ok {
		words = line
	}
	return out.Bytes(), fmt.Errorf("run %s: %w: %.200s", path, err, words)
}

// limitedBuffer keeps the first limit bytes and swallows the rest.
type limitedBuffer struct {
	bytes.Buffer
	limit int
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if room := b.limit - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// child is a program that prints until it is told to stop.
type child struct {
	cmd *exec.Cmd
	out io.ReadCloser
}

// startChild starts a program in a process group of its own.
func startChild(path string, args ...string) (*child, error) {
	cmd := exec.Command(path, args...)
	cmd.Env = childEnv()
	ownGroup(cmd)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return &child{cmd: cmd, out: out}, nil
}

// stop ends the child's group. The reader of its output then sees the end.
func (c *child) stop() {
	err := killGroup(c.cmd.Process)
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		c.out.Close() // at least the reader must not wait for ever
	}
}
