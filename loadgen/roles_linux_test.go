package loadgen_test

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
