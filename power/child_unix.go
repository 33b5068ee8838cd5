//go:build unix

package power

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// ownGroup puts the child into a process group of its own: an interrupt typed
// at the terminal reaches us only, and what the child starts ends with it.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
}

// killGroup ends the group of p.
func killGroup(p *os.Process) error {
	err := syscall.Kill(-p.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}
