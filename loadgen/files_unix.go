package loadgen

import (
	"fmt"
	"syscall"
)

// spareFiles are the descriptors a run needs beside its connections: epoll
// instances, result files, the server's metrics, standard streams.
const spareFiles = 64

// ensureFiles raises the limit of open files where n connections need more
// than it allows, or says what to do.
func ensureFiles(n int) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return nil // not knowing the limit is no reason to refuse
	}
	need := uint64(n + spareFiles)
	if uint64(limit.Cur) >= need {
		return nil
	}
	raised := limit
	raised.Cur = need
	raised.Max = max(limit.Max, need) // only root may lift the hard limit
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &raised); err == nil {
		return nil
	}
	return fmt.Errorf("%d streams need %d open files and the limit is %d: raise it (ulimit -n %d) or ask for fewer streams", n, need, limit.Max, need)
}
