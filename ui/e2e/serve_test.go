//go:build linux

package e2e

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestServe holds that serve says where it is, answers with what check says, does not begin where
// another is, and ends by a signal.
func TestServe(t *testing.T) {
	t.Parallel()
	serve := func(listen string) *exec.Cmd {
		cmd := exec.Command(plegtop(t), "--demo=hung-inspect", "serve", "--listen", listen)
		cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir())
		return cmd
	}
	cmd := serve("127.0.0.1:0")
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	line, err := bufio.NewReader(said).ReadString('\n')
	at := regexp.MustCompile(`http://(127\.0\.0\.1:\d+)/metrics, for this machine alone`).FindStringSubmatch(line)
	if err != nil || at == nil {
		t.Fatalf("%v: %q", err, line)
	}
	for known := false; !known; time.Sleep(20 * time.Millisecond) {
		answer, err := http.Get("http://" + at[1] + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		known = answer.StatusCode == http.StatusOK
		_ = answer.Body.Close()
	}
	answer, err := http.Get("http://" + at[1] + "/check")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err != nil || !strings.HasPrefix(string(body), `{"schema":"plegtop/check/1",`) || !strings.Contains(string(body), `"node":"demo-node"`) || answer.Header.Get("Plegtop-Exit-Code") == "" {
		t.Errorf("%v: %v %.200s", err, answer.Header, body)
	}
	out, err := serve(at[1]).CombinedOutput()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 3 || !strings.Contains(string(out), "the address is in use") {
		t.Errorf("a second one: %v: %s", err, out)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := ends(cmd); err != nil {
		t.Error(err)
	}
}
