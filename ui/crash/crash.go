// Package crash keeps a crash from being taken for a verdict. Go ends a program that
// panics, runs out of memory or finds itself broken with status 2, which is that of a
// critical finding, and nothing in the program can change that. So a program whose status
// is a verdict runs as a child of itself, which tells its status in a way that Go
// does not use.
package crash

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
)

const (
	// mark is in the environment of a child.
	mark = "PLEGTOP_IS_CHILD"
	// base is added to the status of a child: what is below it is Go's own or a
	// shell's.
	base = 100
	// most is the highest status that a program of ours ends with.
	most = 3
)

var (
	// asked are the signals by which somebody wants a program to end.
	asked = []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}
	// passed are those that a child gets as well.
	passed = append(slices.Clone(asked), syscall.SIGQUIT, syscall.SIGABRT)
)

// ErrCrashed says that a child did not come to its end by itself. What Go had to say of
// it stands on standard error.
var ErrCrashed = errors.New("plegtop crashed, and this says nothing of the node: please report what it printed")

// Status returns the status to end with so that the parent gets status, from 0 to 3.
func Status(status int) int {
	if isChild() {
		return base + status
	}
	return status
}

func isChild() bool { return os.Getenv(mark) != "" }

// Contain runs the program again with its arguments, input and outputs, and returns its
// status, [ErrCrashed], or an error that names the signal by which it was asked to end. In
// the child itself, and where none can be started, it calls run. A child gets the signals
// that its parent gets, and does not outlive it.
func Contain(run func() int) (int, error) {
	if isChild() {
		return run(), nil
	}
	runtime.LockOSThread() // the child ends with the thread that it was started by
	defer runtime.UnlockOSThread()
	signals := make(chan os.Signal, len(passed))
	signal.Notify(signals, passed...)
	defer signal.Stop(signals)
	child := exec.Command("/proc/self/exe", os.Args[1:]...)
	child.Args[0], child.Env = os.Args[0], append(os.Environ(), mark+"=1")
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	child.SysProcAttr = endsWithParent()
	if child.Start() != nil {
		signal.Stop(signals) // nobody would pass them on
		return run(), nil
	}
	go func() {
		for s := range signals {
			_ = child.Process.Signal(s) // it may have ended
		}
	}()
	_ = child.Wait() // its status tells all
	if status := child.ProcessState.ExitCode() - base; status >= 0 && status <= most {
		return status, nil
	}
	end, ok := child.ProcessState.Sys().(syscall.WaitStatus)
	if ok && end.Signaled() && slices.Contains(asked, os.Signal(end.Signal())) {
		return 0, fmt.Errorf("ended before anything was looked at: %v", end.Signal())
	}
	return 0, ErrCrashed
}
