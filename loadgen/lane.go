package loadgen

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"
)

// lane is one connection and the request it carries. A plain connection on
// Linux is a bare file descriptor read by a loop (fd ≥ 0); any other is a
// net.Conn read by a goroutine.
type lane struct {
	fd      int
	conn    net.Conn
	stamps  *stampConn      // below conn; nil where there are no kernel stamps
	socket  syscall.RawConn // of conn; nil where it is no TCP connection
	peer    string
	connect time.Duration // when it was ready
	opening time.Duration // how long it took to open, TLS included
	served  bool          // it has carried an answer

	err     error   // why there is no connection
	outcome Outcome // what a request ends in for want of one

	s    *stream
	rest []byte // bytes of the request not yet written
}

func (l *lane) open() bool { return l.fd >= 0 || l.conn != nil }

// alive reports whether the lane's connection can carry another request, and
// closes it if not. One that has bytes or an end to read while no request is
// out cannot. A TLS connection that has not been used holds session tickets,
// and of one that cannot be asked nothing is known.
func (l *lane) alive() bool {
	if !l.open() {
		return false
	}
	ok := true
	switch {
	case l.fd >= 0:
		ok = quiet(l.fd)
	case l.stamps != nil && !l.served && net.Conn(l.stamps) != l.conn:
		ok = !l.stamps.asks(hungUp)
	case l.stamps != nil:
		ok = l.stamps.asks(quiet)
	}
	if !ok {
		l.close()
	}
	return ok
}

func (l *lane) close() {
	if l.fd >= 0 {
		closeFD(l.fd)
	}
	if l.conn != nil {
		l.conn.Close()
	}
	l.fd, l.conn, l.stamps, l.socket, l.served = -1, nil, nil, nil, false
}

// ackAtOnce is [ackAtOnce] for a connection read by a goroutine.
func (l *lane) ackAtOnce() {
	if l.socket != nil {
		l.socket.Control(func(fd uintptr) { ackAtOnce(int(fd)) })
	}
}

// refuse notes why the lane has no connection.
func (l *lane) refuse(outcome Outcome, err error) { l.outcome, l.err = outcome, err }

// dial opens the lane's connection, or notes why not. alone asks for one that
// is read by a goroutine.
func (p *Pool) dial(ctx context.Context, l *lane, alone bool) {
	l.err, l.outcome = nil, ""
	limit := deadline{PhaseConnect, "no connection", p.cfg.ConnectTimeout}
	limited, cancel := context.WithTimeout(ctx, limit.limit)
	defer cancel()
	began := time.Since(p.cfg.Origin)
	err := p.connect(limited, l, alone)
	switch {
	case err == nil:
		l.connect = time.Since(p.cfg.Origin)
		l.opening = l.connect - began
	case ctx.Err() != nil:
		l.refuse(Cancelled, errors.New(stopText(context.Cause(ctx))))
	case limited.Err() != nil:
		l.refuse(Timeout, limit)
	default:
		l.refuse(ConnectError, err)
	}
}

func (p *Pool) connect(ctx context.Context, l *lane, alone bool) error {
	dial := p.cfg.Dial
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	conn, err := dial(ctx, "tcp", p.cfg.Address)
	if err != nil {
		return err
	}
	l.peer = conn.RemoteAddr().String()
	tcp, isTCP := conn.(*net.TCPConn)
	if isTCP && p.looped() && !alone {
		if fd, ok := detach(tcp, !p.cfg.UserStamps); ok {
			l.fd = fd
			return nil
		}
	}
	if isTCP {
		l.socket, _ = tcp.SyscallConn()
	}
	if isTCP && !p.cfg.UserStamps {
		if l.stamps = newStampConn(tcp, p.newClock()); l.stamps != nil {
			conn = l.stamps
		}
	}
	if p.cfg.TLS != nil {
		secure := tls.Client(conn, p.cfg.TLS)
		if err := secure.HandshakeContext(ctx); err != nil {
			conn.Close()
			l.stamps = nil
			return tlsError(err)
		}
		conn = secure
	}
	l.conn = conn
	return nil
}

// looped reports whether connections are read by loops where that is possible.
func (p *Pool) looped() bool { return p.cfg.TLS == nil && !p.cfg.Goroutines }

// tlsError says what to do about a handshake that failed.
func tlsError(err error) error {
	var unknown *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &unknown):
		return fmt.Errorf("TLS: the server's certificate is not trusted (%w); give its CA with --cacert FILE", unknown.Err)
	case errors.As(err, &record):
		return errors.New("TLS: the server does not speak TLS on this port; use http://")
	}
	return fmt.Errorf("TLS: %w", err)
}

// refused turns a lane without a connection into its request's record.
func (l *lane) refused(now time.Duration) *Record {
	r := &Record{Outcome: l.outcome, ErrorPhase: PhaseConnect, Error: oneLine(l.err.Error())}
	if l.outcome == Cancelled {
		r.ErrorPhase = ""
	}
	r.T.End = now
	return r
}
