package proc

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The process that becomes the container's own is one of the runtime's until then, too.
func TestMakersOfContainers(t *testing.T) {
	for comm, want := range map[string]bool{"runc": true, "runc:[1:CHILD]": true, "runc:[2:INIT]": false, "sleep": false} {
		if got := (&Held{PID: 1 << 30, comm: comm}).MakesContainers("/proc"); got != want {
			t.Errorf("%s makes containers: %v", comm, got)
		}
	}
}

// Of a container's group so much is looked through for its first process.
func TestMembersAreOfSoManyGroups(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "cgroup.procs"), "")
	writeFile(t, filepath.Join(dir, "a/cgroup.procs"), "2\n1\n")
	writeFile(t, filepath.Join(dir, "a/c/cgroup.procs"), "3\n")
	writeFile(t, filepath.Join(dir, "b/cgroup.procs"), "")
	writeFile(t, filepath.Join(dir, "b/c/cgroup.procs"), "4\n")
	if got, want := appendMembers(nil, dir, 1), []int{2, 1}; !slices.Equal(got, want) {
		t.Errorf("down to the first below: %v, want %v", got, want)
	}
	if got, want := appendMembers(nil, dir, 2), []int{2, 1, 4}; !slices.Equal(got, want) {
		t.Errorf("down to the second: %v, want %v", got, want)
	}
}

// A number that was given to another process meanwhile is not held.
func TestHeldIsTheSameProcess(t *testing.T) {
	files := openFileCount(t)
	start, _, err := readStart("/proc", os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		Held
		want bool
	}{{Held{PID: os.Getpid(), start: start}, true}, {Held{PID: os.Getpid(), start: start - 1}, false}, {Held{PID: 1 << 30}, false}} {
		if got, err := tt.hold("/proc"); got != tt.want || err != nil {
			t.Errorf("process %d since %d: %v, %v", tt.PID, tt.start, got, err)
		}
		if tt.want {
			tt.Close()
		}
	}
	if now := openFileCount(t); now > files {
		t.Errorf("%d files are open, before it were %d", now, files)
	}
}
