package loadgen

import (
	"io"
	"net"
	"syscall"
	"time"
)

// stampConn is a TCP connection whose reads carry the kernel's receive stamp.
// TLS runs on top of it: the stamp of a record is that of the last read below.
// Reads belong to one goroutine at a time.
type stampConn struct {
	*net.TCPConn
	raw   syscall.RawConn
	clock clock
	recv  receiver
	tally tally

	last moment        // of the last read that returned bytes
	read time.Duration // when it ended
	full bool          // it filled its buffer: there may have been more
	wait bool          // the current read found the socket empty first

	buf      []byte
	n        int
	err      error
	received func(fd uintptr) bool // made once, so that a read allocates nothing
}

// newStampConn switches kernel stamps on, or returns nil where there are none.
func newStampConn(tcp *net.TCPConn, clock clock) *stampConn {
	raw, err := tcp.SyscallConn()
	if err != nil || !enableStamps(raw) {
		return nil
	}
	c := &stampConn{TCPConn: tcp, raw: raw, clock: clock}
	c.received = c.receive
	return c
}

// restart forgets what was counted for an earlier batch.
func (c *stampConn) restart() {
	c.tally = tally{}
	c.clock.restart()
}

// Read reads once and notes the moment.
func (c *stampConn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c.buf, c.wait = p, false
	if err := c.raw.Read(c.received); err != nil {
		return 0, err
	}
	if c.err == nil && c.n == 0 {
		return 0, io.EOF
	}
	return c.n, c.err
}

// receive makes one attempt; false asks to be called again when the socket is
// ready.
func (c *stampConn) receive(fd uintptr) bool {
	n, stamp, again, err := c.recv.receive(int(fd), c.buf)
	if again {
		c.wait = true
		return false
	}
	r := c.clock.now()
	c.n, c.err = n, err
	if n > 0 {
		c.note(r, c.clock.moment(r, stamp))
	}
	return true
}

// note books a read. Its bytes may have lain unread since the read before, if
// the socket was not found empty in between, and longer if that one left some.
func (c *stampConn) note(r reading, m moment) {
	switch {
	case c.wait:
		m.blind = m.lag
	case c.full:
		m.blind = c.last.blind + (r.mono - c.read)
	case c.read > 0:
		m.blind = r.mono - c.read
	}
	if m.stamped {
		c.tally.kernel++
	} else {
		c.tally.bare++
	}
	c.tally.steps = c.clock.steps
	c.last, c.read, c.full = m, r.mono, c.n == len(c.buf)
}

// asks puts a question to the socket.
func (c *stampConn) asks(question func(fd int) bool) bool {
	answer := false
	err := c.raw.Control(func(fd uintptr) { answer = question(int(fd)) })
	return err == nil && answer
}
