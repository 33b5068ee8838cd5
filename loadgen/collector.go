package loadgen

import (
	"runtime"
	"runtime/debug"
)

// memoryRoom is how much a batch may allocate before the garbage collector
// works again. It is a safety net: a batch of 256 streams of 512 tokens
// allocates a hundredth of it (docs/adr/0003).
const memoryRoom = 1 << 30

// silence collects once and switches the garbage collector off until the
// returned function is called. A process that has switched it off, or whose
// other pool has, is left as it is.
func silence() (loud func()) {
	percent := debug.SetGCPercent(-1)
	if percent < 0 {
		return func() {}
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	limit := debug.SetMemoryLimit(-1) // a negative value asks
	debug.SetMemoryLimit(min(limit, int64(m.Sys)+memoryRoom))
	return func() {
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
	}
}

// collections is how often the garbage collector has run.
func collections() int {
	var s debug.GCStats
	debug.ReadGCStats(&s)
	return int(s.NumGC)
}
