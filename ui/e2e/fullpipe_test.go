//go:build linux

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A program whose output goes to a pipe that is full, and that nobody reads, ends
// all the same when it is asked to, and leaves nothing behind.
func TestEndsBeforeAFullPipe(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--demo=event-drift", "watch"}, {"--demo=event-drift", "watch", "-o", "json"}, {"--demo=quiet", "check"}} {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
			t.Run(fmt.Sprint(args, " ", sig), func(t *testing.T) {
				t.Parallel()
				endBeforeAFullPipe(t, args, sig)
			})
		}
	}
}

func endBeforeAFullPipe(t *testing.T, args []string, sig syscall.Signal) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	stuff(t, w)
	tmp := inMemory(t)
	cmd := exec.Command(plegtop(t), args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "XDG_CONFIG_HOME="+tmp)
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	awaitWrite(cmd.Process.Pid)
	if err := cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // that it ends is what counts
		close(ended)
	}()
	select {
	case <-ended:
		if left, _ := filepath.Glob(tmp + "/plegtop-*"); len(left) > 0 {
			t.Errorf("%v left %v behind", args, left)
		}
	case <-time.After(gone):
		t.Errorf("%v runs on %v after %v", args, gone, sig)
		_ = cmd.Process.Kill()
		<-ended
	}
}

// stuff fills a pipe.
func stuff(t *testing.T, w *os.File) {
	t.Helper()
	if err := w.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := w.Write(make([]byte, 1<<16)); err != nil {
			break
		}
	}
	conn, err := w.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Control(func(fd uintptr) { _ = unix.SetNonblock(int(fd), false) }) // as a shell gives it
}

// mayWrite is how long a program gets to begin a write where the kernel does not say that it has.
const mayWrite = 5 * time.Second

// awaitWrite waits until a thread of the process stands in a write.
func awaitWrite(pid int) {
	for began := time.Now(); !inWrite(pid) && time.Since(began) < mayWrite; {
		time.Sleep(20 * time.Millisecond)
	}
}

// inWrite reports whether a thread of a process stands in a write to a pipe or to a terminal.
func inWrite(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/wchan", pid))
	return slices.ContainsFunc(threads, func(path string) bool {
		where, _ := os.ReadFile(path) // the thread may have ended
		return strings.Contains(string(where), "pipe_write") || string(where) == "wait_woken"
	})
}
