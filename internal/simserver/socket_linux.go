//go:build linux

package simserver

import (
	"net"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// stampedSocket is a TCP connection used beneath the net package: reads carry
// the kernel's receive stamp, writes never block. The descriptor stays owned by
// net (every call holds its lock), so it can't be closed or reused under a write.
type stampedSocket struct {
	raw syscall.RawConn

	// One reader and one writer at a time; their arguments live here so that
	// the two callbacks are made once.
	out      []byte
	outN     int
	outErr   syscall.Errno
	onWrite  func(uintptr) bool
	in       []byte
	inN      int
	inErr    error
	stamp    int64
	onRead   func(uintptr) bool
	onPeek   func(uintptr) bool
	control  [128]byte
	peekRead bool
}

// listenControl switches receive stamps on for the listener; accepted
// connections inherit them, so even bytes that arrive before accept are stamped.
func listenControl(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) {
		// A kernel without the option leaves the user-space stamps.
		_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPING,
			unix.SOF_TIMESTAMPING_RX_SOFTWARE|unix.SOF_TIMESTAMPING_SOFTWARE)
	})
}

// newStampedSocket returns nil where the connection is not a plain socket.
func newStampedSocket(nc net.Conn) *stampedSocket {
	tcp, ok := nc.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	s := &stampedSocket{raw: raw}
	s.onWrite, s.onRead, s.onPeek = s.sendOnce, s.receive, s.peek
	return s
}

// write hands b to the kernel without waiting: n may be short, and 0 with a full
// socket buffer. The call is made without telling Go's scheduler, since it does
// not block and a hand-over would cost more than it takes.
func (s *stampedSocket) write(b []byte) (n int, err error) {
	s.out = b
	if err := s.raw.Write(s.onWrite); err != nil {
		return 0, err
	}
	switch s.outErr {
	case 0:
		return s.outN, nil
	case unix.EAGAIN, unix.EINTR:
		return 0, nil
	}
	return 0, os.NewSyscallError("write", s.outErr)
}

func (s *stampedSocket) sendOnce(fd uintptr) bool {
	n, _, errno := syscall.RawSyscall6(unix.SYS_SENDTO, fd, uintptr(unsafe.Pointer(unsafe.SliceData(s.out))),
		uintptr(len(s.out)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
	s.outN, s.outErr = int(n), errno
	return true
}

// Read reads as [net.Conn] does and keeps the kernel's stamp of what it read.
func (s *stampedSocket) Read(b []byte) (int, error) {
	s.in = b
	if err := s.raw.Read(s.onRead); err != nil {
		return 0, err
	}
	if s.inErr == nil && s.inN == 0 {
		return 0, net.ErrClosed
	}
	return s.inN, s.inErr
}

func (s *stampedSocket) receive(fd uintptr) bool {
	n, oobn, _, _, err := unix.Recvmsg(int(fd), s.in, s.control[:], unix.MSG_DONTWAIT)
	if err == unix.EAGAIN || err == unix.EINTR {
		return false
	}
	s.inN, s.inErr = n, err
	if err == nil {
		s.stamp, _ = receiveStamp(s.control[:oobn])
	}
	return true
}

// wait blocks until there is something to read (true) or the peer has closed,
// the read deadline has passed or the socket is gone (false, with the reason).
// No buffer is held meanwhile.
func (s *stampedSocket) wait() (bool, error) {
	if err := s.raw.Read(s.onPeek); err != nil {
		return false, err
	}
	return s.peekRead, nil
}

func (s *stampedSocket) peek(fd uintptr) bool {
	var b [1]byte
	n, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	if err == unix.EAGAIN || err == unix.EINTR {
		return false
	}
	s.peekRead = err == nil && n > 0
	return true
}

// kernelStamp is the receive time of the last bytes read in ns of the real-time
// clock, 0 if the kernel gave none.
func (s *stampedSocket) kernelStamp() int64 { return s.stamp }

// receiveStamp finds the software receive stamp among control messages.
func receiveStamp(oob []byte) (int64, bool) {
	for len(oob) >= unix.CmsgLen(0) {
		h, data, rest, err := unix.ParseOneSocketControlMessage(oob)
		if err != nil {
			return 0, false
		}
		if h.Level == unix.SOL_SOCKET && h.Type == unix.SO_TIMESTAMPING && len(data) >= int(unsafe.Sizeof(unix.Timespec{})) {
			ts := (*unix.Timespec)(unsafe.Pointer(unsafe.SliceData(data)))
			if ns := ts.Nano(); ns > 0 {
				return ns, true
			}
		}
		oob = rest
	}
	return 0, false
}

// unixNano reads the real-time clock.
func unixNano() int64 { return time.Now().UnixNano() }
