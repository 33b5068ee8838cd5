package simserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// FloorResult is what the least possible client cost and saw; see [Floor].
type FloorResult struct {
	Streams int
	// Events counts frames with a send time, Reads the recvmsg calls that
	// brought bytes, Bytes their sum.
	Events, Reads int
	Bytes         int64
	// MergedReads counts reads that held frames of more than one write: all but
	// the last of those have no stamp of their own. Unstamped counts reads
	// without a kernel stamp.
	MergedReads, Unstamped int
	// Wall is the time from the first request's write to the last body's end,
	// CPU the user and system time of the client's thread meanwhile, CPUPerEvent
	// their quotient.
	Wall, CPU, CPUPerEvent time.Duration
	// StampError is kernel receive stamp − send time of the frame, for the last
	// frame of each read; ReadLag is the clock after the read − that stamp.
	StampError, ReadLag Lateness
}

// floorModel asks the server for its model.
func floorModel(ctx context.Context, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/v1/models", http.NoBody)
	if err != nil {
		return "", err
	}
	tr := &http.Transport{DisableKeepAlives: true}
	defer tr.CloseIdleConnections()
	resp, err := (&http.Client{Transport: tr}).Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		return "", fmt.Errorf("read model list: %w", err)
	}
	if len(list.Data) == 0 {
		return "", fmt.Errorf("read model list: %s serves no model", url)
	}
	return list.Data[0].ID, nil
}

// floorRequest is the i-th request in full.
func floorRequest(host, model string, i, tokens int) []byte {
	prompt := fmt.Sprintf("[LocalMaxxing cache-bust nonce: %032x]\nfloor", i)
	body, _ := json.Marshal(map[string]any{ // strings and numbers only: cannot fail
		"model": model, "max_tokens": tokens, "stream": true, "temperature": 0,
		"messages":       []any{map[string]string{"role": "user", "content": prompt}},
		"stream_options": map[string]bool{"include_usage": true},
	})
	var b strings.Builder
	fmt.Fprintf(&b, "POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		host, len(body), body)
	return []byte(b.String())
}
