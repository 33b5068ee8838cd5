package loadgen

import (
	"net"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const stampFlags = unix.SOF_TIMESTAMPING_RX_SOFTWARE | unix.SOF_TIMESTAMPING_SOFTWARE

// enableStamps asks the kernel to stamp what the connection receives. It
// reports false where it refuses, as some sandboxes do.
func enableStamps(raw syscall.RawConn) bool {
	ok := false
	err := raw.Control(func(fd uintptr) { ok = stampFD(int(fd)) })
	return ok && err == nil
}

func stampFD(fd int) bool {
	return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPING, stampFlags) == nil
}

// detach takes the socket out of the runtime's poller: it gives back a
// duplicate of the descriptor and closes the connection. Both pollers on one
// socket would wake the process twice for each segment. Where the kernel gives
// no stamps, reads come without one and the batch says so.
func detach(tcp *net.TCPConn, stamps bool) (fd int, ok bool) {
	raw, err := tcp.SyscallConn()
	if err != nil {
		return -1, false
	}
	fd = -1
	err = raw.Control(func(old uintptr) {
		if dup, err := unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0); err == nil {
			fd = dup
		}
	})
	if err != nil || fd < 0 {
		return -1, false
	}
	if stamps {
		stampFD(fd)
	}
	tcp.Close()
	return fd, true
}

func closeFD(fd int) { unix.Close(fd) }

// ackAtOnce has the kernel acknowledge what arrives without waiting, until the
// next request. After a request on a kept connection it would take 40 ms to
// acknowledge the head of the answer, and a server without TCP_NODELAY would
// hold back the first tokens for as long. From the second acknowledgement on
// the kernel does so by itself.
func ackAtOnce(fd int) { unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_QUICKACK, 1) }

// quiet reports whether a socket has neither bytes nor an end to read.
func quiet(fd int) bool {
	var b [1]byte
	_, _, err := unix.Recvfrom(fd, b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	return err == unix.EAGAIN
}

// hungUp reports whether the peer has closed, bytes or no bytes.
func hungUp(fd int) bool {
	ask := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	n, err := unix.Poll(ask, 0)
	return err != nil || n > 0
}

// receiver reads with recvmsg and finds the kernel's receive stamp. The zero
// value is ready; it allocates nothing per read and belongs to one reader.
type receiver struct {
	msg     unix.Msghdr
	iov     unix.Iovec
	control [128]byte
}

// receive reads what the socket holds, up to len(p), without waiting. stamp is
// ns since the Unix epoch, 0 when the read carried none; again says that there
// was nothing to read; n == 0 without error is the end of the stream.
func (r *receiver) receive(fd int, p []byte) (n int, stamp int64, again bool, err error) {
	r.iov.Base = &p[0]
	r.iov.SetLen(len(p))
	r.msg.Iov = &r.iov
	r.msg.SetIovlen(1)
	r.msg.Control = &r.control[0]
	r.msg.SetControllen(len(r.control))
	for {
		// RawSyscall: with MSG_DONTWAIT the call cannot block, so the scheduler
		// need not be told.
		got, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&r.msg)), unix.MSG_DONTWAIT)
		switch errno {
		case 0:
			return int(got), r.stamp(), false, nil
		case unix.EAGAIN:
			return 0, 0, true, nil
		case unix.EINTR:
			continue
		}
		return 0, 0, false, errno
	}
}

// stamp finds SCM_TIMESTAMPING among the control messages: three timespecs of
// which the first is the software stamp (Documentation/networking/timestamping).
func (r *receiver) stamp() int64 {
	rest := r.control[:min(int(r.msg.Controllen), len(r.control))]
	for len(rest) >= unix.SizeofCmsghdr {
		h := (*unix.Cmsghdr)(unsafe.Pointer(&rest[0]))
		size := int(h.Len)
		if size < unix.SizeofCmsghdr || size > len(rest) {
			return 0
		}
		if h.Level == unix.SOL_SOCKET && h.Type == unix.SCM_TIMESTAMPING && size >= unix.CmsgLen(0)+int(unsafe.Sizeof(unix.Timespec{})) {
			ts := (*unix.Timespec)(unsafe.Pointer(&rest[unix.CmsgLen(0)]))
			return ts.Nano()
		}
		rest = rest[min(len(rest), unix.CmsgSpace(size-unix.CmsgLen(0))):]
	}
	return 0
}

// cpuTime is the user and system time of the whole process so far.
func cpuTime() (user, system time.Duration) {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0, 0
	}
	return time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano())
}
