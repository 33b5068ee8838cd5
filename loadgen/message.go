package loadgen

import (
	"bufio"
	"bytes"
	"fmt"

	"github.com/valyala/fasthttp"
)

// Message renders a POST as the bytes that go over the wire. url is absolute;
// header holds name, value pairs. Unless the header says otherwise, the body is
// JSON and the answer is asked for without a content coding.
func Message(url string, header [][2]string, body []byte) ([]byte, error) {
	req := fasthttp.AcquireRequest()
	defer fasthttp.ReleaseRequest(req)
	req.Header.SetMethod(fasthttp.MethodPost)
	req.Header.SetUserAgent("lmxbench")
	req.Header.SetContentType("application/json")
	req.Header.Set(fasthttp.HeaderAcceptEncoding, "identity")
	req.SetRequestURI(url)
	for _, h := range header {
		req.Header.Set(h[0], h[1])
	}
	req.SetBodyRaw(body)
	var wire bytes.Buffer
	w := bufio.NewWriterSize(&wire, len(body)+1024)
	if err := req.Write(w); err != nil {
		return nil, fmt.Errorf("render request: %w", err)
	}
	if err := w.Flush(); err != nil {
		return nil, fmt.Errorf("render request: %w", err)
	}
	return wire.Bytes(), nil
}
