package engine

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"
)

// fault explains why a question got no answer.
func (x *exchange) fault(err error) *Error {
	e := &Error{Asked: x.target.asked(x.q), Status: x.status, Err: err}
	x.explain(e, err)
	return e
}

func (x *exchange) explain(e *Error, err error) {
	where := strings.Join(x.target.Base.Addresses(), " and ")
	var (
		dns       *net.DNSError
		handshake *handshakeError
		header    *fasthttp.ErrSmallBuffer
	)
	switch {
	case x.parent.Err() != nil && !errors.Is(context.Cause(x.parent), context.DeadlineExceeded):
		e.Class, e.Problem, e.Err = Cancelled, "stopped before the answer came", context.Cause(x.parent)
	case x.ended() || isTimeout(err):
		e.Class, e.Problem = TimedOut, "no whole answer within "+x.patience()
		e.Advice = "check that the server is up and not still loading its model"
	case errors.As(err, &dns):
		e.Class, e.Problem = UnknownHost, fmt.Sprintf("the name %s has no address", quote(x.target.Base.host))
		e.Advice = "correct --base-url"
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Class, e.Problem = Refused, "nothing listens on "+where
		e.Advice = "start the server, or correct --base-url"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.EADDRNOTAVAIL):
		e.Class, e.Problem = Unreachable, "there is no way from this machine to "+where
		e.Advice = "correct --base-url, or check the network"
	case errors.As(err, &handshake):
		x.explainTLS(e, handshake)
	case errors.As(err, &header):
		e.Class, e.Problem = TooLarge, fmt.Sprintf("the answer's header is longer than %d KiB", maxHeaders>>10)
	case x.conn != nil && isTLSRecord(x.conn.first()):
		e.Class, e.Problem, e.Advice = WrongScheme, "the server speaks TLS on this port", "write https:// in --base-url"
	case isLost(err):
		e.Class, e.Problem = ConnectionLost, "the server closed the connection before the answer was whole"
		e.Advice = "look at the server's log"
	default:
		e.Class, e.Problem = NotHTTP, "the answer is not HTTP ("+oneLine(err.Error(), maxQuoted)+")"
		e.Advice = "check that --base-url names a model server"
	}
}

// explainTLS tells an untrusted certificate from other faults of the handshake.
func (x *exchange) explainTLS(e *Error, handshake *handshakeError) {
	var (
		verify *tls.CertificateVerificationError
		record tls.RecordHeaderError
		host   x509.HostnameError
	)
	reason := oneLine(handshake.err.Error(), maxQuoted)
	switch {
	case errors.As(handshake.err, &host):
		e.Class = TLSUntrusted
		e.Problem = "the server's certificate is for another name (" + reason + ")"
		e.Advice = "use the name in the certificate, or --insecure to go without verification"
	case errors.As(handshake.err, &verify):
		e.Class = TLSUntrusted
		e.Problem = "the server's certificate cannot be verified (" + reason + ")"
		e.Advice = "name its authority with --cacert, or use --insecure to go without verification"
	case errors.As(handshake.err, &record), bytes.HasPrefix(handshake.plain, []byte("HTTP/")):
		e.Class, e.Problem = WrongScheme, "the server does not speak TLS on this port"
		e.Advice = "write http:// in --base-url"
	default:
		e.Class, e.Problem = TLSFailed, "the TLS handshake failed ("+reason+")"
		e.Advice = "check that the port is right and what TLS versions the server takes"
	}
}

// ended reports whether the question's own deadline or the caller's has passed.
func (x *exchange) ended() bool {
	return x.parent.Err() != nil || (x.ctx != nil && x.ctx.Err() != nil)
}

// deadline is when the question ends by itself or by the caller's context.
func (x *exchange) deadline() (time.Time, bool) {
	if x.ctx == nil {
		return time.Time{}, false
	}
	return x.ctx.Deadline()
}

// patience is how long was waited, in words.
func (x *exchange) patience() string {
	own, ok := x.parent.Deadline()
	if mine, opened := x.deadline(); ok && (!opened || !own.After(mine)) {
		return "the time given"
	}
	return x.target.timeout().String()
}

// tooLarge is an answer longer than this package reads.
func (x *exchange) tooLarge() *Error {
	return &Error{
		Class: TooLarge, Asked: x.target.asked(x.q), Status: x.status,
		Problem: fmt.Sprintf("the answer is longer than %d MiB", maxBody>>20),
		Advice:  "check that --base-url names a model server",
		Excerpt: excerpt(x.body),
	}
}

func isTimeout(err error) bool {
	var timed interface{ Timeout() bool }
	return errors.Is(err, fasthttp.ErrTimeout) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.As(err, &timed) && timed.Timeout()
}

func isLost(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, fasthttp.ErrConnectionClosed) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// isTLSRecord reports whether first begins an alert or a handshake record.
func isTLSRecord(first []byte) bool {
	return len(first) >= 2 && (first[0] == 0x15 || first[0] == 0x16) && first[1] == 0x03
}

// statusFault explains an answer whose status is not 2xx, or returns nil.
func (t Target) statusFault(q question, a answer) *Error {
	if a.status >= 200 && a.status < 300 {
		return nil
	}
	e := &Error{
		Class: BadStatus, Asked: t.asked(q), Status: a.status,
		Location: a.location, RetryAfter: a.retryAfter, Excerpt: excerpt(a.body),
	}
	said := saidBy(a)
	e.Problem = fmt.Sprintf("status %d%s", a.status, said)
	switch {
	case a.status >= 300 && a.status < 400:
		e.Class = Redirected
		e.Problem = fmt.Sprintf("redirected (status %d) to %s", a.status, quote(oneLine(a.location, maxQuoted)))
		e.Advice = "redirects are not followed: give that address as --base-url if it is the server"
	case a.status == 401 || a.status == 403:
		e.Class = Unauthorized
		e.Advice = t.keyAdvice()
	case spokeToTLSPort(a):
		e.Class, e.Problem, e.Advice = WrongScheme, "the server speaks TLS on this port", "write https:// in --base-url"
	case a.status == 404 || a.status == 405 || a.status == 501:
		e.Class = NotFound
		e.Advice = "check that --base-url names an OpenAI-compatible server, without anything from /v1 on"
		if strings.Contains(strings.ToLower(errorMessage(a.body)), "model") {
			e.Advice = "choose a model the server lists with --served-model"
		}
	case a.status == 429 || a.status == 503:
		e.Class = NotReady
		e.Advice = "wait until the server has loaded its model and takes requests"
	case a.status == 400 || a.status == 422:
		e.Class = RequestRefused
	case a.status >= 500:
		e.Advice = "look at the server's log"
	}
	return e
}

// keyAdvice says where a key comes from, or that the one given was not taken.
func (t Target) keyAdvice() string {
	if t.Key == "" {
		return "the server wants an API key: set LMXBENCH_API_KEY or OPENAI_API_KEY, or give --api-key-file"
	}
	return "the server does not take this API key: check LMXBENCH_API_KEY, OPENAI_API_KEY or --api-key-file"
}

// spokeToTLSPort recognises how servers of TLS answer a plain request: Go and
// nginx say so with status 400.
func spokeToTLSPort(a answer) bool {
	body := strings.ToLower(string(a.body[:min(len(a.body), maxExcerpt)]))
	return a.status == 400 && strings.Contains(body, "http request") && strings.Contains(body, "https")
}

// saidBy is what the body says of the fault, for the end of a problem.
func saidBy(a answer) string {
	if message := errorMessage(a.body); message != "" {
		return ": " + oneLine(message, 2*maxQuoted)
	}
	if isHTML(a) || len(a.body) == 0 {
		return ""
	}
	return ": " + oneLine(string(a.body), maxQuoted)
}

// isHTML reports whether an answer is a page for people.
func isHTML(a answer) bool {
	if strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.contentType)), "text/html") {
		return true
	}
	begin := bytes.TrimLeft(a.body[:min(len(a.body), maxExcerpt)], " \t\r\n\ufeff")
	begin = bytes.ToLower(begin[:min(len(begin), 16)])
	return bytes.HasPrefix(begin, []byte("<!doctype html")) || bytes.HasPrefix(begin, []byte("<html"))
}
