//go:build linux

package e2e

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/guard"
	"github.com/plegtop/plegtop/ui/terminal"
)

// The test binary is its own child: called so, it shows a small screen with
// ui/terminal that can fail in every way.
const childArg = "run-the-child"

// lastFile is the variable of a file that the child removes when it has to end at once.
const lastFile = "CHILD_LAST_FILE"

// atOnce is how many tests run side by side: nearly all of them only wait.
const atOnce = "10"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == childArg {
		child(strings.Join(os.Args[2:], " "))
	}
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set(atOnce) // a number
	}
	code := m.Run()
	_ = os.RemoveAll(built.dir)
	os.Exit(code)
}

func child(how string) {
	guard.Dumps()
	m := model{flood: how == "flood", resizes: how == "resizes", held: new(atomic.Int32)}
	err := terminal.Run(context.Background(), m, terminal.Options{Background: how == "asks", Hold: func(ctx context.Context) {
		m.held.Add(1)
		if how == "hold" { // it does not come to its end
			<-ctx.Done()
		}
	}, Release: func() { m.held.Add(released()) }, Last: func() {
		if last := os.Getenv(lastFile); last != "" {
			_ = os.Remove(last)
		}
	}})
	if how == "slow-end" {
		select {}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(terminal.ExitCode(err))
}

type tickMsg struct{}

// A model counts, and fails as the key pressed says.
type model struct {
	flood  bool // writes the whole screen anew with every count
	count  int
	w, h   int
	fail   bool // in View
	still  bool // counts no more
	resume int

	resizes bool // is given another size as soon as the terminal's first was read
	heard   string
	held    *atomic.Int32 // 1 for each Hold, 10 for each Release
}

// released returns what a Release counts: more where the terminal is not taken again.
func released() int32 {
	if state, err := term.GetState(os.Stdin.Fd()); err != nil || state.Lflag&unix.ICANON != 0 {
		return 100
	}
	return 10
}

func tick() tea.Cmd {
	return tea.Tick(20*time.Millisecond, func(time.Time) tea.Msg { return tickMsg{} })
}

func boom() tea.Msg {
	defer guard.Catch()
	panic("boom \x1b[31m in a command")
}

func (m model) Init() tea.Cmd {
	if m.resizes {
		_ = unix.IoctlSetWinsize(int(os.Stdin.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: 60, Row: 10}) // the test sees it
	}
	return tick()
}

func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tickMsg:
		if m.still {
			return m, nil
		}
		m.count++
		return m, tick()
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
	case tea.ResumeMsg:
		m.resume++
	case tea.BackgroundColorMsg:
		m.heard = fmt.Sprintf(" dark %v", msg.IsDark())
	case tea.KeyPressMsg:
		return m.key(msg.String())
	}
	return m, nil
}

func (m model) key(k string) (tea.Model, tea.Cmd) {
	switch k {
	case "q", "ctrl+c":
		return m, tea.Quit
	case "ctrl+z":
		return m, tea.Suspend
	case "u":
		panic("boom in Update")
	case "v":
		m.fail = true
	case "c":
		return m, boom
	case "g":
		guard.Go(func() { panic("boom elsewhere") })
	case "h":
		_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
		select {}
	case "p":
		guard.Go(func() { panic("boom elsewhere") })
		select {}
	case "x":
		m.still = true
	}
	return m, nil
}

func (m model) View() tea.View {
	if m.fail {
		panic("boom in View")
	}
	s := fmt.Sprintf("count %d size %dx%d resumed %d%s", m.count, m.w, m.h, m.resume, m.heard)
	if n := m.held.Load(); n > 0 {
		s += fmt.Sprintf(" held %d", n)
	}
	if m.still {
		s = fmt.Sprintf("stopped at %d", m.count)
	} else if m.flood {
		s = fmt.Sprintf("count %d", m.count) + noise(m.count, m.w, m.h-1)
	}
	v := tea.NewView(s)
	v.AltScreen = true
	return v
}

// noise returns rows of letters that are other ones for each n, in no order
// that could be written more briefly.
func noise(n, columns, rows int) string {
	rnd := rand.New(rand.NewPCG(uint64(n), 1))
	var s strings.Builder
	for range max(rows, 0) {
		s.WriteByte('\n')
		for range columns {
			s.WriteByte(byte('a' + rnd.IntN(26)))
		}
	}
	return s.String()
}
