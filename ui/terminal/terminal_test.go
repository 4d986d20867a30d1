//go:build unix

package terminal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

func TestWithoutC1(t *testing.T) {
	for in, want := range map[string]string{
		"":                            "",
		"plain \x1b[1mASCII\x1b[m":    "plain \x1b[1mASCII\x1b[m",
		"─ é ° 日":                     "─ é ° 日",
		"a\u009b31mb":                 "a31mb",
		"\u0080\u0085\u009f":          "",
		"\u00a0 stays, \u009d goes":   "\u00a0 stays,  goes",
		"° first, then \u009b and °":  "° first, then  and °",
		"a torn rune at the end \xc2": "a torn rune at the end \xc2",
	} {
		if got := string(withoutC1([]byte(in))); got != want {
			t.Errorf("withoutC1(%q) = %q, want %q", in, got, want)
		}
	}
	frame := []byte(strings.Repeat("│ ° plain ─", 500))
	if n := testing.AllocsPerRun(100, func() { withoutC1(frame) }); n != 0 {
		t.Errorf("a clean frame costs %v allocations", n)
	}
}

func FuzzWithoutC1(f *testing.F) {
	f.Add("a\u009bb°\xc2")
	f.Fuzz(func(t *testing.T, s string) {
		got := string(withoutC1([]byte(s)))
		for _, r := range got {
			if utf8.ValidString(s) && r >= 0x80 && r <= 0x9f {
				t.Errorf("%q became %q", s, got)
			}
		}
		if want := strings.Map(func(r rune) rune {
			if r >= 0x80 && r <= 0x9f {
				return -1
			}
			return r
		}, s); utf8.ValidString(s) && got != want {
			t.Errorf("%q became %q, want %q", s, got, want)
		}
	})
}

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

// A screen whose terminal has gone says so, once written to.
func TestScreenOfAClosedTerminal(t *testing.T) {
	master, slave, _ := newTerminal(t)
	s := newScreen(slave)
	defer s.close()
	var broken error
	s.broken = func(err error) { broken = err }
	if _, err := s.Write([]byte("x")); err != nil || broken != nil {
		t.Errorf("%v, %v while the terminal is there", err, broken)
	}
	if err := master.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write([]byte("x")); err == nil || broken == nil {
		t.Errorf("%v, %v when it is not", err, broken)
	}
}

func TestGuardKeepsTheFirstPanic(t *testing.T) {
	g := NewGuard()
	task := func(f func()) {
		defer g.catch()
		f()
	}
	task(func() {})
	if err := g.first.Load(); err != nil {
		t.Errorf("without a panic: %v", err)
	}
	for i := range 3 {
		go task(func() { panic(fmt.Sprintf("number %d\n", i)) })
		select {
		case <-g.failed:
		case <-time.After(time.Minute):
			t.Fatal("the panic was not caught")
		}
	}
	if err := g.first.Load(); err.Error() != "panic: number 0 " || !strings.Contains(string(err.Stack), "TestGuardKeeps") {
		t.Errorf("%v\n%s", err, err.Stack)
	}
}

// Commands are guarded however deep they are nested.
func TestCommandsAreGuarded(t *testing.T) {
	boom := func() tea.Msg { panic("boom") }
	calm := func() tea.Msg { return 1 }
	for name, cmd := range map[string]tea.Cmd{
		"command": boom, "batch": tea.Batch(calm, boom), "sequence": tea.Sequence(calm, boom),
		"nested": tea.Batch(calm, tea.Sequence(calm, tea.Batch(boom, calm))),
	} {
		g := NewGuard()
		drain(g.command(cmd))
		if g.first.Load() == nil {
			t.Errorf("%s: the panic was lost", name)
		}
	}
	g := NewGuard()
	if g.command(nil) != nil {
		t.Error("no command became one")
	}
	if msg := g.command(calm)(); msg != 1 {
		t.Errorf("message %v, want 1", msg)
	}
	if msg, ok := g.command(tea.Batch(calm, calm))().(tea.BatchMsg); !ok || len(msg) != 2 {
		t.Errorf("a batch became %T", msg)
	}
}

// drain runs a command and all that it holds.
func drain(cmd tea.Cmd) {
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			drain(c)
		}
	case nil, int:
	default: // a sequence, whose type is not exported
		v := reflect.ValueOf(msg)
		for i := range v.Len() {
			drain(v.Index(i).Interface().(tea.Cmd))
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
		{nil, 0}, {errors.New("x"), 1}, {&PanicError{}, 2},
		{fmt.Errorf("wrapped: %w", &SignalError{syscall.SIGTERM}), 143}, {&SignalError{syscall.SIGHUP}, 129},
	} {
		if got := ExitCode(tt.err); got != tt.want {
			t.Errorf("ExitCode(%v) = %d, want %d", tt.err, got, tt.want)
		}
	}
}

// What was typed is read in order, ^c is seen however it is sent, and not in what is
// pasted.
func TestInput(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	defer read.Close()
	seen := 0
	i := &input{file: read, interrupted: func() { seen++ }}
	for _, typed := range []string{"a", "\x03", "b\x1b[99;5uc", "\x1b[99;133u", "\x1b[27;5;99~", "\x1b[200~x\x03y\x1b[201~\x03", "\x1b[A"} {
		if err := i.start(); err != nil {
			t.Fatal(err)
		}
		if _, err := write.WriteString(typed); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 0, len(typed))
		for len(got) < len(typed) {
			n, err := i.Read(got[len(got):min(len(got)+3, cap(got))])
			if err != nil {
				t.Fatal(err)
			}
			got = got[:len(got)+n]
		}
		if string(got) != typed {
			t.Errorf("read %q, want %q", got, typed)
		}
		i.stop()
		if n, err := i.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("after the stop: %d, %v", n, err)
		}
	}
	if seen != 5 {
		t.Errorf("^c was seen %d times, want 5", seen)
	}
}

// A ^c and the ends of a paste are seen wherever a read cuts them in two.
func TestInterruptsInTwoReads(t *testing.T) {
	typed := "\x1b[200~x\x03y\x1b[201~\x03a\x1b[99;5ub\x1b[27;5;99~"
	for cut := range len(typed) {
		seen := 0
		i := &input{interrupted: func() { seen++ }}
		i.watch([]byte(typed[:cut]))
		i.watch([]byte(typed[cut:]))
		if seen != 3 {
			t.Errorf("%q, %q: ^c was seen %d times, want 3", typed[:cut], typed[cut:], seen)
		}
	}
}

// stubborn is a program that cannot give the terminal back.
type stubborn struct {
	program
	restored int
}

func (s *stubborn) ReleaseTerminal() error { return errors.New("no such device") }
func (s *stubborn) RestoreTerminal() error { s.restored++; return nil }
func (s *stubborn) Send(tea.Msg)           {}

// A terminal that cannot be given back stays with the program: its keys are read and it is
// drawn on.
func TestTerminalThatIsNotGivenBack(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	defer read.Close()
	_, _, file := newTerminal(t)
	p := &stubborn{}
	s := &session{program: p, frames: newFrames(func() {}), input: &input{file: read, interrupted: func() {}}, screen: newScreen(file), began: time.Now()}
	s.signals.cont = make(chan os.Signal, 1)
	defer s.signals.release()
	if err := s.input.start(); err != nil {
		t.Fatal(err)
	}
	defer s.input.stop()
	if s.handOver(func() { t.Error("somebody else got the terminal") }) || p.restored != 1 {
		t.Errorf("given back, or taken again %d times, want once", p.restored)
	}
	if _, err := write.WriteString("q"); err != nil {
		t.Fatal(err)
	}
	typed := make([]byte, 4)
	if n, err := s.input.Read(typed); string(typed[:n]) != "q" || err != nil {
		t.Errorf("read %q, %v", typed[:n], err)
	}
}

// TestInterruptOfAnother holds that a ^c which was typed for a program that has the terminal ends only
// that program, however late it is heard, and that other signals end ours.
func TestInterruptOfAnother(t *testing.T) {
	for _, tt := range []struct {
		sig  os.Signal
		lent bool
		want bool
	}{
		{syscall.SIGINT, true, false}, {syscall.SIGINT, false, true}, {syscall.SIGTERM, true, true}, {syscall.SIGHUP, true, true},
	} {
		s := &session{cancel: func() {}, Options: Options{Grace: time.Hour}, signals: signals{end: make(chan os.Signal, 1)}}
		s.lent.Store(tt.lent)
		s.signals.end <- tt.sig
		s.back()
		if s.lent.Load() {
			t.Error("the terminal is still another's")
		}
		if s.ending != tt.want {
			t.Errorf("%v, lent %v: ends %v, want %v", tt.sig, tt.lent, s.ending, tt.want)
		}
	}
}
