package engine

import (
	"fmt"
	"runtime/debug"
)

// A PanicError is a panic in one of the engine's goroutines. The engine hands
// it on, so that its owner can put the terminal in order before dying of it.
type PanicError struct {
	Value any
	Stack []byte // of the goroutine that panicked
}

// Error returns the panic's value and the stack.
func (p *PanicError) Error() string { return fmt.Sprintf("engine: panic: %v\n\n%s", p.Value, p.Stack) }

// Unwrap returns the value if that was an error.
func (p *PanicError) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// caught calls report with the panic that is under way, if there is one.
// Only a deferred call can do that.
func caught(report func(*PanicError)) {
	if value := recover(); value != nil {
		report(&PanicError{Value: value, Stack: debug.Stack()})
	}
}

// must panics on an error of the core, which would be a mistake of the driver.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
