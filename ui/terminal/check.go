package terminal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// ErrNoTerminal says that there is nothing to draw a screen on.
var ErrNoTerminal = errors.New("the screen needs a terminal")

// Check returns an error, of one line and matching [ErrNoTerminal], unless in
// and out are terminals and environ names one that can show a screen. The line
// names the views that need none.
func Check(in, out *os.File, environ []string) error {
	var why string
	switch {
	case !term.IsTerminal(out.Fd()):
		why = "standard output is none"
	case !term.IsTerminal(in.Fd()):
		why = "standard input is none"
	case tea.EnvMsg(environ).Getenv("TERM") == "dumb":
		why = "TERM is dumb"
	default:
		return nil
	}
	return fmt.Errorf("%w (%s): try plegtop check or plegtop watch, which write lines", ErrNoTerminal, why)
}

// Written returns an error if out was closed when the program began, so that nobody would
// have what is written to it. The runtime of Go has then opened /dev/null in its place, for
// reading as well; a shell that is to throw output away opens it for writing alone. Where
// diagnostics is the same, somebody wants no words at all, but the status.
func Written(out, diagnostics *os.File) error {
	if !stoodIn(out) || stoodIn(diagnostics) {
		return nil
	}
	return errors.New("standard output is closed, so nothing could be written: write >/dev/null if only the status matters")
}

// stoodIn reports whether f is what the runtime opens in the place of a closed one.
func stoodIn(f *os.File) bool {
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE != unix.O_RDWR {
		return false
	}
	null, err := os.Stat(os.DevNull)
	if err != nil {
		return false
	}
	info, err := f.Stat()
	return err == nil && os.SameFile(null, info)
}

// Width returns the width of the terminal that f is, in cells: 80 if it does not
// know it, 0 if f is no terminal.
func Width(f *os.File) int {
	w, _, err := term.GetSize(f.Fd())
	switch {
	case err != nil:
		return 0
	case w <= 0:
		return 80
	}
	return w
}

// NoColor reports whether environ asks for no colour: a NO_COLOR that is not
// empty, whatever it holds (https://no-color.org).
func NoColor(environ []string) bool { return tea.EnvMsg(environ).Getenv("NO_COLOR") != "" }

// profile returns how many colours to send. Bubble Tea alone would take
// NO_COLOR=yes for no.
func profile(environ []string) colorprofile.Profile {
	p := colorprofile.Env(environ)
	if NoColor(environ) {
		p = min(p, colorprofile.ASCII)
	}
	return p
}

// Writer returns what writes texts to f with the colours that it can show: without any
// escape sequence if f is no terminal or a dumb one, or if environ asks for no colour.
// A write makes one write to f.
func Writer(f *os.File, environ []string) io.Writer {
	w := &colorprofile.Writer{Forward: f, Profile: profile(environ)}
	if Width(f) == 0 || NoColor(environ) || tea.EnvMsg(environ).Getenv("TERM") == "dumb" {
		w.Profile = colorprofile.NoTTY
	}
	return w
}

// canTell reports whether a terminal may be asked for its background, and whether the
// answer matters. Consoles, and terminals of old by whose names serial lines go, may show
// the question instead.
func canTell(environ []string) bool {
	name := tea.EnvMsg(environ).Getenv("TERM")
	return !NoColor(environ) && !slices.Contains([]string{"", "dumb", "linux", "ansi", "unknown"}, name) && !strings.HasPrefix(name, "vt")
}
