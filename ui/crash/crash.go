// Package crash keeps a crash from being taken for a verdict, and from taking the terminal
// with it. Go ends a program that panics, runs out of memory or finds itself broken with
// status 2, which is that of a critical finding, and with no code of ours run. So a program
// whose status is a verdict, or that has the terminal, runs as a child of itself, which
// tells its status in a way that Go does not use.
package crash

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

const (
	// mark is in the environment of a child, with the number of its parent: what is started
	// by others and has it, too, is none.
	mark = "PLEGTOP_IS_CHILD"
	// base is added to the status of a child: what is below it is Go's own or a
	// shell's.
	base = 100
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

// grace is how long the program may take to end once somebody wants it to. 2 s
// are promised.
const grace = 1800 * time.Millisecond

// UntilSignal returns a context that ends when somebody wants the program to. If
// that has not ended some time later, it is ended with that status: a write to a
// pipe that nobody reads never returns.
// SIGPIPE is none of these signals: once it is caught, the kernel sends it for
// every connection that the runtime closes as well. A reader of our output that
// has gone shows as an error of the write.
func UntilSignal(ctx context.Context, status int) (context.Context, context.CancelFunc) {
	signal.Ignore(syscall.SIGPIPE)
	ctx, cancel := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	inTime := context.AfterFunc(ctx, func() { time.AfterFunc(grace, func() { os.Exit(Status(status)) }) })
	return ctx, func() {
		inTime()
		cancel()
	}
}
