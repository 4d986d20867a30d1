package crash

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// wordsRoom is how much is kept of what a child that has the terminal says beside it,
	// in bytes: where each of some thousand goroutines stands.
	wordsRoom = 4 << 20
	// stoppedChild is CLD_STOPPED of waitid(2), which x/sys/unix does not have.
	stoppedChild = 5
)

var (
	// asked are the signals by which somebody wants a program to end.
	asked = []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}
	// dumps are those by which somebody wants to read where its goroutines stand: Go ends it
	// as if it had crashed.
	dumps = []os.Signal{syscall.SIGQUIT, syscall.SIGABRT}
	// passed are those that a child gets as well.
	passed = slices.Concat(asked, dumps)
)

// Contain runs the program again with its arguments, input and outputs, and returns its
// status, [ErrCrashed], or an error that names the signal by which it was asked to end, with
// the status that a shell has for that. In the child itself, and where none can be started,
// it calls run. A child gets the signals that its parent gets, and does not outlive it.
func Contain(run func() int, screen Terminal) (int, error) {
	if IsChild() {
		return run(), nil
	}
	runtime.LockOSThread() // the child ends with the thread that it was started by
	defer runtime.UnlockOSThread()
	signals := make(chan os.Signal, len(passed))
	signal.Notify(signals, passed...)
	defer signal.Stop(signals)
	child := exec.Command("/proc/self/exe", os.Args[1:]...)
	child.Args[0], child.Env = os.Args[0], append(os.Environ(), mark+"="+strconv.Itoa(os.Getpid()))
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // when the thread that started it ends
	if screen.Restore != nil {
		signal.Notify(signals, syscall.SIGUSR2) // it saves what it has recorded
		said := new(words)
		defer func() { _, _ = os.Stderr.Write(said.text) }() // nobody is left to tell
		child.Stderr = said
		child.SysProcAttr.Pdeathsig = syscall.SIGTERM // it has a terminal to give back
	}
	if child.Start() != nil {
		signal.Stop(signals) // nobody would pass them on
		return run(), nil
	}
	dumped := make(chan os.Signal, 1) // what the child was told last of dumps; nil if it was not
	go func() {
		var last os.Signal
		for s := range signals {
			if slices.Contains(dumps, s) {
				last = s
			}
			_ = child.Process.Signal(s) // it may have ended
		}
		dumped <- last
	}()
	if screen.Stop != nil {
		stopWith(child.Process, signals, screen.Stop)
	}
	_ = child.Wait() // its status tells all, but for a dump
	if status := child.ProcessState.ExitCode() - base; status >= 0 {
		return status, nil
	}
	if screen.Restore != nil {
		screen.Restore()
	}
	signal.Stop(signals) // what came before has been sent
	close(signals)
	if s, ok := (<-dumped).(syscall.Signal); ok {
		return 128 + int(s), fmt.Errorf("ended by a signal that somebody sent: %v", s)
	}
	end, ok := child.ProcessState.Sys().(syscall.WaitStatus)
	if ok && end.Signaled() && slices.Contains(asked, os.Signal(end.Signal())) {
		return 128 + int(end.Signal()), fmt.Errorf("ended before anything was looked at: %v", end.Signal())
	}
	return 0, ErrCrashed
}

// words keeps the first of what is written, and takes the rest.
type words struct{ text []byte }

func (w *words) Write(p []byte) (int, error) {
	w.text = append(w.text, p[:min(len(p), wordsRoom-len(w.text))]...)
	return len(p), nil
}

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
