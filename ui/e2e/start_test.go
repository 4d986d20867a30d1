//go:build linux

package e2e

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
)

// Before main begins little is made: no looks are compiled for what only asks for words.
func TestLittleIsMadeBeforeMain(t *testing.T) {
	t.Parallel()
	const most = 256 << 10 // bytes; the looks of one theme take more than a million
	cmd := exec.Command(plegtop(t), "--version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	made := regexp.MustCompile(`(?m)^init main @.* clock, (\d+) bytes`).FindSubmatch(out)
	if made == nil {
		t.Fatalf("no trace of main's own variables:\n%s", out)
	}
	if n, err := strconv.Atoi(string(made[1])); err != nil || n > most {
		t.Errorf("main's own variables take %d bytes, %v; want %d at most", n, err, most)
	}
}
