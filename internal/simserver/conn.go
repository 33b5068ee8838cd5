package simserver

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// conn is one accepted connection. Its goroutine reads requests and waits; while
// a stream runs only the stream's writer writes.
type conn struct {
	server *Server
	nc     net.Conn
	sock   *stampedSocket // nil where raw access is not to be had
	id     int
	out    outbox
	reader *reader // while parsing
	shut   atomic.Bool
	// stale makes the connection close when the next request arrives.
	stale bool
}

// reader is what a connection needs only while it parses; while a stream runs,
// and between requests, it lies in a pool. That is what makes 10,000 idle
// streams cheap.
type reader struct {
	br  *bufio.Reader
	req fasthttp.Request
}

func newReader() any { return &reader{br: bufio.NewReaderSize(nil, 8<<10)} }

// acquire gives the connection a reader.
func (c *conn) acquire() {
	c.reader = c.server.readers.Get().(*reader)
	c.reader.br.Reset(c.source())
}

// release takes the reader back, unless it holds a part of the next request.
// The request in it must not be used afterwards.
func (c *conn) release() {
	if c.reader != nil && c.reader.br.Buffered() == 0 {
		c.discard()
	}
}

func (c *conn) discard() {
	if c.reader == nil {
		return
	}
	c.reader.br.Reset(nil)
	c.reader.req.Reset()
	c.server.readers.Put(c.reader)
	c.reader = nil
}

// serve answers requests until the connection or the server closes.
func (c *conn) serve() {
	defer c.close()
	for c.ready() {
		if c.stale || !c.once() {
			return
		}
	}
}

// ready waits, without a buffer, for the next request.
func (c *conn) ready() bool {
	if c.sock == nil {
		return true
	}
	ok, err := c.sock.wait()
	return ok && err == nil
}

// once serves one request, or several that came in one piece, and says whether
// the connection lives on.
func (c *conn) once() bool {
	c.acquire()
	defer c.discard()
	for c.reader != nil {
		x, err := c.read()
		if err != nil {
			c.complain(err)
			return false
		}
		last := c.reader.req.ConnectionClose()
		if !c.server.handle(x) || last {
			return false
		}
		c.release()
	}
	return true
}

func (c *conn) source() io.Reader {
	if c.sock != nil {
		return c.sock
	}
	return c.nc
}

// exchange is one request on a connection.
type exchange struct {
	conn   *conn
	req    *fasthttp.Request
	recv   int64 // arrival, Unix ns
	kernel bool  // recv is the kernel's stamp
	read   int64 // when it was parsed
}

func (c *conn) read() (*exchange, error) {
	r := c.reader
	r.req.Reset()
	if err := r.req.ReadLimitBody(r.br, c.server.cfg.MaxBody); err != nil {
		return nil, err
	}
	if r.req.MayContinue() {
		if _, err := c.nc.Write([]byte("HTTP/1.1 100 Continue\r\n\r\n")); err != nil {
			return nil, err
		}
		if err := r.req.ContinueReadBody(r.br, c.server.cfg.MaxBody); err != nil {
			return nil, err
		}
	}
	x := &exchange{conn: c, req: &r.req, read: unixNano()}
	x.recv = x.read
	if c.sock != nil && c.sock.kernelStamp() != 0 {
		x.recv, x.kernel = c.sock.kernelStamp(), true
		c.server.stats.kernel.Add(1)
	} else {
		c.server.stats.user.Add(1)
	}
	return x, nil
}

// complain answers bytes that are no request; a peer that just left gets nothing.
func (c *conn) complain(err error) {
	var netErr net.Error
	if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.As(err, &netErr) {
		return
	}
	status := 400
	if errors.Is(err, fasthttp.ErrBodyTooLarge) {
		status = 413
	}
	c.answer(answer{status: status, kind: "text/plain; charset=utf-8", body: []byte("Invalid HTTP request received."), hangUp: true})
}

// answer writes a whole response from the connection's goroutine.
func (c *conn) answer(a answer) bool {
	_, err := c.nc.Write(c.server.encode(a))
	return err == nil && !a.hangUp
}

// await waits until the stream is over and says whether the connection can be
// used again. A client that leaves meanwhile frees its slot at once.
func (c *conn) await(st *stream) bool {
	if c.sock == nil {
		select {
		case <-st.done:
		case <-c.server.closing:
			return false
		}
		return !st.gone.Load() && c.out.drained()
	}
	for {
		readable, err := c.sock.wait()
		if isDone(st.done) {
			break
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			continue
		}
		if !readable {
			st.abandon()
			break
		}
		// The next request is already here; a later end can't be seen now.
		select {
		case <-st.done:
		case <-c.server.closing:
			return false
		}
		break
	}
	if st.gone.Load() {
		return false
	}
	_ = c.nc.SetReadDeadline(time.Time{})
	return c.out.drained()
}

func isDone(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// hold keeps the connection open and silent until the peer or the server closes
// it.
func (c *conn) hold() {
	if c.sock == nil {
		<-c.server.closing
		return
	}
	if readable, err := c.sock.wait(); err == nil && readable {
		<-c.server.closing
	}
}

// pause waits; false once the server closes.
func (c *conn) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-c.server.closing:
		return false
	}
}

// reset makes the coming close a RST.
func (c *conn) reset() {
	nc := c.nc
	if t, ok := nc.(*tls.Conn); ok {
		nc = t.NetConn()
	}
	if t, ok := nc.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
		_ = t.Close()
	}
}

// interrupt ends a wait for reading.
func (c *conn) interrupt() {
	if c.sock != nil {
		_ = c.nc.SetReadDeadline(time.Unix(1, 0))
	}
}

// send hands bytes of a stream to the kernel or, if that is full or the path is
// slow, to the queue. It does not wait and does not keep b.
func (c *conn) send(b []byte) error {
	if c.sock == nil || c.out.trickle || c.out.waiting() {
		return c.out.put(c, b)
	}
	n, err := c.sock.write(b)
	if err != nil {
		return err
	}
	if n < len(b) {
		c.server.stats.queued.Add(1)
		return c.out.put(c, b[n:])
	}
	return nil
}

// close may be called from any goroutine, more than once.
func (c *conn) close() {
	if !c.shut.Swap(true) {
		_ = c.nc.Close()
	}
}
