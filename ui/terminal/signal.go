package terminal

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"

	"github.com/plegtop/plegtop/ui/crash"
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
	end, dump, stop, cont, size chan os.Signal
}

func (g *signals) start() {
	for _, c := range []*chan os.Signal{&g.end, &g.dump, &g.stop, &g.cont, &g.size} {
		*c = make(chan os.Signal, 1)
	}
	signal.Notify(g.end, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	signal.Notify(g.dump, syscall.SIGQUIT, syscall.SIGABRT)
	if canStop {
		signal.Notify(g.stop, stopSignal)
	}
	signal.Notify(g.size, sizeSignal)
	g.catch()
}

func (g *signals) catch() { signal.Notify(g.cont, contSignal) }

// release ends the catching of SIGCONT. Those that end stay caught even after Run,
// though nobody hears them any more: what comes then, such as writing a recording
// to its end, is not to be cut short by a second signal, and Grace bounds it.
func (g *signals) release() { signal.Stop(g.cont) }

// continuedMsg says that the process was stopped by a signal that no program
// can catch, and goes on: the shell has had the terminal in between.
type continuedMsg struct{}

// resizedMsg says that the terminal has had another size for a moment. Bubble Tea listens for that
// only some time after it has read the first size, and so does not always say it.
type resizedMsg struct{}

// filter sees every message before the model does.
func (s *session) filter(_ tea.Model, msg tea.Msg) tea.Msg {
	switch msg := msg.(type) {
	case tea.QuitMsg:
		s.quitting()
	case tea.SuspendMsg:
		s.stopping.Store(true) // for the whole group SIGTSTP comes twice: the parent passes it on as well
		s.yield(s.suspend)
		s.stopping.Store(false)
		s.Release() // only now: a process in the background is stopped when it takes the terminal
		return nil
	case continuedMsg:
		s.yield(func() {})
		return nil
	case LendMsg:
		err := s.lend(msg.To)
		go s.program.Send(msg.Ended(err))
		return nil
	case tea.BackgroundColorMsg:
		if time.Since(s.began) > answerTime {
			return nil
		}
	case tea.WindowSizeMsg:
		s.told = s.size(msg)
		return *s.told
	case resizedMsg:
		if s.told == nil { // the first is on its way
			return nil
		}
		if now := s.size(*s.told); *now != *s.told {
			s.told = now
			return *now
		}
		return nil
	case settledMsg:
		return nil
	}
	return msg
}

// size returns the terminal's size as it is now, since a message may have waited while another size
// came; known where it cannot be read.
func (s *session) size(known tea.WindowSizeMsg) *tea.WindowSizeMsg {
	if w, h, err := term.GetSize(s.Out.Fd()); err == nil {
		known = tea.WindowSizeMsg{Width: w, Height: h}
	}
	return &known
}

// quitting starts the time that the process has to end. Unlike end it lets
// Bubble Tea draw the last frame.
func (s *session) quitting() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ending {
		s.ending = true
		time.AfterFunc(s.Grace, s.abort)
	}
}

// yield gives the terminal back, calls meanwhile, takes the terminal again and
// tells the model. It is called by the goroutine of the program.
func (s *session) yield(meanwhile func()) {
	if s.handOver(meanwhile) {
		go s.program.Send(tea.ResumeMsg{})
	}
}

// handOver reports whether the terminal was given back and taken again. The
// whole screen is drawn after that.
func (s *session) handOver(meanwhile func()) bool {
	s.signals.release()
	defer s.signals.catch()
	s.input.stop()
	released := s.program.ReleaseTerminal()
	if released == nil {
		s.screen.finish(writeTimeout)
		meanwhile()
	} // else the keyboard and what draws have ended all the same
	if err := errors.Join(s.input.start(), s.program.RestoreTerminal()); err != nil {
		go s.end(err)
		return false
	}
	s.frames.want()
	return released == nil
}

// suspend stops the process with nothing left open that somebody would have to read: the
// whole process group, as ^z does for a program that leaves the key to the terminal. Where
// there is a parent, that stops the group.
func (s *session) suspend() {
	pid := 0
	if crash.IsChild() {
		pid = os.Getpid()
	}
	stopHeld(pid, s.Hold)
}

// StopGroup stops the process and its group, as ^z does, and returns when it goes on, or
// after a moment where nobody could have it go on.
func StopGroup() { stopProcess(0) }

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
	signal.Notify(stop, stopSignal)
	go func() {
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
	}()
}

// stopProcess stops a process, or its group, and returns when it goes on. The kernel does
// not stop a group that no shell looks after; then it returns after a moment.
func stopProcess(pid int) {
	cont := make(chan os.Signal, 1)
	signal.Notify(cont, contSignal)
	defer signal.Stop(cont)
	asDefault(stopSignal, func() {
		if err := kill(pid, stopSignal); err != nil {
			return
		}
		select {
		case <-cont:
		case <-time.After(writeTimeout):
		}
	})
}

// A LendMsg has a command run that has the terminal to itself until it ends: a program of
// Bubble Tea's own way would leave the keyboard to [Run]. The model gets what Ended makes of
// its error.
type LendMsg struct {
	To    *exec.Cmd
	Ended func(err error) tea.Msg
}

// lend returns when the command has ended, which it is asked to when the program ends.
func (s *session) lend(to *exec.Cmd) error {
	err := errors.New("the terminal could not be given away")
	s.lent.Store(true)
	defer s.back()
	s.yield(func() {
		if err = to.Start(); err != nil {
			return
		}
		ended := make(chan struct{})
		go func() {
			select {
			case <-s.canceled:
				if to.Process.Signal(syscall.SIGTERM) != nil { // it has ended, or this is Windows
					_ = to.Process.Kill()
				}
			case <-ended:
			}
		}()
		err = to.Wait()
		close(ended)
	})
	return err
}

// back ends that another program has the terminal. A ^c that ended that program came to us, too, and
// may not have been heard yet.
func (s *session) back() {
	select {
	case sig := <-s.signals.end:
		s.ends(sig)
	default:
	}
	s.lent.Store(false)
}
