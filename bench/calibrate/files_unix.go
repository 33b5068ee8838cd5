//go:build unix

package calibrate

import (
	"math"
	"os"
	"syscall"
)

// fileLimit is how many files this process can open: the hard limit, which the
// Go runtime raises itself to, or none for root, who may lift it.
func fileLimit() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || os.Geteuid() == 0 {
		return 0
	}
	if uint64(limit.Max) >= math.MaxInt64 {
		return 0
	}
	return uint64(limit.Max)
}
