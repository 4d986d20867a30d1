package terminal

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine/guard"
)

// A SignalError says which signal ended the program.
type SignalError struct {
	Signal syscall.Signal
}

// Error names the signal.
func (e *SignalError) Error() string { return "ended by signal: " + e.Signal.String() }

// signals are those that a full-screen program must not leave to their
// default.
type signals struct {
	end, stop, cont chan os.Signal
}

func (g *signals) start() {
	for _, c := range []*chan os.Signal{&g.end, &g.stop, &g.cont} {
		*c = make(chan os.Signal, 1)
	}
	signal.Notify(g.end, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	if canStop {
		signal.Notify(g.stop, syscall.SIGTSTP)
	}
	g.catch()
}

func (g *signals) catch() { signal.Notify(g.cont, syscall.SIGCONT) }

// release ends the catching of SIGCONT. Those that end stay caught even after Run,
// though nobody hears them any more: what comes then, such as writing a recording
// to its end, is not to be cut short by a second signal, and endTime bounds it.
func (g *signals) release() { signal.Stop(g.cont) }

// watch waits for what ends or stops the program from outside.
func (s *session) watch(done <-chan struct{}) {
	for {
		select {
		case sig := <-s.signals.end:
			s.end(&SignalError{sig.(syscall.Signal)})
		case <-s.signals.cont:
			go s.program.Send(continuedMsg{})
		case <-s.signals.stop:
			go s.program.Send(tea.SuspendMsg{})
		case <-done:
			return
		}
	}
}

// continuedMsg says that the process was stopped by a signal that no program
// can catch, and goes on: the shell has had the terminal in between.
type continuedMsg struct{}

// answerTime is how long a terminal may take to say what its background is: what came
// later would change the colours while somebody reads.
const answerTime = 2 * time.Second

// filter sees every message before the model does.
func (s *session) filter(_ tea.Model, msg tea.Msg) tea.Msg {
	switch msg.(type) {
	case tea.QuitMsg:
		s.quitting()
	case tea.SuspendMsg:
		s.yield(func() { stopHeld(0, s.Hold) }) // the whole group, as ^z does for a program that leaves the key to the terminal
		s.Release()                             // only now: a process in the background is stopped when it takes the terminal
		return nil
	case continuedMsg:
		s.yield(func() {})
		return nil
	case tea.BackgroundColorMsg:
		if time.Since(s.began) > answerTime {
			return nil
		}
	case drawnMsg:
		return nil
	}
	return msg
}

// yield gives the terminal back, calls meanwhile, takes the terminal again, draws the whole screen
// and tells the model. It is called by the goroutine of the program.
func (s *session) yield(meanwhile func()) {
	s.signals.release()
	defer s.signals.catch()
	released := s.program.ReleaseTerminal()
	if released == nil {
		meanwhile()
	} // else the keyboard and what draws have ended all the same
	if err := s.program.RestoreTerminal(); err != nil {
		go s.end(err)
		return
	}
	s.clock.want()
	if released == nil {
		go s.program.Send(tea.ResumeMsg{})
	}
}

// stopHeld stops a process, or its group if that is 0, after hold.
func stopHeld(pid int, hold func(context.Context)) {
	ctx, cancel := context.WithTimeout(context.Background(), holdTime)
	defer cancel()
	hold(ctx)
	stopProcess(pid)
}

// HoldStops is what [Options] has Hold and Release for, without a screen: until ctx ends
// SIGTSTP stops the process after hold, and release is called when it goes on. Where
// a process that has caught SIGTSTP could not be stopped by it any more, it does nothing.
func HoldStops(ctx context.Context, hold func(context.Context), release func()) {
	if !canStop {
		return
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTSTP)
	guard.Go(func() {
		defer signal.Stop(stop)
		for {
			select {
			case <-stop:
				stopHeld(os.Getpid(), hold)
				release()
			case <-ctx.Done():
				return
			}
		}
	})
}

// orphanTime is how long to wait for a stop that does not come.
const orphanTime = 200 * time.Millisecond

// stopProcess stops a process, or its group, and returns when it goes on. The kernel does
// not stop a group that no shell looks after; then it returns after a moment.
func stopProcess(pid int) {
	cont := make(chan os.Signal, 1)
	signal.Notify(cont, syscall.SIGCONT)
	defer signal.Stop(cont)
	asDefault(syscall.SIGTSTP, func() {
		if syscall.Kill(pid, syscall.SIGTSTP) != nil {
			return
		}
		select {
		case <-cont:
		case <-time.After(orphanTime):
		}
	})
}

// endTimeOfLines is how long a program without a screen may take to end once somebody wants it to.
// 2 s are promised.
const endTimeOfLines = 1800 * time.Millisecond

// UntilSignal returns a context that ends when somebody wants a program without a screen to. If
// that has not ended some time later, it is ended with that status: a write to a
// pipe that nobody reads never returns.
// SIGPIPE is none of these signals: once it is caught, the kernel sends it for
// every connection that the runtime closes as well. A reader of our output that
// has gone shows as an error of the write.
func UntilSignal(ctx context.Context, status int) (context.Context, context.CancelFunc) {
	signal.Ignore(syscall.SIGPIPE)
	ctx, cancel := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	inTime := context.AfterFunc(ctx, func() { time.AfterFunc(endTimeOfLines, func() { os.Exit(status) }) })
	return ctx, func() {
		inTime()
		cancel()
	}
}
