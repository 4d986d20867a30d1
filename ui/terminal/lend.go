package terminal

import (
	"errors"
	"os/exec"
	"syscall"

	tea "charm.land/bubbletea/v2"
)

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
