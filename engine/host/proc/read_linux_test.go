package proc

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/evidence"
)

// A held is a file whose reader waits until the test lets it go, as a file of /proc can do.
type held struct{ path string }

// hold puts a pipe in the place of a file of a process. Nobody writes to it, so
// that it cannot even be opened.
func hold(t *testing.T, root string, pid int, file string) *held {
	t.Helper()
	h := &held{filepath.Join(root, "proc", strconv.Itoa(pid), file)}
	if err := os.Remove(h.path); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(h.path, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.release(t) })
	return h
}

// replace puts an ordinary file in the pipe's place. Readers that wait for the pipe go on waiting.
func (h *held) replace(t *testing.T, text string) {
	t.Helper()
	if err := os.Rename(h.path, h.path+".held"); err != nil {
		t.Fatal(err)
	}
	writeFile(t, h.path, text)
	h.path += ".held"
}

func (h *held) release(t *testing.T) {
	t.Helper()
	pipe, err := os.OpenFile(h.path, os.O_RDWR, 0)
	if err != nil {
		t.Error(err)
		return
	}
	if err := pipe.Close(); err != nil {
		t.Error(err)
	}
}

// newHangingWalker returns a walker for a tree in which files hang. Its timeout is long enough for all other
// files on a slow machine.
func newHangingWalker(root string) *Walker {
	w := newFixtureWalker(root)
	w.Timeout = time.Second
	return w
}

// waitForReads waits until the reads that were let go have come back.
func waitForReads(t *testing.T, w *Walker) {
	t.Helper()
	for len(w.hanging()) > 0 {
		if t.Context().Err() != nil {
			t.Fatal("a read that was let go has not come back")
		}
		time.Sleep(time.Millisecond)
	}
}

func TestLookLeavesAHangingReadBehind(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"cmdline", "cgroup", "stat"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			sandbox, container := longID("1"), longID("2")
			writePod(t, root, 100, sandbox, container)
			text, err := os.ReadFile(filepath.Join(root, "proc/100", file))
			if err != nil {
				t.Fatal(err)
			}
			h := hold(t, root, 100, file)
			w := newHangingWalker(root)
			want := "reading " + file + " of process 100 hangs"

			found := w.lookAt(t.Context(), firstLook)
			if found.Partial != want || len(found.Containers) != 2 || len(found.Shims) != 0 {
				t.Errorf("first look = %+v, want both containers and %q", found, want)
			}
			h.replace(t, string(text)) // would be read at once, but must not be yet
			found = w.lookAt(t.Context(), firstLook)
			if found.Partial != want || len(found.Containers) != 2 || len(found.Shims) != 0 {
				t.Errorf("second look = %+v, want the same", found)
			}
			h.release(t)
			waitForReads(t, w)
			found = w.lookAt(t.Context(), firstLook)
			if found.Partial != "" || len(found.Containers) != 2 || len(found.Shims) != 1 {
				t.Errorf("third look = %+v, want the shim too", found)
			}
		})
	}
}

// A read that comes back too late for its look leaves its process out: the look is not whole.
func TestLookOfAReadThatComesLate(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"cmdline", "cgroup", "stat"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			writePod(t, root, 100, longID("1"), longID("2"))
			h := hold(t, root, 100, file)
			w := newHangingWalker(root)
			l, err := w.Look(t.Context(), firstLook)
			if err != nil {
				t.Fatal(err)
			}
			h.release(t)
			waitForReads(t, w)
			for range 2 { // Partial is asked for several times
				if found := l.Processes(); found.Partial != "could not read 1 process" || len(found.Shims) != 0 {
					t.Errorf("look = %+v, want that one is missing", found)
				}
			}
		})
	}
}

func TestLookLeavesFewReadsBehind(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	writePod(t, root, 100, longID("1"), longID("2"))
	w := newHangingWalker(root)
	w.lookAt(t.Context(), firstLook)

	for pid := range 5 {
		writeProcess(t, root, fakeProcess{PID: 10 + pid, Comm: "cat", Cgroup: cgroupOf(longID("3"))})
		hold(t, root, 10+pid, "cgroup")
	}
	for look := range 2 {
		found := w.lookAt(t.Context(), firstLook)
		if n := len(w.hanging()); n != mostStuck {
			t.Errorf("look %d left %d reads behind, want %d", look+1, n, mostStuck)
		}
		if got := states(found); len(got) != 3 || !strings.HasSuffix(found.Partial, "; could not read 3 processes") {
			t.Errorf("look %d found %v, want all that was known before; Partial = %q", look+1, got, found.Partial)
		}
	}
}

// Even files that should never hang are not tried for ever.
func TestLookGivesUpWhenAllHangs(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for pid := range 6 {
		writePod(t, root, 100+10*pid, longID("1"), longID("2"))
		hold(t, root, 100+10*pid, "stat")
	}
	w := newHangingWalker(root)
	w.lookAt(t.Context(), firstLook)
	if n := len(w.hanging()); n != mostStuck+1 {
		t.Errorf("%d reads were left behind, want %d", n, mostStuck+1)
	}
	if found := w.lookAt(t.Context(), firstLook); found.Missing == "" {
		t.Errorf("the next look = %+v, want it to say that nothing can be read", found)
	}
}

func TestLookEndsWithItsContext(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	writePod(t, root, 100, longID("1"), longID("2"))
	w := newFixtureWalker(root) // would wait for an hour
	w.lookAt(t.Context(), firstLook)
	hold(t, root, 101, "stat")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	found := w.lookAt(ctx, firstLook)
	if len(found.Shims) != 1 || !strings.HasPrefix(found.Partial, "cut off after 1") {
		t.Errorf("look = %+v, want what was read in the time", found)
	}
	if len(w.known) != 3 {
		t.Errorf("remembers %d processes, want all three, though one look did not come to them", len(w.known))
	}
}

// On an overloaded node each look may be cut off. Processes that have ended are forgotten all the same.
func TestLookForgetsWhatIsGoneThoughCutOff(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	writePod(t, root, 100, longID("1"), longID("2"))
	writePod(t, root, 110, longID("3"), longID("4"))
	w := newFixtureWalker(root) // would wait for an hour
	w.lookAt(t.Context(), firstLook)
	for _, pid := range []string{"110", "111", "112"} {
		if err := os.RemoveAll(filepath.Join(root, "proc", pid)); err != nil {
			t.Fatal(err)
		}
	}
	again := fakeShim(100, longID("1"), testSocket)
	again.Started = 2 * time.Hour
	writeProcess(t, root, again)
	h := hold(t, root, 101, "stat")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	reader := make(chan error)
	go func() {
		pipe, err := os.OpenFile(h.path, os.O_WRONLY, 0) // waits for the look
		cancel()
		reader <- errors.Join(err, pipe.Close())
	}()
	found := w.lookAt(ctx, firstLook)
	if err := <-reader; err != nil || !strings.HasPrefix(found.Partial, "cut off after ") {
		t.Fatalf("look = %+v, %v, want one that is cut off", found, err)
	}
	if pids := slices.Sorted(maps.Keys(w.known)); !slices.Equal(pids, []int{100, 101, 102}) || w.known[100].start != uint64(2*time.Hour/(time.Second/Ticks)) {
		t.Errorf("remembers %v, want the three that are there, and the new one of the number 100", pids)
	}
}

// Reading the kernel stack of a process can hang as well. What is known of the process is kept.
func TestLookKeepsAProcessWhoseStackHangs(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	writePod(t, root, 100, longID("1"), longID("2"))
	writeProcess(t, root, fakeProcess{
		PID: 102, Comm: "nginx", Cgroup: cgroupOf(longID("2")), State: evidence.Uninterrupted, Wchan: "rpc_wait_bit_killable",
	})
	hold(t, root, 102, "stack")
	found := newHangingWalker(root).lookAt(t.Context(), firstLook)
	p := found.Containers[longID("2")]
	if len(p) != 1 || p[0].State != evidence.Uninterrupted || p[0].Wchan != "rpc_wait_bit_killable" {
		t.Errorf("look = %+v, want the process with its state and wchan", found)
	}
}

func TestGaps(t *testing.T) {
	tests := []struct {
		gaps gaps
		want string
	}{
		{gaps{}, ""},
		{gaps{denied: 12}, "denied for 12 processes: try sudo"},
		{
			gaps{cut: "cut off after 2s", unread: 3, hidden: true, hanging: []File{{0, "/run/x.sock", true}, {7, "cmdline", true}}},
			"cut off after 2s; reading /run/x.sock hangs; reading cmdline of process 7 hangs; could not read 3 processes; the processes of other users are hidden: try sudo",
		},
	}
	for _, tt := range tests {
		if got := tt.gaps.String(); got != tt.want {
			t.Errorf("%+v reads\n%q, want\n%q", tt.gaps, got, tt.want)
		}
	}
}

// If a file of no process hangs, its error says since when, also in later looks, which do not read it.
func TestFetchSaysForHowLongAFileHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &Look{w: New(Config{Timeout: 250 * time.Millisecond}), ctx: t.Context()}
		release := make(chan bool)
		for _, want := range []string{"no answer yet", "no answer for 5s", "no answer for 10s"} {
			began := time.Now()
			_, err := Fetch(l, File{Name: "/run/containerd", Risky: true}, func() (bool, error) { return <-release, nil })
			if err == nil || err.Error() != want {
				t.Errorf("%v, want %s", err, want)
			}
			time.Sleep(time.Until(began.Add(5 * time.Second)))
		}
		release <- true
	})
}
