package loadgen_test

import "lmxbench/loadgen"

// awaitStamps waits until the kernel stamps what it receives. It begins a while
// after the first socket has asked for it, and goes on for as long as one that
// asks is open: the descriptor stays open.
func awaitStamps() error { return loadgen.AwaitStamps() }

// play runs a role with its arguments.
func play(role string, args []string) int {
	switch role {
	case "client":
		return playClient(args)
	case "engine":
		return playEngine(args)
	}
	return 2
}
