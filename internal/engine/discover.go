package engine

import (
	"context"
	"errors"
	"sync"
	"time"
)

// discoverTimeout bounds the whole search for local servers.
const discoverTimeout = 2 * time.Second

// localPorts are where model servers listen unless told otherwise: vLLM,
// llama.cpp, SGLang, Ollama. They are searched in this order.
var localPorts = [...]int{8000, 8080, 30000, 11434}

// Found is a server that answers on this machine.
type Found struct {
	Base   BaseURL
	Kind   Kind // as far as the model list tells it
	Models []Model
	// Fault is set where the server answers but does not give its list yet: it
	// wants a key, or is loading its model. Models is then empty.
	Fault *Error
}

// DiscoverLocal asks the usual ports of both loopback addresses for a model
// list, all at once, and returns who answers, in the order of the ports. It
// takes 2 s at most. A port that answers with the same list on both addresses
// is one server, given with its IPv4 address. No key is sent: another user's
// program may listen there.
func DiscoverLocal(ctx context.Context) []Found { return discover(ctx, localPorts[:]) }

func discover(ctx context.Context, ports []int) []Found {
	ctx, cancel := context.WithTimeout(ctx, discoverTimeout)
	defer cancel()
	hosts := []string{"127.0.0.1", "::1"}
	answers := make([]*Found, len(ports)*len(hosts))
	var wg sync.WaitGroup
	for i, port := range ports {
		for j, host := range hosts {
			wg.Go(func() { answers[i*len(hosts)+j] = lookAt(ctx, host, port) })
		}
	}
	wg.Wait()
	var found []Found
	for _, f := range answers {
		if f == nil || (len(found) > 0 && sameServer(found[len(found)-1], *f)) {
			continue
		}
		found = append(found, *f)
	}
	return found
}

// lookAt returns the server at an address, or nil.
func lookAt(ctx context.Context, host string, port int) *Found {
	base := BaseURL{host: host, port: uint16(port)}
	list, models, err := Target{Base: base}.models(ctx)
	var fault *Error
	if errors.As(err, &fault) && fault.Class != Unauthorized && fault.Class != NotReady {
		return nil
	}
	return &Found{Base: base, Kind: kindFromList(list, models), Models: models, Fault: fault}
}

// sameServer reports whether two answers come from one server that listens on
// both loopback addresses.
func sameServer(a, b Found) bool {
	if a.Base.Port() != b.Base.Port() || len(a.Models) != len(b.Models) {
		return false
	}
	for i := range a.Models {
		if a.Models[i].ID != b.Models[i].ID {
			return false
		}
	}
	return true
}
