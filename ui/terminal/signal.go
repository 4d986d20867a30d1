package terminal

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
)

// A SignalError says which signal ended the program.
type SignalError struct {
	Signal syscall.Signal
}

// Error names the signal.
func (e *SignalError) Error() string { return "ended by signal: " + e.Signal.String() }

// signals are those that a full-screen program must not leave to their
// default. SIGTSTP is not among them: a Go program that has caught it once can
// never be stopped by it again, and in raw mode no key sends it.
type signals struct {
	end, cont chan os.Signal
}

func (g *signals) start() {
	g.end, g.cont = make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(g.end, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	g.catch()
}

func (g *signals) catch() { signal.Notify(g.cont, syscall.SIGCONT) }

// release ends the catching of SIGCONT. Those that end stay caught even after
// Run, though nobody hears them any more: what comes then, such as writing a
// recording to its end, is not to be cut short by a second signal, and Grace
// bounds it.
func (g *signals) release() { signal.Stop(g.cont) }

// continuedMsg says that the process was stopped by a signal that no program
// can catch, and goes on: the shell has had the terminal in between.
type continuedMsg struct{}

// filter sees every message before the model does.
func (s *session) filter(_ tea.Model, msg tea.Msg) tea.Msg {
	switch msg.(type) {
	case tea.QuitMsg:
		s.quitting()
	case tea.SuspendMsg:
		s.yield(s.stopProcess)
		return nil
	case continuedMsg:
		s.yield(func() {})
		return nil
	}
	return msg
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
// draws the whole screen. It is called by the goroutine of the program.
func (s *session) yield(meanwhile func()) {
	s.signals.release()
	defer s.signals.catch()
	if err := s.program.ReleaseTerminal(); err != nil {
		return
	}
	s.screen.finish(patience)
	meanwhile()
	if err := s.program.RestoreTerminal(); err != nil {
		go s.end(err)
		return
	}
	go s.program.Send(tea.ResumeMsg{})
}

// stopProcess stops the whole process group, as ^z does for a program that
// leaves the key to the terminal, and returns when it goes on. The kernel does
// not stop a group that no shell looks after; then it returns after a moment.
func (s *session) stopProcess() {
	cont := make(chan os.Signal, 1)
	signal.Notify(cont, syscall.SIGCONT)
	defer signal.Stop(cont)
	if err := syscall.Kill(0, syscall.SIGTSTP); err != nil {
		return
	}
	select {
	case <-cont:
	case <-time.After(patience):
	}
}
