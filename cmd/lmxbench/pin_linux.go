package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// pin keeps every thread of this process, and those they will start, on the
// listed cores. The list is like the kernel's: 2-3,6.
func pin(list string) error {
	var set unix.CPUSet
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err1 := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err1 != nil || err2 != nil || from < 0 || to < from || to > 4095 {
			return fmt.Errorf("%q is no list of cores: write one such as 2-3,6", list)
		}
		for cpu := from; cpu <= to; cpu++ {
			set.Set(cpu)
		}
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return fmt.Errorf("list own threads: %w", err)
	}
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		if err != nil {
			continue
		}
		if err := unix.SchedSetaffinity(id, &set); err != nil {
			return fmt.Errorf("set the cores: %w", err)
		}
	}
	return nil
}
