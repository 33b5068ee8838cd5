package loadgen_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"lmxbench/loadgen"
)

// The benchmarks of this file run against a simulated engine in a process of
// its own. Each iteration is one batch, so give a number of them:
//
//	go test ./loadgen -run - -bench Loopback -benchtime 5x
//	go test ./loadgen -run - -bench Floor -benchtime 9x

// load is a shape of load: every stream gets a token each itl.
type load struct {
	streams, tokens int
	phase           string
	itl             time.Duration
}

func (l load) String() string {
	return fmt.Sprintf("phase=%s/streams=%d/itl=%s", l.phase, l.streams, l.itl)
}

func (l load) events() int { return l.streams * l.tokens }

var loads = []load{
	{1, 200, "step", 5 * time.Millisecond},
	{64, 100, "step", 10 * time.Millisecond},
	{256, 100, "step", 17660 * time.Microsecond},
	{256, 100, "stream", 17660 * time.Microsecond},
	{1000, 60, "step", 20 * time.Millisecond},
	{1000, 60, "stream", 20 * time.Millisecond},
}

// BenchmarkLoopback runs whole batches. Metrics, per token event where that is
// said: ns/event of wall time, cpu-us/event of the process, allocs/event;
// stamp-p50-ns and stamp-p99-ns are kernel stamp − the engine's send time;
// lag-p99-ns is read − stamp; merged is the share of events merged by lateness.
func BenchmarkLoopback(b *testing.B) {
	for _, l := range loads {
		for _, reader := range []string{"epoll", "goroutine"} {
			b.Run(fmt.Sprintf("reader=%s/%s", reader, l), func(b *testing.B) {
				e := startEngine(b, l.phase, l.itl)
				origin := time.Now()
				pool := open(b, loadgen.Config{Address: e.address(), Goroutines: reader == "goroutine", Origin: origin})
				requests := e.requests(l.streams, l.tokens)
				pool.Do(b.Context(), requests) // warm-up
				var stamps, lags []int64
				var cpu, wall time.Duration
				var mallocs uint64
				var late int
				for range b.N {
					e.reset(b)
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					batch := pool.Do(b.Context(), requests)
					runtime.ReadMemStats(&after)
					mallocs += after.Mallocs - before.Mallocs
					cpu += batch.CPUUser + batch.CPUSys
					wall += batch.End - batch.Start
					sent := e.sent(b)
					for i, r := range batch.Records {
						truth := sent[nonce(i)]
						if r.Outcome != loadgen.OK || len(truth) != len(r.Events.At) {
							b.Fatalf("request %d: %s %s, %d events of %d", i, r.Outcome, r.Error, len(r.Events.At), len(truth))
						}
						late += r.LateMerged
						for k, at := range r.Events.At {
							stamps = append(stamps, origin.UnixNano()+at-truth[k])
							lags = append(lags, r.Events.Lag[k])
						}
					}
				}
				events := float64(b.N * l.events())
				slices.Sort(stamps)
				slices.Sort(lags)
				b.ReportMetric(events/wall.Seconds(), "events/s")
				b.ReportMetric(float64(wall.Nanoseconds())/events, "ns/event")
				b.ReportMetric(float64(cpu.Nanoseconds())/1e3/events, "cpu-us/event")
				b.ReportMetric(float64(mallocs)/events, "allocs/event")
				b.ReportMetric(float64(stamps[len(stamps)/2]), "stamp-p50-ns")
				b.ReportMetric(float64(stamps[len(stamps)*99/100]), "stamp-p99-ns")
				b.ReportMetric(float64(lags[len(lags)*99/100]), "lag-p99-ns")
				b.ReportMetric(float64(late)/events, "merged")
			})
		}
	}
}

// BenchmarkFloor compares what an event costs each reader in CPU time with a
// bare loop of epoll_wait and recvmsg that looks at nothing but the length, in
// one run, batch by batch in turn. It reports medians in µs, and their ratios.
func BenchmarkFloor(b *testing.B) {
	for _, l := range append(loads[2:], load{4000, 20, "step", 100 * time.Millisecond}, load{4000, 20, "stream", 100 * time.Millisecond}) {
		b.Run(l.String(), func(b *testing.B) {
			e := startEngine(b, l.phase, l.itl)
			requests, messages := e.requests(l.streams, l.tokens), e.messages(l.streams, l.tokens)
			epoll := open(b, loadgen.Config{Address: e.address()})
			goroutines := open(b, loadgen.Config{Address: e.address(), Goroutines: true})
			bare := openFloor(b, e.address(), messages)
			pooled := func(p *loadgen.Pool) time.Duration {
				batch := p.Do(b.Context(), requests)
				for _, r := range batch.Records {
					if r.Outcome != loadgen.OK {
						b.Fatal(r.Outcome, r.Error)
					}
				}
				return batch.CPUUser + batch.CPUSys
			}
			clients := []struct {
				name string
				run  func() time.Duration
				cost []float64
			}{
				{name: "floor", run: bare.run},
				{name: "epoll", run: func() time.Duration { return pooled(epoll) }},
				{name: "goroutine", run: func() time.Duration { return pooled(goroutines) }},
			}
			for i := range b.N + 1 {
				for k := range clients {
					cpu := clients[k].run()
					if i > 0 { // the first warms up
						clients[k].cost = append(clients[k].cost, float64(cpu.Nanoseconds())/1e3/float64(l.events()))
					}
				}
			}
			b.ReportMetric(0, "ns/op")
			for _, c := range clients {
				slices.Sort(c.cost)
				b.ReportMetric(c.cost[len(c.cost)/2], c.name+"-us/event")
				slices.Sort(clients[0].cost)
				b.ReportMetric(c.cost[len(c.cost)/2]/clients[0].cost[len(c.cost)/2], c.name+"-ratio")
			}
		})
	}
}

// BenchmarkLoops compares numbers of loops, batch by batch in turn: CPU per
// event, the 99th percentile of the read lag, and the share of merged events.
func BenchmarkLoops(b *testing.B) {
	for _, l := range loads[2:] {
		b.Run(l.String(), func(b *testing.B) {
			e := startEngine(b, l.phase, l.itl)
			requests := e.requests(l.streams, l.tokens)
			loops := []int{1, 2, 4}
			pools := make([]*loadgen.Pool, len(loops))
			costs, lags, late := make([][]float64, len(loops)), make([][]int64, len(loops)), make([]int, len(loops))
			for i, n := range loops {
				pools[i] = open(b, loadgen.Config{Address: e.address(), Loops: n})
			}
			for round := range b.N + 1 {
				for i, pool := range pools {
					batch := pool.Do(b.Context(), requests)
					if round == 0 { // warm-up
						continue
					}
					costs[i] = append(costs[i], float64((batch.CPUUser+batch.CPUSys).Nanoseconds())/1e3/float64(l.events()))
					for _, r := range batch.Records {
						lags[i] = append(lags[i], r.Events.Lag...)
						late[i] += r.LateMerged
					}
				}
			}
			b.ReportMetric(0, "ns/op")
			for i, n := range loops {
				slices.Sort(costs[i])
				slices.Sort(lags[i])
				b.ReportMetric(costs[i][len(costs[i])/2], fmt.Sprintf("loops%d-us/event", n))
				b.ReportMetric(float64(lags[i][len(lags[i])*99/100])/1e3, fmt.Sprintf("loops%d-lag-p99-us", n))
				b.ReportMetric(float64(late[i])/float64(b.N*l.events()), fmt.Sprintf("loops%d-merged", n))
			}
		})
	}
}

// BenchmarkCollector compares batches with the garbage collector off, as they
// are, and on, in turn: the read lag and the stamps' error in ns, collections
// and bytes allocated a batch. The process holds a heap of small objects, as one
// with the records of earlier batches does, and something else in it makes
// garbage, as a display and a power meter do.
func BenchmarkCollector(b *testing.B) {
	for _, c := range []struct{ heap, garbage int }{{0, 0}, {0, 20}, {64, 0}, {64, 50}} {
		b.Run(fmt.Sprintf("heap=%dMB/garbage=%dMBps", c.heap, c.garbage), func(b *testing.B) {
			held := make([]*[64]byte, c.heap<<14)
			for i := range held {
				held[i] = new([64]byte)
			}
			ctx, cancel := context.WithCancel(b.Context())
			var littering sync.WaitGroup
			littering.Go(func() {
				for tick := time.NewTicker(10 * time.Millisecond); ctx.Err() == nil; <-tick.C {
					for range c.garbage << 10 / 100 {
						litter = make([]byte, 1<<10)
					}
				}
			})
			compareCollector(b)
			cancel()
			littering.Wait()
			runtime.KeepAlive(held)
		})
	}
}

var litter []byte

func compareCollector(b *testing.B) {
	l := load{256, 512, "step", 10 * time.Millisecond}
	e := startEngine(b, l.phase, l.itl)
	requests := e.requests(l.streams, l.tokens)
	origin := time.Now()
	type side struct {
		name        string
		pool        *loadgen.Pool
		lags, stamp []int64
		cycles      int
		bytes       uint64
		cpu         time.Duration
	}
	sides := []*side{{name: "off"}, {name: "on"}}
	for _, s := range sides {
		s.pool = open(b, loadgen.Config{Address: e.address(), Origin: origin})
	}
	sides[1].pool.KeepCollector()
	for range b.N {
		for _, s := range sides {
			e.reset(b)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			batch := s.pool.Do(b.Context(), requests)
			runtime.ReadMemStats(&after)
			s.bytes += after.TotalAlloc - before.TotalAlloc
			s.cycles += batch.GCCycles
			s.cpu += batch.CPUUser + batch.CPUSys
			sent := e.sent(b)
			for i, r := range batch.Records {
				for k, at := range r.Events.At {
					s.lags = append(s.lags, r.Events.Lag[k])
					s.stamp = append(s.stamp, origin.UnixNano()+at-sent[nonce(i)][k])
				}
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	for _, s := range sides {
		slices.Sort(s.lags)
		slices.Sort(s.stamp)
		b.ReportMetric(float64(s.lags[len(s.lags)*99/100]), s.name+"-lag-p99-ns")
		b.ReportMetric(float64(s.lags[len(s.lags)-1]), s.name+"-lag-max-ns")
		b.ReportMetric(float64(s.stamp[len(s.stamp)*99/100]), s.name+"-stamp-p99-ns")
		b.ReportMetric(float64(s.cycles)/float64(b.N), s.name+"-collections")
		b.ReportMetric(float64(s.bytes)/float64(b.N), s.name+"-B/batch")
		b.ReportMetric(float64(s.cpu.Nanoseconds())/1e3/float64(b.N*l.events()), s.name+"-cpu-us/event")
	}
}

// floor is the least that a client of many streams can do.
type floor struct {
	epoll    int
	fds      []int
	messages [][]byte
	buf      []byte
	control  [128]byte
}

func openFloor(b *testing.B, address string, messages [][]byte) *floor {
	epoll, err := unix.EpollCreate1(0)
	if err != nil {
		b.Fatal(err)
	}
	f := &floor{epoll: epoll, messages: messages, buf: make([]byte, 64<<10)}
	for i := range messages {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			b.Fatal(err)
		}
		raw, _ := conn.(*net.TCPConn).SyscallConn()
		raw.Control(func(fd uintptr) {
			dup, err := unix.Dup(int(fd))
			if err != nil {
				b.Fatal(err)
			}
			f.fds = append(f.fds, dup)
			unix.SetsockoptInt(dup, unix.SOL_SOCKET, unix.SO_TIMESTAMPING, unix.SOF_TIMESTAMPING_RX_SOFTWARE|unix.SOF_TIMESTAMPING_SOFTWARE)
			unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, dup, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(i)})
		})
		conn.Close()
	}
	b.Cleanup(func() {
		unix.Close(epoll)
		for _, fd := range f.fds {
			unix.Close(fd)
		}
	})
	return f
}

// run sends all requests, reads every answer to its end, and returns the CPU
// time of the process meanwhile.
func (f *floor) run() time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := processTime()
	for i, fd := range f.fds {
		unix.SendmsgN(fd, f.messages[i], nil, nil, 0)
	}
	end := []byte("\r\n0\r\n\r\n")
	events := make([]unix.EpollEvent, 512)
	iov := unix.Iovec{Base: &f.buf[0]}
	iov.SetLen(len(f.buf))
	msg := unix.Msghdr{Iov: &iov, Control: &f.control[0]}
	msg.SetIovlen(1)
	for open := len(f.fds); open > 0; {
		n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_WAIT, uintptr(f.epoll), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), 100, 0, 0)
		if errno != 0 {
			continue
		}
		for _, ev := range events[:n] {
			msg.SetControllen(len(f.control))
			got, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(f.fds[ev.Fd]), uintptr(unsafe.Pointer(&msg)), unix.MSG_DONTWAIT)
			if errno == 0 && bytes.HasSuffix(f.buf[:got], end) {
				open--
			}
		}
	}
	return processTime() - before
}

func processTime() time.Duration {
	var u unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkBarrier measures how far apart the sends of one batch are: from the
// opening of the barrier to the last, and first to last.
func BenchmarkBarrier(b *testing.B) {
	for _, reader := range []string{"epoll", "goroutine"} {
		for _, n := range []int{8, 64, 256, 1000} {
			b.Run(fmt.Sprintf("reader=%s/lanes=%d", reader, n), func(b *testing.B) {
				e := startEngine(b, "step", 5*time.Millisecond)
				pool := open(b, loadgen.Config{Address: e.address(), Goroutines: reader == "goroutine"})
				requests := e.requests(n, 2)
				var spread, last []float64
				for range b.N {
					batch := pool.Do(context.Background(), requests)
					first, end := batch.Records[0].T.Send, time.Duration(0)
					for _, r := range batch.Records {
						first, end = min(first, r.T.Send), max(end, r.T.Send)
					}
					spread = append(spread, float64((end - first).Microseconds()))
					last = append(last, float64((end - batch.Start).Microseconds()))
				}
				slices.Sort(spread)
				slices.Sort(last)
				b.ReportMetric(spread[len(spread)/2], "spread-us")
				b.ReportMetric(last[len(last)/2], "last-us")
			})
		}
	}
}

// BenchmarkIdleLanes reports the memory of open connections that wait, and of
// streams prepared for so many events.
func BenchmarkIdleLanes(b *testing.B) {
	for _, n := range []int{1000, 9000} {
		b.Run(fmt.Sprintf("lanes=%d", n), func(b *testing.B) {
			e := startEngine(b, "step", 10*time.Millisecond)
			for range b.N {
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				pool := loadgen.New(loadgen.Config{Address: e.address()})
				if _, err := pool.Open(b.Context(), n); err != nil {
					b.Fatal(err)
				}
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n), "heap-B/lane")
				b.ReportMetric(float64(after.Sys)/float64(n), "sys-B/lane")
				pool.Close()
			}
		})
	}
}
