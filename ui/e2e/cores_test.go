//go:build linux

package e2e

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"
)

// Of a node with many processor cores plegtop uses two at once, and as many as somebody says. On a
// machine of one or two cores nothing shows whether there is a limit, only that it is no lower.
func TestFewCores(t *testing.T) {
	t.Parallel()
	for environ, want := range map[string]int{"": min(runtime.NumCPU(), 2), "5": 5} {
		t.Run(environ, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(plegtop(t), "--demo=quiet", "watch")
			cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), "GODEBUG=schedtrace=20", "GOMAXPROCS="+environ)
			said, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			scheduler, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := bufio.NewReader(said).ReadString('\n'); err != nil { // after which it uses what it will use
				t.Errorf("nothing on its output: %v", err)
			}
			if got := coresAfter(scheduler, time.Since(began)); got != want {
				t.Errorf("it uses %d processor cores, want %d", got, want)
			}
			_ = cmd.Process.Kill() // it may have ended
			_ = cmd.Wait()         // it was killed
		})
	}
}

// coresAfter returns how many cores Go's scheduler says that it uses when a process is older than
// that; -1 if it says nothing.
func coresAfter(scheduler io.Reader, age time.Duration) int {
	for lines := bufio.NewScanner(scheduler); lines.Scan(); {
		var at int64
		var cores int
		if _, err := fmt.Sscanf(lines.Text(), "SCHED %dms: gomaxprocs=%d", &at, &cores); err == nil && at > age.Milliseconds() {
			return cores
		}
	}
	return -1
}
