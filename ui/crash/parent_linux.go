package crash

import (
	"errors"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// stoppedChild is CLD_STOPPED of waitid(2), which x/sys/unix does not have.
const stoppedChild = 5

// endsWithParent has a child killed when the thread that started it ends.
func endsWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// asksWithParent has it asked to end, for it has a terminal to give back.
func asksWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }

// Aside returns what a process is started with that works for this one: it is asked to end when the
// thread that started it does, and takes no signal of the terminal.
func Aside() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM, Setpgid: true}
}

// stopWith returns when child has ended. SIGTSTP is the child's, which gives the terminal
// back before it stops; then stop is called, and after it the child goes on, too.
func stopWith(child *os.Process, signals chan os.Signal, stop func()) {
	signal.Notify(signals, syscall.SIGTSTP)
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, child.Pid, &info, unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || info.Code != stoppedChild {
			return
		}
		_ = unix.Waitid(unix.P_PID, child.Pid, &info, unix.WSTOPPED|unix.WNOHANG, nil) // it is told once
		stop()
		var went unix.Siginfo
		if unix.Waitid(unix.P_PID, child.Pid, &went, unix.WCONTINUED|unix.WNOHANG, nil) != nil || went.Signo == 0 {
			_ = child.Signal(syscall.SIGCONT) // the shell has told only this process
		}
	}
}
