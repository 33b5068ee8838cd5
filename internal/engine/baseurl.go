package engine

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// BaseURL is the address of a server up to, and not including, the "/v1" of its
// API. Values come from [ParseBaseURL]; the zero value addresses nothing.
type BaseURL struct {
	tls    bool
	host   string // name or IP address, without brackets, zone included
	port   uint16 // 0: the scheme's own
	prefix string // "" or "/llm": as written, percent-encoding included
}

// ParseBaseURL reads what a user calls the server's address. Spaces around it,
// slashes at its end and one "/v1" at its end are taken off; a path before that
// is kept as a prefix of every request path.
//
// A user name and a query are refused, and not repeated in the error: keys are
// written there, and other users of the machine can read the command line.
func ParseBaseURL(text string) (BaseURL, error) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return BaseURL{}, errors.New("base URL is empty: write something like http://127.0.0.1:8000")
	}
	scheme, rest, found := strings.Cut(trimmed, "://")
	if !found {
		rest = trimmed
	}
	authority := rest
	if end := strings.IndexAny(rest, `/?#\`); end >= 0 {
		authority = rest[:end]
	}
	switch {
	case strings.Contains(authority, "@"):
		return BaseURL{}, errors.New("base URL holds a user name: other users of the machine can read it; " +
			"put the key into LMXBENCH_API_KEY or --api-key-file")
	case strings.ContainsAny(rest, "?#"):
		return BaseURL{}, errors.New("base URL has a query or a fragment: leave out everything from ? or # on")
	case !found:
		return BaseURL{}, fmt.Errorf("base URL %s has no scheme: write http:// or https:// before it", quote(trimmed))
	}
	b := BaseURL{tls: strings.EqualFold(scheme, "https")}
	if !b.tls && !strings.EqualFold(scheme, "http") {
		return BaseURL{}, fmt.Errorf("base URL %s has the scheme %s: only http and https are spoken",
			quote(trimmed), quote(scheme))
	}
	if err := b.setPath(rest[len(authority):]); err != nil {
		return BaseURL{}, fmt.Errorf("base URL %s: %w", quote(trimmed), err)
	}
	if err := b.setAuthority(authority); err != nil {
		return BaseURL{}, fmt.Errorf("base URL %s: %w", quote(trimmed), err)
	}
	return b, nil
}

// setPath takes what stands behind the authority.
func (b *BaseURL) setPath(path string) error {
	path = strings.TrimRight(path, "/")
	path = strings.TrimRight(strings.TrimSuffix(path, "/v1"), "/")
	for _, endpoint := range []string{"/chat/completions", "/completions", "/models"} {
		if base, cut := strings.CutSuffix(path, endpoint); cut {
			return fmt.Errorf("it ends in %s: give the part before /v1 (here the path %s)",
				endpoint, quote(strings.TrimSuffix(base, "/v1")+"/"))
		}
	}
	for _, r := range path {
		if r <= ' ' || r >= 0x7f || strings.ContainsRune(`"<>\^`+"`{|}", r) {
			return fmt.Errorf("the path holds %q: percent-encode it", r)
		}
	}
	if _, err := url.PathUnescape(path); err != nil {
		return errors.New("the path holds a % that is not followed by two hex digits")
	}
	b.prefix = path
	return nil
}

// setAuthority takes host and port.
func (b *BaseURL) setAuthority(authority string) error {
	host, port := authority, ""
	if strings.HasPrefix(authority, "[") {
		end := strings.IndexByte(authority, ']')
		if end < 0 {
			return errors.New("the [ of an IPv6 address is never closed")
		}
		host, port = authority[1:end], authority[end+1:]
		// "%25" is how a URL writes the % before an interface name (RFC 6874).
		host = strings.Replace(host, "%25", "%", 1)
		if addr, err := netip.ParseAddr(host); err != nil || !addr.Is6() {
			return fmt.Errorf("%s is not an IPv6 address", quote(host))
		}
	} else if i := strings.IndexByte(authority, ':'); i >= 0 {
		host, port = authority[:i], authority[i:]
		if strings.Count(authority, ":") > 1 {
			return errors.New("an IPv6 address needs brackets, as in http://[::1]:8000")
		}
	}
	if host == "" {
		return errors.New("it names no host")
	}
	if !strings.HasPrefix(authority, "[") && !isHostName(host) {
		return fmt.Errorf("%s is not a host name; write names outside ASCII in punycode", quote(host))
	}
	b.host = host
	return b.setPort(port)
}

// setPort takes "" or ":" and a number.
func (b *BaseURL) setPort(port string) error {
	if port == "" || port == ":" {
		return nil
	}
	if !strings.HasPrefix(port, ":") {
		return fmt.Errorf("%s after the address is not a port", quote(port))
	}
	n, err := strconv.ParseUint(port[1:], 10, 16)
	if err != nil || n == 0 || port[1] == '+' {
		return fmt.Errorf("port %s is not a number from 1 to 65535", quote(port[1:]))
	}
	b.port = uint16(n)
	return nil
}

// isHostName reports whether s can be a DNS name or an IPv4 address. It is a
// check of characters: whether the name exists is the resolver's word.
func isHostName(s string) bool {
	if len(s) > 253 {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '.', c == '_':
		default:
			return false
		}
	}
	return true
}

// TLS reports whether the server is spoken to over TLS.
func (b BaseURL) TLS() bool { return b.tls }

// Host is the name or the IP address, without brackets.
func (b BaseURL) Host() string { return b.host }

// Port is the TCP port, 80 or 443 where none was written.
func (b BaseURL) Port() int {
	switch {
	case b.port != 0:
		return int(b.port)
	case b.tls:
		return 443
	}
	return 80
}

// HostHeader is the value of the Host header: the port only where one was
// written, and no IPv6 zone, which has a meaning on this machine only.
func (b BaseURL) HostHeader() string {
	host, _, _ := strings.Cut(b.host, "%")
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if b.port == 0 {
		return host
	}
	return host + ":" + strconv.Itoa(int(b.port))
}

// String is the address in one spelling, without a slash and without the "/v1"
// that was taken off. With "/v1" behind it, it parses to the same BaseURL.
func (b BaseURL) String() string {
	scheme := "http://"
	if b.tls {
		scheme = "https://"
	}
	host := b.host
	if strings.Contains(host, ":") {
		host = "[" + strings.Replace(host, "%", "%25", 1) + "]"
	}
	if b.port != 0 {
		host += ":" + strconv.Itoa(int(b.port))
	}
	return scheme + host + b.prefix
}

// RequestPath is what a request line carries to ask for path, which begins
// with "/": the address's own prefix and then path.
func (b BaseURL) RequestPath(path string) string { return b.prefix + path }

// Addresses lists the host:port pairs to dial, in the order to try them. It is
// one pair, except for "localhost": servers bind one of the two loopback
// addresses, resolvers may know only the other, so both are tried.
func (b BaseURL) Addresses() []string {
	port := strconv.Itoa(b.Port())
	if strings.EqualFold(strings.TrimSuffix(b.host, "."), "localhost") {
		return []string{net.JoinHostPort("127.0.0.1", port), net.JoinHostPort("::1", port)}
	}
	return []string{net.JoinHostPort(b.host, port)}
}
