package engine

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// DefaultTimeout bounds one question where [Target.Timeout] is 0.
const DefaultTimeout = 10 * time.Second

// Target is a server and how to speak to it. It is a plain value: copies are
// independent, and concurrent use is safe as long as nobody writes to it.
type Target struct {
	// Base is the server's address. Required.
	Base BaseURL
	// Key is sent as "Authorization: Bearer …" where it is not empty.
	Key Secret
	// TLS verifies an https server; nil verifies with the system's roots. See
	// [LoadTLS]. It is never written to.
	TLS *tls.Config
	// Timeout bounds one question from the first look-up of the name to the
	// last byte of the answer. 0 means DefaultTimeout.
	Timeout time.Duration
	// Silence bounds the wait for more of a completion's stream once a token has
	// come. 0 means that only Timeout does.
	Silence time.Duration
}

func (t Target) timeout() time.Duration {
	if t.Timeout > 0 {
		return t.Timeout
	}
	return DefaultTimeout
}

// Secret is text that must not be shown. Printing, logging and encoding it give
// a placeholder; converting it to string gives the text.
type Secret string

const hidden = "(secret)"

// String returns a placeholder, or nothing where there is nothing to hide.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// GoString is what %#v prints: the placeholder too.
func (s Secret) GoString() string { return `engine.Secret("` + s.String() + `")` }

// MarshalText encodes the placeholder.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalJSON encodes the placeholder.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// check refuses what cannot stand in a header line: a key with a line end in it
// would otherwise become a header of its own.
func (s Secret) check() error {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return &Error{
				Class:   BadInput,
				Problem: fmt.Sprintf("the API key holds a space, a line end or a non-ASCII character (byte %d)", i+1),
				Advice:  "check the key file or the environment variable it comes from",
			}
		}
	}
	return nil
}

// LoadTLS returns the TLS configuration for a server whose certificate is signed
// by an authority in caFile, a PEM file ("" for the system's roots alone; the
// file's certificates are trusted beside them). insecure switches verification
// off. The configuration offers HTTP/1.1 only.
func LoadTLS(caFile string, insecure bool) (*tls.Config, error) {
	cfg := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		NextProtos:         []string{"http/1.1"},
		InsecureSkipVerify: insecure, // the user's own words: --insecure
	}
	if caFile == "" {
		return cfg, nil
	}
	pem, err := os.ReadFile(caFile)
	if err != nil {
		return nil, fmt.Errorf("read CA file: %w", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool() // a machine without roots of its own
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("read CA file %s: it holds no PEM certificate", quote(caFile))
	}
	cfg.RootCAs = roots
	return cfg, nil
}
