package fleet

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plegtop/plegtop/ui/crash"
)

// TestMain is, by the name that the test was started under, the whole program, or the kubectl
// that it finds in PATH.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "kubectl-plegtop":
		code := Run(os.Args[1:], look(), func(err error, code int) int {
			fmt.Fprintln(os.Stderr, "plegtop:", err)
			return code
		})
		if file := os.Getenv("PEAK"); file != "" && crash.IsChild() {
			notePeak(file)
		}
		os.Exit(crash.Status(code))
	case "kubectl":
		kubectlMain(os.Args[1:])
	}
	os.Exit(m.Run())
}

// kubectlMain is kubectl. Whoever listens at the socket $LIVES has a connection to it for as long as
// it lives, and hears what it was called with.
func kubectlMain(args []string) {
	lives, err := net.Dial("unix", os.Getenv("LIVES"))
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(lives, strings.Join(args, " "))
	i := 0
	for strings.HasPrefix(args[i], "--") {
		i++
	}
	switch args[i] {
	case "proxy":
		kubectlProxy(strings.TrimPrefix(args[i+1], "--unix-socket="), args[0], lives)
	case "exec":
		fmt.Print("THE SCREEN THERE\r\n")
		bufio.NewReader(os.Stdin).ReadString('\n')
	}
	os.Exit(0)
}

// kubectlProxy serves a cluster that is as the context says.
func kubectlProxy(socket, cluster string, lives io.Writer) {
	if cluster == "--context=none" {
		fmt.Fprintln(os.Stderr, "error: context \"none\" does not exist")
		os.Exit(1)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		panic(err)
	}
	sick, _ := os.ReadFile(os.Getenv("SICK"))
	pods := named(3)
	if cluster == "--context=empty" {
		pods = nil
	}
	s := &standIn{pods: pods, check: func(i int) reply {
		if cluster == "--context=hangs" {
			fmt.Fprintln(lives, "asked")
			return reply{hang: true}
		}
		return reply{body: string(sick)}
	}}
	if cluster == "--context=many" {
		s = big()
	}
	fmt.Println("Starting to serve on " + socket)
	http.Serve(l, s)
}

// A called is the program in a folder of its own, with the kubectl that it finds.
type called struct {
	*exec.Cmd
	tmp     string // where it makes folders
	kubectl net.Listener
}

// call makes the program ready to be started.
func call(t testing.TB, args ...string) called {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "fleet") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for _, name := range []string{"kubectl", "kubectl-plegtop"} {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	tmp := filepath.Join(dir, "tmp")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "lives"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	answers, err := filepath.Abs(filepath.Join("testdata", "check"))
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(filepath.Join(dir, "kubectl-plegtop"), args...)
	c.Env = append(os.Environ(), "PATH="+dir, "TMPDIR="+tmp, "LIVES="+l.Addr().String(), "SICK="+answers+"/hung-update.json", "SOUND="+answers+"/quiet.json", "TERM=xterm-256color", "NO_COLOR=")
	return called{c, tmp, l}
}

// A living is a kubectl: reading of it ends when that has ended.
type living struct {
	*bufio.Reader
	args string
}

// started waits for a kubectl.
func (c called) started(t testing.TB) living {
	t.Helper()
	conn, err := c.kubectl.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	is := living{Reader: bufio.NewReader(conn)}
	is.args = is.line(t)
	return is
}

// line waits for what kubectl says next.
func (l living) line(t testing.TB) string {
	t.Helper()
	line, err := l.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// leavesNothing waits for the end of a kubectl, and looks for what lies about.
func (c called) leavesNothing(t testing.TB, is living) {
	t.Helper()
	if _, err := io.Copy(io.Discard, is); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(c.tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// code returns the exit code of a program that has ended.
func code(t testing.TB, err error) int {
	t.Helper()
	if err == nil {
		return 0
	}
	of, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		t.Fatal(err)
	}
	return of.ExitCode()
}
