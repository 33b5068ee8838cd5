package power

import "time"

// The habits of current NVIDIA drivers, measured on an H200 with driver 580.
// [Probe] measures a card's own.
const (
	// DefaultSamplerPeriod is the time between two samples of the power sensor,
	// when the device does not say otherwise.
	DefaultSamplerPeriod = 20 * time.Millisecond
	// nvidiaUpdate is how often the gauges and the energy counter are renewed.
	nvidiaUpdate = 100 * time.Millisecond
	// nvidiaAverage is the span of the mean power gauge.
	nvidiaAverage = time.Second
)
