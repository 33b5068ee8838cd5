//go:build !unix

package llamacpptest

import (
	"context"
	"errors"
)

// lock refuses: no package of the server is made for this system.
func lock(context.Context, string) (unlock func(), err error) {
	return nil, errors.New("there is no llama.cpp server for tests on this system")
}
