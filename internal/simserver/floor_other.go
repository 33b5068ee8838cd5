//go:build !linux

package simserver

import (
	"context"
	"errors"
)

// Floor needs Linux; here it always fails.
func Floor(context.Context, string, int, int) (FloorResult, error) {
	return FloorResult{}, errors.New("floor client: needs Linux")
}
