package loadgen_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lmxbench/loadgen"
)

// clientReport is what a client in a process of its own prints.
type clientReport struct {
	Outcome    loadgen.Outcome
	At, Lag    []int64
	LateMerged int
	Reader     string
	Source     string
	Stall      time.Duration
}

// playClient sends one request to the address, with goroutines if asked. It
// prints a line when it has read the first event, and its report at the end.
func playClient(args []string) int {
	pool := loadgen.New(loadgen.Config{Address: args[0], Goroutines: args[1] == "goroutine", UserStamps: args[2] == "user"})
	go func() {
		for events := int64(0); events == 0; events, _ = pool.Progress() {
			time.Sleep(time.Millisecond)
		}
		fmt.Println("{}")
	}()
	b := pool.Do(context.Background(), []*loadgen.Request{request()})
	r := b.Records[0]
	json.NewEncoder(os.Stdout).Encode(clientReport{
		Outcome: r.Outcome, At: r.Events.At, Lag: r.Events.Lag, LateMerged: r.LateMerged,
		Reader: b.Reader, Source: b.Source, Stall: b.Stall,
	})
	return 0
}

// TestStoppedClientCountsWhatMerged stops a client as a whole while its server
// goes on: the events of the pause arrive in one read, and all but the first
// are counted as merged by lateness.
func TestStoppedClientCountsWhatMerged(t *testing.T) {
	t.Parallel()
	const during = 5
	for _, c := range []struct{ reader, stamps string }{{"epoll", "kernel"}, {"goroutine", "kernel"}, {"epoll", "user"}, {"goroutine", "user"}} {
		t.Run("reader="+c.reader+"/stamps="+c.stamps, func(t *testing.T) {
			t.Parallel()
			stopped := make(chan struct{})
			srv := serveConns(t, false, func(p peer) {
				if p.request() != nil {
					return
				}
				p.play(cut(keep, token("a")))
				<-stopped
				for range during {
					time.Sleep(20 * time.Millisecond) // the pause itself
					io.WriteString(p.conn, cut(keep, token("b")).pieces[1])
					acked(t, p)
				}
				stopped <- struct{}{}
				io.WriteString(p.conn, strings.Join(chunked(keep, finish("stop"), doneEvent).pieces[1:], ""))
				p.r.Peek(1)
			})
			client := exec.Command(os.Args[0], srv.Addr().String(), c.reader, c.stamps)
			client.Env = append(os.Environ(), roleVariable+"=client")
			client.Stderr = os.Stderr
			out, err := client.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := client.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				client.Process.Kill()
				client.Wait()
			})
			var got clientReport
			reports := json.NewDecoder(out)
			if err := reports.Decode(&got); err != nil {
				t.Fatal(err)
			}
			client.Process.Signal(unix.SIGSTOP)
			for { // until it has stopped
				var status unix.WaitStatus
				if _, err := unix.Wait4(client.Process.Pid, &status, unix.WUNTRACED, nil); err != nil || status.Stopped() {
					break
				}
			}
			stopped <- struct{}{}
			<-stopped
			client.Process.Signal(unix.SIGCONT)
			if err := reports.Decode(&got); err != nil {
				t.Fatal(err)
			}
			if got.Outcome != loadgen.OK || len(got.At) != 1+during || got.Reader != c.reader || got.Source != c.stamps {
				t.Fatalf("got %+v", got)
			}
			if got.LateMerged != during-1 {
				t.Errorf("%d events counted as merged by lateness, want %d: %+v", got.LateMerged, during-1, got)
			}
			if got.Stall < during*20*time.Millisecond/2 {
				t.Errorf("the watchdog saw a stall of %s", got.Stall)
			}
		})
	}
}

// acked waits until the other side's kernel has taken everything written.
func acked(t *testing.T, p peer) {
	raw, err := p.plain.SyscallConn()
	if err != nil {
		t.Error(err)
		return
	}
	for left := 1; left > 0 && err == nil; {
		raw.Control(func(fd uintptr) { left, err = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) })
	}
	if err != nil {
		t.Error(fmt.Errorf("unacknowledged bytes: %w", err))
	}
}
