package crash

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

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
