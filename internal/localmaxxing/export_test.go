package localmaxxing

// The parts of the client that read what a stranger sends.
var (
	Refusal    = refusal
	ReadLimits = readLimits
)
