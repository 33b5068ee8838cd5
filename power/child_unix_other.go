//go:build unix && !linux

package power

import "syscall"

func dieWithParent(*syscall.SysProcAttr) {}
