//go:build !linux

package loadgen

import (
	"net"
	"syscall"
	"time"
)

// Other systems have no kernel stamps here: every connection is stamped after
// the read, and the batch says so.

type receiver struct{}

func (*receiver) receive(int, []byte) (n int, stamp int64, again bool, err error) {
	return 0, 0, false, syscall.ENOSYS
}

func enableStamps(syscall.RawConn) bool { return false }

func detach(*net.TCPConn, bool) (fd int, ok bool) { return -1, false }

func closeFD(int) {}

func quiet(int) bool { return true }

func hungUp(int) bool { return false }

func cpuTime() (user, system time.Duration) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, 0
	}
	return time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano())
}

func ackAtOnce(int) {}
