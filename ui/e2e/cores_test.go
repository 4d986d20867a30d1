//go:build linux

package e2e

import (
	"bufio"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// Of a node with many processor cores plegtop uses two at once, and as many as somebody says. On
// a machine of two this holds only that the other case is seen.
func TestFewCores(t *testing.T) {
	t.Parallel()
	for environ, want := range map[string]int{"": min(runtime.NumCPU(), 2), "5": 5} {
		t.Run(environ, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(plegtop(t), "--demo=quiet", "watch")
			cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), "GODEBUG=schedtrace=20", "GOMAXPROCS="+environ)
			scheduler, err := cmd.StderrPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			lines, uses := bufio.NewScanner(scheduler), "gomaxprocs="+strconv.Itoa(want)+" "
			for lines.Scan() && !strings.Contains(lines.Text(), uses) {
			}
			if err := lines.Err(); err != nil || lines.Text() == "" {
				t.Errorf("no line of the scheduler says %q: %v", uses, err)
			}
			_ = cmd.Process.Kill() // it may have ended
			_ = cmd.Wait()         // it was killed
		})
	}
}
