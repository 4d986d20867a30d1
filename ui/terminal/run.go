// Package terminal runs a Bubble Tea program, which owns the terminal: it reads the keys, draws, and
// follows the terminal's size. What Bubble Tea does not do is here: the terminal is given back, and the
// process is gone in time, after SIGTERM, SIGHUP and SIGINT and after a panic, also where nobody
// reads the terminal any more; ^z and SIGTSTP stop the process with its event streams closed; and a
// screen at rest wakes nobody.
package terminal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"github.com/plegtop/plegtop/engine/guard"
)

// Options says what a program has beside its model. The zero value is for one that has nothing.
type Options struct {
	// Background says that the terminal is to be asked, once, for its background. An
	// answer that comes in time reaches the model as a tea.BackgroundColorMsg; nothing
	// waits for it.
	Background bool

	// Hold is called before the process stops, for what must not stay open in a process
	// that does nothing, and returns when ctx ends at the latest; Release when it goes on.
	// Nil for nothing. Before a SIGSTOP nothing can be called.
	Hold    func(ctx context.Context)
	Release func()

	// Last is called before the process is ended because it did not end in time, or for a panic:
	// for what must not stay behind. It has lastTime. Nil for nothing.
	Last func()
}

const (
	// endTime is how long the process may take to end once it was asked to. After that the
	// terminal's modes are restored and the process ends, whatever it is doing.
	endTime = 750 * time.Millisecond
	// killTime is how long Bubble Tea may take to give the terminal back after that before output
	// is dropped for it, dropTries how often, and lastTime how long Last may take. All of it is less
	// than 2 s.
	killTime  = 30 * time.Millisecond
	dropTries = 10
	lastTime  = 400 * time.Millisecond
	// writeTime is how long a terminal may take to accept the sequences that restore it.
	writeTime = 200 * time.Millisecond
	// holdTime is what Hold may take: a person waits for the shell meanwhile.
	holdTime = time.Second
	// sizeTime is when Bubble Tea listens for other sizes of the terminal for sure. It reads the
	// first one, draws, and listens only then: a size that came in between would be lost.
	sizeTime = 100 * time.Millisecond
)

// restore ends, in any state, what Bubble Tea begins: a sequence that was cut
// off, synchronised output, the key protocols, paste mode, the alternate
// screen, a hidden cursor, colours.
const restore = "\x18" + ansi.ResetModeSynchronizedOutput + ansi.ResetModifyOtherKeys + "\x1b[<1u" +
	ansi.ResetModeBracketedPaste + ansi.ResetModeUnicodeCore + ansi.ResetModeAltScreenSaveCursor + ansi.ShowCursor + ansi.ResetStyle

// Run shows model on the process's terminal until it quits, ctx ends, or a signal says so. The
// terminal has been restored when it returns. It returns nil if the model quit or ctx ended,
// a [*SignalError] after a signal, and an error that matches [ErrNoTerminal] if there is nothing to
// draw on.
//
// From the moment at which the program was asked to end the whole process has endTime to
// finish, also after Run has returned; then it is ended with the exit code of [ExitCode].
func Run(ctx context.Context, model tea.Model, o Options) error {
	environ := os.Environ()
	if err := Check(os.Stdin, os.Stdout, environ); err != nil {
		return err
	}
	before, err := term.GetState(os.Stdin.Fd())
	if err != nil {
		return fmt.Errorf("read the terminal's modes: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &session{Options: o, before: before, cancel: cancel, began: time.Now()}
	if s.Hold == nil || s.Release == nil {
		s.Hold, s.Release = func(context.Context) {}, func() {}
	}
	program := tea.NewProgram(shown{model, s},
		tea.WithContext(ctx), tea.WithEnvironment(environ), tea.WithColorProfile(profile(environ)), tea.WithFilter(s.filter),
		tea.WithoutSignalHandler(), tea.WithoutCatchPanics())
	s.program, s.clock = program, newClock(program)
	return s.run()
}

// A session is one Run.
type session struct {
	Options
	program *tea.Program
	clock   *clock
	before  *term.State // the terminal's modes before the program
	cancel  func()      // ends the program
	signals signals
	began   time.Time

	mu     sync.Mutex // guards what follows
	ending bool       // the program was asked to end
	cause  error      // why, unless the model quit

	leaving sync.Mutex // locked while the terminal is given back: nobody ends the process meanwhile
	ended   bool       // the program has given the terminal back
}

func (s *session) run() error {
	defer guard.Before(s.leave)()
	defer guard.Catch() // here, before anything waits for the program that has panicked
	s.signals.start()
	done := make(chan struct{})
	var watched sync.WaitGroup
	for _, f := range []func(<-chan struct{}){s.watch, s.clock.run} {
		watched.Go(func() {
			defer guard.Catch()
			f(done)
		})
	}
	_, err := s.program.Run()
	s.end(nil)
	s.leaving.Lock()
	s.ended = true
	s.leaving.Unlock()
	s.mu.Lock()
	cause := s.cause
	s.mu.Unlock()
	close(done)
	watched.Wait()
	s.signals.release()
	switch {
	case cause != nil:
		return cause
	case errors.Is(err, tea.ErrProgramKilled) && errors.Is(err, context.Canceled), errors.Is(err, tea.ErrInterrupted):
		return nil // its own error for a context that has ended says nothing new
	}
	return err
}

// shown is a model whose frames are drawn by our clock.
type shown struct {
	tea.Model
	session *session
}

func (m shown) Init() tea.Cmd {
	size := tea.Tick(sizeTime, func(time.Time) tea.Msg { return sizeNow() })
	if m.session.Background && canTell(os.Environ()) {
		return tea.Batch(m.Model.Init(), size, tea.RequestBackgroundColor)
	}
	return tea.Batch(m.Model.Init(), size)
}

// sizeNow returns the terminal's size as Bubble Tea tells it; nil if it has none. Bubble Tea's own answer to
// a request writes fields that it also writes when the terminal is taken again (2.0.9).
func sizeNow() tea.Msg {
	w, h, err := term.GetSize(os.Stdout.Fd())
	if err != nil {
		return nil
	}
	return tea.WindowSizeMsg{Width: w, Height: h}
}

func (m shown) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	next, cmd := m.Model.Update(msg)
	return shown{next, m.session}, cmd
}

func (m shown) View() tea.View {
	m.session.clock.want()
	return m.Model.View()
}

// end asks the program to end, for the first cause given.
func (s *session) end(cause error) {
	s.mu.Lock()
	if s.cause == nil {
		s.cause = cause
	}
	s.mu.Unlock()
	s.quitting()
	s.cancel()
}

// quitting starts the time that the process has to end.
func (s *session) quitting() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ending {
		s.ending = true
		time.AfterFunc(endTime, s.abort)
	}
}

// abort is the end of a process that did not end by itself: the model is
// stuck, the terminal blocks, or what comes after Run takes too long.
func (s *session) abort() {
	defer guard.Catch()
	s.mu.Lock()
	err := s.cause
	s.mu.Unlock()
	s.leave()
	os.Exit(ExitCode(err))
}

// leave gives the terminal back without waiting for anybody, and then calls Last.
func (s *session) leave() {
	s.leaving.Lock()
	defer s.leaving.Unlock()
	if !s.ended {
		s.ended = true
		s.giveBack()
	}
	if s.Last != nil {
		within(lastTime, begun(s.Last))
	}
}

// giveBack has Bubble Tea give the terminal back. Where nobody reads the terminal, a write of
// Bubble Tea's waits for room and holds all others up: then what was not read is dropped.
func (s *session) giveBack() {
	killed := begun(s.program.Kill)
	if within(killTime, killed) {
		return
	}
	for range dropTries {
		dropOutput(os.Stdout)
		if within(killTime, killed) {
			break
		}
	}
	_ = term.Restore(os.Stdin.Fd(), s.before)
	dropOutput(os.Stdout) // what Bubble Tea has restored may have been dropped, so all of it comes again
	within(writeTime, begun(func() { _, _ = os.Stdout.WriteString(restore) }))
}

// begun calls f in a goroutine and returns what is closed when f has returned.
func begun(f func()) <-chan struct{} {
	done := make(chan struct{})
	guard.Go(func() {
		f()
		close(done)
	})
	return done
}

// within reports whether done is closed in that time.
func within(limit time.Duration, done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	case <-time.After(limit):
		return false
	}
}

// ExitCode returns the exit code that tells what [Run] returned: 0 for nil, 128
// and the number for a signal, 1 for all else.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	if s, ok := errors.AsType[*SignalError](err); ok {
		return 128 + int(s.Signal)
	}
	return 1
}

// Status returns the exit code of [ExitCode], and the error again if it says something new: whoever
// sent a signal knows of it.
func Status(err error) (code int, news error) {
	if _, signaled := errors.AsType[*SignalError](err); !signaled {
		news = err
	}
	return ExitCode(err), news
}
