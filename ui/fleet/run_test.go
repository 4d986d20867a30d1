//go:build linux

package fleet

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plegtop/plegtop/ui/e2e"
	"github.com/plegtop/plegtop/ui/lines"
)

// limit is for what takes a moment, on a machine with other things to do.
const limit = time.Minute

// TestInAPipe holds that a table, or an object, is written once, with the exit code of a check, and
// that nothing is left behind.
func TestInAPipe(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args []string
		form func(out []byte) bool
	}{
		{[]string{"--context=some", "-n", "kube-system"}, func(out []byte) bool {
			return bytes.Count(out, []byte("LISTS HANG")) == 3 && bytes.HasPrefix(out, []byte("3 nodes"))
		}},
		{[]string{"--context=some", "-n", "kube-system", "-o", "json"}, json.Valid},
	} {
		c := call(t, tt.args...)
		var out, diagnostics bytes.Buffer
		c.Stdout, c.Stderr = &out, &diagnostics
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		is := c.started(t)
		want := regexp.MustCompile(`^--context=some --namespace=kube-system proxy --unix-socket=` + c.tmp + `/plegtop-\d+/api --reject-methods=POST,PUT,PATCH,DELETE$`)
		if !want.MatchString(is.args) {
			t.Errorf("kubectl was called with %s", is.args)
		}
		if got := code(t, c.Wait()); got != lines.ExitCritical || !tt.form(out.Bytes()) || diagnostics.Len() > 0 {
			t.Errorf("%v: exit code %d, %s, %s", tt.args, got, &out, &diagnostics)
		}
		c.leavesNothing(t, is)
	}
}

// TestEndedBySignal holds that nothing is left behind by a program that was ended while it asked.
func TestEndedBySignal(t *testing.T) {
	t.Parallel()
	for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		c := call(t, "--context=hangs")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		is := c.started(t)
		if asked := is.line(t); asked != "asked" {
			t.Fatal(asked)
		}
		if err := c.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		if got := code(t, c.Wait()); got != lines.ExitCannotTell {
			t.Errorf("%v: exit code %d", sig, got)
		}
		c.leavesNothing(t, is)
	}
}

// TestKubectlFails holds that what kubectl says is told, and that none is told of.
func TestKubectlFails(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args   []string
		env    string
		starts bool
		want   string
	}{
		{[]string{"--context=none"}, "", true, `kubectl proxy ended: error: context "none" does not exist`},
		{nil, "PATH=/nowhere", false, "kubectl is not in PATH: install it"},
		{[]string{"--contxt"}, "", false, "unknown flag: --contxt (see kubectl plegtop --help)"},
		{[]string{"a", "b"}, "", false, "one node at a time"},
		{[]string{"-o", "yaml"}, "", false, "--output yaml: only json is known"},
		{[]string{"node-1"}, "", false, "the screen needs a terminal"},
	} {
		c := call(t, tt.args...)
		c.Env = append(c.Env, tt.env)
		var diagnostics bytes.Buffer
		c.Stderr = &diagnostics
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		is := living{}
		if tt.starts {
			is = c.started(t)
		}
		if got := code(t, c.Wait()); got != lines.ExitCannotTell || !strings.Contains(diagnostics.String(), tt.want) {
			t.Errorf("%v: exit code %d, %s", tt.args, got, &diagnostics)
		}
		if tt.starts {
			c.leavesNothing(t, is)
		}
	}
}

// TestHelp holds that help needs nothing, and is what the documents say.
func TestHelp(t *testing.T) {
	t.Parallel()
	c := call(t, "--help")
	out, err := c.Output()
	if err != nil || string(out) != usage {
		t.Errorf("%v: %s", err, out)
	}
	doc, err := os.ReadFile("../../docs/fleet.md")
	if err != nil || !strings.Contains(string(doc), usage) {
		t.Errorf("docs/fleet.md has not what --help says: %v", err)
	}
}

// onTerminal starts the program on a terminal.
func (c called) onTerminal(t *testing.T) *e2e.Terminal {
	t.Helper()
	c.Env = append(c.Env, "XDG_CONFIG_HOME="+t.TempDir())
	term, err := e2e.Start(c.Cmd, 100, 20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { term.Close() })
	return term
}

func see(t *testing.T, term *e2e.Terminal, text string) {
	t.Helper()
	if _, err := term.Wait(text, limit, func(lines []string) bool { return strings.Contains(strings.Join(lines, "\n"), text) }); err != nil {
		t.Fatal(err)
	}
}

// tidy waits for a terminal that is as it was.
func tidy(t *testing.T, term *e2e.Terminal) {
	t.Helper()
	if _, err := term.Wait("the terminal as it was", limit, func([]string) bool { return term.Restored() == nil }); err != nil {
		t.Error(term.Restored(), err)
	}
}

func press(t *testing.T, term *e2e.Terminal, keys string) {
	t.Helper()
	if err := term.Type(keys); err != nil {
		t.Fatal(err)
	}
}

// TestOnATerminal holds that the table is live, that enter lends the terminal to the screen on a
// node, and that q leaves nothing behind.
func TestOnATerminal(t *testing.T) {
	t.Parallel()
	c := call(t)
	term := c.onTerminal(t)
	proxy := c.started(t)
	see(t, term, "LISTS HANG")
	press(t, term, "j\r")
	screen := c.started(t)
	if want := "--namespace=kube-system exec -it pod/plegtop-1 -c plegtop -- plegtop"; screen.args != want {
		t.Errorf("kubectl was called with %s, want %s", screen.args, want)
	}
	see(t, term, "THE SCREEN THERE")
	press(t, term, "\n")
	see(t, term, "3 critical")
	press(t, term, "q")
	if got, err := term.Ended(limit); err != nil || got != 0 {
		t.Errorf("exit code %d, %v", got, err)
	}
	tidy(t, term)
	c.leavesNothing(t, proxy)
	c.leavesNothing(t, screen)
}

// TestTerminalEnds holds that nothing is left behind when a live table is ended, also while the
// terminal is lent.
func TestTerminalEnds(t *testing.T) {
	t.Parallel()
	for _, lent := range []bool{false, true} {
		for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGHUP} {
			c := call(t)
			term := c.onTerminal(t)
			all := []living{c.started(t)}
			see(t, term, "LISTS HANG")
			if lent {
				press(t, term, "\r")
				all = append(all, c.started(t))
				see(t, term, "THE SCREEN THERE")
			}
			if err := term.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if _, err := term.Ended(limit); err != nil {
				t.Error(err)
			}
			for _, is := range all {
				c.leavesNothing(t, is)
			}
		}
	}
}

// TestNoDaemonSetOnATerminal holds that an error is told where it can be read.
func TestErrorOnATerminal(t *testing.T) {
	t.Parallel()
	c := call(t, "--context=empty")
	var diagnostics bytes.Buffer
	c.Stderr = &diagnostics
	term := c.onTerminal(t)
	is := c.started(t)
	if got, err := term.Ended(limit); err != nil || got != lines.ExitCannotTell || !strings.Contains(diagnostics.String(), "no pod in any namespace has the label") {
		t.Errorf("exit code %d, %v, %s", got, err, &diagnostics)
	}
	tidy(t, term)
	c.leavesNothing(t, is)
}

// TestScreenOfANode holds that the screen is run at once where a node is named.
func TestScreenOfANode(t *testing.T) {
	t.Parallel()
	c := call(t, "--kubeconfig=some", "node-2")
	term := c.onTerminal(t)
	proxy := c.started(t)
	screen := c.started(t)
	if want := "--kubeconfig=some --namespace=kube-system exec -it pod/plegtop-2 -c plegtop -- plegtop"; screen.args != want {
		t.Errorf("kubectl was called with %s, want %s", screen.args, want)
	}
	c.leavesNothing(t, proxy)
	see(t, term, "THE SCREEN THERE")
	press(t, term, "\n")
	if got, err := term.Ended(limit); err != nil || got != 0 {
		t.Errorf("exit code %d, %v", got, err)
	}
}

// TestCalled holds by which names the program is the plug-in.
func TestCalled(t *testing.T) {
	for name, want := range map[string]bool{"/usr/local/bin/kubectl-plegtop": true, "kubectl-plegtop.exe": true, "plegtop": false, "/bin/kubectl": false} {
		if got := Called(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
