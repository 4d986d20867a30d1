package terminal

import (
	"bufio"
	"os"
	"strings"
	"testing"

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
