package loadgen

import (
	"runtime/debug"
	"testing"
)

// collector asks for the collector's settings and leaves them as they are.
func collector() (percent int, limit int64) {
	percent = debug.SetGCPercent(100)
	debug.SetGCPercent(percent)
	return percent, debug.SetMemoryLimit(-1)
}

// Not parallel, like all of this file: the settings belong to the process.
func TestCollectorIsSilentAndThenAsItWas(t *testing.T) {
	percent, limit := collector()
	loud := silence()
	if p, l := collector(); p != -1 || l > limit || l < memoryRoom {
		t.Errorf("while silent: %d %%, limit %d", p, l)
	}
	before := collections()
	garbage = make([]byte, 64<<20)
	if n := collections() - before; n != 0 {
		t.Errorf("%d collections while silent", n)
	}
	garbage = nil
	loud()
	if p, l := collector(); p != percent || l != limit {
		t.Errorf("afterwards: %d %%, limit %d; before: %d %%, limit %d", p, l, percent, limit)
	}
}

var garbage []byte

func TestCollectorOfTwoPoolsComesBack(t *testing.T) {
	percent, limit := collector()
	first := silence()
	second := silence()
	first()
	second()
	if p, l := collector(); p != percent || l != limit {
		t.Errorf("afterwards: %d %%, limit %d; before: %d %%, limit %d", p, l, percent, limit)
	}
}

func TestCollectorThatIsOffStaysOff(t *testing.T) {
	percent := debug.SetGCPercent(-1)
	defer debug.SetGCPercent(percent)
	silence()()
	if p, _ := collector(); p != -1 {
		t.Errorf("the collector was switched on: %d %%", p)
	}
}

func TestCollectorKeepsALowerMemoryLimit(t *testing.T) {
	limit := debug.SetMemoryLimit(200 << 20)
	defer debug.SetMemoryLimit(limit)
	loud := silence()
	defer loud()
	if _, l := collector(); l != 200<<20 {
		t.Errorf("the limit is now %d", l)
	}
}
