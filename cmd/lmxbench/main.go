// Command lmxbench measures how fast OpenAI-compatible servers generate tokens.
//
// It binds flags to the packages that do the work and maps errors to exit
// codes: 0 valid, 1 usage or configuration, 2 measured but INVALID (or verify
// disagrees), 3 nothing could be measured, 130 interrupted.
package main

import (
	"context"
	"os"
)

func main() {
	ctx, stop := interruptible(context.Background())
	code := run(ctx, os.Args, os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
