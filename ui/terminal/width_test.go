package terminal

import (
	"bufio"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/creack/pty"
)

// newTerminal returns both ends of a terminal, and a file.
func newTerminal(t *testing.T) (master, slave, file *os.File) {
	t.Helper()
	master, slave, err := pty.Open()
	if err == nil {
		file, err = os.Create(t.TempDir() + "/file")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _, _ = master.Close(), slave.Close(), file.Close()
	})
	return master, slave, file
}

func TestWidth(t *testing.T) {
	_, slave, file := newTerminal(t)
	for columns, want := range map[uint16]int{0: 80, 33: 33} {
		if err := pty.Setsize(slave, &pty.Winsize{Rows: 10, Cols: columns}); err != nil {
			t.Fatal(err)
		}
		if got := Width(slave); got != want {
			t.Errorf("a terminal of %d columns has width %d, want %d", columns, got, want)
		}
	}
	if got := Width(file); got != 0 {
		t.Errorf("a file has width %d", got)
	}
}

// Colours go to a terminal alone, and not to one for which nobody wants them.
func TestWriter(t *testing.T) {
	master, slave, file := newTerminal(t)
	for _, tt := range []struct {
		to      *os.File
		environ []string
		want    string
	}{
		{slave, []string{"TERM=xterm-256color"}, "\x1b[1;31mBad\x1b[m"},
		{slave, []string{"TERM=xterm"}, "\x1b[1;31mBad\x1b[m"},
		{slave, []string{"TERM=xterm", "NO_COLOR=yes"}, "Bad"},
		{slave, []string{"TERM=xterm", "NO_COLOR=1"}, "Bad"},
		{slave, []string{"TERM=xterm", "NO_COLOR="}, "\x1b[1;31mBad\x1b[m"},
		{slave, []string{"TERM=dumb"}, "Bad"},
		{slave, []string{"TERM=dumb", "COLORTERM=truecolor"}, "Bad"},
		{slave, []string{"TERM=dumb", "CLICOLOR_FORCE=1"}, "Bad"},
		{file, []string{"TERM=xterm"}, "Bad"},
	} {
		if n, err := Writer(tt.to, tt.environ).Write([]byte("\x1b[1;31mBad\x1b[m\n")); n != 14 || err != nil {
			t.Errorf("%v: wrote %d, %v", tt.environ, n, err)
		}
		from := tt.to
		if tt.to == slave {
			from = master
		} else if _, err := file.Seek(0, 0); err != nil {
			t.Fatal(err)
		}
		got, err := bufio.NewReader(from).ReadString('\n') // a terminal may give a line in pieces
		if line := strings.TrimRight(got, "\r\n"); err != nil || line != tt.want {
			t.Errorf("%s %v: %q, %v, want %q", tt.to.Name(), tt.environ, line, err, tt.want)
		}
	}
}

// A message about the size has the size of now, and one that Bubble Tea has told is not told again,
// which would draw the whole screen twice.
func TestSizeIsToldOnce(t *testing.T) {
	_, slave, _ := newTerminal(t)
	s := &session{Options: Options{Out: slave}}
	for _, tt := range []struct {
		columns uint16
		msg     tea.Msg
		want    tea.Msg
	}{
		{60, resizedMsg{}, nil}, // before the first
		{60, tea.WindowSizeMsg{Width: 100, Height: 10}, tea.WindowSizeMsg{Width: 60, Height: 10}},
		{60, resizedMsg{}, nil},
		{60, tea.WindowSizeMsg{Width: 60, Height: 10}, tea.WindowSizeMsg{Width: 60, Height: 10}}, // back again: the terminal may have moved what it shows
		{70, resizedMsg{}, tea.WindowSizeMsg{Width: 70, Height: 10}},
		{70, resizedMsg{}, nil},
	} {
		if err := pty.Setsize(slave, &pty.Winsize{Rows: 10, Cols: tt.columns}); err != nil {
			t.Fatal(err)
		}
		if got := s.filter(nil, tt.msg); got != tt.want {
			t.Errorf("%d columns, %+v: the model gets %+v, want %+v", tt.columns, tt.msg, got, tt.want)
		}
	}
}

// A terminal that has had another size is looked at once Bubble Tea had its time to tell of it, which
// it does not do in the first moments.
func TestResizeIsLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent, done := make(sentTo, 1), make(chan struct{})
		s := &session{Options: Options{Guard: NewGuard()}, program: sent, signals: signals{size: make(chan os.Signal, 1)}}
		go s.watch(done)
		s.signals.size <- sizeSignal
		began := time.Now()
		if got := <-sent; got != (resizedMsg{}) || time.Since(began) != sizeTime {
			t.Errorf("%T after %v, want resizedMsg after %v", got, time.Since(began), sizeTime)
		}
		close(done)
	})
}

// A sentTo is a program that only takes messages.
type sentTo chan tea.Msg

func (c sentTo) Send(msg tea.Msg)      { c <- msg }
func (sentTo) Run() (tea.Model, error) { return nil, nil }
func (sentTo) Kill()                   {}
func (sentTo) ReleaseTerminal() error  { return nil }
func (sentTo) RestoreTerminal() error  { return nil }
