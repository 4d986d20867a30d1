package crash

import "syscall"

// endsWithParent has a child killed when the thread that started it ends.
func endsWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
