//go:build !linux

package simserver

import (
	"net"
	"syscall"
	"time"
)

// stampedSocket exists only on Linux; here every connection takes the slow path.
type stampedSocket struct{}

func listenControl(_, _ string, _ syscall.RawConn) error { return nil }

func newStampedSocket(net.Conn) *stampedSocket { return nil }

func (s *stampedSocket) write([]byte) (int, error) { return 0, net.ErrClosed }

func (s *stampedSocket) Read([]byte) (int, error) { return 0, net.ErrClosed }

func (s *stampedSocket) wait() (bool, error) { return false, net.ErrClosed }

func (s *stampedSocket) kernelStamp() int64 { return 0 }

// unixNano reads the real-time clock.
func unixNano() int64 { return time.Now().UnixNano() }
