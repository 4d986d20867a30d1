//go:build linux

package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/plegtop/plegtop/cri/sim"
)

// heldCheck starts a check whose first list is held, and sends it a signal. After
// one that is not meant to end it, the list is answered.
func heldCheck(t *testing.T, sig syscall.Signal) (stdout, stderr string, exit int) {
	t.Helper()
	server := serve(t)
	list := sim.Match{Method: "ListPodSandbox"}
	release := server.AddRule(sim.Rule{Match: list, Hangs: true})
	defer release()
	cmd := exec.Command(plegtop(t), "-r", server.Endpoint(), "check", "-o", "json")
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+t.TempDir())
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := server.AwaitHeld(t.Context(), list, 1); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	if sig == syscall.SIGPIPE {
		release()
	}
	_ = cmd.Wait() // its exit code tells
	return out.String(), said.String(), cmd.ProcessState.ExitCode()
}

// The kernel sends SIGPIPE for a connection that the runtime has closed, too.
// That is no reason to end: a check that is under way goes on.
func TestCheckOutlivesSIGPIPE(t *testing.T) {
	t.Parallel()
	stdout, stderr, exit := heldCheck(t, syscall.SIGPIPE)
	if exit != 0 || !strings.Contains(stdout, `"pods":110`) {
		t.Errorf("exit code %d after SIGPIPE; it said %s%s", exit, stdout, stderr)
	}
}

// Half a look is no verdict.
func TestCheckThatIsInterruptedCannotTell(t *testing.T) {
	t.Parallel()
	stdout, stderr, exit := heldCheck(t, syscall.SIGTERM)
	if exit != 3 || !strings.Contains(stdout, `"word":"CANNOT TELL"`) || !strings.Contains(stderr, "before it had seen everything") {
		t.Errorf("exit code %d after SIGTERM; it said %s%s", exit, stdout, stderr)
	}
}
