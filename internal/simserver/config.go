package simserver

import (
	"fmt"
	"runtime"
	"time"
)

// Config describes a server. Only Profile is required.
type Config struct {
	// Addr is the TCP address to listen on. Empty means "127.0.0.1:0".
	Addr string
	// Profile is the engine to imitate; see [LookupProfile].
	Profile Profile
	// APIKey, if not empty, is demanded as a bearer token on all paths below
	// /v1 and on llama.cpp's side endpoints.
	APIKey string
	// TLS serves HTTPS with a certificate of its own making; see
	// [Server.CertPEM]. Writes are slower and stamps are user-space then.
	TLS bool
	// Seed drives jitter, speculation and fault choice. Equal seeds and equal
	// arrivals give equal schedules.
	Seed uint64
	// Shards is the number of writing threads. 0 means one per four cores, at
	// least one, at most eight.
	Shards int

	// Fault, if not empty, is applied to requests that name none themselves;
	// see [Faults]. It may carry an argument: "error_mid:7", "slow_headers:2s".
	Fault string
	// FaultEvery applies Fault to every n-th request (1 and 0: all).
	FaultEvery int
	// FaultShare, if positive, applies Fault to that share of the requests
	// instead, 0…1, chosen by Seed.
	FaultShare float64

	// RecordEvents bounds the memory of /sim/records: the oldest records go once
	// all together hold more events, and the streams in flight may hold as many
	// again. 0 means 4 million (about 50 MB), negative keeps none.
	RecordEvents int
	// MaxBody is the largest request body in bytes. 0 means 64 MiB.
	MaxBody int
	// Backlog is the most bytes kept for one slow reader before it is cut off.
	// 0 means 64 MiB.
	Backlog int
}

// Defaults of Config.
const (
	defaultRecordEvents = 4_000_000
	defaultMaxBody      = 64 << 20
	defaultBacklog      = 64 << 20
	// uncappedTokens ends a request that states no cap, as a model would end
	// its answer by itself.
	uncappedTokens = 256
	// reanchor is how far behind its schedule the engine may fall before it
	// gives up catching up and starts from the present.
	reanchor = 250 * time.Millisecond
)

// withDefaults fills what is empty and checks the rest.
func (c Config) withDefaults() (Config, error) {
	if c.Profile.Phase == "" {
		c.Profile.Phase = StepPhase
	}
	if err := c.Profile.Validate(); err != nil {
		return c, err
	}
	if c.Addr == "" {
		c.Addr = "127.0.0.1:0"
	}
	if c.Shards == 0 {
		c.Shards = min(max(runtime.NumCPU()/4, 1), 8)
	}
	if c.RecordEvents == 0 {
		c.RecordEvents = defaultRecordEvents
	}
	if c.MaxBody == 0 {
		c.MaxBody = defaultMaxBody
	}
	if c.Backlog == 0 {
		c.Backlog = defaultBacklog
	}
	switch {
	case c.Shards < 0 || c.Shards > 256:
		return c, fmt.Errorf("shards %d are outside 1…256", c.Shards)
	case c.FaultShare < 0 || c.FaultShare > 1:
		return c, fmt.Errorf("fault share %g is outside 0…1", c.FaultShare)
	case c.FaultEvery < 0:
		return c, fmt.Errorf("fault interval %d is negative", c.FaultEvery)
	}
	if c.Fault != "" {
		if _, err := parseFault(c.Fault); err != nil {
			return c, err
		}
	}
	return c, nil
}
