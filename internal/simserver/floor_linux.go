//go:build linux

package simserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"runtime"
	"strings"
	"time"
	"unsafe"

	"github.com/HdrHistogram/hdrhistogram-go"
	"golang.org/x/sys/unix"
)

// Floor is the bare minimum of a client that reads the simulated engine's
// streams with kernel stamps: one thread, epoll and recvmsg, no decoding beyond
// each frame's send time and the end of the body. What it costs per event is the
// floor that a real client is compared with, and its stamp error is the path's
// own.
//
// It opens the given number of connections to the base URL (http only), sends
// one chat request for so many tokens on each and reads all to the end. The
// context bounds the whole.
func Floor(ctx context.Context, baseURL string, streams, tokens int) (FloorResult, error) {
	u, err := url.Parse(baseURL)
	if err != nil || u.Scheme != "http" {
		return FloorResult{}, fmt.Errorf("floor client: %q is not a plain http URL", baseURL)
	}
	baseURL = strings.TrimSuffix(baseURL, "/")
	model, err := floorModel(ctx, baseURL)
	if err != nil {
		return FloorResult{}, fmt.Errorf("floor client: %w", err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	f := &floorClient{
		errors: hdrhistogram.New(1, int64(maxLateness), 3),
		lags:   hdrhistogram.New(1, int64(maxLateness), 3),
		buf:    make([]byte, 1<<17),
	}
	defer f.close()
	if err := f.connect(u.Host, streams); err != nil {
		return FloorResult{}, fmt.Errorf("floor client: %w", err)
	}
	if err := f.run(ctx, u.Host, model, tokens); err != nil {
		return FloorResult{}, fmt.Errorf("floor client: %w", err)
	}
	f.out.Streams = streams
	f.out.StampError, f.out.ReadLag = lateness(f.errors), lateness(f.lags)
	if f.out.Events > 0 {
		f.out.CPUPerEvent = f.out.CPU / time.Duration(f.out.Events)
	}
	return f.out, nil
}

type floorClient struct {
	epfd  int
	conns []floorConn
	open  int
	buf   []byte
	oob   [128]byte
	out   FloorResult
	// errors and lags are distributions in ns.
	errors, lags *hdrhistogram.Histogram
}

// floorConn keeps the end of the last read, in which a frame may be cut.
type floorConn struct {
	fd    int
	carry []byte
}

var (
	floorMark = []byte(`"sent_unix_ns":`)
	floorEnd  = []byte("\r\n0\r\n\r\n")
)

// floorCarry is the most of a read's end that can hold a cut mark or end.
const floorCarry = len(`"sent_unix_ns":`) + stampDigits - 1

func (f *floorClient) connect(host string, n int) error {
	f.epfd = -1
	addr, err := net.ResolveTCPAddr("tcp", host)
	if err != nil {
		return err
	}
	if f.epfd, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return fmt.Errorf("make epoll: %w", err)
	}
	family, sa := sockaddr(addr)
	for i := range n {
		fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("open socket %d: %w", i+1, err)
		}
		f.conns = append(f.conns, floorConn{fd: fd, carry: make([]byte, 0, floorCarry)})
		if err := f.prepare(fd, i, sa); err != nil {
			return fmt.Errorf("connect %d: %w", i+1, err)
		}
	}
	return nil
}

func (f *floorClient) prepare(fd, i int, sa unix.Sockaddr) error {
	return errors.Join(
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPING,
			unix.SOF_TIMESTAMPING_RX_SOFTWARE|unix.SOF_TIMESTAMPING_SOFTWARE),
		unix.Connect(fd, sa),
		unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1),
		unix.SetNonblock(fd, true),
		unix.EpollCtl(f.epfd, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(i)}),
	)
}

func sockaddr(a *net.TCPAddr) (int, unix.Sockaddr) {
	if ip := a.IP.To4(); ip != nil {
		return unix.AF_INET, &unix.SockaddrInet4{Port: a.Port, Addr: [4]byte(ip)}
	}
	return unix.AF_INET6, &unix.SockaddrInet6{Port: a.Port, Addr: [16]byte(a.IP.To16())}
}

func (f *floorClient) close() {
	for _, c := range f.conns {
		if c.fd >= 0 {
			_ = unix.Close(c.fd)
		}
	}
	if f.epfd >= 0 {
		_ = unix.Close(f.epfd)
	}
}

// run sends all requests and reads until every body has ended.
func (f *floorClient) run(ctx context.Context, host, model string, tokens int) error {
	requests := make([][]byte, len(f.conns))
	for i := range requests {
		requests[i] = floorRequest(host, model, i, tokens)
	}
	began, cpu := time.Now(), threadCPU()
	for i, c := range f.conns {
		if n, err := unix.Write(c.fd, requests[i]); err != nil || n < len(requests[i]) {
			return fmt.Errorf("send request %d: wrote %d bytes: %w", i+1, n, err)
		}
	}
	f.open = len(f.conns)
	events := make([]unix.EpollEvent, 1024)
	for f.open > 0 {
		n, err := unix.EpollWait(f.epfd, events, 100)
		if err != nil && err != unix.EINTR {
			return fmt.Errorf("wait: %w", err)
		}
		if n <= 0 && ctx.Err() != nil {
			return fmt.Errorf("%d of %d streams still open: %w", f.open, len(f.conns), context.Cause(ctx))
		}
		for i := range max(n, 0) {
			if err := f.read(&f.conns[events[i].Fd]); err != nil {
				return fmt.Errorf("read stream %d: %w", events[i].Fd+1, err)
			}
		}
	}
	f.out.Wall, f.out.CPU = time.Since(began), threadCPU()-cpu
	return nil
}

// read makes one recvmsg. The bytes land behind the carried end of the last one.
func (f *floorClient) read(c *floorConn) error {
	head := copy(f.buf, c.carry)
	iov := unix.Iovec{Base: &f.buf[head]}
	iov.SetLen(len(f.buf) - head)
	msg := unix.Msghdr{Iov: &iov, Control: &f.oob[0]}
	msg.SetIovlen(1)
	msg.SetControllen(len(f.oob))
	r, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(c.fd), uintptr(unsafe.Pointer(&msg)), unix.MSG_DONTWAIT)
	now := unixNano()
	switch {
	case errno == unix.EAGAIN || errno == unix.EINTR:
		return nil
	case errno != 0:
		return errno
	case r == 0:
		return errors.New("closed before the end of the body")
	}
	f.out.Reads++
	f.out.Bytes += int64(r)
	stamp, ok := receiveStamp(f.oob[:msg.Controllen])
	if !ok {
		f.out.Unstamped++
	}
	f.scan(c, f.buf[:head+int(r)], stamp, now)
	return nil
}

// scan finds the send times in a read and whether the body ends with it.
func (f *floorClient) scan(c *floorConn, b []byte, stamp, now int64) {
	var sent int64
	writes := 0
	rest := b
	for {
		i := bytes.Index(rest, floorMark)
		if i < 0 || len(rest) < i+len(floorMark)+stampDigits {
			break
		}
		v := parseStamp(rest[i+len(floorMark):])
		rest = rest[i+len(floorMark)+stampDigits:]
		f.out.Events++
		if v != sent {
			writes++
		}
		sent = v
	}
	if writes > 1 {
		f.out.MergedReads++
	}
	if writes > 0 && stamp > 0 {
		late(f.errors, time.Duration(stamp-sent))
		late(f.lags, time.Duration(now-stamp))
	}
	if bytes.HasSuffix(b, floorEnd) {
		f.open--
		_ = unix.EpollCtl(f.epfd, unix.EPOLL_CTL_DEL, c.fd, nil)
		return
	}
	c.carry = append(c.carry[:0], rest[max(0, len(rest)-floorCarry):]...)
}

func parseStamp(b []byte) int64 {
	v := int64(0)
	for _, d := range b[:stampDigits] {
		v = v*10 + int64(d-'0')
	}
	return v
}
