// Package crash keeps a crash from being taken for a verdict, and from taking the terminal
// with it. Go ends a program that panics, runs out of memory or finds itself broken with
// status 2, which is that of a critical finding, and with no code of ours run. So a program
// whose status is a verdict, or that has the terminal, runs as a child of itself, which
// tells its status in a way that Go does not use.
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
)

const (
	// mark is in the environment of a child, with the number of its parent: what is started
	// by others and has it, too, is none.
	mark = "PLEGTOP_IS_CHILD"
	// base is added to the status of a child: what is below it is Go's own or a
	// shell's.
	base = 100
	// wordsRoom is how much is kept of what a child that has the terminal says beside it,
	// in bytes: where each of some thousand goroutines stands.
	wordsRoom = 4 << 20
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

// ErrCrashed says that a child did not come to its end by itself. What Go had to say of
// it stands on standard error.
var ErrCrashed = errors.New("plegtop crashed, and this says nothing of the node: please report what it printed")

// Status returns the status to end with so that the parent gets status, from 0 to 155.
func Status(status int) int {
	if IsChild() {
		return base + status
	}
	return status
}

// IsChild reports whether this process is the child of a [Contain].
func IsChild() bool { return isChild }

// isChild is found out at the begin: the parent may end before.
var isChild = os.Getenv(mark) == strconv.Itoa(os.Getppid())

// A Terminal is what a child has that shows a screen. The zero value is for one that
// shows none.
type Terminal struct {
	// Restore gives the terminal back after a crash of the child. What the child has
	// written to standard error comes after that, or after its end.
	Restore func()
	// Stop stops this process and its group, and returns when it goes on. It is called
	// when the child has stopped itself: a shell waits for the parent.
	Stop func()
}

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
	child.SysProcAttr = endsWithParent()
	if screen.Restore != nil {
		signal.Notify(signals, syscall.SIGUSR2) // it saves what it has recorded
		said := new(words)
		defer func() { _, _ = os.Stderr.Write(said.text) }() // nobody is left to tell
		child.Stderr = said
		child.SysProcAttr = asksWithParent()
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
