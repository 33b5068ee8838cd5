package engine_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lmxbench/internal/engine"
)

func TestParseBaseURL(t *testing.T) {
	t.Parallel()
	tests := []struct {
		why, in           string
		url, path, header string
		addresses         []string
	}{
		{
			"a plain address", "http://127.0.0.1:8000",
			"http://127.0.0.1:8000", "/v1/models", "127.0.0.1:8000",
			[]string{"127.0.0.1:8000"},
		},
		{
			"spaces and slashes around it are taken off", "  http://gpu.example:8000//\n",
			"http://gpu.example:8000", "/v1/models", "gpu.example:8000",
			[]string{"gpu.example:8000"},
		},
		{
			"one /v1 at the end is taken off", "http://gpu.example:8000/v1/",
			"http://gpu.example:8000", "/v1/models", "gpu.example:8000",
			[]string{"gpu.example:8000"},
		},
		{
			"only one /v1 is taken off", "http://gpu.example/v1/v1",
			"http://gpu.example/v1", "/v1/v1/models", "gpu.example",
			[]string{"gpu.example:80"},
		},
		{
			"a path before it is a prefix", "https://gpu.example/llm/a%20b/v1",
			"https://gpu.example/llm/a%20b", "/llm/a%20b/v1/models", "gpu.example",
			[]string{"gpu.example:443"},
		},
		{
			"the scheme's letter case does not matter", "HTTPS://gpu.example:8443",
			"https://gpu.example:8443", "/v1/models", "gpu.example:8443",
			[]string{"gpu.example:8443"},
		},
		{
			"an IPv6 address stands in brackets", "http://[::1]:8000",
			"http://[::1]:8000", "/v1/models", "[::1]:8000",
			[]string{"[::1]:8000"},
		},
		{
			"a zone is for dialling only", "http://[fe80::1%25eth0]:8000",
			"http://[fe80::1%25eth0]:8000", "/v1/models", "[fe80::1]:8000",
			[]string{"[fe80::1%eth0]:8000"},
		},
		{
			"localhost is both loopback addresses", "http://localhost:8000",
			"http://localhost:8000", "/v1/models", "localhost:8000",
			[]string{"127.0.0.1:8000", "[::1]:8000"},
		},
		{
			"the root dot changes nothing", "http://LOCALHOST.:8000",
			"http://LOCALHOST.:8000", "/v1/models", "LOCALHOST.:8000",
			[]string{"127.0.0.1:8000", "[::1]:8000"},
		},
		{
			"a colon without a port is the scheme's port", "http://gpu.example:/",
			"http://gpu.example", "/v1/models", "gpu.example",
			[]string{"gpu.example:80"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			b, err := engine.ParseBaseURL(tt.in)
			if err != nil {
				t.Fatalf("ParseBaseURL(%q): %v", tt.in, err)
			}
			got := []string{b.String(), b.RequestPath("/v1/models"), b.HostHeader()}
			if diff := cmp.Diff([]string{tt.url, tt.path, tt.header}, got); diff != "" {
				t.Errorf("URL, path, Host header (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.addresses, b.Addresses()); diff != "" {
				t.Errorf("addresses (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseBaseURLRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ why, in, want string }{
		{"nothing", "  ", "is empty"},
		{"no scheme", "localhost:8000", "write http:// or https://"},
		{"another scheme", "ftp://gpu.example", "only http and https"},
		{"a user name", "http://sk-secret@gpu.example:8000", "holds a user name"},
		{"a user name without a scheme", "me:sk-secret@gpu.example", "holds a user name"},
		{"a query, which may hold a key", "http://gpu.example/?key=sk-secret", "has a query or a fragment"},
		{"a fragment", "http://gpu.example/#sk-secret", "has a query or a fragment"},
		{"port 0", "http://gpu.example:0", "from 1 to 65535"},
		{"a port that is too big", "http://gpu.example:65536", "from 1 to 65535"},
		{"a port that is a word", "http://gpu.example:http", "from 1 to 65535"},
		{"a signed port", "http://gpu.example:+80", "from 1 to 65535"},
		{"no host", "http:///v1", "names no host"},
		{"an IPv6 address without brackets", "http://::1:8000", "needs brackets"},
		{"brackets around a name", "http://[gpu.example]:8000", "not an IPv6 address"},
		{"a bracket that stays open", "http://[::1:8000", "never closed"},
		{"text behind the brackets", "http://[::1]8000", "not a port"},
		{"a space in the name", "http://gpu example", "not a host name"},
		{"a name outside ASCII", "http://gpü.example", "punycode"},
		{"an endpoint instead of the base", "http://gpu.example/llm/v1/chat/completions", `the path "/llm/"`},
		{"a broken escape", "http://gpu.example/a%2", "two hex digits"},
		{"a space in the path", "http://gpu.example/a b", "percent-encode"},
		{"a backslash", `http://gpu.example\v1`, "percent-encode"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			b, err := engine.ParseBaseURL(tt.in)
			if err == nil {
				t.Fatalf("ParseBaseURL(%q) = %v, want an error", tt.in, b)
			}
			if !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %q, want one line with %q", err, tt.want)
			}
			if strings.Contains(err.Error(), "sk-secret") {
				t.Errorf("the error repeats the secret: %q", err)
			}
		})
	}
}

func FuzzParseBaseURL(f *testing.F) {
	for _, seed := range []string{
		"http://127.0.0.1:8000", "https://[::1]/v1/", "http://[fe80::1%25eth0]:1/a%20b", "http://a@b", "x://", "http://[",
		"http://localhost./v1/models", "http://h:99999", " http://h//v1/// ", "http://h/v1/v1/v1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		b, err := engine.ParseBaseURL(in)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\r\n\x1b") {
				t.Fatalf("error of %q is not one plain line: %q", in, err)
			}
			return
		}
		again, err := engine.ParseBaseURL(b.String() + "/v1")
		if err != nil || again != b {
			t.Fatalf("%q reads as %q, and that as %q (%v)", in, b, again, err)
		}
		if b.Port() < 1 || b.Port() > 65535 || b.Host() == "" || strings.ContainsAny(b.HostHeader(), "\r\n ") {
			t.Fatalf("%q gives host %q, port %d, header %q", in, b.Host(), b.Port(), b.HostHeader())
		}
	})
}
