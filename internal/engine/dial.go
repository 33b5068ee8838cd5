package engine

import (
	"context"
	"crypto/tls"
	"net"
)

// dial opens one connection to the target, TLS included, within ctx.
func (t Target) dial(ctx context.Context) (*watchedConn, error) {
	raw, err := t.dialTCP(ctx)
	if err != nil {
		return nil, err
	}
	conn := &watchedConn{Conn: raw}
	if !t.Base.tls {
		return conn, nil
	}
	secured := tls.Client(conn, t.tlsConfig())
	if err := secured.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, &handshakeError{err: err, plain: conn.first()}
	}
	return &watchedConn{Conn: secured}, nil
}

// dialTCP tries the target's addresses in order. Where all fail, the first
// fault is returned: a server bound to ::1 alone is found, and one that is down
// reads "refused" and not "IPv6 is not available here".
func (t Target) dialTCP(ctx context.Context) (net.Conn, error) {
	var first error
	for _, address := range t.Base.Addresses() {
		var dialer net.Dialer
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			return conn, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// tlsConfig is the caller's configuration with the server's name filled in.
func (t Target) tlsConfig() *tls.Config {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	if t.TLS != nil {
		cfg = t.TLS.Clone()
	}
	if cfg.ServerName == "" {
		cfg.ServerName = t.Base.host
	}
	return cfg
}

// handshakeError is a TLS handshake that failed. plain holds the first bytes the
// server sent, which tell a server without TLS.
type handshakeError struct {
	err   error
	plain []byte
}

func (e *handshakeError) Error() string { return "TLS handshake: " + e.err.Error() }
func (e *handshakeError) Unwrap() error { return e.err }

// watchedConn keeps the first bytes that arrive, so that an answer which is not
// HTTP can be told by what it is. It is read by one goroutine.
type watchedConn struct {
	net.Conn
	seen [16]byte
	n    int
}

// Read reads from the connection underneath.
func (c *watchedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.n += copy(c.seen[c.n:], p[:n])
	return n, err
}

// first returns the first bytes that arrived, at most 16.
func (c *watchedConn) first() []byte { return c.seen[:c.n] }
