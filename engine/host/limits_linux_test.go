package host

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

// What was killed before the first look is not told, and what was killed since is, though
// another process has taken the place of the daemon.
func TestKilledForWantOfMemory(t *testing.T) {
	for _, tt := range []struct{ name, lines, folder, file, limit string }{
		{"v2", "0::/system.slice/containerd.service\n", "system.slice/containerd.service", "memory.events.local", "memory.max"},
		{"v1", "5:memory:/system.slice/containerd.service\n", "memory/system.slice/containerd.service", "memory.oom_control", "memory.limit_in_bytes"},
	} {
		root := t.TempDir()
		w := newFixtureWalker(root)
		folder := filepath.Join("/sys/fs/cgroup", tt.folder)
		killed := func(at time.Duration, events string) uint64 {
			writeFile(t, filepath.Join(root, folder, tt.file), events)
			limits := w.look(t.Context(), fixtureLook.Add(at)).Limits
			i := slices.IndexFunc(limits, func(l evidence.Limit) bool { return l.What == evidence.OOMKills })
			if i < 0 {
				return 0
			}
			if limits[i].Path != filepath.Join(folder, tt.limit) || limits[i].Of != "containerd" || limits[i].Used == 0 {
				t.Errorf("%s: %+v", tt.name, limits[i])
			}
			return limits[i].Used
		}
		writeProc(t, root, proc{pid: 10, comm: "containerd", cgroup: tt.lines})
		first, none := killed(0, "oom 9\noom_kill 3\n"), killed(time.Second, "oom 9\noom_kill 3\n")
		writeProc(t, root, proc{pid: 10, comm: "containerd", cgroup: tt.lines, started: 2 * time.Hour})
		if two := killed(2*time.Second, "oom 12\noom_kill 5\n"); first != 0 || none != 0 || two != 2 {
			t.Errorf("%s: %d, %d, %d killed, want 0, 0, 2", tt.name, first, none, two)
		}
		if unread := killed(3*time.Second, ""); unread != 0 {
			t.Errorf("%s: %d killed by an empty file", tt.name, unread)
		}
	}
}
