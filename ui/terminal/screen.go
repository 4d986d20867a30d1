package terminal

import (
	"bytes"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
)

const (
	writeTimeout = 200 * time.Millisecond // how long a write waits for a terminal that was well until then
	glance       = 5 * time.Millisecond   // and for one that was stuck
)

// restore ends, in any state, what Bubble Tea begins: a sequence that was cut
// off, synchronised output, the key protocols, the mouse, paste mode, the alternate
// screen, a hidden cursor, colours.
const restore = "\x18" + ansi.ResetModeSynchronizedOutput + ansi.ResetModifyOtherKeys + "\x1b[<1u" +
	ansi.ResetModeMouseButtonEvent + ansi.ResetModeMouseAnyEvent + ansi.ResetModeMouseExtSgr +
	ansi.ResetModeBracketedPaste + ansi.ResetModeUnicodeCore + ansi.ResetModeAltScreenSaveCursor + ansi.ShowCursor + ansi.ResetStyle

// A screen is the terminal as Bubble Tea writes to it. It never lets a C1
// control through, and it does not block for longer than writeTimeout unless the
// terminal could not be opened a second time.
type screen struct {
	shared *os.File    // standard output, which other processes have as well
	own    *os.File    // our own of the same terminal, which does not block; nil if there is none
	again  func()      // asks for the whole screen to be drawn anew
	broken func(error) // called when the terminal has gone

	mu   sync.Mutex // guards all below
	rest []byte     // of a write that the terminal has not taken yet
	lost bool       // writes after it were dropped
}

func newScreen(out *os.File) *screen {
	return &screen{shared: out, own: reopen(out), again: func() {}, broken: func(error) {}}
}

// Write writes p, or keeps or drops it while the terminal takes nothing. It
// fails only when the terminal has gone.
func (s *screen) Write(p []byte) (int, error) {
	n := len(p)
	p = withoutC1(p)
	if s.own == nil {
		if _, err := s.shared.Write(p); err != nil {
			s.broken(err)
			return 0, err
		}
		return n, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.write(p); err != nil {
		s.broken(err)
		return 0, err
	}
	return n, nil
}

// write drops p if the terminal has not taken all of what came before: p only
// says what changes from there.
func (s *screen) write(p []byte) error {
	if s.rest != nil {
		s.lost = true
		return nil
	}
	err := s.put(p, writeTimeout)
	if s.rest != nil {
		time.AfterFunc(writeTimeout, s.retry)
	}
	return err
}

// retry offers the terminal what it has not taken, until it does, and then has
// the whole screen drawn if anything after it was dropped.
func (s *screen) retry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rest == nil {
		return
	}
	switch err := s.put(s.rest, glance); {
	case err != nil:
		s.broken(err)
	case s.rest != nil:
		time.AfterFunc(writeTimeout, s.retry)
	case s.lost:
		s.lost = false
		go s.again()
	}
}

// put writes p and keeps what the terminal does not take in time.
func (s *screen) put(p []byte, wait time.Duration) error {
	if err := s.own.SetWriteDeadline(time.Now().Add(wait)); err != nil {
		return err
	}
	n, err := s.own.Write(p)
	s.rest = nil
	if errors.Is(err, os.ErrDeadlineExceeded) {
		s.rest = bytes.Clone(p[n:])
		return nil
	}
	return err
}

// Fd returns the file by which the terminal's size and modes are read and set.
func (s *screen) Fd() uintptr { return s.shared.Fd() }

// Read is here for Bubble Tea to see a terminal in s; nothing calls it.
func (s *screen) Read(p []byte) (int, error) { return s.shared.Read(p) }

// Close is here for the same reason and leaves the shared file open.
func (s *screen) Close() error { return nil }

// close closes our own file. Nothing may be written after that.
func (s *screen) close() {
	if s.own != nil {
		s.own.Close()
	}
}

// finish is for the end, and for ^z. It brings what Bubble Tea has written last
// to a terminal that is slow or stuck. What cannot be delivered is taken back
// from the kernel's buffer, so that at least the sequences of restore fit in: a
// terminal that reads again later finds them.
func (s *screen) finish(wait time.Duration) {
	if s.own == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rest != nil && (s.put(s.rest, wait) != nil || s.rest != nil) {
		s.lost = true
	}
	if s.lost {
		rescue(s.own)
	}
	s.rest, s.lost = nil, false
}

// abandon is for a process that ends at once: it writes restore as far as that
// is possible without waiting for the terminal. Nothing is written after that.
func (s *screen) abandon() {
	if s.own != nil {
		_ = s.own.SetWriteDeadline(time.Now()) // for whoever waits with the lock
		s.mu.Lock()                            // for good
		rescue(s.own)
		return
	}
	written := make(chan struct{})
	go func() {
		_, _ = s.shared.WriteString(restore)
		close(written)
	}()
	select {
	case <-written:
	case <-time.After(glance):
	}
}

// Restorer takes down the modes of the terminal that in is, and returns what brings them
// back and ends the alternate screen on out, without waiting for the terminal: for the
// parent of a process that has crashed. It does nothing where in is no terminal, and can be
// called once.
func Restorer(in, out *os.File) (restore func()) {
	before, err := term.GetState(in.Fd())
	if err != nil {
		return func() {}
	}
	return func() {
		_ = term.Restore(in.Fd(), before)
		newScreen(out).abandon()
	}
}

// withoutC1 returns p without U+0080 to U+009F in UTF-8, which some terminals obey as
// they do escape sequences. It copies p only where there is one. Text from
// outside was cleaned long before; this is the last line of defence.
func withoutC1(p []byte) []byte {
	var clean []byte
	from := 0
	for i := range p {
		if c := p[i:]; len(c) > 1 && c[0] == 0xC2 && c[1] >= 0x80 && c[1] <= 0x9F {
			clean = append(clean, p[from:i]...)
			from = i + 2
		}
	}
	if from == 0 {
		return p
	}
	return append(clean, p[from:]...)
}
