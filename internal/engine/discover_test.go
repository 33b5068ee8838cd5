package engine_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"lmxbench/internal/engine"
)

func TestDiscover(t *testing.T) {
	t.Parallel()
	const list = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n" +
		`{"data":[{"id":"tiny","owned_by":"vllm"}]}`
	answer := func(text string) (string, int) {
		url := raw(t, "tcp", "127.0.0.1:0", func(conn net.Conn, _ int, _ *http.Request) { conn.Write([]byte(text)) })
		return url, targetOf(t, url).Base.Port()
	}
	url, port := answer(list)
	locked, lockedPort := answer("HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n")
	_, pagePort := answer("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n<html></html>")
	_, mutePort := answer("")

	found := engine.DiscoverPorts(within(t), mutePort, pagePort, port, lockedPort, 1)
	if len(found) != 2 {
		t.Fatalf("found %d servers, want the one with a list and the locked one: %+v", len(found), found)
	}
	if found[0].Base.String() != url || found[0].Kind != engine.VLLM || found[0].Models[0].ID != "tiny" {
		t.Errorf("found %+v first, want the vLLM at %s", found[0], url)
	}
	if found[1].Base.String() != locked || found[1].Fault == nil || found[1].Fault.Class != engine.Unauthorized {
		t.Errorf("found %+v second, want the locked server at %s", found[1], locked)
	}
}

// One server that listens on both loopback addresses is found once, two servers
// on one port are found as two.
func TestDiscoverBothFamilies(t *testing.T) {
	t.Parallel()
	list := func(id string) func(net.Conn, int, *http.Request) {
		return func(conn net.Conn, _ int, _ *http.Request) {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n{\"data\":[{\"id\":\""+id+"\"}]}")
		}
	}
	pair := func(v4, v6 string) int {
		port, four, six := bothFamilies(t)
		serveRaw(t, four, list(v4))
		serveRaw(t, six, list(v6))
		return port
	}
	if found := engine.DiscoverPorts(within(t), pair("m", "m")); len(found) != 1 || found[0].Base.Host() != "127.0.0.1" {
		t.Errorf("found %+v, want one server at 127.0.0.1", found)
	}
	if found := engine.DiscoverPorts(within(t), pair("m", "other")); len(found) != 2 || found[1].Base.Host() != "::1" {
		t.Errorf("found %+v, want two servers", found)
	}
}

// bothFamilies listens on one free port of both loopback addresses.
func bothFamilies(t *testing.T) (port int, four, six net.Listener) {
	t.Helper()
	for range 20 { // the port that is free in one family may be taken in the other
		four, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := four.Addr().(*net.TCPAddr).Port
		six, err := net.Listen("tcp6", fmt.Sprintf("[::1]:%d", port))
		if err == nil {
			return port, four, six
		}
		four.Close()
	}
	t.Fatal("no port is free on both loopback addresses")
	return 0, nil, nil
}
