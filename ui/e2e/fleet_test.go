//go:build linux

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNameOfThePlugin holds that the program is kubectl's plug-in by its name alone, and what it does
// without a kubectl.
func TestNameOfThePlugin(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "kubectl-plegtop")
	if err := os.Symlink(plegtop(t), name); err != nil {
		t.Fatal(err)
	}
	help, err := exec.Command(name, "--help").Output()
	if err != nil || !strings.HasPrefix(string(help), "kubectl plegtop shows the headline of every node") {
		t.Errorf("%v: %s", err, help)
	}
	c := exec.Command(name)
	c.Env = []string{"PATH=/nowhere"}
	said, err := c.CombinedOutput()
	if c.ProcessState.ExitCode() != 3 || !strings.HasPrefix(string(said), "plegtop: kubectl is not in PATH") {
		t.Errorf("%v: %s", err, said)
	}
}
