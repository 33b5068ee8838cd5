package power

import "syscall"

// dieWithParent has the kernel end the child when we are killed. The kernel
// ties it to the thread that started the child; the recording's children are
// few and a runtime thread seldom ends, and a child lost this way is seen as
// the end of its source.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
