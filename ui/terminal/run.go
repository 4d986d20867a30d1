// Package terminal runs a Bubble Tea program so that the terminal is always given back:
// after q and ^c, SIGTERM, SIGHUP and SIGINT, SIGQUIT and SIGABRT, ^z and SIGTSTP, and a
// panic in the model or in one of its commands. The process has ended a second after it was
// asked to, even if nobody reads the terminal any more.
//
// # A model that is busy
//
// Bubble Tea takes no key while the model is busy. So [Run] reads the keyboard
// itself, and hands it on: a ^c that the model has not heard in a moment, because
// it updates or draws something else, ends the process as a quit would.
//
// # A terminal that stops reading
//
// A write to a terminal that nobody reads blocks, and Bubble Tea holds a lock while it
// writes: keys, signals and quitting would wait with it. So [Run] opens the terminal once
// more without blocking, which does not change the mode of the file that the shell shares,
// and gives each write a short time. What cannot be written then is kept whole, frames
// after it are dropped, and when the terminal reads again the screen is drawn anew. Where
// it cannot be opened again, as after su to another user, writes block as they do for every
// program; then, and when the model itself is stuck, a timer restores the terminal's modes
// and ends the process.
//
// # What cannot be caught
//
// A panic in a goroutine that is none of these and hands it to no [Guard], a fatal error of
// the Go runtime and SIGKILL end the process with no code of ours run. Only a second process
// can restore the terminal after that: the parent, by what [Restorer] has given it.
package terminal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"

	"github.com/plegtop/plegtop/ui/crash"
)

// Options says on what a program runs. The zero value is the process's own
// terminal.
type Options struct {
	In, Out *os.File  // standard input and output if nil
	Err     io.Writer // for a panic's value and stack; standard error if nil
	Environ []string  // os.Environ() if nil

	// Grace is how long the whole process may take to end once it was asked to;
	// 750 ms if 0. After that the terminal's modes are restored and the process
	// ends, whatever it is doing.
	Grace time.Duration

	// Background says that the terminal is to be asked, once, for its background. An
	// answer that comes in time reaches the model as a tea.BackgroundColorMsg; nothing
	// waits for it.
	Background bool

	// Guard takes panics of goroutines that are none of Run's, which end the program as
	// its own do; nil if there are none.
	Guard *Guard

	// Hold is called before the process stops, for what must not stay open in a process
	// that does nothing, and returns when ctx ends at the latest; Release when it goes on.
	// Nil for nothing. Before a SIGSTOP nothing can be called.
	Hold    func(ctx context.Context)
	Release func()

	// Last is called before the process is ended so, or by a signal that leaves no
	// time for more, for what must not stay behind; nil for nothing. It has 150 ms
	// after q and ^c, and longer after a signal.
	Last func()
}

const (
	// grace and what Last takes are less than a second.
	grace    = 750 * time.Millisecond
	lastTime = 150 * time.Millisecond
	// busyLimit is how long a model may be busy before a ^c ends it.
	busyLimit = 400 * time.Millisecond
	// sizeTime is how long Bubble Tea has to tell the model of another size of the terminal.
	sizeTime = 100 * time.Millisecond
	// holdTime is what Hold may take: a person waits for the shell meanwhile.
	holdTime = time.Second
)

func (o Options) withDefaults() Options {
	o.In, o.Out, o.Err = cmp.Or(o.In, os.Stdin), cmp.Or(o.Out, os.Stdout), cmp.Or[io.Writer](o.Err, os.Stderr)
	o.Grace, o.Guard = cmp.Or(o.Grace, grace), cmp.Or(o.Guard, NewGuard())
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.Last == nil {
		o.Last = func() {}
	}
	if o.Hold == nil || o.Release == nil {
		o.Hold, o.Release = func(context.Context) {}, func() {}
	}
	return o
}

// Run shows model until it quits, ctx ends, a signal says so or something panics. The
// terminal has been restored when it returns. It returns nil if the model quit or ctx ended,
// a [*SignalError] after a signal, a [*PanicError], already printed to Err, after a panic,
// and an error that matches [ErrNoTerminal] if there is nothing to draw on.
//
// From the moment at which the program was asked to end the whole process has Grace to
// finish, also after Run has returned; then it is ended with the exit code of [ExitCode].
// Only one Run can use a terminal at a time.
func Run(ctx context.Context, model tea.Model, o Options) error {
	o = o.withDefaults()
	if err := Check(o.In, o.Out, o.Environ); err != nil {
		return err
	}
	before, err := term.GetState(o.In.Fd())
	if err != nil {
		return fmt.Errorf("read the terminal's modes: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &session{Options: o, screen: newScreen(o.Out), before: before, cancel: cancel, canceled: ctx.Done(), began: time.Now()}
	s.input = &input{file: o.In, interrupted: s.interrupted}
	program := tea.NewProgram(guarded{model, s},
		tea.WithContext(ctx), tea.WithInput(s.input), tea.WithOutput(s.screen), tea.WithEnvironment(o.Environ),
		tea.WithColorProfile(profile(o.Environ)), tea.WithFilter(s.filter),
		tea.WithoutSignalHandler(), tea.WithoutCatchPanics())
	s.program, s.frames = program, newFrames(func() { program.Send(settledMsg{}) })
	s.frames.drive(program)
	s.screen.again = func() { s.program.Send(tea.ClearScreen()) }
	s.screen.broken = func(err error) { s.end(fmt.Errorf("write to the terminal: %w", err)) }
	return s.run()
}

// A program is what a session needs of a [tea.Program].
type program interface {
	Run() (tea.Model, error)
	Send(tea.Msg)
	Kill()
	ReleaseTerminal() error
	RestoreTerminal() error
}

// A session is one Run.
type session struct {
	Options
	screen   *screen
	input    *input
	program  program
	frames   *frames
	told     *tea.WindowSizeMsg // the terminal's size as the model knows it, of the program's goroutine; nil while it knows none, and cannot draw
	before   *term.State        // the terminal's modes before the program
	cancel   func()             // ends the program
	canceled <-chan struct{}    // closed by that
	signals  signals
	began    time.Time

	lent         atomic.Bool   // another program has the terminal, and its keys
	stopping     atomic.Bool   // SIGTSTP has come, and the program has not stopped for it yet
	busy         atomic.Bool   // the model updates or draws
	typed, heard atomic.Uint64 // how many ^c were typed, and how many of them the model had heard

	mu     sync.Mutex
	ending bool  // the program was asked to end
	cause  error // why, unless the model quit
}

func (s *session) run() error {
	if err := s.input.start(); err != nil {
		return fmt.Errorf("read the terminal: %w", err)
	}
	done := make(chan struct{})
	s.signals.start()
	var watched sync.WaitGroup
	watched.Go(func() { s.watch(done) })
	watched.Go(func() { s.frames.run(done) })
	err := s.show()
	s.end(nil)
	close(done)
	watched.Wait()
	s.input.stop()
	s.signals.release()
	s.screen.finish(s.Grace / 4)
	s.screen.close()
	return s.outcome(err)
}

// show runs the program. A panic in the model, which Bubble Tea leaves alone, ends it as any.
func (s *session) show() (err error) {
	defer func() {
		if v := recover(); v != nil {
			s.Guard.Panicked(v, debug.Stack())
			s.end(nil)
			s.program.Kill() // what Run would have done: restore the terminal
		}
	}()
	_, err = s.program.Run()
	return err
}

// watch waits for what ends or stops the program from outside.
func (s *session) watch(done <-chan struct{}) {
	for {
		select {
		case sig := <-s.signals.end:
			s.ends(sig)
		case <-s.signals.cont:
			go s.program.Send(continuedMsg{})
		case <-s.signals.stop:
			if s.stopping.CompareAndSwap(false, true) {
				go s.program.Send(tea.SuspendMsg{})
			}
		case <-s.signals.size:
			time.AfterFunc(sizeTime, func() { s.program.Send(resizedMsg{}) })
		case sig := <-s.signals.dump:
			s.dump(sig.(syscall.Signal))
		case <-s.Guard.failed:
			s.end(nil)
			<-done
			return
		case <-done:
			return
		}
	}
}

// ends ends the program for a signal, but for a ^c that was typed for another program which has the
// terminal.
func (s *session) ends(sig os.Signal) {
	if sig != syscall.SIGINT || !s.lent.Load() {
		s.end(&SignalError{sig.(syscall.Signal)})
	}
}

// end asks the program to end, for the first cause given, and starts the time that it has.
func (s *session) end(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cause == nil {
		s.cause = cause
	}
	if s.ending {
		return
	}
	s.ending = true
	s.cancel()
	time.AfterFunc(s.Grace, s.abort)
}

// outcome returns what Run does for the error of Bubble Tea. Its own error for
// a context that has ended says nothing new.
func (s *session) outcome(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch p := s.Guard.first.Load(); {
	case p != nil:
		s.report(p)
		return p
	case s.cause != nil:
		return s.cause
	case errors.Is(err, tea.ErrProgramKilled) && errors.Is(err, context.Canceled), errors.Is(err, tea.ErrInterrupted):
		return nil
	}
	return err
}

func (s *session) report(p *PanicError) {
	fmt.Fprintf(s.Err, "plegtop: %v\n\n%s", p, p.Stack)
}

// interrupted is called for each ^c that is typed. One that a busy model does not
// hear ends it as if it had quit.
func (s *session) interrupted() {
	n := s.typed.Add(1)
	time.AfterFunc(busyLimit, func() {
		if s.heard.Load() < n && s.busy.Load() {
			s.abort()
		}
	})
}

// abort is the end of a process that did not end by itself: the model is
// stuck, the terminal blocks, or what comes after Run takes too long.
func (s *session) abort() {
	s.mu.Lock()
	err := s.cause
	s.mu.Unlock()
	limit := s.Grace
	if err == nil { // somebody looks on
		limit = lastTime
	}
	s.leave(limit)
	if p := s.Guard.first.Load(); p != nil {
		s.report(p)
		err = p
	}
	os.Exit(crash.Status(ExitCode(err)))
}

// dump ends the process by a signal for which the Go runtime writes where each goroutine
// stands: to a terminal that can be read.
func (s *session) dump(sig syscall.Signal) {
	s.leave(3 * time.Second)
	signal.Reset(sig)
	_ = kill(os.Getpid(), sig)
	time.Sleep(s.Grace)
	os.Exit(crash.Status(128 + int(sig))) // where it is ignored
}

// leave gives the terminal back without waiting for anybody, and leaves nothing
// behind if that takes no longer than limit.
func (s *session) leave(limit time.Duration) {
	_ = term.Restore(s.In.Fd(), s.before)
	s.screen.abandon()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Last()
	}()
	select {
	case <-done:
	case <-time.After(limit):
	}
}
