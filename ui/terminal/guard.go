package terminal

import (
	"fmt"
	"reflect"
	"runtime/debug"
	"sync"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/ui/text"
)

// A PanicError is a panic that was caught, so that the terminal could be
// restored before anything was printed.
type PanicError struct {
	Value any
	Stack []byte // of the goroutine that panicked
}

// Error returns what was passed to panic, in one clean line.
func (e *PanicError) Error() string { return "panic: " + text.Clean(fmt.Sprint(e.Value)) }

// A Guard catches the panics of the goroutines that it starts and hands the
// first of them to [Run], which ends the program in good order. The zero Guard
// is ready for use, by several goroutines at once. It must not be copied.
type Guard struct {
	mu     sync.Mutex
	err    *PanicError
	failed chan struct{} // made by the first who asks, closed by the first panic
}

// Go calls f in a goroutine of its own.
func (g *Guard) Go(f func()) {
	go func() {
		defer g.Catch()
		f()
	}()
}

// Catch keeps a panic of the function that defers it: it must be deferred
// itself, not called by what is deferred.
func (g *Guard) Catch() {
	if v := recover(); v != nil {
		g.Fail(&PanicError{v, debug.Stack()})
	}
}

// Fail hands in a panic that was caught elsewhere. Only the first one counts.
func (g *Guard) Fail(err *PanicError) {
	failed := g.Failed()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil {
		g.err = err
		close(failed)
	}
}

// Failed returns a channel that is closed when there was a panic.
func (g *Guard) Failed() chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.failed == nil {
		g.failed = make(chan struct{})
	}
	return g.failed
}

// Err returns the first panic, or nil.
func (g *Guard) Err() *PanicError {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// guarded is a model whose commands cannot end the process with a panic.
type guarded struct {
	tea.Model
	guard *Guard
}

func (m guarded) Init() tea.Cmd { return m.guard.command(m.Model.Init()) }

func (m guarded) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	next, cmd := m.Model.Update(msg)
	return guarded{next, m.guard}, m.guard.command(cmd)
}

// command guards cmd, which Bubble Tea runs in a goroutine.
func (g *Guard) command(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() tea.Msg {
		defer g.Catch()
		return g.commands(cmd())
	}
}

// commands guards the commands that msg holds: a [tea.Batch] does, and so does
// a [tea.Sequence], whose type is not exported and is known by its shape.
func (g *Guard) commands(msg tea.Msg) tea.Msg {
	shape := reflect.TypeFor[[]tea.Cmd]()
	v := reflect.ValueOf(msg)
	if !v.IsValid() || v.Kind() != reflect.Slice || !v.CanConvert(shape) {
		return msg
	}
	held := v.Convert(shape).Interface().([]tea.Cmd)
	safe := make([]tea.Cmd, len(held))
	for i, cmd := range held {
		safe[i] = g.command(cmd)
	}
	return reflect.ValueOf(safe).Convert(v.Type()).Interface()
}
