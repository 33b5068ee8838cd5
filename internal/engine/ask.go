package engine

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"

	"github.com/valyala/fasthttp"
)

const (
	// maxBody bounds a body that is read whole, in bytes. The longest honest
	// ones are /metrics of many engines and the model list of a big provider.
	maxBody = 16 << 20
	// maxHeaders bounds the header section of an answer, in bytes.
	maxHeaders = 64 << 10
)

// userAgent names the client to the server.
const userAgent = "lmxbench"

// question is one HTTP request.
type question struct {
	method string
	path   string // below the base URL, begins with "/"
	body   []byte // nil: none; sent as JSON
}

// asked is how errors name the question.
func (t Target) asked(q question) string { return q.method + " " + t.Base.String() + q.path }

// answer is an HTTP response whose body has been read whole.
type answer struct {
	status                       int
	contentType, contentEncoding string
	server                       string // Server header
	location, retryAfter         string
	processStart                 string // llama.cpp's own header at /metrics
	peer                         string // address the connection went to
	body                         []byte
}

// ask sends q and reads the whole answer. Any status is an answer: an error
// means that there was none, or none that could be read.
func (t Target) ask(ctx context.Context, q question) (answer, error) {
	x, err := t.open(ctx, q)
	if err != nil {
		return answer{}, err
	}
	defer x.close()
	return x.readWhole()
}

// exchange is a question whose answer's header has arrived and whose body has
// not been read. Its owner closes it.
type exchange struct {
	answer // without the body
	target Target
	q      question
	ctx    context.Context // ends at the deadline of the question
	cancel context.CancelFunc
	parent context.Context // the caller's
	req    *fasthttp.Request
	resp   *fasthttp.Response
	conn   *watchedConn
}

// open sends q and reads the answer's header.
func (t Target) open(ctx context.Context, q question) (*exchange, error) {
	x := &exchange{target: t, q: q, parent: ctx}
	if err := ctx.Err(); err != nil {
		return nil, x.fault(err)
	}
	if err := t.Key.check(); err != nil {
		return nil, err
	}
	x.ctx, x.cancel = context.WithTimeout(ctx, t.timeout())
	x.req, x.resp = fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	t.fill(x.req, q)
	// The body is read as a stream, so that a bound can be set on it and what
	// came of a body too long is still there to be shown.
	x.resp.StreamBody = true
	client := &fasthttp.HostClient{
		Addr:                      t.Base.Addresses()[0], // Dial decides
		IsTLS:                     t.Base.tls,
		Dial:                      x.dial,
		NoDefaultUserAgentHeader:  true,
		DisablePathNormalizing:    true,
		ReadBufferSize:            maxHeaders,
		MaxIdemponentCallAttempts: 1,
		SecureErrorLogMessage:     true, // keys stay out of errors
		RetryIfErr:                func(*fasthttp.Request, int, error) (bool, bool) { return false, false },
	}
	deadline, _ := x.ctx.Deadline()
	if err := client.DoDeadline(x.req, x.resp, deadline); err != nil {
		fault := x.fault(err)
		x.close()
		return nil, fault
	}
	x.readHeader()
	return x, nil
}

// fill writes the request that asks q. "Connection: close" makes the connection
// the question's own, so no pool and none of its goroutines outlive it.
func (t Target) fill(req *fasthttp.Request, q question) {
	req.Header.SetMethod(q.method)
	req.URI().DisablePathNormalizing = true
	scheme := "http://"
	if t.Base.tls {
		scheme = "https://"
	}
	req.SetRequestURI(scheme + t.Base.HostHeader() + t.Base.RequestPath(q.path))
	req.Header.SetUserAgent(userAgent)
	req.SetConnectionClose()
	for _, h := range t.Headers() {
		if q.body != nil || h.Name != "Content-Type" {
			req.Header.Set(h.Name, h.Value)
		}
	}
	if q.body != nil {
		req.SetBodyRaw(q.body)
	}
}

// dial is what the HTTP client calls. A context that ends closes the connection,
// which is the only way to wake a reader.
func (x *exchange) dial(string) (net.Conn, error) {
	conn, err := x.target.dial(x.ctx)
	if err != nil {
		return nil, err
	}
	x.conn = conn
	x.peer = conn.RemoteAddr().String()
	stop := context.AfterFunc(x.ctx, func() { conn.Close() })
	return &stoppingConn{watchedConn: conn, stop: stop}, nil
}

// stoppingConn takes the context's hook off when the connection is closed.
type stoppingConn struct {
	*watchedConn
	stop func() bool
}

// Close closes the connection.
func (c *stoppingConn) Close() error {
	c.stop()
	return c.watchedConn.Close()
}

// Handshake tells the HTTP client that TLS, if any, has been dealt with.
func (c *stoppingConn) Handshake() error { return nil }

func (x *exchange) readHeader() {
	h := &x.resp.Header
	x.status = x.resp.StatusCode()
	x.contentType = string(h.ContentType())
	x.contentEncoding = string(h.ContentEncoding())
	x.server = string(h.Server())
	x.location = string(h.Peek("Location"))
	x.retryAfter = string(h.Peek("Retry-After"))
	x.processStart = string(h.Peek("Process-Start-Time-Unix"))
}

// Read reads the answer's body, chunked coding taken off, content coding kept.
func (x *exchange) Read(p []byte) (int, error) {
	body := x.resp.BodyStream()
	if body == nil {
		return 0, io.EOF
	}
	return body.Read(p)
}

// readWhole reads the body to its end and takes a content coding off.
func (x *exchange) readWhole() (answer, error) {
	body, err := io.ReadAll(io.LimitReader(x, maxBody+1))
	x.body = body
	switch {
	case err != nil:
		return x.answer, x.fault(err)
	case len(body) > maxBody:
		return x.answer, x.tooLarge()
	}
	if x.coded() {
		x.body, err = x.decode(body)
		if err != nil {
			return x.answer, err
		}
	}
	return x.answer, nil
}

// coded reports whether the body carries a content coding although the request
// asked for none.
func (x *exchange) coded() bool {
	return x.contentEncoding != "" && x.contentEncoding != "identity"
}

// decode takes the content coding off a whole body.
func (x *exchange) decode(body []byte) ([]byte, error) {
	whole := fasthttp.AcquireResponse()
	defer fasthttp.ReleaseResponse(whole)
	whole.Header.SetContentEncoding(x.contentEncoding)
	whole.SetBodyRaw(body)
	plain, err := whole.BodyUncompressedWithLimit(maxBody)
	switch {
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		return nil, x.tooLarge()
	case err != nil:
		return nil, &Error{
			Class: NotHTTP, Asked: x.target.asked(x.q), Status: x.status, Err: err,
			Problem: "the body cannot be decoded as " + quote(oneLine(x.contentEncoding, maxQuoted)) +
				", which was not asked for",
			Advice: "look at the proxy in between",
		}
	}
	return bytes.Clone(plain), nil
}

// close ends the exchange and its connection. What was read stays valid.
func (x *exchange) close() {
	if x.resp != nil {
		x.resp.CloseBodyStream()
		fasthttp.ReleaseResponse(x.resp)
		fasthttp.ReleaseRequest(x.req)
		x.resp, x.req = nil, nil
	}
	x.cancel()
}
