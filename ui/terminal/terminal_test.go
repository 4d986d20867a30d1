package terminal

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

func TestColours(t *testing.T) {
	for _, tt := range []struct {
		environ string
		want    colorprofile.Profile
		none    bool
	}{
		{"TERM=xterm-256color", colorprofile.ANSI256, false},
		{"TERM=xterm-256color NO_COLOR=", colorprofile.ANSI256, false},
		{"TERM=xterm-256color NO_COLOR=yes", colorprofile.ASCII, true},
		{"TERM=xterm-256color NO_COLOR=1", colorprofile.ASCII, true},
		{"TERM=xterm-256color NO_COLOR=0", colorprofile.ASCII, true},
		{"TERM=xterm-256color NO_COLOR=yes NO_COLOR=", colorprofile.ANSI256, false},
		{"TERM=xterm COLORTERM=truecolor NO_COLOR=x", colorprofile.ASCII, true},
	} {
		environ := strings.Fields(tt.environ)
		if got := profile(environ); got != tt.want || NoColor(environ) != tt.none {
			t.Errorf("%s: %v and %v, want %v and %v", tt.environ, got, NoColor(environ), tt.want, tt.none)
		}
	}
}

func TestCheck(t *testing.T) {
	_, slave, file := newTerminal(t)
	for _, tt := range []struct {
		name    string
		in, out *os.File
		term    string
		want    string
	}{
		{"a terminal", slave, slave, "xterm", ""},
		{"no TERM", slave, slave, "", ""},
		{"output to a file", slave, file, "xterm", "standard output"},
		{"input from a file", file, slave, "xterm", "standard input"},
		{"dumb", slave, slave, "dumb", "TERM is dumb"},
	} {
		err := Check(tt.in, tt.out, []string{"TERM=" + tt.term})
		if (err == nil) != (tt.want == "") || err != nil && (!errors.Is(err, ErrNoTerminal) || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestCanTell(t *testing.T) {
	for environ, want := range map[string]bool{
		"TERM=xterm-256color": true, "TERM=tmux-256color": true, "TERM=screen": true, "TERM=xterm NO_COLOR=": true,
		"TERM=linux": false, "TERM=dumb": false, "TERM=vt220": false, "": false, "TERM=xterm NO_COLOR=1": false,
	} {
		if got := canTell(strings.Fields(environ)); got != want {
			t.Errorf("%q: %v", environ, got)
		}
	}
}

// A background that is told too late is not heard of.
func TestLateAnswer(t *testing.T) {
	for age, heard := range map[time.Duration]bool{0: true, answerTime + time.Minute: false} {
		s := &session{began: time.Now().Add(-age)}
		if got := s.filter(nil, tea.BackgroundColorMsg{}); (got != nil) != heard {
			t.Errorf("after %v: %v", age, got)
		}
	}
}

func TestExitCode(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want int
	}{
		{nil, 0}, {errors.New("x"), 1},
		{fmt.Errorf("wrapped: %w", &SignalError{syscall.SIGTERM}), 143}, {&SignalError{syscall.SIGHUP}, 129},
	} {
		got, news := Status(tt.err)
		if got != tt.want || ExitCode(tt.err) != tt.want {
			t.Errorf("ExitCode(%v) = %d, want %d", tt.err, got, tt.want)
		}
		if tt.want > 128 && news != nil || tt.want == 1 && news == nil {
			t.Errorf("of %v it says %v", tt.err, news)
		}
	}
}
