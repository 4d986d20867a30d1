package terminal

import (
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"sync/atomic"

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

// A Guard takes panics that were caught, and hands the first of them to [Run], which ends
// the program in good order. It may be used by many goroutines at once.
type Guard struct {
	first  atomic.Pointer[PanicError]
	failed chan struct{} // closed by the first panic
}

// NewGuard returns a guard that has seen no panic.
func NewGuard() *Guard { return &Guard{failed: make(chan struct{})} }

// catch keeps a panic of the function that defers it: it must be deferred
// itself, not called by what is deferred.
func (g *Guard) catch() {
	if v := recover(); v != nil {
		g.Panicked(v, debug.Stack())
	}
}

// Panicked hands in a panic that was caught elsewhere, and where that was. It returns at
// once; [Run] ends the program now, or as soon as it is called. The first is kept.
func (g *Guard) Panicked(value any, stack []byte) {
	if g.first.CompareAndSwap(nil, &PanicError{value, stack}) {
		close(g.failed)
	}
}

// guarded is a model whose commands cannot end the process with a panic, and that
// tells its session when it is busy.
type guarded struct {
	tea.Model
	session *session
}

func (m guarded) Init() tea.Cmd {
	cmd := m.command(m.Model.Init())
	if m.session.Background && canTell(m.session.Environ) {
		return tea.Batch(cmd, tea.RequestBackgroundColor)
	}
	return cmd
}

func (m guarded) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.session.busy.Store(true) // until View is over
	next, cmd := m.Model.Update(msg)
	if k, ok := msg.(tea.KeyPressMsg); ok && k.String() == "ctrl+c" {
		m.session.heard.Store(m.session.typed.Load())
	}
	m.Model = next
	return m, m.command(cmd)
}

func (m guarded) View() tea.View {
	defer m.session.busy.Store(false)
	if m.session.told != nil {
		m.session.frames.want()
	}
	return m.Model.View()
}

// command guards cmd, and hears that the model quits before its last frame is drawn.
func (m guarded) command(cmd tea.Cmd) tea.Cmd {
	safe := m.session.Guard.command(cmd)
	if safe == nil {
		return nil
	}
	return func() tea.Msg {
		msg := safe()
		if _, quits := msg.(tea.QuitMsg); quits {
			m.session.quitting()
		}
		return msg
	}
}

// command guards cmd, which Bubble Tea runs in a goroutine.
func (g *Guard) command(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() tea.Msg {
		defer g.catch()
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

// ExitCode returns the exit code that tells what [Run] returned: 0 for nil, 128
// and the number for a signal, 2 for a panic, 1 for all else.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	if s, ok := errors.AsType[*SignalError](err); ok {
		return 128 + int(s.Signal)
	}
	if _, ok := errors.AsType[*PanicError](err); ok {
		return 2
	}
	return 1
}
