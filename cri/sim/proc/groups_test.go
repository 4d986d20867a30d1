package proc

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A group is there while a process is in it, deserted once it has left, and gone with the
// next change.
func TestControlGroupsFollowTheirProcesses(t *testing.T) {
	now := time.Now()
	f, err := New(filepath.Join(t.TempDir(), "node"), now)
	if err != nil {
		t.Fatal(err)
	}
	const pod = "/kubepods.slice/pod1"
	one := Process{PID: 1, Name: "one", State: 'S', Threads: 1, Cgroup: pod + "/a"}
	two := Process{PID: 2, Name: "two", State: 'S', Threads: 1, Cgroup: pod + "/a"}
	var events fs.FileInfo
	for _, step := range []struct {
		all             []Process
		procs, events   string
		group, podThere bool
	}{
		{nil, "", "", false, false},
		{[]Process{one}, "1\n", "populated 1\nfrozen 0\n", true, true},
		{[]Process{one, two}, "1\n2\n", "populated 1\nfrozen 0\n", true, true},
		{nil, "", "populated 0\nfrozen 0\n", true, true},
		{[]Process{two}, "2\n", "populated 1\nfrozen 0\n", true, true},
		{nil, "", "populated 0\nfrozen 0\n", true, true},
		{nil, "", "", false, false},
	} {
		if err := f.Follow(now, step.all); err != nil {
			t.Fatal(err)
		}
		procs, err := os.ReadFile(f.groupFile(pod+"/a", "cgroup.procs"))
		text, err2 := os.ReadFile(f.groupFile(pod+"/a", "cgroup.events"))
		_, err3 := os.Stat(f.groupFile(pod, ""))
		if there := errors.Join(err, err2) == nil; there != step.group || (err3 == nil) != step.podThere {
			t.Errorf("%d processes: group %v %v, pod %v", len(step.all), err, err2, err3)
		}
		if string(procs) != step.procs || string(text) != step.events {
			t.Errorf("%d processes: %q, %q; want %q, %q", len(step.all), procs, text, step.procs, step.events)
		}
		is, err := os.Stat(f.groupFile(pod+"/a", "cgroup.events"))
		if err == nil && events != nil && !os.SameFile(is, events) {
			t.Error("the file is another one: whoever watches it sees nothing")
		}
		events = is
	}
}
