package engine

import "context"

// Inner parts that tests look at by themselves.
var (
	ReadMetrics    = readMetrics
	QuantizationOf = quantizationOf
	GuessHFID      = guessHFID
)

// DiscoverPorts is DiscoverLocal with other ports.
func DiscoverPorts(ctx context.Context, ports ...int) []Found { return discover(ctx, ports) }

// ContextLengthOf reads the context length of the first entry of a model list.
func ContextLengthOf(list string) int {
	models, ok := parseModels([]byte(list))
	if !ok || len(models) == 0 {
		return -1
	}
	return models[0].contextLength()
}

// MaxBody is how much of an answer is read.
const MaxBody = maxBody
