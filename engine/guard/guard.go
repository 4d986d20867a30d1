// Package guard ends the program in good order after a panic. Go itself would end it with status
// 2, which is that of a critical finding, and would leave the terminal as the screen has set it.
// So every goroutine of plegtop is started by [Go], or defers [Catch]. [Modest] guards the node: plegtop
// takes little of it.
//
// Two ends cannot be caught: a fatal error of the Go runtime, such as a lack of memory or a map that
// two goroutines write, and SIGKILL. A panic in a goroutine of a library is a third.
package guard

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"unicode"
)

// Status is the exit status after a panic: nothing can be said of the node.
const Status = 3

// dumpRoom is how much is written of the stacks of all goroutines, in bytes.
const dumpRoom = 4 << 20

// Go runs f in a goroutine of its own.
func Go(f func()) {
	go func() {
		defer Catch()
		f()
	}()
}

// Beside runs f with background beside it, in a goroutine of its own; the end of either ends the
// context of the other. It returns the errors of both.
func Beside(ctx context.Context, background, f func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	Go(func() {
		ended <- background(ctx)
		cancel()
	})
	err := f(ctx)
	cancel()
	return errors.Join(err, <-ended)
}

// Catch ends the program if there is a panic. It must be deferred itself, not called by a
// function that is deferred.
func Catch() {
	if value := recover(); value != nil {
		Panicked(value, debug.Stack())
	}
}

// Panicked is what happens after a panic. Tests replace it.
var Panicked = func(value any, stack []byte) {
	end(fmt.Sprintf("plegtop: panic: %s\n\n%s", printable(value), stack), Status)
}

// printable returns a panic's value without what a terminal would obey: it may have words of the
// runtime's in it.
func printable(value any) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, fmt.Sprint(value))
}

// Dumps has SIGQUIT and SIGABRT write where each goroutine stands and end the program, as Go does,
// but with the status that a shell has for the signal, and with the terminal given back.
func Dumps() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGQUIT, syscall.SIGABRT)
	Go(func() {
		s := (<-signals).(syscall.Signal)
		stacks := make([]byte, dumpRoom)
		stacks = stacks[:runtime.Stack(stacks, true)]
		end(fmt.Sprintf("plegtop: ended by signal: %v\n\n%s", s, stacks), 128+int(s))
	})
}

var (
	mu     sync.Mutex
	before = map[*func()]struct{}{}
	once   sync.Once
)

// Before has f called before such an end, until remove is called. f must return soon.
func Before(f func()) (remove func()) {
	mu.Lock()
	defer mu.Unlock()
	before[&f] = struct{}{}
	return func() {
		mu.Lock()
		defer mu.Unlock()
		delete(before, &f)
	}
}

// end ends the program. Whoever calls it while it is ending waits.
func end(text string, status int) {
	once.Do(func() {
		mu.Lock() // for good
		for f := range before {
			try(*f)
		}
		_, _ = os.Stderr.WriteString(text) // nobody is left to tell
		os.Exit(status)
	})
}

// try calls f, and goes on after a panic in it: one is being reported already.
func try(f func()) {
	defer func() { _ = recover() }()
	f()
}
